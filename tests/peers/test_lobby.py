"""Rogues in the lobby of a real table: strangers are refused, and the match goes on.

The tests cover events before a match and besides it; offences of seated players are elsewhere.
"""

import hashlib
import socket
import threading
from collections import deque
from collections.abc import Callable

import pytest

from protocol import Role
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, PROTOCOL_VERSION
from protocol.messages import Ack, Hello, Message, Move, Ready, Refused, Welcome
from referee.net.links.lobby import HELLO_S

from ..protocol.tables import BAD_FRAMES
from .match_server import MatchServer
from .offences_made import POSITION
from .rogues import Honest, Rogue, frame
from .test_offences import MAX_GROWTH_KIB

SEATS = 3
NAMES = ["ada", "bob", "cyd"]
TOKENS = {name: f"token of {name}" for name in NAMES}
HASHES = {name: hashlib.sha256(token.encode()).hexdigest() for name, token in TOKENS.items()}
CONNECTIONS = 2000
HELD = 200
"""Number of connections that are open at once at this end."""
_HELLO = frame(Hello(version=PROTOCOL_VERSION, name="rogue"))
_TLS = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


def seated(
    address: str,
    names: list[str] = NAMES,
    tokens: dict[str, str] | None = None,
    gate: threading.Event | None = None,
) -> list[Honest]:
    """Let honest players sign up, and play in threads; their first moves wait for the gate."""
    players = [Honest(address, name, token=None if tokens is None else tokens[name], gate=gate) for name in names]
    for player in players:
        player.start()
    return players


def unharmed(server: MatchServer, players: list[Honest]) -> None:
    """Wait until honest players have played a match to its end, and check that there was no foul."""
    for player in players:
        player.finish()
    outcome = server.outcome()
    assert outcome.record.header.setup.names == tuple(NAMES)
    assert outcome.fouls == []
    assert outcome.result.void is None
    assert server.grown_kib <= MAX_GROWTH_KIB


def refusal(rogue: Rogue) -> str | None:
    """Return the code with which a rogue is refused; None if there is no message."""
    last = rogue.last_words()
    return last.code if isinstance(last, Refused) else None


def test_bytes_that_are_no_hello_are_refused_with_their_code(server: MatchServer) -> None:
    """Every kind of bad bytes, one connection each: the author is sent the code, and sign-up goes on."""
    address = server.open("bad-bytes", "q", SEATS, position=POSITION)
    rows = [(data, str(code)) for _, role, data, code in BAD_FRAMES if role is Role.PLAYER and code != "truncated"]
    assert len(rows) > 40
    found = []
    for data, _ in rows:
        rogue = Rogue(address)
        rogue.send(data)
        found.append(refusal(rogue))
    assert [code for _, code in rows] == found
    unharmed(server, seated(address))


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("speaks HTTP", b"GET / HTTP/1.1\r\nHost: referee\r\n\r\n", "oversize"),
        ("speaks TLS", _TLS, "oversize"),
        ("speaks another version", frame(Hello(version=2, name="rogue")), "version"),
        ("takes a name that is taken", frame(Hello(version=PROTOCOL_VERSION, name="ada")), "name-taken"),
        ("says hello twice", _HELLO * 2, "out-of-turn"),
        ("says ready before an offer", _HELLO + frame(Ready(match="m", commitment="0" * 64)), "out-of-turn"),
        ("moves before an offer", _HELLO + frame(Move(match="m", turn=1, move=None)), "out-of-turn"),
        ("confirms before an offer", _HELLO + frame(Ack(match="m", ack=1)), "out-of-turn"),
        ("says ready first", frame(Ready(match="m", commitment="0" * 64)), "out-of-turn"),
        ("pours out garbage", b"\xff" * 999_999, "oversize"),
        ("pours out hellos", _HELLO * 9999, "out-of-turn"),
    ],
    ids=lambda cell: cell if isinstance(cell, str) else "",
)
def test_what_comes_at_the_wrong_door_is_refused(server: MatchServer, name: str, data: bytes, code: str) -> None:
    """Another player is signed up already. A stranger is refused with a message, and costs nobody a seat."""
    address = server.open("-".join(name.split()), "q", SEATS, position=POSITION)
    players = seated(address, NAMES[:1])
    rogue = Rogue(address)
    rogue.send(data)
    last = refusal(rogue)
    # A reset overtakes the last message.
    assert last == code or (last is None and len(data) > MAX_FRAME_FROM_PLAYER_BYTES)
    unharmed(server, players + seated(address, NAMES[1:]))


def _silent(_rogue: Rogue) -> None:
    """Say nothing."""


def _half_a_hello(rogue: Rogue) -> None:
    """Send half a hello, and no more."""
    rogue.send(_HELLO[:9])


@pytest.mark.parametrize("do", [_silent, _half_a_hello])
def test_who_says_no_hello_is_turned_away(server: MatchServer, do: Callable[[Rogue], None]) -> None:
    """The limit for a hello passes, even for half of one; others sign up in between."""
    address = server.open("silent-" + do.__name__.strip("_"), "q", SEATS, position=POSITION)
    rogue = Rogue(address)
    do(rogue)
    players = seated(address, NAMES[:1])
    assert refusal(rogue) == "silent"
    unharmed(server, players + seated(address, NAMES[1:]))
    assert HELLO_S <= 3.0


def test_connections_that_break_at_once_are_forgotten(server: MatchServer) -> None:
    """Connections are reset, closed or half-closed, before a hello and in its middle."""
    address = server.open("broken", "q", SEATS, position=POSITION)
    for data in (b"", _HELLO[:3], _HELLO[:9]):
        for end in (Rogue.reset, lambda one: one.sock.close(), lambda one: one.sock.shutdown(socket.SHUT_WR)):
            rogue = Rogue(address)
            rogue.send(data)
            end(rogue)
            rogue.last_words()
    left = Rogue(address)
    assert isinstance(left.hello("ada"), Welcome)
    left.reset()
    server.wait_for([])
    unharmed(server, seated(address))


def test_thousands_of_connections_keep_nobody_out(server: MatchServer) -> None:
    """Honest players sign up among many silent ones, and play."""
    address = server.open("thousands", "q", SEATS, position=POSITION)
    open_ones: deque[Rogue] = deque()
    players = seated(address, NAMES[:1])
    for number in range(CONNECTIONS):
        open_ones.append(Rogue(address))
        if len(open_ones) > HELD:
            open_ones.popleft().sock.close()
        if number == CONNECTIONS // 2:
            players += seated(address, NAMES[1:2])
    players += seated(address, NAMES[2:])
    unharmed(server, players)
    for rogue in open_ones:
        rogue.sock.close()


def test_tokens_are_not_guessed(server: MatchServer) -> None:
    """Many hellos with wrong tokens are refused alike, names of known players do not help, and the known ones play."""
    address = server.open("guessed", "q", SEATS, position=POSITION, players=HASHES)
    guesses = [
        None,
        "",
        "token of ad",
        "token of ada ",
        "0" * 64,
        "\u00e4" * 99,
        *HASHES.values(),
        *map(str, range(300)),
    ]
    answers: set[Message] = set()
    for guess in guesses:
        rogue = Rogue(address)
        answers.add(rogue.hello("ada", guess))
        rogue.last_words()
    assert answers == {Refused(code="token", reason="the token is not one of the organiser's")}
    unharmed(server, seated(address, tokens=TOKENS))


def test_a_seat_is_not_taken_by_a_stranger(server: MatchServer) -> None:
    """In a running match a stranger is refused, with any name and with a token of another match."""
    old = server.open("old", "q", SEATS, position=POSITION)
    before = seated(old)
    unharmed(server, before)
    stolen = [player.offer.resume for player in before if player.offer is not None]
    address = server.open("new", "q", SEATS, position=POSITION, come_back_s=5.0)
    slow = Rogue(address)
    slow.hello("ada")
    players = seated(address, NAMES[1:])
    slow.until_asked()
    for token in (None, "", *stolen, "0" * 64):
        thief = Rogue(address)
        answer = thief.hello("bob", token)
        assert isinstance(answer, Refused)
        assert answer.code == "closed"
        thief.last_words()
    slow.play_on()
    unharmed(server, players)


def test_nobody_listens_when_nobody_is_expected(server: MatchServer) -> None:
    """Once all are seated for good, nothing listens any more."""
    address = server.open("shut", "q", SEATS, position=POSITION)
    slow = Rogue(address)
    slow.hello("ada")
    players = seated(address, NAMES[1:])
    slow.until_asked()
    with pytest.raises(ConnectionRefusedError):
        Rogue(address)
    slow.play_on()
    unharmed(server, players)


def test_a_token_of_ones_own_is_worth_nothing_after_an_expulsion(server: MatchServer) -> None:
    """An expelled player can't return, although the table waits for players with broken connections."""
    address = server.open("expelled", "q", SEATS, position=POSITION, come_back_s=5.0)
    rogue = Rogue(address)
    rogue.hello("rogue")
    gate = threading.Event()  # the match must not be over when the rogue comes back
    players = seated(address, NAMES[1:], gate=gate)
    rogue.until_asked()
    rogue.send(b"\0\0\0\x01\xc1")
    rogue.last_words()
    again = Rogue(address)
    again.say(Hello(version=PROTOCOL_VERSION, name="rogue", token=rogue.resume))
    assert refusal(again) == "closed"
    gate.set()
    for player in players:
        player.finish()
    assert server.outcome().fouls == [(0, "malformed-message", "not-msgpack")]
