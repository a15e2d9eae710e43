"""The referee's end of a course player's connection on the network."""

from collections.abc import Callable

from protocol.messages import Message, Offer, Reveal

from ...clock import Clock
from ...net.links.player_protocol import Owner, PlayerLink
from .conversation import CourseConversation


class CourseLink(PlayerLink):
    """One course player's connection.

    Args:
        owner: who is told first.
        clock: the reactor, or a test's clock.
        now: monotonic seconds.
    """

    def __init__(self, owner: Owner, clock: Clock, now: Callable[[], float]) -> None:
        super().__init__(owner, clock, now, CourseConversation())

    def hold(self, message: Message) -> None:
        """Send a message soon; what no player answers, an offer or a reveal, is answered in the next turn of the loop.

        Raises:
            LocalProtocolError: it may not be sent now.
        """
        super().hold(message)
        if isinstance(message, Offer | Reveal):
            self._clock.callLater(0, self._accept)

    def expel(self, message: Message) -> None:
        """Read no more and say nothing, but close only when the match is over, as the course's referee does.

        A program may run all its players in one process, which ends when the first of their connections does: the
        others have done nothing.

        Args:
            message: has no word on this wire.
        """
        self.owner = None
        self.connection.close()
        if self.is_connected:
            self.left(self)
            self.transport.pauseProducing()

    def _accept(self) -> None:
        if self.is_connected:
            self.catch_up()
            self.deliver()
