"""Tests of referee.learning."""
