"""Tests of files and folders that others made."""
