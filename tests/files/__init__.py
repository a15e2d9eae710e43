"""Tests of what works with files and folders that others made."""
