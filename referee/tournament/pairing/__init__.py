"""The pairing formats: one file per format behind one contract, and the parts that formats share."""
