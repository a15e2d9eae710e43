"""Programs that authors hand in: archives, the store of all versions, their checks and matches. No sockets."""
