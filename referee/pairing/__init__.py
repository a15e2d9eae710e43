"""Who meets whom: one file per format behind one contract. Knows entrants and results; refuses to know games."""
