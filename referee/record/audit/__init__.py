"""The audit of a record: it is folded again, and checked a second time without the fold."""
