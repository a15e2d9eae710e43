"""Wrong bytes in place of a hello are reported as a foul of the program that sent them, and of no other."""

import json
import struct

import pytest
from twisted.internet.task import Clock

from referee.match.events import Ending
from referee.net.links.lobby import Absence
from referee.net.links.reserved_seats import ReservedSeats

from ...protocol.tables import framed, packed
from ..wires import Peer, fired

HELLO = {"type": "hello", "version": 1, "name": "ada", "token": "token-a"}
NO_HELLOS = {
    "a length in the wrong order": (struct.pack("<I", 60) + packed(HELLO), "oversize"),
    "a line of JSON": (json.dumps(HELLO).encode() + b"\n", "oversize"),
    "JSON in a frame": (framed(json.dumps(HELLO).encode()), "not-msgpack"),
    "a hello with too much": (framed(packed({**HELLO, "x": 1})), "extra-key"),
}
"""Bytes that contain a token, and the code of their error."""


class Room:
    """A lobby with two tokens on a test's clock."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.lobby = ReservedSeats(self.clock, ["token-a", "token-b"], 30.0)
        self.result = fired(self.lobby.done)

    def enter(self) -> Peer:
        """Return a connection that has said nothing yet."""
        return Peer(self.lobby, self.clock)


@pytest.mark.parametrize("name", NO_HELLOS)
def test_a_hello_that_is_none_is_the_foul_of_the_seat_whose_token_it_has(name: str) -> None:
    """Only the program knows its token, so its seat is given up at once, with the bytes.

    Without a token, nothing is kept.
    """
    room = Room()
    other, stranger, peer = room.enter(), room.enter(), room.enter()
    other.hello("bob", "token-b")
    data, code = NO_HELLOS[name]
    stranger.raw(data.replace(b"token-a", b"token-x"))
    assert room.result == []
    peer.raw(data)
    assert room.result == [[None, other.link]]
    absence = room.lobby.vacancies[0]
    assert (absence.code, absence.evidence) in [(code, data.hex()), (code, data[4:].hex())]
    assert absence.detail.startswith("in place of its hello: ")
    assert [getattr(message, "code", None) for message in peer.heard()] == [code]


def test_what_came_of_a_hello_is_kept_when_the_time_is_over() -> None:
    """The reason tells an incomplete frame from a program that never connected."""
    room = Room()
    data = struct.pack(">I", 1000) + packed(HELLO)
    room.enter().raw(data)
    room.clock.advance(30.01)
    detail = f"connected, but no hello within 30 s: {len(data)} bytes came, and no complete message"
    assert room.lobby.vacancies == {
        0: Absence(detail=detail, evidence=data.hex()),
        1: Absence(detail="not connected within 30 s"),
    }


def test_a_silent_connection_may_be_anybodys() -> None:
    """As long as there is a silent connection, no seat is reported as not connected."""
    room = Room()
    room.enter()
    room.clock.advance(30.01)
    assert room.lobby.vacancies[0].detail == "no hello within 30 s; there were connections that sent none"


def test_what_comes_behind_a_hello_is_the_foul_of_its_seat() -> None:
    """The reason is that the player spoke again before it was asked, not that its connection ended."""
    room = Room()
    peer = room.enter()
    peer.hello("ada", "token-a")
    peer.raw(framed(packed(HELLO)))
    absence = room.lobby.vacancies[0]
    assert (absence.code, absence.detail.partition(":")[0]) == ("out-of-turn", "after its hello")


def test_the_bytes_of_a_second_connection_cost_nobody_a_seat_that_is_taken() -> None:
    """Once a program has its seat, other connections with its token are only refused."""
    room = Room()
    first, second = room.enter(), room.enter()
    first.hello("ada", "token-a")
    second.raw(NO_HELLOS["JSON in a frame"][0])
    assert (first.is_open, second.is_open, room.lobby.vacancies) == (True, False, {})


def test_a_private_socket_tells_whose_bytes_came() -> None:
    """All bytes through it are its own program's."""
    room = Room()
    room.lobby.origins = {"/private/1": 1}
    peer = room.enter()
    peer.link.origin = "/private/1"
    peer.raw(b"HELLO")
    assert room.lobby.vacancies[1].evidence == b"HELLO".hex()
    assert room.lobby.vacancies[1].code == "oversize"


def test_a_wrong_token_is_told_to_whose_it_may_have_been() -> None:
    """A private socket identifies its program. Elsewhere, the message goes to each seat that nobody took."""
    room = Room()
    room.lobby.origins = {"/private/1": 1}
    peer = room.enter()
    peer.link.origin = "/private/1"
    peer.hello("bob", "token-x")
    room.clock.advance(30.01)
    told = "hello was refused: the token is not one of this match; no other came within 30 s"
    assert room.lobby.vacancies == {
        0: Absence(detail="not connected within 30 s"),
        1: Absence(detail=f"its {told}", ending=Ending.STRANGER),
    }
    room = Room()
    room.enter().hello("ada", "token-x")
    room.clock.advance(30.01)
    assert {absence.detail for absence in room.lobby.vacancies.values()} == {f"a {told}"}


def test_who_ended_after_its_hello_was_refused_is_known() -> None:
    """Its exit status alone would not show this."""
    room = Room()
    room.lobby.origins = {"/private/1": 1}
    peer = room.enter()
    peer.link.origin = "/private/1"
    peer.hello("bob", "token-x")
    room.lobby.give_up(0, "it ended")
    room.lobby.give_up(1, "it ended")
    assert [room.lobby.vacancies[seat].ending for seat in range(2)] == [None, Ending.STRANGER]
