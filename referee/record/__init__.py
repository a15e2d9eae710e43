"""Records of matches and tournaments. The referee writes each line before it acts on it, and anybody can check it."""
