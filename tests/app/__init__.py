"""Tests of referee.app."""
