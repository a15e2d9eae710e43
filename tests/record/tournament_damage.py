"""Random damage to the folder of a tournament by strangers and by a dishonest organiser.

The tests judge whether an audit finds it.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct

from referee.record.reader import read_record

from . import tournament_forging as forging
from .forging import WAYS, changed, leaves
from .records import SEALER
from .tournaments import Organiser, cup


class Runs(Struct, frozen=True):
    """Two runs of one tournament, with the same key."""

    one: Path
    other: Path


Damage = Callable[[Path, Runs, Random], None]
"""The damages, applied to a copy of the first run."""


# --- a stranger's


def _any_file(folder: Path, random: Random) -> Path:
    """Return any file, mostly a record."""
    ending = random.choice([".jsonl", ".jsonl", ".jsonl", ""])
    return random.choice([path for path in _files(folder) if path.name.endswith(ending)])


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.is_dir())


def in_bytes(folder: Path, _runs: Runs, random: Random) -> None:
    """Change a byte, or leave out, double or swap lines."""
    path = _any_file(folder, random)
    data = path.read_bytes()
    way = random.choice(WAYS)
    path.write_bytes(way(random, data) if data.count(b"\n") > 1 else WAYS[0](random, data or b"x"))


def cut(folder: Path, _runs: Runs, random: Random) -> None:
    """Cut a file off, perhaps after a line."""
    path = _any_file(folder, random)
    data = path.read_bytes()
    end = random.randrange(len(data) + 1)
    path.write_bytes(data[: random.choice([end, data.rfind(b"\n", 0, end) + 1])])


def removed(folder: Path, _runs: Runs, random: Random) -> None:
    """Remove files."""
    for _ in range(random.choice([1, 1, 2, 5])):
        _any_file(folder, random).unlink()


def renamed(folder: Path, _runs: Runs, random: Random) -> None:
    """Rename a file, perhaps to the name of another file, or to one that is no text."""
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
    """Add a file: a copy of any file, or one of the other run."""
    path = _any_file(random.choice([folder, runs.other]), random)
    name = random.choice([path.name, "x.jsonl", "cup-00099.jsonl", "a.jsonl", f"below/{path.name}", f"{path.name}.bak"])
    (folder / "below").mkdir()
    (folder / name).write_bytes(path.read_bytes())


def no_file(folder: Path, _runs: Runs, random: Random) -> None:
    """Put something in a file's place that is none."""
    path = _any_file(folder, random)
    path.unlink()
    match random.randrange(4):
        case 0:
            path.mkdir()
        case 1:
            os.mkfifo(path)
        case 2:
            path.symlink_to("nowhere")
        case 3:
            path.touch()


def mixed(folder: Path, runs: Runs, random: Random) -> None:
    """Take some files from the other run."""
    names = [path.name for path in _files(runs.other)]
    for name in random.sample(names, random.randint(1, len(names) - 1)):
        shutil.copy(runs.other / name, folder / name)


# --- a dishonest organiser's, who signs the tournament's record anew


def _sign(folder: Path, lines: list[Any]) -> None:
    """Fold, chain and sign events; if they can't be folded, they keep their commands."""
    try:
        lines = forging.folded(lines)
    except Exception:  # noqa: BLE001  # it is no course then, and the audit has to say so
        lines = list(lines)
    (folder / "cup.jsonl").write_bytes(forging.chain(lines, SEALER))


def _course(folder: Path) -> list[Any]:
    return forging.course_of(folder / "cup.jsonl")


def other_result(folder: Path, _runs: Runs, random: Random) -> None:
    """Let another entrant win a match, or add a foul."""
    lines = _course(folder)
    entry = random.choice(forging.event_lines(lines, "match-closed"))["event"]["entry"]
    if random.random() < 0.5:
        entry["ranking"].reverse()
    else:
        entry[random.choice(["scores", "used_ms"])].reverse()
        entry["turns"] += 1
    _sign(folder, lines)


def _settle(spec: Any, random: Random) -> None:
    """Change a setting from before the beginning."""
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
    """Swap two entrants in a round's groups, perhaps in another program's name."""
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
    """Change the recorded standings, or any other consequence."""
    lines = _course(folder)
    steps = [line for line in lines if line.get("commands")]
    command = random.choice(steps)["commands"][-1]
    key = random.choice(sorted(command))
    command[key] = command[key][::-1] if isinstance(command[key], list) and len(command[key]) > 1 else 7
    (folder / "cup.jsonl").write_bytes(forging.chain(lines, SEALER))


def other_order(folder: Path, _runs: Runs, random: Random) -> None:
    """Move an event."""
    lines = _course(folder)
    lines.insert(random.randrange(1, len(lines)), lines.pop(random.randrange(1, len(lines) - 1)))
    _sign(folder, lines)


def any_value(folder: Path, _runs: Runs, random: Random) -> None:
    """Change any value in the record, perhaps to one of another type."""
    lines = _course(folder)
    number = random.randrange(len(lines))
    keys, _value = random.choice([leaf for leaf in leaves(lines[number]) if leaf[0][0] not in ("n", "prev")])
    odd: Any = random.choice([-1, 0, 2, 10**30, 0.5, "", "x", "e1", None, True, [], [[]], [0], {}, {"a": 1}])
    lines = changed(lines, number, keys, odd)
    if random.random() < 0.5:
        _sign(folder, lines)
    else:
        (folder / "cup.jsonl").write_bytes(forging.chain(lines, SEALER))


def replayed(folder: Path, _runs: Runs, random: Random) -> None:
    """Play a match again until its result suits, and replace the first record."""
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
    """Add a ruling at the end."""
    lines = _course(folder)
    event = deepcopy(random.choice(forging.event_lines(lines, "ruled")))
    event["event"]["ruling"] |= {"id": "ff", "kind": "disqualify", "entrant": f"e{random.randrange(6)}", "match": None}
    lines.insert(len(lines) - 2, event)
    _sign(folder, lines)


def taken_back(folder: Path, _runs: Runs, _random: Random) -> None:
    """Go back to the stop, and remove all later records; this needs no key."""
    data = (folder / "cup.jsonl").read_bytes().splitlines(keepends=True)
    end = next(number for number, line in enumerate(data) if b'"kind":"seal"' in line) + 1
    (folder / "cup.jsonl").write_bytes(b"".join(data[:end]))
    known = {_match_of(line) for line in forging.event_lines(_course(folder), "match-opened")}
    for path in _files(folder):
        if path.name != "cup.jsonl" and path.stem not in known:
            path.unlink()


def all_anew(folder: Path, _runs: Runs, random: Random) -> None:
    """Change the spec or a time of day, and write every record of the folder again."""
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
"""Damage that could have happened honestly."""
