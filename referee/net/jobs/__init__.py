"""Jobs of matches, and the processes that play them: this one, or workers next to it."""
