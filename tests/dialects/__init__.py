"""Tests of referee.dialects."""
