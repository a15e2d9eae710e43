"""Limits outside of matches: there, too, a standstill of the referee is nobody's fault."""

import pytest
from twisted.internet.task import Clock

from protocol.limits import PROTOCOL_VERSION
from protocol.messages import Hello, Welcome
from referee.match.timekeeper import MAX_EXTENSIONS
from referee.net.event_loop import BEAT_S, EventLoop
from referee.net.links.lobby import HELLO_S, Absence, MatchLobby, Patience, SignUpPolicy
from referee.net.links.origin_limits import STORM
from referee.net.links.reserved_seats import ReservedSeats

from ..in_memory import OpenMatch
from ..matches.test_stopwatch import Turns
from ..wires import Peer, fired

START_S = 30.0
STANDSTILL_S = 32.0
MARGIN_MS = 250.0


class Loop:
    """A loop that beats, and that stands still when a test wants it."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.loop = EventLoop(self.clock, self.clock.seconds)
        self.loop.lag.start()
        self.patience = Patience(self.clock, self.loop, MARGIN_MS)

    def run(self, seconds: float) -> None:
        """Let the loop beat undisturbed."""
        self.clock.pump([BEAT_S] * round(seconds / BEAT_S))

    def stall(self, seconds: float) -> None:
        """Let time pass within one turn of the loop."""
        self.clock.advance(seconds)


@pytest.fixture
def loop() -> Loop:
    """Return a loop that has beaten for a while."""
    loop = Loop()
    loop.run(0.1)
    return loop


def test_a_limit_that_nothing_disturbs(loop: Loop) -> None:
    """It passes once when it is due; a cancelled limit never does."""
    passed: list[str] = []
    loop.patience.wait(1.0, passed.append, "late")
    called_off = loop.patience.wait(1.0, passed.append, "called off")
    called_off.cancel()
    called_off.cancel()
    loop.run(0.99)
    assert passed == []
    loop.run(2.0)
    assert passed == ["late"]


def test_after_a_standstill_the_limit_is_given_again(loop: Loop) -> None:
    """That happens at most twice, however often the referee stands still."""
    passed: list[bool] = []
    loop.patience.wait(1.0, passed.append, True)
    for _ in range(MAX_EXTENSIONS):
        loop.run(0.1)
        loop.stall(1.5)
        assert passed == []
    loop.run(0.1)
    loop.stall(1.5)
    assert passed == [True]


def test_a_standstill_up_to_the_margin_excuses_nobody(loop: Loop) -> None:
    """A deadline may be wrong by that much anyway."""
    passed: list[bool] = []
    loop.patience.wait(1.0, passed.append, True)
    loop.run(0.5)
    loop.stall(MARGIN_MS / 1000)
    loop.run(0.3)
    assert passed == [True]


def test_no_standstill_excuses_who_storms(loop: Loop) -> None:
    """Its own limit passes; the limits of others begin again."""
    passed: list[str] = []
    for origin in ("rogue", "honest"):
        loop.patience.wait(1.0, passed.append, origin, origin=origin)
    for _ in range(2 * STORM):
        loop.loop.lag.storms.count("rogue")
    loop.run(0.1)
    loop.stall(1.0)
    assert passed == ["rogue"]


# --- in the lobby


def test_a_standstill_while_programs_start_leaves_no_seat_vacant(loop: Loop) -> None:
    """Players that connected during the standstill are seated as soon as the referee looks."""
    lobby = ReservedSeats(loop.clock, ["token-a", "token-b"], START_S, patience=loop.patience)
    seated = fired(lobby.done)
    loop.run(1.0)
    loop.stall(STANDSTILL_S)
    assert seated == []
    peers = [Peer(lobby, loop.clock) for _ in range(2)]
    for peer, token in zip(peers, ("token-a", "token-b"), strict=True):
        peer.hello("p", token)
    assert seated == [[peer.link for peer in peers]]
    assert lobby.vacancies == {}


def test_a_program_that_never_comes_is_missed_all_the_same(loop: Loop) -> None:
    """After a standstill it gets its limit once more, and that limit counts."""
    lobby = ReservedSeats(loop.clock, ["token-a"], START_S, patience=loop.patience)
    seated = fired(lobby.done)
    loop.stall(STANDSTILL_S)
    loop.run(START_S - 0.1)
    assert seated == []
    loop.run(0.2)
    assert seated == [[None]]
    assert lobby.vacancies == {0: Absence(detail="not connected within 30 s")}


def test_a_hello_that_lay_in_the_socket_is_heard(loop: Loop) -> None:
    """A player that said hello during the standstill was not silent."""
    lobby = MatchLobby(loop.clock, SignUpPolicy(), patience=loop.patience)
    peer = Peer(lobby, loop.clock)
    loop.run(1.0)
    loop.stall(HELLO_S)
    assert peer.hello("ada") == [Welcome(version=PROTOCOL_VERSION, referee="referee")]


@pytest.mark.parametrize("speaks", [True, False])
def test_sockets_are_read_before_anybody_is_turned_away(*, speaks: bool) -> None:
    """Even after a short standstill, the sockets are read when a limit has passed."""
    clock = Turns()
    lobby = MatchLobby(clock, SignUpPolicy())
    peer = Peer(lobby, clock)
    data = peer.connection.send(Hello(version=PROTOCOL_VERSION, name="ada"))
    clock.advance(HELLO_S + 0.1)
    if speaks:
        peer.raw(data)  # it was in the socket in the meantime
    for _ in range(5):
        clock.advance(0.001)
    assert peer.is_open == speaks


def test_a_standstill_ends_no_sign_up(loop: Loop) -> None:
    """Players can still sign up that wanted to during the standstill."""
    lobby = MatchLobby(loop.clock, SignUpPolicy(wait_s=20.0, tries=1), patience=loop.patience)
    done = fired(lobby.done)
    loop.run(1.0)
    loop.stall(STANDSTILL_S)
    assert done == []
    for name in ("ada", "bob"):
        Peer(lobby, loop.clock).hello(name)
    loop.run(20.1)
    assert [[link.name for link in links] for links in done] == [["ada", "bob"]]


def test_a_standstill_ends_no_absence(open_match: OpenMatch) -> None:
    """A lost player may return within its limit; the referee's standstill does not count."""
    running = open_match(come_back_s=0.5)
    running.ready()
    running.peers[1].wire.drop()
    running.run(0.1)
    running.clock.advance(0.6)
    assert running.fouls() == []
    running.run(0.52)
    assert [seat for seat, _ in running.fouls()] == [0, 1]
