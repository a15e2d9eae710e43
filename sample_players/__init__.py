"""Player programs to start from, one folder per language; the house players are in python/."""
