"""Tests of referee.app.records."""
