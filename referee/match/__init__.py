"""A match as a pure state machine: `Match.handle(event) -> commands`. It uses no clock, socket, file or log."""
