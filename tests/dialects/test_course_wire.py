"""The course's wire in a match: calls and results, sign-up by name, and each breach with its foul."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.task import Clock

from protocol import Code, LocalProtocolError, RemoteProtocolError
from protocol.deal import nonce_commitment
from protocol.limits import MAX_EVIDENCE_BYTES, MAX_FRAME_FROM_PLAYER_BYTES, MAX_UNASKED_BYTES, PROTOCOL_VERSION
from protocol.messages import Hello, Nonce, Ready, Reveal, Start, Welcome
from referee.dialects.cs4500 import forms
from referee.dialects.cs4500.conversation import NO_NONCE, CourseConversation
from referee.dialects.cs4500.json_stream import JsonCode
from referee.games.q.game import QGame
from referee.match.fouls import Cause
from referee.net.links.lobby import HELLO_S, MatchLobby, SignUpPolicy
from referee.net.links.player_protocol import CLOSE_S
from referee.plugins import installed
from referee.record.audit.match import audit
from referee.record.explain import explain
from referee.record.reader import RecordError
from referee.record.redacted_record import redact
from referee.record.schema import read_line

from ..net.in_memory import LIMIT_S, OpenMatch
from ..net.wires import fired
from .courses import POSITION, REPLACE, TILE, VOID, CourseMatch, CoursePeer

SPACES = b" \n" * 2500
SPOT = '{"row": 0, "column": 1}'


def place(spot: str = SPOT, tile: str = TILE, more: str = "") -> bytes:
    """Return a choice that lays one tile."""
    return f'[{{"coordinate": {spot}, "1tile": {tile}{more}}}]'.encode()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[CourseMatch]:
    """Return a match of two course players; the first one was just called to set up."""
    made = CourseMatch(tmp_path, position=POSITION)
    yield made
    made.writer.close()


VIEW = {"seat": 0, "hand": [], "scores": [0, 0], "order": [0, 1], "tiles_left": 0, "map": [[0, 0, "red-star"]]}


# --- the honest way


def test_the_calls_of_a_match(running: CourseMatch) -> None:
    """Each call is one line of JSON with what its player may know; tiles that it draws come first in its hand."""
    hand = forms.jtiles(["red-star", "blue-8star"])
    public = {
        "map": [[-1, [0, {"color": "red", "shape": "clover"}]], [0, [0, {"color": "red", "shape": "star"}]]],
        "tile*": 10,
        "players": [{"score": 5, "name": "p0", "tile*": hand}, 7],
    }
    peer = running.peers[0]
    line = json.dumps(["setup", [public, hand]], separators=(",", ":")) + "\n"
    assert line.encode() == peer.wire.written
    assert [public] == running.until(0, "take-turn")
    assert isinstance(peer, CoursePeer)
    peer.result(place())
    assert [forms.jtiles(["blue-circle"])] == running.until(0, "new-tiles")
    (mine,) = running.until(1, "take-turn")
    assert mine["players"] == [{"score": 7, "name": "p1", "tile*": forms.jtiles(["green-square"])}, 8]
    running.until(1, "new-tiles")
    (mine,) = running.until(0, "take-turn")
    assert mine["players"][0]["tile*"] == forms.jtiles(["blue-circle", "blue-8star"])
    assert running.until(0, "win") == [True]
    assert running.until(1, "win") == [False]
    running.finish()
    assert running.end().winners == (0,)


@pytest.mark.parametrize("piece", [1, 10, 100_000])
def test_results_may_come_in_pieces_behind_white_space(tmp_path: Path, piece: int) -> None:
    """White space and the cut into packets do not matter."""
    running = CourseMatch(tmp_path, position=POSITION)
    while not running.result:
        peer = next(peer for peer in running.peers if isinstance(peer, CoursePeer) and peer.is_asked)
        said = SPACES + (REPLACE if peer.call[0] == "take-turn" else VOID) + b"\n"
        peer.wire.written = b""
        for start in range(0, len(said), piece):
            peer.raw(said[start : start + piece])
    assert running.end().fouls == ()


def test_an_answer_in_two_pieces_has_three_instants(running: CourseMatch) -> None:
    """A result's first byte is its own, not that of the white space before it."""
    running.until(0, "take-turn")
    for data in (b"  ", b' "rep', b'lace"'):
        running.run(0.05)
        running.peers[0].raw(data)
    event = running.last_step()["event"]
    assert (event["first_byte_ms"] - event["sent_ms"], event["at_ms"] - event["sent_ms"]) == (100.0, 150.0)


def test_a_match_without_confirmations_is_not_played(open_match: OpenMatch) -> None:
    """Every call has a result, so sending a message without one is a fault of this side."""
    (offer,) = open_match().peers[0].heard()
    conversation = CourseConversation()
    with pytest.raises(LocalProtocolError, match="may not be sent"):
        conversation.send(offer)
    conversation.receive_data(b'"p0"')
    assert conversation.next_event() == Hello(version=PROTOCOL_VERSION, name="p0")
    said = [conversation.send(message) for message in (Welcome(version=PROTOCOL_VERSION, referee="x"), offer)]
    assert said == [b"", b""]
    assert conversation.next_event() == Ready(match="m1", commitment=nonce_commitment("m1", 0, NO_NONCE))
    assert conversation.send(Reveal(match="m1", commitments=[None, None])) == b""
    assert conversation.next_event() == Nonce(match="m1", nonce=NO_NONCE)
    with pytest.raises(LocalProtocolError, match="confirms every call"):
        conversation.send(Start(match="m1", view=VIEW))
    setup = ["setup", [forms.jpub(VIEW, 0, "p0"), []]]
    assert json.loads(conversation.send(Start(match="m1", view=VIEW, ack=1))) == setup


# --- breaking it


@pytest.mark.parametrize("name", ["my_player", "my-player", "", "a" * 21])
def test_a_name_that_is_none(name: str) -> None:
    """The course has its own rule for names: only letters and digits."""
    conversation = CourseConversation()
    conversation.receive_data(json.dumps(name).encode())
    with pytest.raises(RemoteProtocolError):
        conversation.next_event()


NOT_VOID = [b'"Void"', b"null", b"[]", b'["void"]', b"true", b'""', b'"pass"', b"{}"]
NO_CHOICE = [
    *(b'"void"', b'"PASS"', b'["pass"]', b'{"action": "pass"}', b"null", b"[null]", b"false", b"[[]]"),
    place(spot='{"row": 0, "oord": 1}'),
    place(spot='{"row": 0}'),
    place(spot='{"row": 0.0, "column": 1}'),
    place(spot='{"row": "0", "column": 1}'),
    place(spot='{"row": true, "column": 1}'),
    place(spot='{"row": 2147483648, "column": 1}'),
    place(spot='{"row": 1' + "0" * 900 + ', "column": 1}'),
    place(tile='{"color": "pink", "shape": "star"}'),
    place(tile='{"color": "red"}'),
    place(tile='"red-star"'),
    place(more=', "x": 1'),
]
NO_JSON = [b"void\n", b"[void", b"'pass'", b'{"a": }', b'"a\nb"', b"]", b'"\xff"', b'["\\ud800"]']
FOULS: list[tuple[str, bytes, Cause, str]] = [
    *(("setup", data, Cause.MALFORMED_MESSAGE, Code.WRONG_TYPE) for data in NOT_VOID),
    *(("take-turn", data, Cause.MALFORMED_MESSAGE, Code.WRONG_TYPE) for data in NO_CHOICE),
    *(("new-tiles", data, Cause.MALFORMED_MESSAGE, Code.WRONG_TYPE) for data in NOT_VOID[:3]),
    *(("win", data, Cause.MALFORMED_MESSAGE, Code.WRONG_TYPE) for data in NOT_VOID[3:6]),
    *(("take-turn", data, Cause.MALFORMED_MESSAGE, JsonCode.NOT_JSON) for data in NO_JSON),
    ("win", b"void ", Cause.MALFORMED_MESSAGE, JsonCode.NOT_JSON),
    ("take-turn", b'[{"a": 1, "a": 1}]', Cause.MALFORMED_MESSAGE, Code.DUPLICATE_KEY),
    ("take-turn", b"[1e999]", Cause.MALFORMED_MESSAGE, Code.NOT_FINITE),
    ("take-turn", b"[" * 17, Cause.MALFORMED_MESSAGE, Code.TOO_DEEP),
    ("take-turn", b"[" + b"9" * 2000 + b"]", Cause.MALFORMED_MESSAGE, Code.TOO_LONG),
    ("take-turn", b'"' + b"x" * MAX_FRAME_FROM_PLAYER_BYTES, Cause.OVERSIZE, Code.OVERSIZE),
    ("setup", b" " * (MAX_FRAME_FROM_PLAYER_BYTES + 1), Cause.OVERSIZE, Code.OVERSIZE),
    ("setup", b'"void""void"', Cause.OUT_OF_TURN, Code.OUT_OF_TURN),
    ("new-tiles", b'"void"\n42 ', Cause.OUT_OF_TURN, Code.OUT_OF_TURN),
]


@pytest.mark.parametrize(("method", "data", "cause", "code"), FOULS)
def test_a_result_that_is_none_is_a_foul(
    running: CourseMatch, method: str, data: bytes, cause: Cause, code: str
) -> None:
    """The verdict has the code and the bytes. The connection is not read any more, and closed after the match."""
    running.until(0, method)
    peer = running.peers[0]
    peer.wire.written = b""
    peer.raw(data)
    (foul,) = running.match.fouls
    assert (foul.seat, foul.cause, foul.code) == (0, cause, code)
    kept = bytes.fromhex(foul.evidence)
    assert kept
    assert len(kept) <= MAX_EVIDENCE_BYTES
    assert kept in data
    assert peer.is_open is not bool(running.result)
    assert not peer.wire.is_read
    running.finish()
    assert running.end().fouls == (foul,)
    assert (peer.wire.written, peer.is_open) == (b"", False)


def test_what_an_expelled_player_says_is_nothing(running: CourseMatch) -> None:
    """Its connection is open, but its bytes cause no event and no answer, and cutting it changes nothing."""
    running.until(0, "take-turn")
    peer = running.peers[0]
    peer.wire.written = b""
    for data in (b"void", b'"pass"' * 1000, b"[" * MAX_FRAME_FROM_PLAYER_BYTES):
        peer.raw(data)
    peer.wire.drop()
    running.finish()
    assert (len(running.end().fouls), peer.wire.written) == (1, b"")


def test_a_referee_that_stops_closes_expelled_players_connections(running: CourseMatch) -> None:
    """However the match ends, no connection stays open; a player that does not read is cut."""
    running.until(0, "take-turn")
    peer = running.peers[0]
    peer.wire.is_slow = True
    peer.raw(b"void")
    running.runner.done.addErrback(lambda _failure: None)
    running.runner.pause("the organiser stopped the referee")
    running.run(2 * CLOSE_S)
    assert (peer.is_open, peer.wire.is_cut) == (False, True)


@pytest.mark.parametrize("data", [b'"void"', b"42 ", b'"' + b"x" * MAX_UNASKED_BYTES, b"nonsense"])
def test_nobody_speaks_unasked(running: CourseMatch, data: bytes) -> None:
    """A value while another player is called, or too much of one, is a foul."""
    running.until(0, "take-turn")
    running.peers[1].raw(data)
    assert [seat for seat, _ in running.fouls()] == [1]
    running.finish()
    assert running.end().winners == (0,)


@pytest.mark.parametrize(
    ("move", "rule"),
    [
        (place(tile='{"color": "green", "shape": "diamond"}'), "q.place.owned"),
        (place(spot='{"row": 0, "column": 5}'), "q.place.adjacent"),
        (place(spot='{"row": 0, "column": 0}'), "q.place.free"),
        (b"[]", "q.place.some"),
        (place(tile='{"color": "blue", "shape": "8star"}'), "q.fit.row"),
    ],
)
def test_an_illegal_choice_names_its_rule(running: CourseMatch, move: bytes, rule: str) -> None:
    """It is judged as every move is, and its bytes are the evidence, which the audit reads again."""
    running.until(0, "take-turn")
    running.peers[0].raw(b"  " + move + b"\n")
    (foul,) = running.match.fouls
    assert (foul.cause, foul.rule, bytes.fromhex(foul.evidence)) == (Cause.ILLEGAL_MOVE, rule, move)
    running.finish()
    running.end()
    lines = redact(running.path, lambda _name: QGame(), 0, find_wire=installed().wire)
    told = explain([read_line(line) for line in lines], 0, QGame().rules)
    assert told.verdict is not None
    assert told.verdict.evidence is not None
    assert json.loads(move) == told.verdict.evidence.decoded


@pytest.mark.forges
def test_bytes_that_say_something_else_do_not_audit(tmp_path: Path) -> None:
    """The bytes of an illegal choice must be the judged move, or the record does not hold."""
    running = CourseMatch(tmp_path, position=POSITION)
    running.until(0, "take-turn")
    link = running.peers[0].link
    heard = link.connection.next_event

    def _forged() -> Any:
        event = heard()
        link.connection.last_body = place(spot='{"row": 0, "column": 7}')
        return event

    link.connection.next_event = _forged  # type: ignore[method-assign]  # a referee that forges evidence
    running.peers[0].raw(place(spot='{"row": 0, "column": 5}'))
    running.finish()
    with pytest.raises(RecordError, match="all bytes of the answer"):
        audit(running.path, lambda _name: QGame(), find_wire=installed().wire)


@pytest.mark.parametrize(("data", "evidence"), [(b"", b""), (b"   ", b"   "), (b'  "repl', b'"repl'), (b"42", b"42")])
def test_what_is_late_is_shown(running: CourseMatch, data: bytes, evidence: bytes) -> None:
    """An incomplete result at its deadline is a timeout, with its bytes as evidence."""
    running.until(0, "take-turn")
    running.peers[0].raw(data)
    running.run(LIMIT_S + 0.02)
    (foul,) = running.match.fouls
    assert (foul.cause, bytes.fromhex(foul.evidence)) == (Cause.TIMEOUT, evidence)
    running.finish()
    running.end()


@pytest.mark.parametrize(
    ("data", "cause", "code"),
    [
        (b"", Cause.DISCONNECTED, None),
        (b" \n", Cause.DISCONNECTED, None),
        (b'[{"coord', Cause.MALFORMED_MESSAGE, Code.TRUNCATED),
        (b"42", Cause.MALFORMED_MESSAGE, Code.WRONG_TYPE),
    ],
)
def test_a_connection_may_end_anywhere(running: CourseMatch, data: bytes, cause: Cause, code: str | None) -> None:
    """A player that leaves is out; a value that breaks off differs from one that never began."""
    running.until(0, "take-turn")
    running.peers[0].raw(data)
    running.peers[0].wire.drop()
    (foul,) = running.match.fouls
    assert (foul.cause, foul.code) == (cause, code)
    running.finish()
    running.end()


def test_a_player_may_leave_once_it_knows_whether_it_won(running: CourseMatch) -> None:
    """After its result of `win`, no message of a player is due."""
    assert running.until(0, "win") == [False]  # the winner was sent its end before
    running.peers[1].wire.drop()
    running.finish()
    assert running.end().fouls == ()


# --- sign-up

BAD_NAMES = [
    *(b'""', b'"ouch ouch"', b'"' + b"x" * 21 + b'"', b'"ada\\n"', '"åda"'.encode()),
    *(b"42 ", b"null", b'["ada"]', b'{"name": "ada"}', b"ada", b'"ada', b'"ada""bob"', b"GET / HTTP/1.1\r\n", b"\x00"),
]


@pytest.mark.parametrize("data", BAD_NAMES)
def test_who_has_no_name_is_no_player(data: bytes) -> None:
    """It is cut off at once or after its time, holds no seat, and the others play without it."""
    clock = Clock()
    lobby = MatchLobby(clock, SignUpPolicy(min_players=2, max_players=2, wait_s=20, tries=1))
    seated = fired(lobby.done)
    nobody = CoursePeer(lobby, clock)
    nobody.raw(data)
    clock.advance(HELLO_S)
    assert (nobody.wire.written, nobody.is_open) == (b"", False)
    for name in ("ada", "bob"):
        CoursePeer(lobby, clock).hello(name)
    assert [link.name for link in seated[0]] == ["ada", "bob"]


def test_a_name_may_drip_in() -> None:
    """White space before it, and its bytes one by one, within the limit."""
    clock = Clock()
    lobby = MatchLobby(clock, SignUpPolicy(min_players=1, max_players=1))
    seated = fired(lobby.done)
    peer = CoursePeer(lobby, clock)
    for byte in b"   " * 100 + b'"ada"':
        peer.raw(bytes([byte]))
    assert [link.name for link in seated[0]] == ["ada"]
