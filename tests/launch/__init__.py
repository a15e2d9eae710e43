"""Tests of referee.launch."""
