"""A second implementation of the games' rules, written only from their descriptions, to compare the engines with."""
