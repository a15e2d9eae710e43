"""Tournaments: begun, gone on with, ruled on and joined while they run."""
