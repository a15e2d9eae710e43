"""Wires that other people's players speak already. Each makes its bytes into the messages of protocol, and back.

A dialect is a connection class beside the msgpack one, and nothing behind the connection knows of it: the lobby, the
fold, records and audits are the same.
"""

from msgspec import Struct
from msgspec.structs import replace

from ..net.links.player_protocol import LinkKind
from ..net.matches.settings import TableSettings
from .cs4500.conversation import NAME_PATTERN
from .cs4500.link import CourseLink


class Dialect(Struct, frozen=True, kw_only=True):
    """What an organiser chooses by a dialect's name."""

    game: str
    """The one game that it can speak of."""
    kind: LinkKind
    name_pattern: str
    """Of the names that its players may have."""

    def settle(self, settings: TableSettings) -> TableSettings:
        """Return the settings of a table at which this dialect is spoken: every call of it is answered."""
        return replace(settings, kind=self.kind, acknowledge=True)


DIALECTS = {"cs4500": Dialect(game="q", kind=CourseLink, name_pattern=NAME_PATTERN)}
"""By name."""
