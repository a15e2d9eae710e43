"""The rules of games, one folder per game. Pure: no clock, no chance of their own, no I/O."""
