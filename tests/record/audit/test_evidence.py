"""False fouls in records that are otherwise whole, and sealed with the referee's own key: each is named."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, PREFIX_BYTES
from referee.match import commands as c
from referee.match import events as e
from referee.plugins import installed
from referee.record import redacted_record
from referee.record.audit.evidence import OWN_WIRE
from referee.record.audit.match import audit
from referee.record.reader import Record, RecordError, read_record

from ...match.folding import NONCE, PASS, START, B, R, acked, body_of, frame_of, lost, moved, overdue, place, ready
from ..records import SEALER, Story, cut, tell

ASKED = 1
"""The seat that is asked for the move of turn 2 at that time; no other seat is asked anything."""
TURN = 2
AT_MS = 5.0
ILLEGAL = place((0, 1, R))
HELLO = msgspec.msgpack.encode({"type": "hello", "version": 1, "name": "b"}).hex()


def prefixed(body: str) -> str:
    """Return the frame of a body, both in hex."""
    return (len(body) // 2).to_bytes(PREFIX_BYTES).hex() + body


def broken(code: str, evidence: str, seat: int = ASKED, stage: e.Stage | None = None) -> e.ProtocolBroken:
    """Return a breach."""
    return e.ProtocolBroken(seat=seat, at_ms=AT_MS, code=code, detail="so", evidence=evidence, stage=stage)


def illegal(frame: str) -> e.MoveReceived:
    """Return an answer that breaks a rule of the game."""
    return moved(ASKED, TURN, ILLEGAL, AT_MS, frame=frame)


def told(*events: e.Event, count: int = 5, name: str = "clean") -> Story:
    """Return a match with this foul, after which all remaining seats leave."""
    begun = cut(tell(name), count, *events)
    out = {foul.seat for foul in begun.match.fouls}
    last_ms = begun.steps[-1][0].at_ms
    return cut(tell(name), count, *events, *(lost(seat, last_ms + 1) for seat in range(3) if seat not in out))


def audited(folder: Path, story: Story) -> Record:
    """Audit the record of a story, as `referee audit --public-key` does."""
    path = story.write(folder / "m.jsonl")
    return audit(path, installed().game, keys=[SEALER.public], find_wire=installed().wire)


BYTES = "bytes that are "
ANSWER = "all bytes of the answer"
REST = "bytes of an incomplete message"
LIES: dict[str, tuple[e.Event, str]] = {
    # # breaches of the protocol
    "a valid move, called not-msgpack": (broken("not-msgpack", frame_of(TURN, PASS)), BYTES),
    "a valid move, called out of turn": (broken("out-of-turn", frame_of(TURN, PASS)), BYTES),
    "a valid move, called one of another match": (broken("wrong-match", frame_of(TURN, PASS)), BYTES),
    "a valid move, called broken off": (broken("truncated", prefixed(frame_of(TURN, PASS))), BYTES),
    "a valid move of 3,000 bytes, cut off": (broken("not-msgpack", frame_of(TURN, "x" * 3000)), BYTES),
    "a breach, called another one": (broken("too-deep", "c1"), BYTES),
    "a code that there is not": (broken("bad-frame", "c1"), "a code of the wire"),
    "no code": (broken("", "c1"), "a code of the wire"),
    "a code of another wire": (broken("not-json", "c1"), "a code of the wire"),
    "no bytes of a breach": (broken("not-msgpack", ""), "bytes that are not-msgpack"),
    "nothing, broken off": (broken("truncated", ""), BYTES),
    "flood with one byte": (broken("flood", "00", seat=2), BYTES),
    "flood with a short frame": (broken("flood", "00001000", seat=2), BYTES),
    "flood of who was asked": (broken("flood", "00001001"), BYTES),
    "an oversize frame that is small": (broken("oversize", "00001000"), BYTES),
    "an oversize frame without its length": (broken("oversize", "ffffff"), BYTES),
    "an empty frame that is none": (broken("empty", "00000001"), BYTES),
    "bytes of who reads nothing": (broken("not-reading", "c1"), BYTES),
    "bytes that are no hex": (broken("not-msgpack", "C1"), "bytes in hex"),
    "no hello, by who has played": (
        broken("out-of-turn", frame_of(TURN, PASS), stage=e.Stage.NEW),
        "a player with a seat",
    ),
    # answers
    "an illegal move without a frame": (illegal(""), ANSWER),
    "an illegal move of 2,000 bytes c1": (illegal("c1" * 2000), ANSWER),
    "an illegal move of more bytes than a frame": (illegal("c1" * (MAX_FRAME_FROM_PLAYER_BYTES + 1)), ANSWER),
    "a hello for an illegal move": (illegal(HELLO), ANSWER),
    "an illegal move without a type": (
        illegal(msgspec.msgpack.encode({"match": "m", "turn": TURN, "move": ILLEGAL}).hex()),
        ANSWER,
    ),
    "an illegal move of another match": (illegal(body_of("move", match="n", turn=TURN, move=ILLEGAL)), ANSWER),
    "an illegal move of another turn": (illegal(frame_of(TURN + 1, ILLEGAL)), ANSWER),
    "an illegal move that is another one": (illegal(frame_of(TURN, place((0, 1, B)))), ANSWER),
    "an illegal move of other types": (
        moved(ASKED, TURN, {"action": True}, AT_MS, frame=frame_of(TURN, {"action": 1})),
        ANSWER,
    ),
    "an illegal move with a key too many": (illegal(body_of("move", turn=TURN, move=ILLEGAL, x=1)), ANSWER),
    "an illegal move with bytes behind it": (illegal(frame_of(TURN, ILLEGAL) + "c0"), ANSWER),
    "an illegal move with its prefix": (illegal(prefixed(frame_of(TURN, ILLEGAL))), ANSWER),
    "an illegal move, cut off": (illegal(frame_of(TURN, ILLEGAL)[:-2]), ANSWER),
    "another turn than the bytes say": (moved(ASKED, 9, PASS, AT_MS, frame=frame_of(TURN, PASS)), ANSWER),
    "a late move without its bytes": (moved(ASKED, TURN, PASS, 3000.0, sent=AT_MS), ANSWER),
    "bytes of a move that was taken": (
        moved(ASKED, TURN, PASS, AT_MS, frame=frame_of(TURN, PASS)),
        "no bytes of an answer that was accepted",
    ),
    # time
    "a timeout with the answer pending": (
        overdue(ASKED, 3000.0, sent=AT_MS, pending=prefixed(frame_of(TURN, PASS))),
        REST,
    ),
    "a timeout with a breach pending": (overdue(ASKED, 3000.0, sent=AT_MS, pending="00000000"), REST),
    "a timeout with too long a frame pending": (overdue(ASKED, 3000.0, sent=AT_MS, pending="00010001"), REST),
}


@pytest.mark.forges
@pytest.mark.parametrize(("lie", "expected"), LIES.values(), ids=LIES)
def test_a_lie_about_a_foul_is_named(tmp_path: Path, lie: e.Event, expected: str) -> None:
    """The rest of the record follows from the lie, and the seal is genuine, but the line of the lie is named."""
    with pytest.raises(RecordError, match=f"line 6: expected .*{expected}"):
        audited(tmp_path, told(lie))


@pytest.mark.forges
@pytest.mark.parametrize(("lie", "expected"), LIES.values(), ids=LIES)
def test_a_lie_about_a_foul_is_named_in_what_its_player_may_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: e.SeatEvent, expected: str
) -> None:
    """The record that is redacted for this seat has its bytes. In others, an unknown code is still named."""
    path = told(lie).write(tmp_path / "m.jsonl")
    monkeypatch.setattr(redacted_record, "audit", lambda whole, *_args, **_more: read_record(whole))
    for seat in range(3):
        shown = tmp_path / f"{seat}.jsonl"
        lines = redacted_record.redact(path, installed().game, seat)
        shown.write_bytes(b"".join(line + b"\n" for line in lines))
        if seat == lie.seat or expected == "a code of the wire":
            with pytest.raises(RecordError, match="line 6: expected "):
                redacted_record.check_redacted_record(shown, installed().game)


@pytest.mark.forges
def test_other_evidence_than_its_event_has_is_named_in_what_its_player_may_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason that a seat was sent must agree with the event."""
    true = told(broken("not-msgpack", "c1"))
    event, (expelled, *others) = true.steps[5]
    assert isinstance(expelled, c.ExpelSeat)
    other = replace(expelled, foul=replace(expelled.foul, evidence="c1c1"))
    lie = dataclasses.replace(true, steps=(*true.steps[:5], (event, (other, *others)), *true.steps[6:]))
    path, shown = lie.write(tmp_path / "m.jsonl"), tmp_path / "shown.jsonl"
    monkeypatch.setattr(redacted_record, "audit", lambda whole, *_args, **_more: read_record(whole))
    shown.write_bytes(b"".join(line + b"\n" for line in redacted_record.redact(path, installed().game, ASKED)))
    with pytest.raises(RecordError, match="line 6: expected the evidence of its event, c1; found c1c1"):
        redacted_record.check_redacted_record(shown, installed().game)


OFFERED: dict[str, tuple[e.Event, str]] = {
    "a ready that is late, by its nonce": (
        ready(ASKED, START + 9.0, sent=0.0, frame=body_of("ready", nonce="00" * 16)),
        ANSWER,
    ),
    "nobody, who said hello": (
        e.SeatVacant(seat=ASKED, at_ms=AT_MS, detail="no hello", evidence=prefixed(HELLO)),
        REST,
    ),
    "no hello, which is one": (broken("out-of-turn", HELLO, stage=e.Stage.NEW), BYTES),
    "flood in place of a hello": (broken("flood", "00001001", stage=e.Stage.NEW), BYTES),
    "a valid ready, which was asked for": (broken("out-of-turn", body_of("ready", nonce=NONCE)), BYTES),
}


@pytest.mark.forges
@pytest.mark.parametrize(("lie", "expected"), OFFERED.values(), ids=OFFERED)
def test_a_lie_about_who_did_not_come_is_named(tmp_path: Path, lie: e.Event, expected: str) -> None:
    """The lies are about seats that had sent nothing when the match began."""
    with pytest.raises(RecordError, match=f"line 2: expected .*{expected}"):
        audited(tmp_path, told(lie, count=1))


@pytest.mark.forges
@pytest.mark.parametrize("frame", ["", body_of("ack", ack=1), body_of("move", turn=9, move=PASS)])
def test_a_confirmation_of_another_number_has_its_bytes(tmp_path: Path, frame: str) -> None:
    """The bytes show the wrong number."""
    with pytest.raises(RecordError, match=f"expected {ANSWER}"):
        audited(tmp_path, told(acked(0, 9, AT_MS, frame=frame), count=4, name="acknowledged"))


BY_THEMSELVES: dict[str, tuple[e.Event, dict[str, object]]] = {
    "a program that the referee did not start": (
        e.ProgramExited(seat=ASKED, at_ms=AT_MS, status="exit status 1"),
        {"programs": ["house:x", "remote", "house:x"]},
    ),
    "a program where there are none": (e.ProgramExited(seat=ASKED, at_ms=AT_MS, status=""), {"programs": None}),
    "a program that came back": (
        e.SeatReturned(seat=ASKED, at_ms=AT_MS, gone_ms=1.0),
        {"programs": ["house:x", "house:x", "remote"]},
    ),
}


@pytest.mark.forges
@pytest.mark.parametrize(("lie", "header"), BY_THEMSELVES.values(), ids=BY_THEMSELVES)
def test_only_what_the_referee_started_ends(tmp_path: Path, lie: e.Event, header: dict[str, object]) -> None:
    """Only a player that came by itself can return."""
    with pytest.raises(RecordError, match="line 6: expected what the header's programs allow"):
        audited(tmp_path, dataclasses.replace(told(lie), header=header))


ENDINGS = [
    ("exit status 1", e.Ending.ENDED, "ending ended only with exit status 0"),
    ("signal SIGKILL", e.Ending.ENDED, "ending ended only"),
    ("exit status 0", e.Ending.FAILED, "ending ended, because"),
    ("exit status 0: bye", e.Ending.SPEECHLESS, "ending ended, because"),
    ("exit status 1", e.Ending.SILENT, "an ending that fits its status"),
    ("exit status 1", e.Ending.STRANGER, "an ending that fits its status"),
    ("signal SIGKILL", e.Ending.OUT_OF_MEMORY, "words about memory"),
    ("exit status 1: ValueError", e.Ending.SPEECHLESS, "no words"),
]


@pytest.mark.forges
@pytest.mark.parametrize(("status", "ending", "expected"), ENDINGS)
def test_the_ending_of_a_crash_agrees_with_its_status(
    tmp_path: Path, status: str, ending: e.Ending, expected: str
) -> None:
    """The ending is the referee's reading of the status."""
    with pytest.raises(RecordError, match=f"line 6: expected {expected}"):
        audited(tmp_path, told(e.ProgramExited(seat=ASKED, at_ms=AT_MS, status=status, ending=ending)))


def crashed(status: str, ending: e.Ending) -> Story:
    """Return a match in which a program ends."""
    return told(e.ProgramExited(seat=ASKED, at_ms=AT_MS, status=status, ending=ending))


TRUE: dict[str, Callable[[], Story]] = {
    "a breach before the hello": lambda: told(broken("out-of-turn", frame_of(1, PASS), stage=e.Stage.NEW), count=1),
    "a breach behind the hello": lambda: told(broken("out-of-turn", HELLO, stage=e.Stage.GREETED), count=1),
    "flood behind the hello": lambda: told(broken("flood", "00001001c1", stage=e.Stage.GREETED), count=1),
    "half a hello": lambda: told(
        e.SeatVacant(seat=ASKED, at_ms=AT_MS, detail="no hello", evidence=prefixed(HELLO)[:-2]), count=1
    ),
    "half an answer": lambda: told(overdue(ASKED, 1500.0, sent=AT_MS, pending=prefixed(frame_of(TURN, PASS))[:-2])),
    "a frame of the longest": lambda: told(illegal(frame_of(TURN, ILLEGAL))),
    "a second answer": lambda: told(broken("out-of-turn", frame_of(1, PASS), seat=0)),
    "who reads nothing": lambda: told(broken("not-reading", "")),
    "no value": lambda: told(broken("not-msgpack", "c1")),
    "a program that ended early": lambda: crashed("exit status 0: bye", e.Ending.ENDED),
    "a program without a word": lambda: crashed("exit status 3", e.Ending.SPEECHLESS),
    "a program without memory": lambda: crashed("signal SIGKILL: out of memory", e.Ending.OUT_OF_MEMORY),
    "a stranger": lambda: crashed("exit status 0; its hello had been refused: a token", e.Ending.STRANGER),
}


@pytest.mark.parametrize("story", TRUE.values(), ids=TRUE)
def test_a_true_foul_holds(tmp_path: Path, story: Callable[[], Story]) -> None:
    """Bytes that show the recorded fault are accepted."""
    assert audited(tmp_path, story()).result is not None


@pytest.mark.parametrize(
    ("data", "is_unfinished"),
    [("", True), ("00", True), ("ffffff", True), ("00000001", True), ("00000001c1", False), ("00010000", True)],
)
def test_what_is_not_finished(data: str, is_unfinished: bool) -> None:  # noqa: FBT001  # a column of a table
    """An incomplete prefix announces nothing yet; a complete one must be allowed, and its body be incomplete."""
    assert OWN_WIRE.is_unfinished(bytes.fromhex(data)) is is_unfinished
