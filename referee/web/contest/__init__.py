"""A contest: tournaments that start by themselves, programs that authors hand in, and the data for the web site."""
