"""Tests of referee.net.matches."""
