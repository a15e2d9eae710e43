"""One match at a time: its programs, its clock, its deadlines."""
