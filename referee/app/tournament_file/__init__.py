"""Reads the TOML file of a tournament, and reports every mistake in it with its line."""
