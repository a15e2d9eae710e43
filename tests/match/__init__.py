"""Tests of match."""
