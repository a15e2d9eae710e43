"""Tests of a tournament on many hosts."""
