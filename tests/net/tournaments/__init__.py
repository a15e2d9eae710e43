"""Tests of referee.net.tournaments."""
