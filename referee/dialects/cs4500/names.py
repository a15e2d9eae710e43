"""The dialect's name, and the names that the course lets its players have."""

NAME = "cs4500"
"""The dialect's name."""
NAME_PATTERN = r"^[a-zA-Z0-9]{1,20}$(?!\n)"
"""The course's rule for names of players."""
NAME_FORM = "1 to 20 letters or digits"
