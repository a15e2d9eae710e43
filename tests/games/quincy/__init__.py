"""Tests of referee.games.quincy."""
