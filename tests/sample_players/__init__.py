"""Tests of the programs in sample_players/ that are no players."""
