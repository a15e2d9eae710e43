"""Tests of the check itself, short of programs."""
