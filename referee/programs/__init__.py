"""Launched programs: how a player is given, what its program is held to, how it starts and ends."""
