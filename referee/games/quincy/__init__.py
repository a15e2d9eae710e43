"""Quincy."""
