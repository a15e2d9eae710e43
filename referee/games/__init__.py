"""The rules of games, one file per game. Pure: no clock, no chance of their own, no I/O."""
