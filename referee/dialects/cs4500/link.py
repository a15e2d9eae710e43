"""The referee's end of a course player's connection on the network."""

from collections.abc import Callable

from protocol.messages import Message, Offer, Reveal

from ...clock import Clock
from ...net.links.player_protocol import Owner, PlayerLink
from .conversation import CourseConversation


class CourseLink(PlayerLink):
    """One course player's connection.

    Args:
        owner: receives the first messages.
        clock: the reactor, or a test's clock.
        now: returns monotonic seconds.
    """

    def __init__(self, owner: Owner, clock: Clock, now: Callable[[], float]) -> None:
        super().__init__(owner, clock, now, CourseConversation())

    def hold(self, message: Message) -> None:
        """Send a message soon.

        Course players do not know `offer` and `reveal`: the conversation answers these itself, in the next turn of the
        loop.

        Raises:
            LocalProtocolError: the message may not be sent now.
        """
        super().hold(message)
        if isinstance(message, Offer | Reveal):
            # # Not at once: the match is in the middle of an event, and the answer is another event.
            self._clock.callLater(0, self._accept)

    def expel(self, message: Message) -> None:
        """Read no more and send nothing, but close only when the match is over, as the course's referee does.

        A program may run several players in one process that exits when the first connection closes. The other players
        have done nothing wrong.

        Args:
            message: not sent; the course has no such message.
        """
        # The player is expelled already. Its bytes are not read any more, but its socket stays open.
        self.owner = None
        self.connection.close()
        if self.is_connected:
            self.leave_reader(self)
            self.transport.pauseProducing()

    def _accept(self) -> None:
        if self.is_connected:
            self.catch_up()
            self.deliver()
