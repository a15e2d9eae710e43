"""The protocol of the course CS4500 (Fall 2023) for the Q game: remote calls as JSON values over TCP, without frames.

protocol/CS4500.md describes it. `forms` has its data, `conversation` the referee's end, `player_end` the player's end,
and `configs` the input of the course's programs. `link` and `joining` connect them to a network.
"""
