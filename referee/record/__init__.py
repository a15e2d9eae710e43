"""Records of matches and tournaments: written line by line before anything is done, read and folded again by anyone."""
