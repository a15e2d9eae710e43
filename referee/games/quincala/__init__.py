"""Quincala Mixing."""
