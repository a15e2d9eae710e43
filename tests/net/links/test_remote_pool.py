"""The pool of a tournament: remote entrants come with tokens, wait, play matches, and return into them."""

import hashlib

import pytest
from twisted.internet.task import Clock

from protocol.limits import PROTOCOL_VERSION
from protocol.messages import End, Offer, Refused, TimeControl, Welcome
from referee.net.links.player_protocol import PlayerLink
from referee.net.links.reserved_seats import RemotePool

from ..wires import Peer

WELCOME = Welcome(version=PROTOCOL_VERSION, referee="referee")
OFFER = Offer(
    match="m1",
    game="q",
    options={},
    seat=0,
    names=["ada", "bob"],
    time=TimeControl(per_move_ms=6000.0, start_ms=30_000.0, bank_ms=None, increment_ms=0.0),
    teams=[],
    lot=False,
    acknowledge=False,
    commitment="0" * 64,
    nonces=True,
    resume="t",
)
END = End(
    match="m1",
    winners=[0],
    ranking=[[0], [1]],
    scores=[0, 0],
    void=None,
    seed="0" * 64,
    nonces=[None, None],
    head="0" * 64,
)


class Missing:
    """A match that waits for one player."""

    def __init__(self, token: str, name: str) -> None:
        self._token = token
        self._name = name
        self.back: list[tuple[int, PlayerLink]] = []

    def find_seat(self, token: str | None, name: str | None) -> int | None:
        """Return the seat of the player."""
        return 1 if name == self._name or token == self._token else None

    def take_back(self, seat: int, link: PlayerLink) -> None:
        """Store the player that came back."""
        self.back.append((seat, link))


class Evening:
    """A pool on a test's clock, for ada and bob."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.changes = 0
        hashes = {name: hashlib.sha256(f"token of {name}".encode()).hexdigest() for name in ("ada", "bob")}
        self.pool = RemotePool(self.clock, hashes, self._changed)

    def _changed(self) -> None:
        self.changes += 1

    def enter(self, name: str) -> Peer:
        """Let an entrant come."""
        peer = Peer(self.pool, self.clock)
        assert peer.hello("anything", f"token of {name}") == [WELCOME]
        return peer


@pytest.fixture
def evening() -> Evening:
    """Return a pool that nobody has come to."""
    return Evening()


def test_a_token_tells_the_name(evening: Evening) -> None:
    """A player waits under its entrant's name, whatever it calls itself, until a match takes it."""
    peer = evening.enter("ada")
    assert (evening.pool.is_here("ada"), evening.pool.is_here("bob"), evening.changes) == (True, False, 1)
    assert evening.pool.acquire("ada") is peer.link
    assert (peer.link.name, evening.pool.is_here("ada")) == ("ada", False)


@pytest.mark.parametrize("token", [None, "", "token of carl"])
def test_strangers_are_refused(evening: Evening, token: str | None) -> None:
    """Without an entrant's token nobody can wait."""
    peer = Peer(evening.pool, evening.clock)
    refusal = Refused(code="token", reason="the token belongs to no entrant of this tournament")
    assert peer.hello("ada", token) == [refusal]
    assert (peer.is_open, evening.changes) == (False, 0)


def test_the_newer_connection_takes_the_place(evening: Evening) -> None:
    """A new connection replaces the older one, which may be dead."""
    older, newer = evening.enter("ada"), evening.enter("ada")
    assert (older.is_open, newer.is_open) == (False, True)
    assert [getattr(message, "code", None) for message in older.heard()] == ["replaced"]
    assert evening.pool.acquire("ada") is newer.link


def test_who_leaves_is_not_here(evening: Evening) -> None:
    """An entrant that disconnects while it waits is gone, and this is reported."""
    evening.enter("ada").wire.drop()
    assert (evening.pool.is_here("ada"), evening.changes) == (False, 2)


def test_after_a_match_a_player_waits_for_the_next(evening: Evening) -> None:
    """A connection whose match ended waits again; a connection that broke off does not."""
    peer = evening.enter("ada")
    for _ in range(2):
        link = evening.pool.acquire("ada")
        link.send(OFFER)
        link.send(END)
        evening.pool.release(link)
        assert evening.pool.is_here("ada")
    evening.pool.acquire("ada").send(OFFER)
    evening.pool.release(peer.link)
    assert (evening.pool.is_here("ada"), peer.is_open) == (False, False)


def test_a_launched_program_is_let_go(evening: Evening) -> None:
    """A program that is no remote entrant does not wait in the pool after its match; it must end by itself."""
    peer = evening.enter("ada")
    link = evening.pool.acquire("ada")
    link.name = "greedy"
    evening.pool.release(link)
    assert (evening.pool.is_here("greedy"), peer.is_open) == (False, False)


def test_a_spare_connection_goes_before_the_one_that_comes_back(evening: Evening) -> None:
    """A player that connected again during its match continues with the new connection."""
    first = evening.enter("ada")
    link = evening.pool.acquire("ada")
    second = evening.enter("ada")
    evening.pool.release(link)
    assert (first.is_open, evening.pool.acquire("ada") is second.link) == (False, True)


@pytest.mark.parametrize("token", ["resume", "token of bob"])
def test_a_lost_player_comes_back_into_its_match(evening: Evening, token: str) -> None:
    """Both the resume token of the match and its own token lead it into the match, so it does not wait."""
    match = Missing("resume", "bob")
    evening.pool.playing["m1"] = match
    peer = Peer(evening.pool, evening.clock)
    assert peer.hello("bob", token) == [WELCOME]
    assert match.back == [(1, peer.link)]
    assert (peer.link.name, evening.pool.is_here("bob")) == ("bob", False)


def test_the_end_sends_everybody_home(evening: Evening) -> None:
    """A closed pool disconnects all players, and accepts none."""
    peer = evening.enter("ada")
    evening.pool.close()
    assert (peer.is_open, evening.pool.is_here("ada")) == (False, False)
    late = Peer(evening.pool, evening.clock)
    assert late.hello("bob", "token of bob") == [Refused(code="closed", reason="sign-up is over")]
