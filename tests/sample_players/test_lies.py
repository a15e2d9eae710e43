"""False records that are chained and sealed: verify.js finds the contradictions, as the audit does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from protocol.deal import nonce_commitment

from ..record.audit import test_evidence as fouls
from ..record.audit import test_headers as headers
from ..record.forging import Line, changed, is_accepted, lines_of, sealed
from ..record.records import FAULTY, record_of, story
from .verifying import verdicts

Lie = Callable[[list[Line]], list[Line]]


Place = int | tuple[str, int]
"""A line: its number, or its index among those with an event or a command of a name, from 0."""


def number_of(lines: list[Line], place: Place) -> int:
    """Return the number of the line at a place."""
    if isinstance(place, int):
        return place % len(lines)
    name, count = place
    steps = [line for line in lines if line["kind"] == "step"]
    named = [
        line for line in steps if name in (line["event"]["event"], *(each["command"] for each in line["commands"]))
    ]
    return int(named[count]["n"])


def at(place: Place, *keys: str | int, value: Any) -> Lie:
    """Return the lie that a value in a line is another one."""
    return lambda lines: changed(lines, number_of(lines, place), keys, value)


def both(*lies: Lie) -> Lie:
    """Return a lie that consists of several lies."""

    def tell(lines: list[Line]) -> list[Line]:
        for lie in lies:
            lines = lie(lines)
        return lines

    return tell


def of_results(key: str, value: Any) -> Lie:
    """Return the lie that both results have another value."""
    return both(at(-2, "result", key, value=value), at(-3, "commands", -1, "result", key, value=value))


def postponed(place: Place, by_ms: float, *, is_sent_later: bool = False) -> Lie:
    """Return the lie that a line and all lines after it happened later; the line itself answers the same request."""

    def tell(lines: list[Line]) -> list[Line]:
        number = number_of(lines, place)
        for index in range(number, len(lines) - 2):
            event = lines[index]["event"]
            moved = {key: event[key] + by_ms for key in ("at_ms", "first_byte_ms", "sent_ms") if key in event}
            if index == number and not is_sent_later:
                moved["sent_ms"] = event["sent_ms"]
            lines = at(index, "event", value={**event, **moved})(lines)
        return lines

    return tell


def opened(nonce: str, place: Place = ("nonce-received", 0)) -> Lie:
    """Return the lie that a seat opened another nonce, and that this one counted."""
    return lambda lines: at(place, "event", "nonce", value=nonce)(
        at(-2, "nonces", lines[number_of(lines, place)]["event"]["seat"], value=nonce)(lines)
    )


def swapped(place: Place, *keys: str | int) -> Lie:
    """Return the lie that the first two items of a list are the other way round."""

    def tell(lines: list[Line]) -> list[Line]:
        inner: Any = lines[number_of(lines, place)]
        for key in keys:
            inner = inner[key]
        assert inner[0] != inner[1]
        return at(place, *keys, value=[inner[1], inner[0], *inner[2:]])(lines)

    return tell


def without_standstills(lines: list[Line]) -> list[Line]:
    """Remove a standstill that is credited."""
    return [{key: value for key, value in line.items() if key != "standstills"} for line in lines]


def in_dialect(lines: list[Line]) -> list[Line]:
    """Let the players have spoken the course's dialect."""
    header = {key: value for key, value in lines[0].items() if key != "open"}
    return [{**header, "dialect": "cs4500", "open": lines[0]["open"]}, *lines[1:]]


FIRST, SECOND, THIRD, FOURTH = (("move-received", count) for count in range(4))
OPENING, START, OVERDUE, EXPULSION = ("match-opened", 0), ("start-seat", 0), ("deadline-passed", 0), ("expel-seat", 0)
RETURN, DEATH, COMMITMENT = ("seat-returned", 0), ("match-resumed", 0), ("ready-received", 0)
OTHER_NONCE = "b" * 32
BANK = replace(story().match.setup.time, bank_ms=1800.0, increment_ms=0.25)
LIES: dict[str, tuple[str, Lie, str]] = {
    "goes back": ("clean", at(SECOND, "event", "at_ms", value=0.5), "after a line at"),
    "sent early": ("clean", at(SECOND, "event", "sent_ms", value=0.0), "but made at"),
    "first byte last": ("clean", at(SECOND, "event", "first_byte_ms", value=99.0), "not in order"),
    "lag": ("clean", at(SECOND, "event", "lag_ms", value=2.0), "a lag of"),
    "late request": ("clean", postponed(SECOND, 200.0, is_sent_later=True), "but made at"),
    "no standstill told": ("late for a stall", without_standstills, "for which no standstills account"),
    "standstill to come": ("late for a stall", at(OVERDUE, "standstills", 0, 1, value=9999.0), "does not fit there"),
    "limit": ("clean", at(SECOND, "commands", -1, "limit_ms", value=999.0), "has a limit of 999 ms, not of 1000 ms"),
    "limit of an offer": ("clean", at(OPENING, "commands", 0, "limit_ms", value=1.0), "not of 5000 ms"),
    "limit of an ack": ("acknowledged", at(START, "commands", 0, "limit_ms", value=1.0), "not of 1000 ms"),
    "late": ("clean", postponed(THIRD, 1000.0), "was not expelled for it"),
    "in time": (
        "late move",
        both(at(EXPULSION, "event", "at_ms", value=900.0), at(EXPULSION, "event", "first_byte_ms", value=900.0)),
        "was expelled for time",
    ),
    "used": ("clean", of_results("used_ms", [5.0, 5.0, 5.001]), "add up to"),
    "no deadline": ("deadline", at(OVERDUE, "event", "lag_ms", value=1.75), "had not passed"),
    "no standstill": ("late for a stall", at(OVERDUE, "event", "stalled_ms", value=250.0), "no excuse"),
    "new limit": ("late for a stall", at(OVERDUE, "commands", 0, "limit_ms", value=2000.0), "not of 1000 ms"),
    "lag of a return": ("returned", at(RETURN, "event", "lag_ms", value=10.0), "no standstills account"),
    "away before the match": ("returned", at(RETURN, "event", "gone_ms", value=1e12), "away for"),
    "taken up later": ("resumed", at(DEATH, "event", "at_ms", value=1e9), "taken up again at"),
    "limit after a return": ("returned", at(RETURN, "commands", 1, "limit_ms", value=601.0), "not of 600 ms"),
    "limit after a death": ("resumed", at(DEATH, "commands", -1, "limit_ms", value=1001.0), "not of 1000 ms"),
    "bank": ("banked", at(FOURTH, "commands", -1, "bank_ms", value=1800.0), "a bank of"),
    "no fouls": ("bad frame", of_results("fouls", []), "not those for which seats were expelled"),
    "result": ("clean", at(-2, "result", "winners", value=[0]), "not the one that the match was closed with"),
    "commitment": ("dealt", at(0, "setup", "commitment", value="0" * 64), "the commitment was broken"),
    "seed": ("dealt", at(-2, "seed", value="0" * 64), "the commitment was broken"),
    "nonce": ("dealt", at(-2, "nonces", 0, value="0" * 32), "not those that the players gave"),
    "end of nobody's program": ("crashed", at(0, "programs", value=None), "does not fit the programs"),
    "return of a program": ("returned", at(0, "programs", value=["house:x"] * 3), "does not fit the programs"),
    "other nonces than the dialect's": ("dealt, acknowledged", in_dialect, "which this dialect has not"),
    "a match of a dialect without confirmations": ("dealt", in_dialect, "in this dialect Q is played"),
    "instant of a foul": ("all gone", at(EXPULSION, "commands", 0, "foul", "at_ms", value=9.0), "another instant"),
    "turn": ("clean", at(SECOND, "event", "turn", value=3), "3 was answered, 2 was asked"),
    "ack": ("acknowledged", at(("ack-received", 1), "event", "ack", value=1), "1 was answered, 2 was asked"),
    "header": ("clean", at(0, "kind", value="heading"), "no header"),
    "nonces": ("dealt", opened(OTHER_NONCE), "that it committed to"),
    "nonces and commitment": (
        "dealt",
        both(opened(OTHER_NONCE), at(COMMITMENT, "event", "commitment", value=nonce_commitment("m", 0, OTHER_NONCE))),
        "the view",
    ),
    "refused nonce": ("another nonce", opened(f"a{FAULTY}" * 16, EXPULSION), "though its nonce is the one"),
    "lot": ("seats by lot", swapped(0, "setup", "names"), "the lot gives"),
    "view": ("dealt", at(START, "commands", 0, "view", value="0" * 64), "does not follow from shuffle and moves"),
    "draws": ("clean", at(SECOND, "commands", 1, "draws", value=["red-star", "red-star"]), "the shuffle gives it"),
    "order of draws": ("clean", swapped(SECOND, "commands", 1, "draws"), "the shuffle gives it"),
    "position": ("clean", swapped(0, "setup", "position", "pile"), "the shuffle gives it"),
    "score": (
        "clean",
        both(*(at(FIRST, "commands", n, "what", "score", value=4) for n in range(3))),
        "does not follow",
    ),
    "move": ("clean", at(FIRST, "event", "move", value={"action": "pass"}), "told of another move"),
    "told": ("clean", at(FIRST, "commands", 2, "what", "points", value=9), "told of another move"),
}
"""Lie -> its record, function, and a part of the finding. A forger has sealed all of them with his key."""


@pytest.fixture(scope="module")
def banked(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the record of a match with a bank."""
    return story(time=BANK).write(tmp_path_factory.mktemp("banked") / "m.jsonl").read_bytes()


@pytest.mark.forges
def test_it_finds_lies(tmp_path: Path, banked: bytes) -> None:
    """Anybody with a key can chain and seal anything; both programs name what does not follow."""
    sources = {of: banked if of == "banked" else record_of(of) for of, _, _ in LIES.values()}
    records = {name: sealed(lie(lines_of(sources[of]))) for name, (of, lie, _) in LIES.items()}
    found = verdicts(tmp_path / "records", records)
    assert {name: finding for name, finding in found.items() if LIES[name][2] not in finding} == {}
    assert [name for name, data in records.items() if is_accepted(tmp_path / "one", data)] == []


@pytest.mark.forges
def test_it_finds_headers_that_contradict_themselves(tmp_path: Path) -> None:
    """It names the same line as the audit."""
    records = {
        name.replace(" ", "-"): sealed(changed(lines_of(record_of(of)), number, keys, value))
        for name, (of, number, keys, value, _) in headers.LIES.items()
    }
    found = verdicts(tmp_path / "records", records)
    assert {
        name: found[name.replace(" ", "-")]
        for name, (_, number, *_more) in headers.LIES.items()
        if f", line {number}: " not in found[name.replace(" ", "-")]
    } == {}


@pytest.mark.forges
def test_it_finds_endings_that_do_not_fit_their_status(tmp_path: Path) -> None:
    """It names the line of the crash."""
    records = {
        f"ending-{number}": fouls.crashed(status, ending).write(tmp_path / f"{number}.jsonl").read_bytes()
        for number, (status, ending, _) in enumerate(fouls.ENDINGS)
    }
    found = verdicts(tmp_path / "records", records)
    assert {name: finding for name, finding in found.items() if ", line 6: " not in finding} == {}


@pytest.mark.forges
def test_it_finds_lies_about_fouls(tmp_path: Path) -> None:
    """If the bytes do not show the foul, it names the line of the lie, as the audit does."""
    lies = [(name, 6, fouls.told(lie)) for name, (lie, _) in fouls.LIES.items()]
    lies += [(name, 2, fouls.told(lie, count=1)) for name, (lie, _) in fouls.OFFERED.items()]
    records = {
        name.replace(" ", "-"): story.write(tmp_path / f"{number}.jsonl").read_bytes()
        for number, (name, _, story) in enumerate(lies)
    }
    found = verdicts(tmp_path / "records", records)
    assert {
        name: found[name.replace(" ", "-")]
        for name, line, _ in lies
        if f", line {line}: " not in found[name.replace(" ", "-")]
    } == {}


@pytest.mark.forges
def test_requests_wait_for_the_disk_if_the_header_says_so(tmp_path: Path) -> None:
    """With durability `turn`, a request waits at most half a second; a longer wait is a standstill on record."""
    records = {}
    for name, by_ms in (("waits", 500.0), ("waits-long", 60_000.0)):
        late = postponed(SECOND, by_ms, is_sent_later=True)(lines_of(record_of("clean")))
        header = {key: value for key, value in late[0].items() if key != "open"}
        records[name] = sealed([{**header, "durability": "turn", "open": late[0]["open"]}, *late[1:]])
        records[f"{name}-without"] = sealed(late)
    found = verdicts(tmp_path / "records", records)
    assert {name for name, finding in found.items() if "but made at" not in finding} == {"waits"}
    assert {name for name, data in records.items() if is_accepted(tmp_path / "one", data)} == {"waits"}
