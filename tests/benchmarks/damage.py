"""Damages the folder of a whole tournament at random, and counts what an audit names, and what people are told.

A stranger changes any file; a dishonest organiser, who has the key, chains and signs anew what he changed. What he
could have done honestly no folder can show; it must show against heads that were published.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

from referee.app.records.audit import NoRecords, audit_paths
from referee.app.records.audit_reports import AuditReport, Demands, SoundTournament
from referee.app.report import report_on
from referee.ledger.ledger import FILE as LEDGER
from referee.pages.report_files import Targets
from referee.plugins import installed
from referee.record.reader import read_record
from referee.record.tournament_record import find_record, read_tournament, refold
from referee.tournament.history import History, new_tournament
from referee.tournament.placing import placed

from ..record import tournament_forging as forging
from ..record.forging import WAYS, changed, leaves
from ..record.records import SEALER
from ..record.tournaments import Organiser, cup, keep_ledger, play_cup

NAMED, SAME, HEADS = "named", "nothing changed that anybody is told", "shows against published heads alone"


class Runs(Struct, frozen=True):
    """Two runs of one tournament, with the same key."""

    one: Path
    other: Path


Damage = Callable[[Path, Runs, Random], None]
"""Damages a copy of the first run."""


# --- a stranger's


def _any_file(folder: Path, random: Random) -> Path:
    """Return any file, a record more often than not."""
    ending = random.choice([".jsonl", ".jsonl", ".jsonl", ""])
    return random.choice(sorted(path for path in folder.iterdir() if path.name.endswith(ending)))


def in_bytes(folder: Path, _runs: Runs, random: Random) -> None:
    """Change a byte, or leave out, double or swap lines."""
    path = _any_file(folder, random)
    data = path.read_bytes()
    way = random.choice(WAYS)
    path.write_bytes(way(random, data) if data.count(b"\n") > 1 else WAYS[0](random, data or b"x"))


def cut(folder: Path, _runs: Runs, random: Random) -> None:
    """Cut a file off, perhaps behind a line."""
    path = _any_file(folder, random)
    data = path.read_bytes()
    end = random.randrange(len(data) + 1)
    path.write_bytes(data[: random.choice([end, data.rfind(b"\n", 0, end) + 1])])


def removed(folder: Path, _runs: Runs, random: Random) -> None:
    """Remove files."""
    for _ in range(random.choice([1, 1, 2, 5])):
        _any_file(folder, random).unlink()


def renamed(folder: Path, _runs: Runs, random: Random) -> None:
    """Give a file another name, perhaps that of another file, or one that is no text."""
    path, other = _any_file(folder, random), _any_file(folder, random)
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/\xff\n.jsonl"))
    (folder / "below").mkdir()
    path.rename(random.choice([other, odd, folder / "x.jsonl", folder / "below" / path.name, folder / f"{path.name}~"]))


def swapped(folder: Path, _runs: Runs, random: Random) -> None:
    """Swap two files."""
    path, other = _any_file(folder, random), _any_file(folder, random)
    path.rename(folder / ".swapped")
    if path != other:
        other.rename(path)
    (folder / ".swapped").rename(other)


def added(folder: Path, runs: Runs, random: Random) -> None:
    """Add a file: a copy of any, or one of the other run."""
    path = _any_file(random.choice([folder, runs.other]), random)
    name = random.choice([path.name, "x.jsonl", "cup-00099.jsonl", "a.jsonl", f"below/{path.name}", f"{path.name}.bak"])
    (folder / "below").mkdir()
    (folder / name).write_bytes(path.read_bytes())


def no_file(folder: Path, _runs: Runs, random: Random) -> None:
    """Put something in a file's place that is none."""
    path = _any_file(folder, random)
    path.unlink()
    random.choice([path.mkdir, lambda: os.mkfifo(path), lambda: path.symlink_to("nowhere"), path.touch])()


def mixed(folder: Path, runs: Runs, random: Random) -> None:
    """Take some files from the other run."""
    names = sorted(path.name for path in runs.other.iterdir())
    for name in random.sample(names, random.randint(1, len(names) - 1)):
        shutil.copy(runs.other / name, folder / name)


# --- a dishonest organiser's, who signs the tournament's record anew


def _sign(folder: Path, lines: list[Any]) -> None:
    """Fold, chain and sign a course; one that can't be folded keeps the commands that it had. No ledger contradicts."""
    (folder / LEDGER).unlink()
    try:
        lines = forging.folded(lines)
    except Exception:  # noqa: BLE001  # it is no course then, and the audit has to say so
        lines = list(lines)
    (folder / "cup.jsonl").write_bytes(forging.chain(lines, SEALER))


def _course(folder: Path) -> list[Any]:
    return forging.course_of(folder / "cup.jsonl")


def other_result(folder: Path, _runs: Runs, random: Random) -> None:
    """Let another one win a match, or have fouled."""
    lines = _course(folder)
    entry = random.choice(forging.event_lines(lines, "match-closed"))["event"]["entry"]
    if random.random() < 0.5:
        entry["ranking"].reverse()
    else:
        entry[random.choice(["scores", "used_ms"])].reverse()
        entry["turns"] += 1
    _sign(folder, lines)


def _settle(spec: Any, random: Random) -> None:
    """Change something that was settled beforehand."""
    change = random.choice(["bye", "limit", "order", "name", "rounds", "scoring", "suspension", "player"])
    match change:
        case "bye":
            spec["scoring"]["bye"] = 0.0
        case "limit":
            spec["time"]["per_move_ms"] += 1
        case "order":
            spec["tie_breaks"] = random.sample(["wins", "buchholz", "sonneborn-berger", "luck"], 2)
        case "name":
            spec["entrants"][random.randrange(3)]["name"] = "cheat"
        case "rounds":
            spec["format_options"]["rounds"] += 1
        case "scoring":
            spec["scoring"]["by_rank"] = [[3.0, 1.0]]
        case "suspension":
            spec["suspend_after"] = 1
        case "player":
            spec["entrants"][0]["player"] = "house:greedy"


def other_spec(folder: Path, _runs: Runs, random: Random) -> None:
    """Change the spec."""
    lines = _course(folder)
    _settle(lines[0]["spec"], random)
    _sign(folder, lines)


def other_pairing(folder: Path, _runs: Runs, random: Random) -> None:
    """Swap two entrants in a round's tables, perhaps in another program's name."""
    lines = _course(folder)
    event = random.choice(forging.event_lines(lines, "round-paired"))["event"]
    one, two = random.sample(range(len(event["tables"])), 2)
    tables = event["tables"]
    tables[one][0], tables[two][0] = tables[two][0], tables[one][0]
    event["by"] = random.choice([event["by"], "a better one 1.0"])
    _sign(folder, lines)


def dropped(folder: Path, _runs: Runs, random: Random) -> None:
    """Drop a match and its record."""
    lines = _course(folder)
    match = random.choice(forging.event_lines(lines, "match-opened"))["event"]["fixture"]["match"]
    (folder / f"{match}.jsonl").unlink()
    _sign(folder, [line for line in lines if _match_of(line) != match])


def _match_of(line: Mapping[str, Any]) -> str | None:
    event = line.get("event", {})
    fixture = event.get("entry", event).get("fixture", {})
    return None if fixture.get("match") is None else str(fixture["match"])


def other_standings(folder: Path, _runs: Runs, random: Random) -> None:
    """Change what the record says of who came where, or of any other consequence."""
    lines = _course(folder)
    steps = [line for line in lines if line.get("commands")]
    command = random.choice(steps)["commands"][-1]
    key = random.choice(sorted(command))
    command[key] = command[key][::-1] if isinstance(command[key], list) and len(command[key]) > 1 else 7
    (folder / LEDGER).unlink()
    (folder / "cup.jsonl").write_bytes(forging.chain(lines, SEALER))


def other_order(folder: Path, _runs: Runs, random: Random) -> None:
    """Move an event."""
    lines = _course(folder)
    lines.insert(random.randrange(1, len(lines)), lines.pop(random.randrange(1, len(lines) - 1)))
    _sign(folder, lines)


def any_value(folder: Path, _runs: Runs, random: Random) -> None:
    """Change any value in the record to one that may be of another type."""
    lines = _course(folder)
    number = random.randrange(len(lines))
    keys, _value = random.choice([leaf for leaf in leaves(lines[number]) if leaf[0][0] not in ("n", "prev")])
    odd = random.choice([-1, 0, 2, 10**30, 0.5, "", "x", "e1", None, True, [], [[]], [0], {}, {"a": 1}])
    lines = changed(lines, number, keys, odd)
    if random.random() < 0.5:
        _sign(folder, lines)
    else:
        (folder / LEDGER).unlink()
        (folder / "cup.jsonl").write_bytes(forging.chain(lines, SEALER))


def replayed(folder: Path, _runs: Runs, random: Random) -> None:
    """Play a match again until it suits, and put its record in the place of the first one."""
    lines = _course(folder)
    match = random.choice(forging.event_lines(lines, "match-closed"))["event"]["entry"]["fixture"]["match"]
    with tempfile.TemporaryDirectory() as aside, Organiser(Path(aside), cup(), random) as organiser:
        context = read_record(folder / f"{match}.jsonl").header.context
        assert context is not None
        entry = organiser.record_match(context)
        shutil.move(Path(aside) / f"{match}.jsonl", folder / f"{match}.jsonl")
    for line in forging.event_lines(lines, "match-closed"):
        if _match_of(line) == match and random.random() < 0.8:
            line["event"]["entry"] = forging.plain(entry)
    _sign(folder, lines)


# --- what he could have done honestly


def ruling(folder: Path, _runs: Runs, random: Random) -> None:
    """Rule what was not ruled, last of all."""
    lines = _course(folder)
    event = deepcopy(random.choice(forging.event_lines(lines, "ruled")))
    event["event"]["ruling"] |= {"id": "ff", "kind": "disqualify", "entrant": f"e{random.randrange(6)}", "match": None}
    lines.insert(len(lines) - 2, event)
    _sign(folder, lines)


def taken_back(folder: Path, _runs: Runs, _random: Random) -> None:
    """Go back to the stop, and remove what was played since; this needs no key."""
    data = (folder / "cup.jsonl").read_bytes().splitlines(keepends=True)
    end = next(number for number, line in enumerate(data) if b'"kind":"seal"' in line) + 1
    (folder / "cup.jsonl").write_bytes(b"".join(data[:end]))
    known = {_match_of(line) for line in forging.event_lines(_course(folder), "match-opened")}
    for path in folder.iterdir():
        if path.name != "cup.jsonl" and path.stem not in known:
            path.unlink()


def all_anew(folder: Path, _runs: Runs, random: Random) -> None:
    """Change the spec or a time of day, and write every record of the folder anew."""
    lines = _course(folder)
    if random.random() < 0.5:
        lines[0]["spec"]["scoring"]["bye"] = 0.5
    else:
        lines[1]["event"]["at"] = "2001-01-01T00:00:00.000+00:00"
    try:
        lines = forging.folded(lines)
    except Exception:  # noqa: BLE001  # the pairings depend on it
        return
    bound = forging.bind_matches(folder, lines, SEALER)
    (folder / "cup.jsonl").write_bytes(forging.chain(bound, SEALER))
    (folder / LEDGER).unlink()


STRANGERS: tuple[Damage, ...] = (in_bytes, cut, removed, renamed, swapped, added, no_file, mixed)
ORGANISERS: tuple[Damage, ...] = (
    other_result,
    other_spec,
    other_pairing,
    dropped,
    other_standings,
    other_order,
    any_value,
    replayed,
)
HONEST: tuple[Damage, ...] = (ruling, taken_back, all_anew)
"""What could have happened honestly."""


# --- verdicts


def play_runs(folder: Path, seed: int) -> Runs:
    """Play a tournament twice, with all that a referee leaves in its folder."""
    runs = Runs(folder / "one" / "cup", folder / "other" / "cup")
    for number, run in enumerate((runs.one, runs.other)):
        play_cup(run, seed + 2 * number)
        keep_ledger(run)
        report_on(run, Targets(), 1)
        (run / "cup-00001.seat0.e0.stderr").write_bytes(b"hello\n")
    return runs


def audited(folder: Path, *heads: str) -> AuditReport | None:
    """Audit a folder; None if there is nothing left."""
    try:
        return audit_paths([folder], Demands(keys=(SEALER.public,), heads=heads), 1, lambda *_: None)
    except NoRecords:
        return None


def told(folder: Path) -> Any:
    """Return all that people are told from records."""
    path = find_record(folder)
    assert path is not None
    record = read_tournament(path)
    history = History(new_tournament(record.header.spec, installed().format("swiss"), record.header.salt))
    for _ in refold(record, history.take):
        pass
    matches = [read_record(folder / f"{match}.jsonl") for match in sorted(record.contexts)]
    played = [(match.header, match.steps, match.result) for match in matches]
    tournament = history.tournament
    events = [step.event for step in record.steps]
    return record.header, events, history.entries, tournament.rulings, placed(tournament), played


def verdict(folder: Path, before: Path, expected: Any, head: str) -> str:
    """Return what becomes of a damaged folder."""
    report = audited(folder)
    if report is None or not report.holds:
        return NAMED
    sound = [one for one in report.tournaments if isinstance(one, SoundTournament)]
    if told(folder) == expected and all(
        _is_told_of(folder, before, sound[0], name) for name in sorted(path.name for path in folder.iterdir())
    ):
        return SAME
    if sound[0].taken_on_trust or sound[0].without_proof:
        return NAMED
    by_head = audited(folder, head)
    return HEADS if by_head is not None and not by_head.holds else "MISSED"


def _is_late(folder: Path, runs: Runs) -> bool:
    """Tell whether nothing changed up to the last opening, which is all that a match's record names, or all did."""
    found, before, other = (read_tournament(each / "cup.jsonl") for each in (folder, runs.one, runs.other))
    return found.contexts == before.contexts or found.chain.lines == other.chain.lines


def _is_told_of(folder: Path, before: Path, sound: SoundTournament, name: str) -> bool:
    """Tell whether a file that is another one than before is known to prove nothing."""
    path, old = folder / name, before / name
    parts = {name, f"{name}/"}
    is_same = path.is_file() and old.is_file() and path.read_bytes() == old.read_bytes()
    return is_same or not parts.isdisjoint(sound.unverified) or name == LEDGER


def main(arguments: list[str]) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="damage", description=__doc__)
    parser.add_argument("--damages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    began, found, missed = time.monotonic(), Counter[tuple[str, str]](), []
    with tempfile.TemporaryDirectory() as scratch:
        runs = play_runs(Path(scratch), options.seed)
        expected, head = told(runs.one), read_tournament(runs.one / "cup.jsonl").chain.head
        report = audited(runs.one)
        assert report is not None
        assert report.holds, "the undamaged folder"
        for number in range(options.damages):
            random = Random(options.seed * 1_000_003 + number)
            damage = random.choice([*STRANGERS, *STRANGERS, *ORGANISERS, *HONEST])
            folder = Path(scratch) / "damaged" / "cup"
            shutil.copytree(runs.one, folder)
            damage(folder, runs, random)
            said = verdict(folder, runs.one, expected, head)
            found[damage.__name__, said] += 1
            if said == "MISSED" or (said == HEADS and damage not in HONEST and not _is_late(folder, runs)):
                missed.append(f"{damage.__name__} {number}: {said}")
            shutil.rmtree(folder.parent)
    for (name, said), count in sorted(found.items()):
        print(f"{name:16} {said:45} {count:5}")
    print(
        f"{options.damages} damages in {time.monotonic() - began:.0f} s, {len(missed)} of them unnoticed {missed[:20]}"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
