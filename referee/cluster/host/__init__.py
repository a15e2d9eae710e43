"""A host of the cluster: plays the matches that tournaments hand out, and holds no key."""
