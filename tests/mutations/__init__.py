"""Files changed at random, by their structure, for every reader of each kind of file."""
