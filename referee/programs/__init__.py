"""Launched programs: how an organiser names a player, the limits of its program, and how it starts and ends."""
