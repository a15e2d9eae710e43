"""What authors hand in: hostile archives, kept versions, whose a match is, and the service that takes them."""
