"""Tests of referee.programs."""
