"""A contest: tournaments that start by themselves, what authors hand in, and the web site where everybody looks."""
