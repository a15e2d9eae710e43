"""A tournament in SQL, to be queried: a projection of its records, made again at any time."""
