"""Who meets whom: one file per format behind one contract."""
