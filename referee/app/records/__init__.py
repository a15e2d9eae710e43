"""What is done with records of matches: verified, explained to a seat, examined for fairness in time."""
