"""Tests of referee.games.q."""
