"""What the drawings of a report show: ratings, points by round, brackets."""
