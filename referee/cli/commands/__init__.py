"""The commands of referee, a module each."""
