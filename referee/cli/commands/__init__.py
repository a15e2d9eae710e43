"""The commands of referee, a module each. A new command also needs a line in `GROUPS` of `cli/main.py`."""
