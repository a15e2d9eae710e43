"""A tournament in SQL, to be queried: a projection of its records, made again at any time."""

FILE = "ledger.sqlite"
"""Name of the ledger in a tournament's folder, if it has no other place."""
