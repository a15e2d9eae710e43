"""Ratings from results: Elo by maximum likelihood, with intervals."""
