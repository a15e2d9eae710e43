"""Verifies records of matches, explains them to a seat, and examines how fairly the referee kept the time."""
