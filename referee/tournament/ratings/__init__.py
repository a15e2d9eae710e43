"""Ratings from results, with intervals: `elo.py` for two seats, `multi_seat.py` for more; `newton.py` solves both."""
