"""Sign-up: who is seated, who is refused and why, and when sign-up ends."""

import hashlib

import pytest
from twisted.internet.task import Clock

from protocol.limits import PROTOCOL_VERSION
from protocol.messages import Hello, Refused, Welcome
from referee.net.links.lobby import HELLO_S, Absence, MatchLobby, SignUpPolicy
from referee.net.links.origin_limits import MOST_IN_ALL, MOST_OF_ORIGIN
from referee.net.links.reserved_seats import ReservedSeats

from ..wires import Peer, fired

WELCOME = Welcome(version=PROTOCOL_VERSION, referee="referee")
POLICY = SignUpPolicy(min_players=2, max_players=3, wait_s=20.0, tries=2)


class SignUpRoom:
    """An open lobby on a test's clock."""

    def __init__(self, policy: SignUpPolicy = POLICY) -> None:
        self.clock = Clock()
        self.changes: list[list[str]] = []
        self.lobby = MatchLobby(self.clock, policy, on_change=self.changes.append)
        self.result = fired(self.lobby.done)

    def enter(self, name: str) -> Peer:
        """Let a player in, which must be welcomed."""
        peer = Peer(self.lobby, self.clock)
        assert peer.hello(name) == [WELCOME]
        return peer

    @property
    def names(self) -> list[str] | None:
        """The names with which sign-up ended; None while it goes on."""
        return [link.name for link in self.result[0]] if self.result else None


def test_the_last_seat_ends_the_wait_at_once() -> None:
    """Sign-up ends with `max_players` players, who are seated in order of arrival."""
    room = SignUpRoom()
    for name in ("carl", "ada", "bob"):
        assert room.names is None
        room.enter(name)
    assert room.names == ["carl", "ada", "bob"]
    assert room.changes == [["carl"], ["carl", "ada"], ["carl", "ada", "bob"]]
    assert room.clock.getDelayedCalls() == []


@pytest.mark.parametrize(
    ("arrivals", "ends_after_s", "names"),
    [
        ([0, 0], 20, ["p0", "p1"]),
        ([19, 0], 20, ["p0", "p1"]),
        ([0, 25], 40, ["p0", "p1"]),
        ([30, 5], 40, ["p0", "p1"]),
        ([5], 40, ["p0"]),
        ([], 40, []),
    ],
)
def test_waiting_periods(arrivals: list[int], ends_after_s: int, names: list[str]) -> None:
    """A period with enough players is the last. The players of a period with too few stay for the next."""
    room = SignUpRoom()
    for number, gap in enumerate(arrivals):
        room.clock.pump([1.0] * gap)
        room.enter(f"p{number}")
    room.clock.pump([1.0] * (ends_after_s - sum(arrivals) - 1) + [0.999])
    assert room.names is None
    room.clock.advance(0.002)
    assert room.names == names


@pytest.mark.parametrize(
    ("arrivals", "ends_after_s", "names"),
    [
        ([0, 0], 20, ["p0", "p1"]),
        ([0, 0, 0], 40, ["p0", "p1"]),
        ([0, 0, 0, 30], 30, ["p0", "p1", "p2", "p3"]),
        ([0, 25, 0], 40, ["p0", "p1"]),
    ],
)
def test_a_number_that_can_not_play_waits(arrivals: list[int], ends_after_s: int, names: list[str]) -> None:
    """If three can't play, they wait for a fourth; without one, the third is sent that sign-up is over."""
    room = SignUpRoom(SignUpPolicy(min_players=2, max_players=4, step=2, wait_s=20.0, tries=2))
    peers = []
    for number, gap in enumerate(arrivals):
        room.clock.pump([1.0] * gap)
        assert room.names is None
        peers.append(room.enter(f"p{number}"))
    room.clock.pump([1.0] * (ends_after_s - sum(arrivals)))
    assert room.names == names
    refused = [b"sign-up is over, and the match is played by 2" in peer.wire.written for peer in peers]
    assert refused == [not peer.is_open for peer in peers] == [number >= len(names) for number in range(len(peers))]


def test_a_name_that_is_taken_is_refused() -> None:
    """Names are unique; the first player keeps the name."""
    room = SignUpRoom()
    room.enter("ada")
    second = Peer(room.lobby, room.clock)
    assert second.hello("ada") == [Refused(code="name-taken", reason="there is a player named ada already")]
    assert not second.is_open


def test_who_leaves_frees_its_seat_and_its_name() -> None:
    """A player that leaves during sign-up is forgotten."""
    room = SignUpRoom()
    room.enter("ada").wire.drop()
    room.enter("ada")
    assert room.changes == [["ada"], [], ["ada"]]


def test_a_silent_connection_is_closed() -> None:
    """A connection that sends no hello in time is closed with a message, and no other is affected."""
    room = SignUpRoom()
    silent = Peer(room.lobby, room.clock)
    room.enter("ada")
    room.clock.advance(HELLO_S + 0.01)
    assert not silent.is_open
    room.clock.pump([1.0] * 40)
    assert room.names == ["ada"]


def test_dripping_a_hello_does_not_extend_the_time_for_it() -> None:
    """Bytes of an incomplete hello do not extend the limit."""
    room = SignUpRoom()
    peer = Peer(room.lobby, room.clock)
    for byte in peer.connection.send(Hello(version=PROTOCOL_VERSION, name="ada"))[:10]:
        peer.raw(bytes([byte]))
        room.clock.advance(HELLO_S / 9)
    assert not peer.is_open


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\0\0\0\x01\xc1", "not-msgpack"),
        (b"\xff\xff\xff\xff", "oversize"),
        (b"GET / HTTP/1.1\r\n\r\n", "oversize"),
    ],
)
def test_what_is_no_player_is_told_why(data: bytes, code: str) -> None:
    """A player that breaks the protocol during sign-up is refused with the code."""
    room = SignUpRoom()
    peer = Peer(room.lobby, room.clock)
    peer.raw(data)
    assert code.encode() in peer.wire.written
    assert not peer.is_open
    assert room.changes == []


def test_another_version_is_refused() -> None:
    """A client of another version is sent the version that the referee speaks."""
    room = SignUpRoom()
    peer = Peer(room.lobby, room.clock)
    peer.say(Hello(version=PROTOCOL_VERSION + 1, name="ada"))
    assert [getattr(message, "code", None) for message in peer.heard()] == ["version"]


def test_a_player_that_talks_after_its_welcome_loses_its_seat() -> None:
    """No message may come between the welcome and the match."""
    room = SignUpRoom()
    peer = room.enter("ada")
    peer.raw(b"\0\0\0\x01\xc1")
    assert not peer.is_open
    assert room.changes == [["ada"], []]


class Reserved:
    """A lobby with two tokens on a test's clock."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.lobby = ReservedSeats(self.clock, ["token-a", "token-b"], 30.0)
        self.result = fired(self.lobby.done)


def test_a_token_decides_the_seat() -> None:
    """The token decides the seat, not the arrival or the name."""
    room = Reserved()
    late, early = Peer(room.lobby, room.clock), Peer(room.lobby, room.clock)
    assert early.hello("same", "token-b") == [WELCOME]
    assert late.hello("same", "token-a") == [WELCOME]
    assert room.result == [[late.link, early.link]]
    assert room.clock.getDelayedCalls() == []


@pytest.mark.parametrize("token", [None, "", "token-c", "token-aa", "täken"])
def test_a_wrong_token_is_refused(token: str | None) -> None:
    room = Reserved()
    peer = Peer(room.lobby, room.clock)
    assert [getattr(message, "code", None) for message in peer.hello("ada", token)] == ["token"]
    assert not peer.is_open


def test_a_token_seats_one_connection_only() -> None:
    """A second connection with the same token is refused; the first one stays."""
    room = Reserved()
    first, second = Peer(room.lobby, room.clock), Peer(room.lobby, room.clock)
    first.hello("ada", "token-a")
    assert [getattr(message, "code", None) for message in second.hello("ada", "token-a")] == ["seat-taken"]
    assert first.is_open


def test_seats_that_nobody_takes_stay_vacant() -> None:
    """The start-up limit ends the wait, with the reason for every empty seat."""
    room = Reserved()
    peer = Peer(room.lobby, room.clock)
    peer.hello("ada", "token-b")
    room.clock.advance(30.01)
    assert room.result == [[None, peer.link]]
    assert room.lobby.vacancies == {0: Absence(detail="not connected within 30 s")}


def test_a_program_that_ended_is_not_waited_for() -> None:
    """If such a seat is given up, the match begins before the start-up limit."""
    room = Reserved()
    peer = Peer(room.lobby, room.clock)
    peer.hello("ada", "token-b")
    room.lobby.give_up(0, "exit status 3")
    assert room.result == [[None, peer.link]]
    assert room.lobby.vacancies == {0: Absence(detail="exit status 3")}


# --- many connections


def test_too_many_of_an_address_push_out_their_oldest() -> None:
    """A silent connection makes way for the next of its address; other addresses are not affected."""
    room = SignUpRoom()
    elsewhere = Peer(room.lobby, room.clock, "192.0.2.7")
    silent = [Peer(room.lobby, room.clock) for _ in range(MOST_OF_ORIGIN + 1)]
    room.clock.advance(0)
    room.enter("ada")
    assert not silent[0].is_open
    assert all(peer.is_open for peer in [*silent[1:], elsewhere])


def test_who_was_refused_and_does_not_go_makes_way_too() -> None:
    """Each open connection costs a file, whatever it has sent."""
    room = SignUpRoom()
    refused = [Peer(room.lobby, room.clock) for _ in range(MOST_OF_ORIGIN)]
    for peer in refused:
        peer.wire.is_slow = True
        peer.raw(b"\xff\xff\xff\xff")
    silent = Peer(room.lobby, room.clock)
    room.clock.advance(0)
    assert [peer.wire.is_cut for peer in refused] == [True] + [False] * (MOST_OF_ORIGIN - 1)
    assert silent.is_open


def test_too_many_in_all_push_out_the_oldest() -> None:
    """There is a limit on all connections that wait for their hello, from however many addresses."""
    room = SignUpRoom()
    silent = [Peer(room.lobby, room.clock, f"192.0.2.{number}") for number in range(MOST_IN_ALL + 3)]
    room.clock.advance(0)
    assert [peer.is_open for peer in silent] == [False] * 3 + [True] * MOST_IN_ALL


def test_who_came_in_a_crowd_is_heard_first() -> None:
    """If many players connect at once, their unread hellos are read before anybody is pushed out."""
    room = SignUpRoom()
    crowd = [Peer(room.lobby, room.clock) for _ in range(2 * MOST_OF_ORIGIN)]
    assert crowd[0].hello("ada") == [WELCOME]
    room.clock.advance(0)
    assert crowd[0].is_open
    assert sum(peer.is_open for peer in crowd[1:]) == MOST_OF_ORIGIN


def test_who_has_said_hello_is_not_pushed_out() -> None:
    """A flood of connections costs no player its seat."""
    room = SignUpRoom()
    ada = room.enter("ada")
    for _ in range(2 * MOST_IN_ALL):
        Peer(room.lobby, room.clock)
    room.clock.advance(0)
    assert ada.is_open
    room.enter("bob")
    room.clock.advance(20.0)
    assert room.names == ["ada", "bob"]


# --- players with tokens

TOKENS = {"ada": "a" * 64, "bob": "b" * 64, "carl": "c" * 64}


class KnownRoom(SignUpRoom):
    """A lobby for players with a token."""

    def __init__(self) -> None:
        super().__init__()
        hashes = {name: hashlib.sha256(token.encode()).hexdigest() for name, token in TOKENS.items()}
        self.lobby = MatchLobby(self.clock, POLICY, hashes, on_change=self.changes.append)
        self.result = fired(self.lobby.done)


def test_a_token_names_its_player_and_its_seat() -> None:
    """Its own name and the time of its arrival do not count."""
    room = KnownRoom()
    for name in ("carl", "ada", "bob"):
        assert Peer(room.lobby, room.clock).hello("x", TOKENS[name]) == [WELCOME]
    assert room.names == ["ada", "bob", "carl"]


@pytest.mark.parametrize("token", [None, "", "a", "a" * 63, "a" * 65, "A" * 64, "0" * 64])
def test_without_a_token_nobody_is_seated(token: str | None) -> None:
    """A known name does not help, and a wrong guess is sent no hint."""
    room = KnownRoom()
    assert Peer(room.lobby, room.clock).hello("ada", token) == [
        Refused(code="token", reason="the token is not one of the organiser's")
    ]


def test_the_same_token_again_takes_the_place_of_the_first() -> None:
    """The older connection may be dead, and the token identifies the player."""
    room = KnownRoom()
    first, second = Peer(room.lobby, room.clock), Peer(room.lobby, room.clock)
    first.hello("ada", TOKENS["ada"])
    assert second.hello("ada", TOKENS["ada"]) == [WELCOME]
    assert [getattr(message, "code", None) for message in first.heard()] == ["replaced"]
    assert (first.is_open, second.is_open) == (False, True)
    Peer(room.lobby, room.clock).hello("bob", TOKENS["bob"])
    room.clock.advance(20.0)
    assert room.names == ["ada", "bob"]


def test_who_was_replaced_and_does_not_go_makes_way_too() -> None:
    """A token that comes again and again opens no more connections than a stranger may."""
    room = KnownRoom()
    peers = []
    for _ in range(MOST_OF_ORIGIN + 1):
        peers.append(Peer(room.lobby, room.clock))
        peers[-1].wire.is_slow = True
        peers[-1].hello("ada", TOKENS["ada"])
    room.clock.advance(0)
    assert [peer.wire.is_cut for peer in peers] == [True] + [False] * MOST_OF_ORIGIN
