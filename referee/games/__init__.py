"""The rules of games, one folder per game. This code reads no clock, draws no random numbers, and does no I/O."""
