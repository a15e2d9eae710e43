"""Each limit of the wire, with its reason.

>>> MAX_FRAME_FROM_PLAYER_BYTES, MAX_DEPTH
(65536, 16)
"""

# A limit is there for one of two reasons. Either it bounds the memory and the time that a hostile peer can cost
# (frames, unread bytes, depth, items), or it keeps something readable for people (names, evidence). None is a tuning
# knob: both sides rely on them, so to change one is to change the version of the wire.

PROTOCOL_VERSION = 1
"""Counts up when an old client could no longer play."""

PREFIX_BYTES = 4
"""Length of a frame's prefix: one unsigned 32-bit integer, big-endian."""

MAX_FRAME_FROM_PLAYER_BYTES = 64 * 1024
"""A move of the largest game is under 4 KiB (a hand of 117 tiles laid at once); 64 KiB is what one read of a socket
gives at most. Precedents: ACPC 4096 bytes a line; AI Arena 32 MiB a frame; LineReceiver 16 KiB."""

MAX_FRAME_FROM_REFEREE_BYTES = 4 * 1024 * 1024
"""A view of the Q game with all 1080 tiles on the map is about 20 KiB; a client is generous to later games."""

MAX_UNASKED_BYTES = 4096
"""The longest body of a frame while nothing is asked of the player. It is not 0, because a verdict names a whole
message where there is one, and between matches a last answer may be under way; a move is rarely longer than this."""

MAX_UNREAD_BYTES = 8 * 1024 * 1024
"""Most bytes that a player may leave unread, besides those in the buffers of the systems between: two of the largest
frames. A player that reads nothing would otherwise fill the referee's memory, one view after the other."""

MAX_DEPTH = 16
"""Arrays and maps within one another. The deepest message of this protocol has 6 levels."""

MAX_STRING_BYTES = 4096
"""The longest string of this protocol is an expulsion's evidence in hex (twice MAX_EVIDENCE_BYTES)."""

MAX_ITEMS = 4096
"""Items of one array or pairs of one map. The longest array is a map of 1080 tiles; the rest is room. Not more, because
msgpack makes room for what a header announces: a thousand such headers within one another cost 32 MiB and 60 ms."""

MAX_EVIDENCE_BYTES = 2000
"""Most bytes of an offending frame in an expulsion: enough to recognise it. The record has the whole frame."""

MAX_NAME_CHARS = 20
"""A table has room for a dozen of them; as many as in CS4500."""

NAME_PATTERN = rf"^[a-zA-Z0-9][a-zA-Z0-9_-]{{0,{MAX_NAME_CHARS - 1}}}$(?!\n)"
"""A player's name: safe in file names, tables and JSON, and on a command line, where it never looks like an option.
Python's `$` also matches before a line feed at the end. The last group excludes that, in all patterns of the wire."""

MAX_TOKEN_CHARS = 128
"""A token is 32 random bytes in hex; twice that is room."""

NAME_FORM = f"1 to {MAX_NAME_CHARS} ASCII letters, digits, - and _, the first one a letter or digit"
"""NAME_PATTERN in words."""

NONCE_PATTERN = r"^[0-9a-f]{32}$(?!\n)"
"""16 random bytes in hex: enough that nobody guesses it, short enough to read aloud."""
