"""Verifies records of matches, explains them to a seat, and examines how fairly they kept the time."""
