"""Tests of referee.site."""
