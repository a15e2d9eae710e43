"""Files changed at random, with their structure in view, for every reader there is of them."""
