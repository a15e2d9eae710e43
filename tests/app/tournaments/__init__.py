"""Tests of what is done with tournaments."""
