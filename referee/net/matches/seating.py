"""Who has come to play a match, and where each sits."""

from collections.abc import Sequence

from msgspec import Struct
from twisted.internet.defer import Deferred

from protocol import ConnectionState

from ...match.machine import Match
from ..links.addresses import Ports
from ..links.player_protocol import PlayerLink
from ..links.reserved_seats import ReservedSeats
from .programs import MatchPrograms, Occupant
from .settings import MatchSettings


class Gathered(Struct, frozen=True):
    """Those who came to play a match, and what they came through."""

    links: Sequence[PlayerLink | None]
    """By seat; None where nobody has come."""
    lobby: ReservedSeats
    programs: MatchPrograms
    ports: Ports

    @property
    def is_whole(self) -> bool:
        """Whether all are there, and have said nothing but hello."""
        return all(
            link is not None and link.is_connected and link.connection.state is ConnectionState.IDLE
            for link in self.links
        )

    def missing(self, match: Match, occupants: Sequence[Occupant]) -> str | None:
        """Return which program did not come back into a match that was taken up, and why; None if all are there."""
        seats = [seat for seat in sorted(self.lobby.vacancies) if occupants and not match.is_out(seat)]
        return f"{match.setup.names[seats[0]]}: {self.lobby.vacancies[seats[0]].detail}" if seats else None

    async def stopped_until(self, opened: "Deferred[MatchSettings]") -> MatchSettings:
        """Let programs wait until their match is opened; they can't think meanwhile, nor be in others' way."""
        self.programs.stop()
        try:
            return await opened
        except BaseException:
            self.dismiss()
            raise
        finally:
            self.programs.go_on()

    def dismiss(self) -> None:
        """Send all away."""
        for link in self.links:
            if link is not None:
                link.say_goodbye()


def places(given: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return by seat which of the players sits there; those of equal names in the order given.

    Args:
        given: the players' names.
        names: by seat.
    """
    rest = list(range(len(given)))
    return [rest.pop(next(index for index, place in enumerate(rest) if given[place] == name)) for name in names]
