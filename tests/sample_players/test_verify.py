"""verify.js and the audit agree on every record: it was written from the documents alone, and shares no code.

One process of Node.js verifies all records of a table.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.record.key import public_pem
from referee.record.reader import RecordError
from referee.record.redacted_record import check_redacted_record, redact

from ..record.forging import (
    REGISTRY,
    WAYS,
    Line,
    chained,
    changed,
    encoded,
    is_accepted,
    lines_of,
    sealed,
    signature_of,
    unsealed,
)
from ..record.records import SEALER, STORIES, record_of
from ..record.tournaments import play_cup
from .random_matches import random_match
from .verifying import Records, run, verdicts

GOLDEN = Path(__file__).parents[1] / "golden"
Change = Callable[[list[Line]], object]


def all_hold(records: Records) -> dict[str, str]:
    """Return the expected findings of the verifier if every record is valid."""
    return dict.fromkeys(records, "")


# # --- valid records


def test_it_holds_all_golden_records_and_their_redacted_views(tmp_path: Path) -> None:
    """It also accepts each redacted record of each seat, compared with the whole record line by line."""
    records = {path.stem: path.read_bytes() for path in sorted(GOLDEN.glob("*.jsonl"))}
    assert records
    for path in GOLDEN.glob("*.jsonl"):
        for seat in range(len(json.loads(path.read_bytes().splitlines()[0])["setup"]["names"])):
            lines = redact(path, REGISTRY.game, seat)
            records[f"{path.stem}-{seat}"] = b"".join(line + b"\n" for line in lines)
    found = verdicts(tmp_path / "records", records, "--key", GOLDEN / "referee.pub")
    assert found == all_hold(records)
    said = run(GOLDEN / "duplicate-deal.jsonl").stdout
    assert "its seed opens after the last leg of its deal" in said
    assert "not verified: that it was a match of the tournament cup" in said


def test_it_holds_every_kind_of_match(tmp_path: Path) -> None:
    """They include matches with acknowledgements and unfinished matches."""
    records = {name: record_of(name) for name in STORIES}
    assert verdicts(tmp_path / "records", records, "--unsealed") == all_hold(records)
    unfinished = [name for name, data in records.items() if b'"kind":"seal"' not in data]
    found = verdicts(tmp_path / "records", records)
    assert [name for name, finding in found.items() if finding] == unfinished


def test_it_holds_matches_in_which_anything_happens_to_time(tmp_path: Path) -> None:
    """From the documents alone, it computes the same times as the referee: banks, returns, standstills, crashes."""
    records = {f"{number:03}": random_match(number).write(tmp_path / str(number)).read_bytes() for number in range(80)}
    assert verdicts(tmp_path / "records", records, "--key", SEALER.public) == all_hold(records)


# --- damage


@pytest.mark.forges
def test_it_finds_damage(tmp_path: Path) -> None:
    """The damage is a changed byte, or a line that is missing, doubled or misplaced."""
    records = {
        f"{name}-{way.__name__}-{number}": way(Random(number), record_of(name))
        for name in ("clean", "dealt", "bad frame", "void", "acknowledged")
        for way in WAYS
        for number in range(8)
    }
    found = verdicts(tmp_path / "records", records)
    expected = {name: is_accepted(tmp_path / "one", data) for name, data in records.items()}
    assert {name: not finding for name, finding in found.items()} == expected
    assert not all(expected.values())


@pytest.mark.forges
def test_a_chain_that_was_mended_without_the_key_is_found(tmp_path: Path) -> None:
    """The seal is not over these lines, or it is of another key than the given one."""
    lines = changed(lines_of(record_of("clean")), 0, ["referee"], "9.9")
    mended = {"seal-kept": chained(lines), "seal-dropped": unsealed(lines), "other-key": sealed(lines)}
    found = verdicts(tmp_path / "records", mended, "--key", SEALER.public)
    found |= verdicts(tmp_path / "named", {"own-key": mended["other-key"]})
    assert "not the signature" in found["seal-kept"]
    assert "no seal" in found["seal-dropped"]
    assert "another key" in found["other-key"]
    assert not found["own-key"]


# --- redacted records


def without(path: str) -> Change:
    """Return a change that removes an entry of `open`."""

    def change(lines: list[Line]) -> None:
        next(line["open"] for line in lines if path in line.get("open", {})).pop(path)

    return change


def entry_changed(path: str, index: int, value: Any) -> Change:
    """Return a change that replaces a part of an entry of `open`."""

    def change(lines: list[Line]) -> None:
        next(line["open"] for line in lines if path in line.get("open", {}))[path][index] = value

    return change


def shown_besides(lines: list[Line]) -> None:
    """Show another seat's fields in the line of the first move."""
    number = next(line["n"] for line in lines if line.get("event", {}).get("event") == "move-received")
    lines[number]["open"] = json.loads(record_of("clean").splitlines()[number])["open"]


REDACTED: dict[str, tuple[Change, str]] = {
    "view left out": (without("commands.0.view"), "neither all that is hidden"),
    "move left out": (without("event.move"), "neither all that is hidden"),
    "of another seat": (shown_besides, "neither all that is hidden"),
    "other salt": (entry_changed("event.move", 0, "0" * 32), "is not what the line holds the hash of"),
    "no salt": (entry_changed("event.move", 0, ""), "neither salt and value"),
    "other move": (entry_changed("event.move", 1, {"action": "pass"}), "is not what the line holds the hash of"),
    "other view": (entry_changed("commands.0.view", 2, {"seat": 0}), "another view than that of the digest"),
    "other core": (lambda lines: lines[6].update(kind="result"), "the chain is broken"),
}
"""Change in seat 0's redacted record of a match -> function, and a part of the finding."""


@pytest.mark.forges
def test_it_finds_what_is_wrong_with_a_redacted_record(tmp_path: Path) -> None:
    """Nobody can show less, more or something else."""
    path = tmp_path / "whole"
    path.write_bytes(record_of("clean"))
    lines = [json.loads(line) for line in redact(path, REGISTRY.game, 0)]
    records = {}
    for name, (change, _) in REDACTED.items():
        forged = deepcopy(lines)
        change(forged)
        records[name] = b"".join(encoded(_without_nothing(line)) + b"\n" for line in forged)
    found = verdicts(tmp_path / "records", records)
    assert {name: finding for name, finding in found.items() if REDACTED[name][1] not in finding} == {}
    for name in records:
        with pytest.raises(RecordError):
            check_redacted_record(tmp_path / "records" / f"{name}.jsonl", REGISTRY.game)


def _without_nothing(line: Line) -> Line:
    return {key: value for key, value in line.items() if key != "open" or value}


@pytest.mark.forges
def test_a_redacted_record_of_another_match_is_found(tmp_path: Path) -> None:
    """It must agree with the whole record line by line; without that, it is valid by itself."""
    path = tmp_path / "whole"
    path.write_bytes(record_of("clean"))
    redacted = b"".join(line + b"\n" for line in redact(path, REGISTRY.game, 1))
    found = verdicts(tmp_path / "records", {"whole": record_of("late move"), "redacted": redacted})
    assert not found["whole"]
    assert "from another record than the whole ones" in found["redacted"]
    assert verdicts(tmp_path / "alone", {"redacted": redacted}) == {"redacted": ""}


# --- tournaments


@pytest.mark.forges
def test_it_verifies_the_record_of_a_tournament(tmp_path: Path) -> None:
    """It verifies the chain and each of the seals; a stopped tournament has several."""
    play_cup(tmp_path / "cup", 3)
    found = run(tmp_path / "cup")
    assert (found.returncode, found.stdout.count(" holds: ")) == (0, len([*(tmp_path / "cup").glob("*.jsonl")]))
    data = (tmp_path / "cup" / "cup.jsonl").read_bytes()
    lines = data.splitlines(keepends=True)
    assert data.count(b'"kind":"seal"') > 1
    records = {
        "byte": data.replace(b'"round":1', b'"round":2', 1),
        "line": b"".join(lines[:2] + lines[3:]),
        "swapped": b"".join([*lines[:2], lines[3], lines[2], *lines[4:]]),
        "last-seal": b"".join([*lines[:-1], signed_anew(lines[-1])]),
        "cut": b"".join(lines[:-1]),
    }
    assert all(verdicts(tmp_path / "records", records).values())


def signed_anew(seal: bytes) -> bytes:
    """Return a seal with a signature of another key."""
    line = json.loads(seal)
    return encoded({**line, "signature": signature_of(line["prev"])}) + b"\n"


# --- the program


def test_it_finds_the_line_that_a_player_was_told_of(tmp_path: Path) -> None:
    """So a player with a stored head knows whether the record was changed."""
    path = tmp_path / "m.jsonl"
    path.write_bytes(record_of("clean"))
    head = lines_of(record_of("clean"))[7]["prev"]
    assert run(path, "--head", head).returncode == 0
    assert f"no line has the hash {'0' * 64}" in run(path, "--head", "0" * 64).stdout


@pytest.mark.forges
def test_it_compares_records_with_published_heads(tmp_path: Path) -> None:
    """It compares line by line; heads of other records do not matter."""
    path, heads = tmp_path / "m.jsonl", tmp_path / "heads.log"
    path.write_bytes(record_of("clean"))
    lines = lines_of(record_of("clean"))
    published = [{"at": "now", "record": "m", "line": line["n"] - 1, "head": line["prev"]} for line in lines[1:]]
    heads.write_bytes(b"".join(encoded(head) + b"\n" for head in [*published, {**published[0], "record": "n"}]) + b"{")
    assert run(path, "--heads", heads).returncode == 0
    path.write_bytes(record_of("late move"))
    assert "line 0: it is another line than when" in run(path, "--heads", heads).stdout


def test_it_takes_a_key_in_every_form_in_which_one_is_given(tmp_path: Path) -> None:
    """The forms are hex, a file with hex, and the file of `referee key export`."""
    path, pem, text = (tmp_path / name for name in ("m.jsonl", "referee.pem", "referee.pub"))
    path.write_bytes(record_of("finished"))
    pem.write_text(public_pem(SEALER.public))
    text.write_text(SEALER.public + "\n")
    assert [run(path, "--key", key).returncode for key in (SEALER.public, pem, text, "0" * 64)] == [0, 0, 0, 1]


def test_it_says_how_it_is_used(tmp_path: Path) -> None:
    """A usage error ends with 2; without a record, nothing holds."""
    assert "usage: node verify.js" in run("--help").stdout
    assert [run(*given).returncode for given in (["--help"], [], ["--no"], [tmp_path / "none"], [tmp_path])] == [
        0,
        2,
        2,
        2,
        1,
    ]
