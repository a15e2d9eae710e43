"""Data for the drawings of a report: ratings, points by round, brackets."""
