"""Programs that authors hand in: hostile archives, stored versions, their matches, and the service."""
