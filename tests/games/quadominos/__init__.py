"""Tests of referee.games.quadominos."""
