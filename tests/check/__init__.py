"""Tests of the check itself, without programs."""
