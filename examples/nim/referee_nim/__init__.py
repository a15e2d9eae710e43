"""Nim, as a package that adds a game and house players to the referee."""
