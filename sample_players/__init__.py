"""Player programs to start from, one folder per language; python/ holds the house players too."""
