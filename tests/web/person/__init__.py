"""Tests of the seat for a person."""
