"""Redacted records made by a forger: chain and seal hold, and an invalid line is named all the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.games.q.game import QGame
from referee.plugins import load
from referee.record import redacted_record
from referee.record.explain import explain
from referee.record.reader import IsRedacted, RecordError, read_record
from referee.record.redacted_record import check_redacted_record, redact
from referee.record.schema import encode_line, read_line

from .forging import FORGERS_KEY, ZEROS, signature_of
from .records import tell

REGISTRY = load()
Forge = Callable[[list[dict[str, Any]]], object]


def lines_of(folder: Path, name: str, seat: int) -> list[dict[str, Any]]:
    """Return the lines of a record, redacted for one seat."""
    path = tell(name).write(folder / "whole.jsonl")
    return [json.loads(line) for line in redact(path, REGISTRY.game, seat)]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    """Chain lines again, and seal them with the forger's key."""
    prev, data = ZEROS, b""
    lines[0]["key"] = FORGERS_KEY
    for number, line in enumerate(lines):
        core = {**line, "n": number, "prev": prev}
        opened = core.pop("open", {})
        if core["kind"] == "seal":
            core["signature"] = signature_of(prev)
        written, prev = encode_line(core, opened)
        data += written + b"\n"
    path.write_bytes(data)
    return path


def step_with(lines: list[dict[str, Any]], command: str) -> dict[str, Any]:
    """Return the first command of a kind."""
    commands = [found for line in lines for found in line.get("commands", ()) if found["command"] == command]
    return commands[0]  # type: ignore[no-any-return]  # as it is in JSON


FORGED: dict[str, tuple[Forge, str]] = {
    "an event without its time": (lambda lines: lines[2]["event"].pop("at_ms"), "step"),
    "an event that is none": (lambda lines: lines[2].update(event=7), "step"),
    "no event": (lambda lines: lines[2].pop("event"), "step"),
    "a command that is none": (lambda lines: lines[2].update(commands=[7]), "step"),
    "a command without a name": (lambda lines: lines[2].update(commands=[{}]), "step"),
    "commands that are none": (lambda lines: lines[2].update(commands=7), "step"),
    "a limit that is no number": (lambda lines: step_with(lines, "ask-move").update(limit_ms="x"), "step"),
    "an expulsion without a foul": (lambda lines: step_with(lines, "expel-seat").pop("foul"), "step"),
    "a foul that is none": (lambda lines: step_with(lines, "expel-seat").update(foul=7), "step"),
    "a foul without a rule": (lambda lines: step_with(lines, "expel-seat")["foul"].pop("rule"), "step"),
    "a foul of no turn": (lambda lines: step_with(lines, "expel-seat")["foul"].update(turn=None), "step"),
    "a foul where none is told": (lambda lines: step_with(lines, "tell-seat").update(foul=None), "step"),
    "a line of another kind": (lambda lines: lines[2].update(kind="note"), "step"),
    "a header in the middle": (lambda lines: lines.insert(2, dict(lines[0])), "step"),
    "no result": (lambda lines: lines.pop(-2), "result"),
    "a result that is none": (lambda lines: lines[-2].update(result=7), "result"),
    "a result without fouls": (lambda lines: lines[-2]["result"].pop("fouls"), "result"),
    "a result without turns": (lambda lines: lines[-2]["result"].pop("turns"), "result"),
    "scores of nobody": (lambda lines: lines[-2]["result"].update(scores=[]), "result"),
    "nothing but an end": (lambda lines: lines.__delitem__(slice(1, -1)), "result"),
}


@pytest.mark.forges
@pytest.mark.parametrize(("forge", "kind"), FORGED.values(), ids=FORGED)
def test_a_line_that_is_none_is_named(tmp_path: Path, forge: Forge, kind: str) -> None:
    """The seal is of a key of the forger's own, and the invalid line is named."""
    lines = lines_of(tmp_path, "illegal move", 0)
    check_redacted_record(write(tmp_path / "m", lines), REGISTRY.game)
    forge(lines)
    with pytest.raises(RecordError) as caught:
        check_redacted_record(write(tmp_path / "m", lines), REGISTRY.game)
    assert (caught.value.expected, (caught.value.line or 0) > 0) == (f"a line of kind {kind}", True)


@pytest.mark.forges
def test_another_limit_for_nothing_is_explained(tmp_path: Path) -> None:
    """A forger may extend a limit that no request had; explaining that record still works."""
    lines = lines_of(tmp_path, "illegal move", 1)
    lines[1]["commands"][1] = {"command": "extend-limit", "seat": 1, "limit_ms": 5000.0}
    path = write(tmp_path / "m", lines)
    check_redacted_record(path, REGISTRY.game)
    found = explain([read_line(line) for line in path.read_bytes().splitlines()], 1, QGame().rules)
    assert found.verdict is not None


@pytest.mark.parametrize("kind", [AttributeError, KeyError, TypeError, IndexError])
def test_a_fault_of_the_checkers_accuses_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    """An exception while hidden fields are compared is raised as it is."""
    path = write(tmp_path / "m", lines_of(tmp_path, "illegal move", 0))

    def fail(_line: object) -> None:
        raise kind("a mistake")

    monkeypatch.setattr(redacted_record, "hidden_fields", fail)
    with pytest.raises(kind, match="a mistake"):
        check_redacted_record(path, REGISTRY.game)


def test_a_record_is_known_as_redacted_though_its_first_lines_show_all(tmp_path: Path) -> None:
    """The header of a new deal hides nothing, and the first view of an acknowledged match may be the seat's own."""
    path = tmp_path / "redacted.jsonl"
    path.write_bytes(b"".join(encode(line) for line in lines_of(tmp_path, "dealt, acknowledged", 0)))
    with pytest.raises(IsRedacted):
        read_record(path)
    assert check_redacted_record(path, REGISTRY.game).seat == 0


def encode(line: dict[str, Any]) -> bytes:
    """Return the bytes of a line in the file."""
    opened = line.pop("open", {})
    return encode_line(line, opened)[0] + b"\n"
