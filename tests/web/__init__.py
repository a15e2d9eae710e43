"""Tests of referee.web."""
