"""A tournament as it is run: which matches are played now, and who is told of them."""
