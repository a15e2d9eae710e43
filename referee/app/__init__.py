"""The use cases, one module each: what a command does, without a terminal."""
