"""Tests of pairing formats."""
