"""The web site of a contest: what it shows, and to whom."""
