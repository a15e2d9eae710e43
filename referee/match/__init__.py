"""A match as a deterministic fold: `Match.handle(event) -> commands`. Knows no clock, socket, file or log."""
