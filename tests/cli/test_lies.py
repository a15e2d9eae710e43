"""False records of a match of launched programs, chained and sealed again: the audit names each lie."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.match import events as e
from referee.match.machine import Match
from referee.plugins import find_game
from referee.record.key import load_key
from referee.record.reader import Record, read_record
from referee.record.writer import RecordWriter

from .calling import referee

Lie = Callable[[e.MoveReceived, str], e.SeatEvent]
"""Function that makes a false event from a true answer and the name of the match."""
ILLEGAL = {"action": "fly"}
PREFIX_BYTES = 4


def body_of(**fields: Any) -> str:
    """Return the bytes of a message, in hex."""
    return msgspec.msgpack.encode(fields).hex()


def body_of_move(move: e.MoveReceived, match: str) -> str:
    """Return the bytes of an answer, in hex."""
    return body_of(type="move", match=match, turn=move.turn, move=move.move)


def breach(seat: int, move: e.MoveReceived, code: str, evidence: str) -> e.ProtocolBroken:
    """Return a breach at the time of an answer."""
    return e.ProtocolBroken(seat=seat, at_ms=move.at_ms, code=code, detail="so", evidence=evidence)


def illegal(move: e.MoveReceived, frame: str) -> e.MoveReceived:
    """Return an answer that breaks a rule, with these bytes."""
    return replace(move, move=ILLEGAL, frame=frame)


def overdue(move: e.MoveReceived, match: str) -> e.DeadlinePassed:
    """Return an expired limit, although the whole answer had arrived before."""
    body = body_of_move(move, match)
    pending = (len(body) // 2).to_bytes(PREFIX_BYTES).hex() + body
    return e.DeadlinePassed(
        seat=move.seat, at_ms=move.sent_ms + 6001.0, sent_ms=move.sent_ms, lag_ms=0.0, pending=pending
    )


def later(move: e.MoveReceived, **fields: float) -> e.MoveReceived:
    """Return an answer whose instants are moved or stretched."""
    return replace(move, **{name: round(getattr(move, name) + value, 3) for name, value in fields.items()})


LIES: dict[str, tuple[Lie, str]] = {
    "a valid move, called not-msgpack": (
        lambda move, match: breach(move.seat, move, "not-msgpack", body_of_move(move, match)),
        "bytes that are not-msgpack",
    ),
    "a code that there is not": (lambda move, _: breach(move.seat, move, "bad-frame", "c1"), "a code of the wire"),
    "flood with one byte": (lambda move, _: breach(1 - move.seat, move, "flood", "00"), "bytes that are flood"),
    "an illegal move without a frame": (lambda move, _: illegal(move, ""), "all bytes of the answer"),
    "2,000 bytes c1 for an illegal move": (lambda move, _: illegal(move, "c1" * 2000), "all bytes of the answer"),
    "a hello for an illegal move": (
        lambda move, _: illegal(move, body_of(type="hello", version=1)),
        "all bytes of the answer",
    ),
    "an illegal move without a type": (
        lambda move, match: illegal(move, body_of(match=match, turn=move.turn, move=ILLEGAL)),
        "all bytes of the answer",
    ),
    "a timeout with the legal answer pending": (overdue, "bytes of an incomplete message"),
    "14.5 s of lag without a standstill": (
        lambda move, _: later(move, at_ms=15_000.0, first_byte_ms=15_000.0, lag_ms=14_500.0),
        "standstills of",
    ),
    "a request sent 60 s later than asked": (
        lambda move, _: later(move, sent_ms=60_000.0, first_byte_ms=60_000.0, at_ms=60_000.0),
        "a request sent from",
    ),
}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Return the record of a match of two launched programs; its key is next to it."""
    folder = tmp_path_factory.mktemp("real")
    referee("play", "quincy", "house:greedy", "house:random", "--key", "key.pem", cwd=folder)
    (path,) = (folder / "logs").glob("*.jsonl")
    return read_record(path)


def lied(real: Record, path: Path, lie: Lie) -> int:
    """Write a record with a lie about the third move, after which all players leave; return the lie's line."""
    header, sealer = real.header, load_key(real.path.parents[1] / "key.pem")
    assert real.seed is not None
    match = Match(find_game(header.setup.game), header.setup, real.seed)
    _, _, (place, true), *_ = [
        (n, step.event) for n, step in enumerate(real.transitions) if isinstance(step.event, e.MoveReceived)
    ]
    told, number = lie(true, header.setup.match), place + 1
    with closing(RecordWriter(path, sealer)) as writer:
        given = {name: getattr(header, name) for name in ("referee", "opened", "programs", "folder")}
        writer.write_header(header.setup, real.seed, is_fixed=False, **given)
        for event, step in zip(
            [*(step.event for step in real.transitions[:place]), told], real.transitions, strict=False
        ):
            writer.write_transition(event, match.handle(event), step.standstills)
        out = {foul.seat for foul in match.fouls}
        for seat in {0, 1} - out:
            gone = e.ConnectionLost(seat=seat, at_ms=told.at_ms + 1.0, detail="gone")
            if match.result is None:
                writer.write_transition(gone, match.handle(gone))
        assert match.result is not None
        writer.end(match)
        writer.close()
    return number


@pytest.mark.forges
def test_the_audit_names_each_lie_about_a_real_match(tmp_path: Path, real: Record) -> None:
    """The seal is by the referee's own key, and the rest of the record is true; the true record is valid."""
    public = real.header.key
    lied(real, tmp_path / "true.jsonl", lambda move, _: move)
    referee("audit", "true.jsonl", "--public-key", public, cwd=tmp_path)
    for name, (lie, expected) in LIES.items():
        line = lied(real, tmp_path / f"{name}.jsonl", lie)
        found = referee("audit", f"{name}.jsonl", "--public-key", public, cwd=tmp_path, status=1).stdout
        assert f"{name}.jsonl, line {line}\n  expected {expected}" in found
