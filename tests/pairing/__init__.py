"""Tests of referee.pairing."""
