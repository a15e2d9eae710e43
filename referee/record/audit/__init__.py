"""The audit of records: each is folded again, and checked a second time without the fold."""
