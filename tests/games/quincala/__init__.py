"""Tests of referee.games.quincala."""
