"""The names that the course CS4500 lets its players have."""

NAME = "cs4500"
"""Of the dialect."""
NAME_PATTERN = r"^[a-zA-Z0-9]{1,20}$(?!\n)"
"""The course's own rule."""
NAME_FORM = "1 to 20 letters or digits"
