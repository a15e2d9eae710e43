"""Tests of referee.app.contest."""
