"""The wire of the course CS4500 (Fall 2023) for the Q game: remote calls as JSON values over TCP, without frames.

protocol/CS4500.md says what is spoken. `forms` knows its data, `conversation` the referee's end, `player_end` the
player's, `configs` what the course's programs read; `link` and `joining` put them on a network.
"""
