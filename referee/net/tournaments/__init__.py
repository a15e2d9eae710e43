"""Runs a tournament: decides which matches are played now, and notifies observers of them."""
