"""The limits of the protocol, each with its reason.

>>> MAX_FRAME_FROM_PLAYER_BYTES, MAX_DEPTH
(65536, 16)
"""

# A limit is there for one of two reasons. Either it bounds the memory and the time that a hostile peer can cost
# (frames, unread bytes, depth, items), or it keeps something readable for people (names, evidence). None of them can be
# tuned: both sides rely on them, so a changed limit needs a new version of the protocol.

PROTOCOL_VERSION = 1
"""Number of the protocol; it changes when old clients can no longer play."""

PREFIX_BYTES = 4
"""Length of a frame's prefix: one unsigned 32-bit integer, big-endian."""

MAX_FRAME_FROM_PLAYER_BYTES = 64 * 1024
"""A move of the largest game is under 4 KiB (a hand of 117 tiles laid at once); one read of a socket returns at most 64
KiB. Precedents: ACPC 4096 bytes a line; AI Arena 32 MiB a frame; LineReceiver 16 KiB."""

MAX_FRAME_FROM_REFEREE_BYTES = 4 * 1024 * 1024
"""A view of the Q game with all 1080 tiles on the map is about 20 KiB; the limit leaves room for later games."""

MAX_UNASKED_BYTES = 4096
"""The longest body of a frame while no answer is due. It is not 0 for two reasons. A verdict shows the whole message if
it is short; and between matches, a last answer may be on its way. A move is rarely longer than this."""

MAX_UNREAD_BYTES = 8 * 1024 * 1024
"""Most bytes that a player may leave unread, not counting the systems' own buffers: two of the largest frames. A player
that reads nothing would otherwise fill the referee's memory, one view after the other."""

MAX_DEPTH = 16
"""Arrays and maps within one another. The deepest message of this protocol has 6 levels."""

MAX_STRING_BYTES = 4096
"""The longest string of this protocol is an expulsion's evidence in hex (twice MAX_EVIDENCE_BYTES)."""

MAX_ITEMS = 4096
"""Items of one array or pairs of one map. The longest array is a map of 1080 tiles; the rest is room. The limit is not
higher, because msgpack reserves memory as soon as a header announces items: a thousand nested headers cost 32 MiB and
60 ms."""

MAX_EVIDENCE_BYTES = 2000
"""Most bytes of an offending frame in an expulsion: enough to recognise it. The record has the whole frame."""

MAX_NAME_CHARS = 20
"""Short enough for tables with a dozen players; the same limit as in CS4500."""

NAME_PATTERN = rf"^[a-zA-Z0-9][a-zA-Z0-9_-]{{0,{MAX_NAME_CHARS - 1}}}$(?!\n)"
"""A player's name: safe in file names, tables and JSON, and on a command line, where it never looks like an option.
Python's `$` also matches before a line feed at the end. The last group excludes that, in all patterns of the
protocol."""

MAX_TOKEN_CHARS = 128
"""A token is 32 random bytes in hex; twice that is room."""

NAME_FORM = f"1 to {MAX_NAME_CHARS} ASCII letters, digits, - and _, the first one a letter or digit"
"""NAME_PATTERN in words."""

NONCE_PATTERN = r"^[0-9a-f]{32}$(?!\n)"
"""16 random bytes in hex: enough that nobody guesses it, short enough to read aloud."""
