"""Jobs, and the processes that play them."""
