"""The TOML file of a tournament: what it may say, and every mistake in it with its line."""
