"""Who meets whom: one file per format behind one contract, and what formats share."""
