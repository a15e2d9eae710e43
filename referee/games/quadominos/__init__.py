"""Quad-Ominos."""
