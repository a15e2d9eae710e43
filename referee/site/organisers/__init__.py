"""What the organisers of a contest see and do: its desk, and the pages that stand on it."""
