"""The audit of records: its modules play each match again from its events, and check it once more by separate code."""
