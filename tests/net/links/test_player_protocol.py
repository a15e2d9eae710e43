"""The end of a link: what was said last is sent before it is cut, however long the loop stood still."""

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from referee.net.links.lobby import Door
from referee.net.links.player_protocol import CLOSE_S, PlayerLink

from ..wires import Peer, fired

STANDSTILL_S = 3 * CLOSE_S


class Open(Door):
    """A door that takes everybody, and seats nobody."""

    def refusal(self, link: PlayerLink) -> tuple[str, str] | None:
        """Take everybody."""

    def seated(self, link: PlayerLink) -> None:
        """Have no table for it."""

    def left(self, link: PlayerLink) -> None:
        """Keep nothing of anybody."""


def closing_peer(clock: Clock) -> Peer:
    """Return a peer that was told goodbye, whose connection is still to close."""
    peer = Peer(Open(clock), clock)
    peer.wire.is_slow = True
    peer.link.say_goodbye()
    return peer


def test_a_standstill_cuts_nobody() -> None:
    """The time to read begins when the loop gets to send: until then there was nothing to read."""
    clock = Clock()
    peer = closing_peer(clock)
    clock.advance(STANDSTILL_S)
    assert not peer.wire.is_cut


def test_who_does_not_read_is_cut() -> None:
    """It has its time, and no more."""
    clock = Clock()
    peer = closing_peer(clock)
    clock.advance(0)
    clock.advance(CLOSE_S * 0.99)
    assert not peer.wire.is_cut
    clock.advance(CLOSE_S * 0.02)
    assert peer.wire.is_cut


def test_who_closes_in_time_leaves_no_timer() -> None:
    """A connection that ended needs no cutting, before its time began or after."""
    for seconds in (0.0, CLOSE_S / 2):
        clock = Clock()
        peer = closing_peer(clock)
        clock.advance(seconds)
        peer.wire.drop()
        clock.advance(STANDSTILL_S)
        assert not peer.wire.is_cut


def test_who_was_told_goodbye_is_waited_for_until_it_is_gone() -> None:
    """It reads and closes, or is cut; who was told nothing is not waited for."""
    for leaves in (True, False):
        clock = Clock()
        peer = closing_peer(clock)
        gone = fired(Deferred.fromCoroutine(peer.link.closed()))
        clock.advance(0)
        assert gone == []
        if leaves:
            peer.wire.drop()
        else:
            clock.advance(CLOSE_S)
        assert gone == [None]
    staying = Peer(Open(clock), clock)
    assert fired(Deferred.fromCoroutine(staying.link.closed())) == [None]
