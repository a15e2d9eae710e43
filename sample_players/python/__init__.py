"""The house players, and the example of a player in Python."""
