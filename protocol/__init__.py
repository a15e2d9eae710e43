"""The protocol ("the wire") between a referee and a player program, for authors of players.

    >>> from protocol import Connection, Role
    >>> Connection(Role.PLAYER).state
    <ConnectionState.NEW: 'new'>

SPEC.md describes the wire for all languages; vectors.json pairs messages with bytes, and seeds with decks.

- client: a ready client, `run(choose)`
- connection: which message may follow which
- messages: one struct per message
- decoding, frames: bytes to messages
- deal: checks whether the referee has kept its promises
- limits, errors, address: numbers, codes, and where to connect
"""

from .connection import Connection, ConnectionState, Need, Role
from .errors import Code, LocalProtocolError, RemoteProtocolError

__all__ = ["Code", "Connection", "ConnectionState", "LocalProtocolError", "Need", "RemoteProtocolError", "Role"]
