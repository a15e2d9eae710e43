"""Pages, tables and texts that are made from records: the replay of a match, the report of a tournament."""
