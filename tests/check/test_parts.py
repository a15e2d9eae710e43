"""Parts of the check that need no program: showing, cutting and encoding bytes, and positions to begin with."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgpack
import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from protocol import Code
from protocol.frames import encode_frame
from protocol.messages import FROM_PLAYER
from referee.check.findings import Failed, show_bytes
from referee.check.loop import Loop
from referee.check.remedies import CODE_REMEDIES, remedy
from referee.check.scripted_match import explain_foul
from referee.check.steps_games import largest, near_end
from referee.check.steps_wire import lengthen, reorder
from referee.check.wire import CheckConnection, Delivery, NotReadingError
from referee.match.fouls import Cause, Foul
from referee.plugins import load
from referee.testing.seats import plain

GAMES = load().games
FRAMES = [encode_frame(msgpack.packb({"type": "told", "number": number}), 1000) for number in range(3)]


@pytest.mark.parametrize(
    ("data", "decoded"),
    [
        (encode_frame(msgpack.packb({"type": "move", "move": [1, None]}), 1000), '{"type": "move", "move": [1, null]}'),
        (encode_frame(b"\x80", 1000) + b"12", "{}, and 2 bytes after it"),
        (b"\0\0", "no frame: a prefix has 4 bytes"),
        (b'{"type"', '{"type" (as a frame, its prefix announces 2065855609 bytes, and 3 came)'),
        (encode_frame(b"\xc1", 1000), "..... (as a frame: not one msgpack value within the limits: "),
    ],
)
def test_bytes_are_shown_as_what_they_are(data: bytes, decoded: str) -> None:
    """A frame is shown as its message, other bytes as text with the reason."""
    assert show_bytes(data).decoded.startswith(decoded)
    assert show_bytes(data).hex == data.hex(" ")
    assert show_bytes(data).length == len(data)


def test_long_frames_are_cut() -> None:
    """The shown part is bounded; the printed length is that of the whole frame."""
    found = show_bytes(encode_frame(msgpack.packb(["x" * 4000] * 10), 60_000))
    assert found.length > 40_000
    assert len(found.hex) == 3 * 2048 - 1
    assert len(found.decoded) == 4000


def test_every_foul_and_every_code_has_a_remedy() -> None:
    assert set(Code) <= set(CODE_REMEDIES)
    assert all(remedy(cause, None) for cause in Cause)


def test_failures_of_one_cause_are_told_from_others() -> None:
    """If only numbers differ, the cause is the same; another rule, crash reason or expectation is another one."""
    crash = Foul(seat=0, cause=Cause.CRASHED, at_ms=1.0, turn=3, detail="exit status 1: KeyError: 'x'")
    failure = explain_foul(crash, GAMES["q"], where="it was expelled in turn 3: ")
    assert failure.cause == "crashed: exit status 1: KeyError: 'x'"
    late, later, never = (
        Failed(f"its answer came after {number} s", expected, "think less")
        for number, expected in (("1.5", "a move"), ("27", "a move"), ("3", "an ack"))
    )
    assert late.cause == later.cause != never.cause
    # such a text may have a path of the organiser's machine
    assert "KeyError" not in failure.trouble.cause
    rules = [Foul(seat=0, cause=Cause.ILLEGAL_MOVE, at_ms=1.0, turn=1, rule=rule, detail="so") for rule in ("a", "b")]
    assert explain_foul(rules[0], GAMES["q"]).cause != explain_foul(rules[1], GAMES["q"]).cause


VALUES: tuple[Any, ...] = (
    {},
    {"a": None, "b": True, "c": [1, -1, 2**53, -(2**31)], "d": 1.5, "e": "\u732b", "f": {"g": []}},
    {"k": {"k": {"k": "x" * 300}}},
)


@pytest.mark.parametrize("value", VALUES)
def test_the_longest_form_is_the_same_value(value: dict[str, Any]) -> None:
    """Any decoder of msgpack gives the same value, although each part has its longest form."""
    data = lengthen(msgpack.packb(value))
    assert msgpack.unpackb(data) == value
    assert len(data) >= len(msgpack.packb(value)) + 4


def test_the_other_order_leaves_out_what_may_be_missing() -> None:
    """The order of the keys is reversed. An `ack` that is null is dropped; other nulls stay."""
    message = {"type": "told", "ack": None, "bank_ms": None, "draws": [1]}
    assert list(msgpack.unpackb(reorder(msgpack.packb(message))).items()) == [
        ("draws", [1]),
        ("bank_ms", None),
        ("type", "told"),
    ]
    assert "ack" in msgpack.unpackb(reorder(msgpack.packb({"type": "start", "ack": 1})))


@contextmanager
def connected() -> Iterator[tuple[CheckConnection, socket.socket, Loop]]:
    """Connect the check's end of a connection to a program's."""
    ours, theirs = socket.socketpair()
    loop = Loop()
    wire = CheckConnection(ours, loop)
    try:
        with theirs:
            yield wire, theirs, loop
    finally:
        wire.close()


@pytest.mark.parametrize("delivery", Delivery)
def test_every_delivery_brings_the_same_bytes(delivery: Delivery) -> None:
    """In whatever pieces the bytes are sent, the frames arrive whole and in order."""
    with connected() as (wire, theirs, _):
        wire.send(FRAMES, delivery, 5)
        assert theirs.recv(10_000) == b"".join(FRAMES)
        assert wire.asked == FRAMES


def test_what_nobody_reads_is_noticed() -> None:
    """The wait for a reader ends at the limit."""
    with connected() as (wire, _, _), pytest.raises(NotReadingError, match="bytes are left unread"):
        wire.send([bytes(10_000_000)], Delivery.WHOLE, 0.05)


def test_frames_are_taken_one_by_one() -> None:
    """Two frames in one packet are read one by one.

    A frame over the limit is returned as it is, and the end is noticed.
    """
    with connected() as (wire, theirs, loop):
        theirs.sendall(FRAMES[0] + FRAMES[1] + b"HTTP/1.1")
        theirs.close()
        assert loop.wait(lambda: wire.is_ended, 5)
        assert [wire.take(), wire.take(), wire.take()] == [FRAMES[0], FRAMES[1], b"HTTP/1.1"]
        assert not wire.received


def test_a_flood_fills_no_memory() -> None:
    """At most a megabyte of unread bytes is kept."""
    with connected() as (wire, theirs, _):
        theirs.setblocking(False)
        sent = 0
        while sent < 3 << 20:
            sent += theirs.send(bytes(60_000))
            wire.doRead()
        assert len(wire.received) == 1 << 20


def test_a_wait_ends_as_soon_as_its_condition_holds() -> None:
    """Timers run in between; a condition that never holds is given up at the limit."""
    loop, called = Loop(), list[str]()
    loop.reactor.callLater(0.01, called.append, "due")
    assert loop.wait(lambda: bool(called), 5)
    assert not loop.wait(lambda: False, 0.01)


def test_a_coroutine_runs_to_its_end() -> None:
    """Plain code gets its result or exception; an interrupt gives it time to clean up."""
    loop, tidied = Loop(), list[str]()

    async def _slow(what: str) -> str:
        try:
            await deferLater(loop.reactor, 0.01)
            if what == "fails":
                raise ValueError(what)
            if what == "is interrupted":
                loop.reactor.timeout = _interrupt
                await Deferred()
            return what
        finally:
            tidied.append(what)

    def _interrupt() -> None:
        del loop.reactor.timeout
        raise KeyboardInterrupt

    assert loop.result(_slow("ends")) == "ends"
    for what, error in (("fails", ValueError), ("is interrupted", KeyboardInterrupt)):
        with pytest.raises(error):
            loop.result(_slow(what))
    assert tidied == ["ends", "fails", "is interrupted"]


@pytest.mark.parametrize("name", GAMES)
def test_positions_are_such_as_are_wanted(name: str) -> None:
    """The program is to move in a possible state, and the largest view is no smaller than any other."""
    game = GAMES[name]
    for prepared in (near_end(game), largest(game)):
        assert game.outcome(prepared.state) is None
        assert game.to_move(prepared.state) == prepared.seat
        assert game.seat_count(prepared.state) == prepared.seats
        game.parse_options(prepared.options)
        game.check_invariants(prepared.state)
    views = [msgpack.packb(plain(game.view(found.state, found.seat))) for found in (near_end(game), largest(game))]
    assert len(views[1]) >= len(views[0])


def test_the_largest_view_of_q_has_nearly_all_tiles() -> None:
    """The map has all tiles that are in no hand and not in the pile, and each fits its neighbours."""
    prepared = largest(GAMES["q"])
    game = GAMES["q"]
    view = plain(game.view(prepared.state, prepared.seat))
    assert len(view["map"]) + view["tiles_left"] + 6 * 4 == 1080
    assert len(view["map"]) > 1000
    cells = {(row, column): tile.split("-") for row, column, tile in view["map"]}
    for (row, column), (colour, shape) in cells.items():
        assert cells.get((row, column + 1), (colour, ""))[0] == colour
        assert cells.get((row + 1, column), ("", shape))[1] == shape


def test_the_advice_names_every_message_of_a_player() -> None:
    """The advice lists every message that a player may send."""
    assert all(name in CODE_REMEDIES["unknown-type"] for name in FROM_PLAYER)
