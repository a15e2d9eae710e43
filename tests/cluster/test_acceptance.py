"""A returned record of another job, with other rules or damaged by a disk is refused, and nothing is sealed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from referee.cluster import followed_match
from referee.cluster.followed_match import JudgedMatch, judge_record
from referee.match import events as e
from referee.net.jobs.job import MatchJob
from referee.record.key import RECORD_PURPOSE
from referee.record.reader import RecordError, parse_record
from referee.settings import Durability, RunTerms

from ..net.jobs.making import LAUNCH, SEALER, job_of
from ..net.jobs.played import JOB, Lie, record_of
from ..record.forging import Line, changed, hash_of, lines_of, linked, sealed, unchained, unsealed

TERMS = RunTerms()
Forge = Callable[[list[Line]], bytes]
OTHER = "ab" * 32
MOVE = 4
"""Line of the first move, counted from 0; the line of the second seat's move follows."""


@pytest.fixture(scope="module")
def honest() -> bytes:
    """Return the record that an honest host returns."""
    return record_of()


def judged(data: bytes, terms: RunTerms = TERMS, job: MatchJob = JOB) -> JudgedMatch:
    """Judge bytes as the record of a match that was given to a host."""
    return judge_record(job, parse_record(data, Path(f"{job.match}.jsonl")), terms)


def refused(data: bytes, terms: RunTerms = TERMS, job: MatchJob = JOB) -> RecordError:
    """Return the error for bytes."""
    with pytest.raises(RecordError) as caught:
        judged(data, terms, job)
    return caught.value


def said(number: int, keys: str, value: Any) -> Forge:
    """Return a function that changes a value in a line, and repairs the chain."""
    way = [int(key) if key.isdigit() else key for key in keys.split(".")]
    return lambda lines: unsealed(changed(lines, number % len(lines), way, value))


def left_out(number: int) -> Forge:
    """Return a function that removes a line, and repairs the chain."""
    return lambda lines: unsealed([*lines[: number % len(lines)], *lines[number % len(lines) :][1:]])


def test_an_honest_record_is_accepted(honest: bytes) -> None:
    """The coordinator gets everything that it seals and counts."""
    found = judged(honest)
    assert (found.result.winners, found.moved) == ((1,), frozenset({0, 1}))
    assert found.end.head == hash_of(lines_of(honest)[-1])


HEADERS: dict[str, tuple[Forge, str]] = {
    "another program": (said(0, "programs.0", "cmd:other"), "programs"),
    "programs exchanged": (said(0, "programs", ["cmd:1", "cmd:0"]), "programs"),
    "names exchanged": (said(0, "setup.names", ["e1", "e0"]), "setup.names"),
    "another game": (said(0, "setup.game", "quincala"), "setup.game"),
    "other options": (said(0, "setup.options", {"lines": 1}), "setup.options.lines"),
    "options within options": (said(0, "setup.options", {"lines": {"a": 1}}), "setup.options.lines"),
    "a longer limit": (said(0, "setup.time.per_move_ms", 60000.0), "setup.time.per_move_ms"),
    "a wider margin": (said(0, "setup.lag_margin_ms", 9000.0), "setup.lag_margin_ms"),
    "a seed that is not revealed": (said(0, "setup.seed_opens", "after-last-leg"), "setup.seed_opens"),
    "another deal": (said(0, "setup.commitment", OTHER), "setup.commitment"),
    "another seed": (said(0, "seed", OTHER), "seed"),
    "another lock": (said(0, "locked_seed", OTHER), "locked_seed"),
    "another key": (said(0, "key", OTHER), "key"),
    "another attempt": (said(0, "context.fixture.attempt", 1), "context.fixture.attempt"),
    "another pairing": (said(0, "context.fixture.number", 2), "context.fixture.number"),
    "other entrants": (said(0, "context.fixture.entrants", [1, 0]), "context.fixture.entrants"),
    "another tournament": (said(0, "context.tournament", "league"), "context.tournament"),
    "a match of yesterday": (said(0, "context.head", OTHER), "context.head"),
    "no match of a tournament": (said(0, "context", None), "of a record"),
    "another version": (said(0, "referee", "0.0"), "referee"),
    "synced less": (said(0, "durability", "turn"), "durability"),
    "another wire": (said(0, "dialect", "cs4500"), "dialect"),
    "another format": (said(0, "format", 2), "format"),
}
"""Lies about the settings -> the key of the first line that the error names."""


@pytest.mark.parametrize(("forge", "named"), HEADERS.values(), ids=HEADERS)
def test_a_host_that_lies_about_what_was_settled(honest: bytes, forge: Forge, named: str) -> None:
    """The first line must agree with the job in every field."""
    error = refused(forge(lines_of(honest)))
    assert (error.line, error.path) == (0, Path("cup-00001.jsonl"))
    assert named in str(error)


SEAL: Line = {"n": 0, "prev": "", "kind": "seal", "signature": "0" * 128, "open": {}}
LINES: dict[str, tuple[Forge, int, str]] = {
    "another score": (said(-1, "result.scores", [9, 0]), 50, "result"),
    "another rank": (said(-1, "result.ranking", [[0], [1]]), 50, "result"),
    "another winner": (said(-2, "commands.4.result.winners", [0]), 49, "command 5"),
    "another winner in the result": (said(-1, "result.winners", [0]), 50, "result"),
    "another time used": (said(-1, "result.used_ms", [1.0, 120.0]), 50, "result"),
    "a foul in the result": (
        said(-1, "result.fouls", [{"seat": 0, "cause": "timeout", "turn": 1, "detail": "", "evidence": ""}]),
        50,
        "",
    ),
    "the seed of another deal": (said(-1, "seed", OTHER), 0, "seed"),
    "a nonce": (said(-1, "nonces", ["00" * 32, None]), 50, "nonces"),
    "another limit": (said(3, "commands.2.limit_ms", 9000.0), 3, "limit_ms"),
    "another deal dealt": (said(3, "commands.0.view", OTHER), 3, OTHER[:40]),
    "another move": (said(MOVE, "event.move.square", [0, 0]), 4, "command 1"),
    "a move of somebody else": (said(MOVE, "event.seat", 1), 4, ""),
    "a time that runs back": (said(MOVE, "event.at_ms", 1.0), 4, ""),
    "an instant before it was asked": (said(MOVE, "event.sent_ms", 0.0), 4, "sent"),
    "a move left out": (left_out(MOVE), 4, ""),
    "the end left out": (left_out(-2), 49, ""),
    "a move twice": (lambda lines: unsealed([*lines[: MOVE + 1], *lines[MOVE:]]), 5, ""),
}
"""Lies about the events -> the line that the error names, and its text."""


@pytest.mark.parametrize(("forge", "line", "named"), LINES.values(), ids=LINES)
def test_a_host_that_lies_about_what_happened(honest: bytes, forge: Forge, line: int, named: str) -> None:
    """The record contradicts the events when they are applied again, or the other checks."""
    error = refused(forge(lines_of(honest)))
    assert error.line == line, error
    assert named in str(error)


def _sealed_with_the_key(data: bytes) -> bytes:
    lines = linked([*lines_of(data), SEAL])
    lines[-1]["signature"] = SEALER.sign(RECORD_PURPOSE, lines[-1]["prev"])
    return unchained(lines)


BYTES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nothing": (lambda data: b"", "a header"),
    "no text": (lambda data: b"\xff" * 999, "a header"),
    "a bomb": (lambda data: b"[" * 100_000 + b"\n", "a line of a record"),
    "cut in a line": (lambda data: data[:-20], "part of a line"),
    "cut after a line": (lambda data: data[: data[:-1].rindex(b"\n") + 1], "a result as the last line"),
    "the first line alone": (lambda data: data[: data.index(b"\n") + 1], "a result as the last line"),
    "foreign lines at the end": (lambda data: data + data[data[:-1].rindex(b"\n") + 1 :], "n = 51"),
    "a part of a line at the end": (lambda data: data + b'{"n":51', "part of a line"),
    "the record twice": (lambda data: data + data, "n = 51"),
    "a line changed, the chain not mended": (
        lambda data: data.replace(b'"at_ms":10.0', b'"at_ms":11.0', 1),
        "a line whose hash is",
    ),
    "a seal of its own": (
        lambda data: sealed([*lines_of(data), SEAL]),
        "key",
    ),
    "a seal with no key": (
        lambda data: unchained(linked([*lines_of(data), SEAL])),
        "the seal of key",
    ),
    "what was sealed before": (_sealed_with_the_key, "no seal"),
    "spaces": (lambda data: data.replace(b'"n":', b'"n": ', 1), "the canonical form"),
}
"""Bytes that are not a record -> text of the error."""


@pytest.mark.parametrize(("spoil", "named"), BYTES.values(), ids=BYTES)
def test_a_host_that_returns_anything(honest: bytes, spoil: Callable[[bytes], bytes], named: str) -> None:
    """The bytes are not the record of a match that is over and not yet sealed."""
    assert named in str(refused(spoil(honest)))


def broken(code: str, evidence: Callable[[e.MoveReceived], str] = lambda _: "c1") -> Lie:
    """Return a function that replaces a move by a breach of the protocol."""
    return lambda move: e.ProtocolBroken(
        at_ms=move.at_ms, seat=move.seat, code=code, detail="so it was", evidence=evidence(move)
    )


def _frame(move: e.MoveReceived) -> str:
    said = {"type": "move", "match": JOB.match, "turn": move.turn, "move": msgspec.to_builtins(move.move)}
    return msgspec.msgpack.encode(said).hex()


def _overdue(move: e.MoveReceived) -> e.DeadlinePassed:
    return e.DeadlinePassed(at_ms=move.sent_ms + 6000.5, seat=move.seat, sent_ms=move.sent_ms, lag_ms=0.0, pending="zz")


def _said_late(**instants: float) -> Lie:
    return lambda move: replace(move, at_ms=9000.0, first_byte_ms=9000.0, **instants)


FOLDED: dict[str, tuple[Lie, str]] = {
    "a foul without evidence": (broken("not-msgpack", _frame), "bytes that are not-msgpack"),
    "a foul that there is not": (broken("ugly"), "a code of the wire"),
    "a deadline with bytes that are none": (_overdue, "bytes in hex"),
    "lag that saves a friend": (_said_late(sent_ms=5.0, lag_ms=4000.0), "standstills of 4000.0 ms"),
    "a request that was sent late": (_said_late(sent_ms=8990.0, lag_ms=0.0), "a request sent from"),
}
"""Lies in records that are otherwise consistent -> text of the error."""


@pytest.mark.parametrize(("lie", "named"), FOLDED.values(), ids=FOLDED)
def test_a_host_that_lies_and_plays_on(lie: Lie, named: str) -> None:
    """The rest of the record follows from the lie. The lie is found by its evidence."""
    assert named in str(refused(record_of(lie=lie)))


def test_a_host_of_another_durability(honest: bytes) -> None:
    """A match must be played by the terms of its run."""
    assert "durability" in str(refused(honest, RunTerms(durability=Durability.TURN)))


def test_a_match_twice(honest: bytes) -> None:
    """The record of an attempt is not that of the next one, nor of the other leg."""
    fixture = JOB.context.fixture
    for other in (replace(fixture, attempt=1, match="cup-00001r1"), replace(fixture, leg=1)):
        job = replace(JOB, context=replace(JOB.context, fixture=other))
        assert "context.fixture" in str(refused(honest, job=job)) or "setup.match" in str(refused(honest, job=job))


def test_a_seat_that_the_job_leaves_vacant_may_be_found_so() -> None:
    """The record has no other event of this seat; the other seat wins."""
    job = job_of("it does not build", LAUNCH, game="quincy", number=7, drawn=None)
    found = judged(record_of(job, vacant=0), job=job)
    assert (found.result.winners, [foul.seat for foul in found.result.fouls]) == ((1,), [0])


@pytest.mark.parametrize(
    "job", [job_of(LAUNCH, LAUNCH, game="quincy"), job_of(LAUNCH, LAUNCH, game="q", number=3, drawn=None)]
)
def test_other_jobs(job: MatchJob) -> None:
    """Honest records are accepted, too, with a seed and nonces of the match's own, and of another game."""
    judged(record_of(job), job=job)


def test_an_audit_that_fails_is_a_false_record(honest: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise, a host that made the audit crash would stop the tournament."""

    def fails(*_: Any) -> None:
        raise ZeroDivisionError("by hostile bytes")

    monkeypatch.setattr(followed_match, "check_consequences", fails)
    error = refused(honest)
    assert "ZeroDivisionError: by hostile bytes" in str(error)
    assert isinstance(error.__cause__, ZeroDivisionError)
