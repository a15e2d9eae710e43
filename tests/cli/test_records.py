"""The commands about records, as auditors and authors run them: key, audit, manifest, explain."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from referee.cli.main import main
from referee.record import explain as record_explain
from referee.record.audit import times as time_book
from referee.record.key import Sealer

from ..record import records
from .calling import played, referee
from .test_commands import PLAYER

OFF_THE_MAP = "{'action': 'place', 'tiles': [[5, 5, view['hand'][0]]]}"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the records of two matches; in the first one, seat 1 breaks a rule."""
    folder = tmp_path_factory.mktemp("contest")
    (folder / "bad.py").write_text(PLAYER.replace("{MOVE}", OFF_THE_MAP))
    bad = f"cmd:{sys.executable} bad.py"
    referee("play", "q", "house:dag", bad, "--logs", "logs/first", "--seed", "7", cwd=folder)
    # its deal is random: two lines of four stones take more turns than any test here plays
    referee("play", "quincy", "house:greedy", "house:random", "--logs", "logs/second", cwd=folder)
    return folder / "logs"


def record_of(logs: Path, name: str) -> Path:
    """Return the only record of a match."""
    (path,) = (logs / name).glob("*.jsonl")
    return path


def told(*arguments: str, cwd: Path, status: int = 0) -> str:
    """Run a command, and return its output on one line."""
    done = referee(*arguments, cwd=cwd, status=status)
    assert "Traceback" not in done.stderr
    return " ".join((done.stdout + done.stderr).replace("│", " ").split())


# --- key


def test_a_key_is_made_shown_and_exported(tmp_path: Path) -> None:
    """It is made once, shown in hex, and exported as a PEM that `audit` takes."""
    made = played(referee("key", "make", "--key", "k.pem", "--json", cwd=tmp_path))
    shown = played(referee("key", "show", "--key", "k.pem", "--json", cwd=tmp_path))
    assert made == shown == {"version": 1, "public": made["public"], "file": "k.pem"}
    assert made["public"] in told("key", "show", "--key", "k.pem", cwd=tmp_path)
    assert "never overwritten" in told("key", "make", "--key", "k.pem", cwd=tmp_path, status=1)
    assert "referee key make" in told("key", "show", "--key", "none.pem", cwd=tmp_path, status=1)
    exported = referee("key", "export", "--key", "k.pem", cwd=tmp_path).stdout
    assert exported.startswith("-----BEGIN PUBLIC KEY-----\n")


def test_a_match_is_sealed_with_the_key_that_was_named(tmp_path: Path) -> None:
    """The key is made on first use, and the record passes the audit only with it."""
    done = referee("play", "q", "house:dag", "house:dag", "--key", "k.pem", cwd=tmp_path)
    assert "made a key to seal records with: k.pem" in done.stderr
    (tmp_path / "k.pub").write_text(referee("key", "export", "--key", "k.pem", cwd=tmp_path).stdout)
    assert "1 record, 0 broken" in told("audit", "logs", "--public-key", "k.pub", cwd=tmp_path)
    assert "line 0 expected key" in told("audit", "logs", "--public-key", Sealer.new().public, cwd=tmp_path, status=1)
    assert "neither a public key" in told("audit", "logs", "--public-key", "k.pubb", cwd=tmp_path, status=2)


# --- audit


def test_an_audit_tells_state_deal_and_key(logs: Path) -> None:
    """Every record is listed, with the kind of its deal and the key that sealed it."""
    public = played(referee("key", "show", "--json", cwd=logs))["public"]
    report = played(referee("audit", ".", "--json", cwd=logs))
    assert report["broken"] == 0
    found = [(record["state"], record["deal"], record["key"]) for record in report["records"]]
    assert found == [("sealed", "fixed", public), ("sealed", "fair", public)]
    brief, whole = (told("audit", ".", *more, cwd=logs) for more in ((), ("-v",)))
    assert "holds" not in brief, "what holds is counted only"
    assert [f"holds {record_of(logs, name).relative_to(logs)}" in whole for name in ("first", "second")] == [True, True]
    assert f"2 sealed by key {public}" in told("audit", ".", "--jobs", "1", cwd=logs)


def test_it_is_told_when_the_seed_of_a_duplicate_deal_opens(tmp_path: Path) -> None:
    """The record of each leg says when its seed opens."""
    path, words = (
        tmp_path / "m.jsonl",
        "a leg of a duplicate deal: its seed opens once the last leg of the deal is over",
    )
    path.write_bytes(records.record_of("duplicate deal"))
    audited, explained = (
        CliRunner().invoke(main, [name, str(path), *more]) for name, *more in (["audit"], ["explain", "1"])
    )
    assert f"1 record of {words}\n" in audited.output
    assert f"cup-00001 is {words}\n" in explained.output
    assert "not verified: whether it belongs to the tournament cup" in " ".join(audited.output.split())


def test_many_records_are_audited_at_once(logs: Path, tmp_path: Path) -> None:
    """With several processes the reports come in the order of the files, a broken one among them."""
    data = record_of(logs, "second").read_bytes()
    for number in range(7):
        (tmp_path / f"{number}.jsonl").write_bytes(data if number != 3 else data.replace(b'"turn":2', b'"turn":3', 1))
    report = played(referee("audit", str(tmp_path), "--jobs", "2", "--json", cwd=logs, status=1))
    (tmp_path / "3.jsonl").unlink()
    assert [Path(record["record"]).stem for record in report["records"]] == [str(number) for number in range(7)]
    assert [record["holds"] for record in report["records"]] == [number != 3 for number in range(7)]


def test_the_head_that_a_player_kept_is_found(logs: Path) -> None:
    """The audit finds the head that the client printed in the record, and no other head."""
    (words,) = (logs / "first").glob("*.stderr")
    head = words.read_text().split("last head ")[1].split()[0]
    record = str(record_of(logs, "first"))
    assert "0 broken" in told("audit", record, "--head", head, cwd=logs)
    assert "expected a line with the hash" in told("audit", record, "--head", "0" * 64, cwd=logs, status=1)


def test_what_was_published_while_it_was_played_is_found(tmp_path: Path) -> None:
    """A record has all heads that `play --heads` has published; one with other heads does not hold."""
    referee("play", "q", "house:dag", "house:greedy", "--seed", "7", "--heads", "heads.log", cwd=tmp_path)
    heads = tmp_path / "heads.log"
    count = heads.read_text().count("\n")
    said = told("audit", "logs", "--heads", "heads.log", cwd=tmp_path)
    assert f"looked for {count} published heads of these records" in said
    heads.write_text(heads.read_text().replace('"line":3,', '"line":-3,'))
    assert "line 3: not a published head" in told("audit", "logs", "--heads", "heads.log", cwd=tmp_path, status=2)
    referee("play", "q", "house:dag", "house:greedy", "--heads", "others.log", "--logs", "more", cwd=tmp_path)
    said = told("audit", "logs", "--heads", "others.log", cwd=tmp_path, status=1)
    assert "expected a record that has line 1 with the hash" in said
    assert "found no such record that holds" in said


def test_an_unfinished_record_is_told_apart(logs: Path, tmp_path: Path) -> None:
    """A record without its end is refused, except with --unsealed."""
    lines = record_of(logs, "second").read_bytes().splitlines(keepends=True)
    (tmp_path / "m.jsonl").write_bytes(b"".join(lines[:8]) + b'{"n":')
    text = told("audit", "m.jsonl", cwd=tmp_path, status=1)
    assert "m.jsonl, line 8 expected a result and its seal" in text
    assert "unfinished, its last line torn" in text
    assert "7 events, unfinished" in told("audit", "m.jsonl", "--unsealed", cwd=tmp_path)


# --- manifest


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["words", "json"])
def test_a_fault_of_the_auditor_is_its_own(
    logs: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], how: tuple[str, ...]
) -> None:
    """The exit status differs from that of a broken record. The traceback says at which record it happened."""

    def fail(*_args: object) -> None:
        raise AttributeError("a mistake")

    monkeypatch.setattr(time_book.TimeBook, "charge", fail)
    done = referee("audit", str(record_of(logs, "second")), *how, cwd=logs, status=3)
    said = done.stderr + capfd.readouterr().err
    for part in ("Traceback", "AttributeError: a mistake", f"while {record_of(logs, 'second')} was audited"):
        assert part in said
    assert "says nothing against a record" in " ".join(said.split())
    assert (json.loads(done.stdout)["exit_status"] == 3) if how else (done.stdout == "")


def test_a_manifest_is_checked_with_its_folder(logs: Path, tmp_path: Path) -> None:
    """Once it is written, an audit of the folder notices a removed record."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.jsonl").write_bytes(record_of(logs, name).read_bytes())
    assert "MANIFEST.json: 2 records" in told("manifest", ".", cwd=tmp_path)
    text = told("audit", ".", cwd=tmp_path)
    assert "2 records, 0 broken" in text
    assert "MANIFEST.json holds: 2 records, none missing, none added" in text
    (tmp_path / "second.jsonl").unlink()
    text = told("audit", ".", cwd=tmp_path, status=1)
    assert "1 record, 0 broken" in text
    assert "second.jsonl expected the record that the manifest lists found no such file" in text
    report = played(referee("audit", ".", "--json", cwd=tmp_path, status=1))
    assert (report["broken"], report["holds"], report["tournaments"]) == (0, False, [])
    assert [(manifest["manifest"], manifest["record"]) for manifest in report["manifests"]] == [
        ("MANIFEST.json", "second.jsonl")
    ]


def test_without_a_manifest_an_audit_says_what_it_can_not_notice(logs: Path, tmp_path: Path) -> None:
    """In folders, records that no manifest lists are counted; a single file misses none."""
    (tmp_path / "listed").mkdir()
    for name in ("first", "listed/second"):
        (tmp_path / f"{name}.jsonl").write_bytes(record_of(logs, Path(name).name).read_bytes())
    assert "no manifest for 2 records in .: a missing record might not be noticed" in told("audit", ".", cwd=tmp_path)
    told("manifest", "listed", cwd=tmp_path)
    report = played(referee("audit", ".", "--json", cwd=tmp_path))
    assert report["unlisted"] == [{"folder": ".", "records": 1}]
    assert report["manifests"] == [{"manifest": "listed/MANIFEST.json", "holds": True, "records": 1}]
    assert "manifest" not in told("audit", "first.jsonl", cwd=tmp_path)


def test_a_manifest_of_another_key_is_counted_apart(logs: Path, tmp_path: Path) -> None:
    """Only records that do not hold are broken."""
    (tmp_path / "first.jsonl").write_bytes(record_of(logs, "first").read_bytes())
    told("manifest", ".", cwd=tmp_path)
    text = told("audit", ".", "--public-key", Sealer.new().public, cwd=tmp_path, status=1)
    assert "1 record, 1 broken" in text
    assert "BROKEN the manifest MANIFEST.json expected key" in text


def test_a_manifest_wants_sealed_records(logs: Path, tmp_path: Path) -> None:
    """A folder with an unfinished record, or one of another key, is refused, and the record is named."""
    lines = record_of(logs, "first").read_bytes().splitlines(keepends=True)
    path = tmp_path / "m.jsonl"
    path.write_bytes(b"".join(lines[:5]))
    assert "m.jsonl, line 5: expected a seal" in told("manifest", ".", cwd=tmp_path, status=1)
    path.write_bytes(b"".join(lines))
    assert "m.jsonl, line 0: expected key" in told("manifest", ".", "--key", "other.pem", cwd=tmp_path, status=1)


# --- explain


def test_an_expelled_player_is_told_the_rule_and_its_answer(logs: Path) -> None:
    """Without a seat, the expelled player is explained: rule, text, source, reason and answer."""
    text = told("explain", str(record_of(logs, "first")), cwd=logs)
    for part in (
        "seat 1, player2",
        "expelled in turn 2: illegal-move",
        "rule q.place.adjacent: A tile shares a side",
        "source The Q Game",
        "touches no tile",
        'answer {"action":"place","tiles":[[5,5,',
    ):
        assert part in text


def test_every_answer_has_its_times(logs: Path) -> None:
    """Program and wire add up to the used time; the referee's own time is separate, and the limit is next to it.

    A turn may have several moves; the time of its earlier moves is subtracted from the limit of the next one.
    """
    found = played(referee("explain", str(record_of(logs, "second")), "random", "--json", cwd=logs))
    moves = [part for part in found["conversation"] if part.get("event") == "move-received"]
    assert found["seat"] == 1
    events = [json.loads(line).get("event", {}) for line in record_of(logs, "second").read_bytes().splitlines()]
    assert len(moves) == sum(event.get("event") == "move-received" and event["seat"] == 1 for event in events) > 1
    turn_ms = 0.0
    for move in moves:
        assert move["used_ms"] == pytest.approx(move["program_ms"] + move["wire_ms"])
        turn_ms = 0.0 if move["limit_ms"] == 6000.0 else turn_ms
        assert move["limit_ms"] == pytest.approx(6000.0 - turn_ms, abs=0.01)
        turn_ms += move["used_ms"]
        assert move["referee_ms"] >= 0.0
    assert moves[0]["limit_ms"] == 6000.0


def strings_of(value: Any) -> set[str]:
    """Return every string anywhere in a value."""
    if isinstance(value, dict):
        return set().union(*map(strings_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(strings_of, value))
    return {value} if isinstance(value, str) else set()


def test_nothing_of_other_seats_is_shown(logs: Path, tmp_path: Path) -> None:
    """An explanation and a redacted record have no seed, and no move, view or draw of the other seat."""
    record, redacted = record_of(logs, "second"), tmp_path / "redacted.rec"
    found = played(referee("explain", str(record), "0", "--redact", str(redacted), "--json", cwd=logs))
    views = [part["content"]["view"] for part in found["conversation"] if part["content"].get("view")]
    assert {view["seat"] for view in views} == {0}
    whole = [json.loads(line) for line in record.read_bytes().splitlines()]
    shown = [json.loads(line) for line in redacted.read_bytes().splitlines()]
    for full, part in zip(whole, shown, strict=True):
        opened = full.pop("open", {})
        kept = part.pop("open", {})
        assert full == part
        for path, (_, value) in opened.items():
            owner = _owner(full, path)
            assert (path in kept) == (owner == 0), path
            if owner != 0 and isinstance(value, str):
                assert value not in strings_of([part, kept])


def _owner(line: Any, path: str) -> int | None:
    """Return the seat that owns a hidden field."""
    if line["kind"] != "step":
        return None
    if path.startswith("event."):
        return int(line["event"]["seat"])
    return int(line["commands"][int(path.split(".")[1])]["seat"])


def test_a_redacted_record_holds_against_its_seal(logs: Path, tmp_path: Path) -> None:
    """Its chain, its visible fields and its seal are verified. Its hidden fields prevent a whole audit."""
    path = tmp_path / "redacted.rec"
    said = told("explain", str(record_of(logs, "first")), "--redact", str(path), cwd=logs)
    public = played(referee("key", "show", "--json", cwd=logs))["public"]
    text = told("audit", str(path), "--public-key", public, cwd=logs)
    assert "events, redacted, hidden deal, the view of seat 1, player2" in text
    assert "1 record, 0 broken, 1 redacted" in text
    assert "verified in redacted records: chain, seal, shown fields, times; not verified: shuffle, views, moves" in text
    again = told("explain", str(path), "1", cwd=logs)
    before, printed, after = said.partition(" its program printed last ")
    assert printed  # the output of a program on this machine, which is not part of the redacted record
    before = before.replace(str(record_of(logs, "first")), str(path))  # in the command that shows the view
    assert f"{again} written: {path}" == f"{before} {after[after.index('answers and their times') :]}"
    assert told("explain", str(path), cwd=logs) == again
    for old, new in ((b'"hand":["', b'"hand":["x'), (b'"at_ms":', b'"at_ms":1'), (b'"tiles":[[5', b'"tiles":[[6')):
        changed = tmp_path / "changed.rec"
        changed.write_bytes(path.read_bytes().replace(old, new, 1))
        assert "BROKEN" in told("audit", str(changed), cwd=logs, status=1)


def test_with_the_seed_the_deal_of_a_redacted_record_is_verified(logs: Path, tmp_path: Path) -> None:
    """The whole record has the seed at its end; another seed does not fit the commitment."""
    path, whole = tmp_path / "redacted.rec", record_of(logs, "first")
    told("explain", str(whole), "--redact", str(path), cwd=logs)
    seed = json.loads(whole.read_bytes().splitlines()[-2])["open"]["seed"][1]
    for record, text in ((path, "moves, scores, ranking; not verified: verdicts on others"), (whole, "fixed deal")):
        assert text in told("audit", str(record), "--seed", seed.upper(), cwd=logs)
        assert "BROKEN" in told("audit", str(record), "--seed", "00" * 32, cwd=logs, status=1)
    assert "64 hex digits of a seed, not '7'" in told("audit", str(path), "--seed", "7", cwd=logs, status=2)


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--html", "page"), ("--svg", "page")])
def test_a_redacted_record_is_not_replayed(logs: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """The boards follow from hidden fields; the message says what the record is, and which command shows it."""
    told("explain", str(record_of(logs, "first")), "--redact", "mine.jsonl", cwd=tmp_path)
    text = told("replay", "mine.jsonl", *arguments, cwd=tmp_path, status=1)
    assert "expected a whole record; found a redacted one" in text
    assert "`referee explain mine.jsonl` shows it" in text
    assert not (tmp_path / "page").exists()


@pytest.mark.forges
def test_a_record_with_something_left_out_is_not_taken_for_redacted(logs: Path, tmp_path: Path) -> None:
    """A redacted record shows everything that one seat may see, and nothing else; hiding a single move fails."""
    lines = record_of(logs, "second").read_bytes().splitlines(keepends=True)
    number, line = next((number, line) for number, line in enumerate(lines) if b'"event.move":' in line)
    whole = json.loads(line)
    del whole["open"]["event.move"]
    lines[number] = json.dumps(whole, separators=(",", ":")).encode() + b"\n"
    (tmp_path / "m.jsonl").write_bytes(b"".join(lines))
    text = told("audit", "m.jsonl", cwd=tmp_path, status=1)
    assert "m.jsonl, line 0 expected exactly the fields that one seat may see" in text


def test_a_redacted_record_is_held_to_more_than_its_chain(logs: Path, tmp_path: Path) -> None:
    """A missing head is reported, and only its own seat can be explained."""
    path = tmp_path / "redacted.rec"
    told("explain", str(record_of(logs, "first")), "--redact", str(path), cwd=logs)
    text = told("audit", str(path), "--head", "a" * 64, cwd=logs, status=1)
    assert "expected a line with the hash" in text
    assert "is redacted for another seat than 0" in told("explain", str(path), "0", cwd=logs, status=2)


@pytest.mark.forges
def test_mistakes_are_named(logs: Path, tmp_path: Path) -> None:
    """A file that is no record, a wrong seat or turn, and a file in the way have different errors, with suggestions."""
    record = str(record_of(logs, "second"))
    (tmp_path / "there").write_text("")
    assert "in the folder . there is none" in told("explain", ".", cwd=tmp_path, status=2)
    (tmp_path / "copies").mkdir()
    for number in range(7):
        (tmp_path / "copies" / f"m-{number}.jsonl").touch()
    for arguments, complaint, status in (
        (("nowhere",), "there is no record nowhere", 2),
        ((record,), "say which seat: 0 greedy, 1 random", 2),
        ((record, "2"), "there is no seat '2', only 0 greedy, 1 random", 2),
        ((record, "greedyy"), "there is no seat 'greedyy'", 2),
        ((record, "0", "--turn", "999"), "there is no turn 999", 2),
        ((record, "0", "--redact", "there"), "can't write there: File exists", 1),
        (("there", "0"), "there, line 0: expected a header; found none", 1),
        ((record, "gredy"), "only 0 greedy, 1 random; did you mean greedy?", 2),
        (("copies", "0"), "takes one record; in this folder are copies/m-0.jsonl, copies/m-1.jsonl, copies/m-2", 2),
        (("copies", "0"), "copies/m-4.jsonl and 2 more", 2),
        (("copies/m-6", "0"), "there is no record copies/m-6; did you mean copies/m-6.jsonl?", 2),
        (("copies/m-66.jsonl", "0"), "no record copies/m-66.jsonl; did you mean copies/m-6.jsonl?", 2),
        ((), "Missing argument 'RECORD'. Example: referee explain logs/MATCH.jsonl", 2),
    ):
        assert complaint in told("explain", *arguments, cwd=tmp_path, status=status)


def test_a_fault_in_explaining_is_no_fault_of_the_record(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any exception of the program itself is shown with its traceback and a status of its own."""
    for kind in (AttributeError, KeyError, TypeError, ValueError, StopIteration):

        def fail(*_args: object, kind: type[Exception] = kind) -> None:
            raise kind("a mistake")

        monkeypatch.setattr(record_explain, "Explanation", fail)
        done = referee("explain", str(record_of(logs, "second")), "0", cwd=logs, status=3)
        assert done.stdout == ""


def test_a_turn_is_shown_in_full(logs: Path) -> None:
    """It shows the request with its view, and the answer."""
    text = told("explain", str(record_of(logs, "second")), "1", "--turn", "2", cwd=logs)
    for part in ('"command": "ask-move"', '"hand": [', '"event": "move-received"', '"used_ms"'):
        assert part in text
    assert "no message was sent" in told("explain", str(record_of(logs, "first")), "1", "--turn", "0", cwd=logs)
