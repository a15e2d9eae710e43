"""Points, tables, standings, ratings and sequential tests."""
