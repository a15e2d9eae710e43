"""The Q game."""
