"""Pages, tables and texts made of records: the replay of a match, the report of a tournament."""
