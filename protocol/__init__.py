"""The wire between a referee and a player program: what the author of a player reads.

SPEC.md says it in words, independent of any language; vectors.json pairs messages with bytes, and seeds with decks.
`messages` holds the typed messages, `connection` the order in which they may come, `fairness` what a player can hold
the referee to, `client` a ready client: `run(choose)`.
"""

from .connection import Connection, ConnectionState, Need, Role
from .errors import Code, LocalProtocolError, RemoteProtocolError

__all__ = ["Code", "Connection", "ConnectionState", "LocalProtocolError", "Need", "RemoteProtocolError", "Role"]
