"""Programs that authors hand in: their archives, the folder that keeps every version, whose a match is. No sockets."""
