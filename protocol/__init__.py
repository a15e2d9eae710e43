"""The wire between a referee and a player program: the package that the author of a player reads.

    >>> from protocol import Connection, Role
    >>> Connection(Role.PLAYER).state
    <ConnectionState.NEW: 'new'>

SPEC.md describes the wire for all languages; vectors.json pairs messages with bytes, and seeds with decks.

- client: a ready client, `run(choose)`
- connection: which message may follow which
- messages: one struct per message
- decoding, frames: bytes to messages
- deal: the promises that a player can hold the referee to
- limits, errors, address: numbers, codes, and where to connect
"""

from .connection import Connection, ConnectionState, Need, Role
from .errors import Code, LocalProtocolError, RemoteProtocolError

__all__ = ["Code", "Connection", "ConnectionState", "LocalProtocolError", "Need", "RemoteProtocolError", "Role"]
