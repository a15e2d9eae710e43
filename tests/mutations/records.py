"""Records of matches and tournaments, changed by strangers, and by organisers who chain and seal them again."""

import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from referee.app.records.audit import audit_paths
from referee.app.records.audit_reports import Demands
from referee.match.events import AnyEvent
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.plugins import find_game, installed
from referee.record.audit.match import audit
from referee.record.key import MANIFEST_PURPOSE, RECORD_PURPOSE
from referee.record.manifest import NAME
from referee.record.reader import Record, RecordError, read_record
from referee.record.redacted_record import redact
from referee.record.tournament_record import read_tournament
from referee.record.writer import RecordWriter
from referee.tournament.events import MatchClosed

from ..dialects import course_records
from ..driving import drive, random_chooser
from ..match.folding import PASS, SEED, moved, setup_of
from ..record import tournament_forging
from ..record.forging import ZEROS, Line, digest, encoded
from ..record.records import SEALER, STORIES, FaultySeat, Story, record_of
from .running import Failed
from .values import Keys, found_at, mutated, mutated_text, paths

OTHER_GAMES = ("quincy", "quadominos", "quincala")
RECORD = "m.jsonl"
HONEST, LISTED, HOW = ".honest", ".listed", ".how"
"""File next to a changed record: the original, and its changes."""
_CAUSES = ("setup", "event", "seed", "open")
"""Keys from which everything else in a record follows."""
_FIXED = ("n", "prev", "signature")
"""Keys that a forger of a record computes again."""


class How(StrEnum):
    """The way in which a record was changed."""

    TEXT = "as a text"
    WRITTEN = "chained and sealed anew"
    FOLDED = "with all that follows, chained and sealed anew"


# --- what there is to be changed


def of_game(game: str) -> bytes:
    """Play another game, in which the seats foul one after the other."""
    match = Match(find_game(game), setup_of(2, game=game), SEED)
    pick = random_chooser(match.game, Random(3), match)
    seats = [FaultySeat(lambda view: pick(view) if match.turn < 8 else {"action": "fly"}, seat) for seat in range(2)]
    return written(Story(match, tuple(drive(match, seats))))


def in_dialect() -> bytes:
    """Play a match in which a player of the course answers too late."""
    late = moved(0, 1, PASS, 1010.0, sent=5.0, frame=b'"pass"'.hex())
    with tempfile.TemporaryDirectory() as folder:
        return course_records.told(Path(folder), *course_records.STARTED, late).read_bytes()


def written(story_: Story) -> bytes:
    """Return the bytes of a match's record."""
    with tempfile.TemporaryDirectory() as folder:
        return story_.write(Path(folder) / RECORD).read_bytes()


_OTHERS: dict[str, Callable[[], bytes]] = {
    **{game: partial(of_game, game) for game in OTHER_GAMES},
    "dialect": in_dialect,
}
NAMES = (*(name for name in STORIES if name != "not begun"), *_OTHERS, *_OTHERS)


@cache
def whole(name: str) -> bytes:
    """Return the bytes of a record of this name."""
    return record_of(name) if name in STORIES else _OTHERS[name]()


@cache
def redacted(name: str, seat: int) -> bytes:
    """Return the bytes of a finished match's record as one seat may see it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / RECORD
        path.write_bytes(whole(name))
        lines = redact(path, find_game, seat, find_wire=installed().wire)
    return b"".join(line + b"\n" for line in lines)


# --- written anew


def rewritten(lines: Sequence[Any]) -> bytes:
    """Hash hidden values again, number and chain the lines, and seal the end; skip what is not a line."""
    prev, data = ZEROS, b""
    for number, line in enumerate(lines):
        if not isinstance(line, dict):
            data += encoded(line) + b"\n"
            continue
        core = {**line, "n": number, "prev": prev}
        if core.get("key") is not None:
            core["key"] = SEALER.public
        opened = core.pop("open", {})
        _hide_anew(core, opened)
        if core.get("kind") == "seal":
            core["signature"] = SEALER.sign(RECORD_PURPOSE, prev)
        written = encoded(core)
        prev = digest(written)
        data += (written[:-1] + b',"open":' + encoded(opened) + b"}" if opened else written) + b"\n"
    return data


def _hide_anew(core: Line, opened: Any) -> None:
    for path, entry in opened.items() if isinstance(opened, dict) else ():
        if not (isinstance(entry, list) and len(entry) > 1 and isinstance(entry[0], str)):
            continue
        if len(entry) > 2:
            with suppress(OverflowError, ValueError, RecursionError, TypeError):
                entry[1] = digest(msgspec.msgpack.encode(entry[2]))
        with suppress(KeyError, IndexError, TypeError, ValueError):
            keys = _keys_of(path)
            if "hidden" in found_at(core, keys):
                found_at(core, keys)["hidden"] = digest(entry[0].encode() + encoded(entry[1]))


def _keys_of(path: str) -> Keys:
    """Return a path of `open` as keys.

    Raises:
        ValueError: a number in it is too long.
    """
    return tuple(int(key) if key.isdecimal() else key for key in path.split("."))


def refolded(path: Path, lines: Sequence[Any]) -> bytes | None:
    """Derive a match again from the settings and events in its lines; None if that is impossible."""
    path.unlink(missing_ok=True)
    try:
        plain = [_opened(line) for line in lines]
        header, result = plain[0], next(line for line in plain if line["kind"] == "result")
        setup, seed = msgspec.convert(header["setup"], MatchSetup), bytes.fromhex(result["seed"])
        match = Match(find_game(setup.game), setup, seed)
        with closing(RecordWriter(path, SEALER)) as writer:
            writer.write_header(setup, seed, is_fixed=header["seed"] is not None, referee="0.0", opened="x")
            for line in plain[1:]:
                if line["kind"] == "step" and match.result is None:
                    event = msgspec.convert(line["event"], AnyEvent)
                    writer.write_transition(event, match.handle(event))
            assert match.result is not None
            writer.end(match)
            writer.close()
        return path.read_bytes()
    except Exception:  # noqa: BLE001  # it is no match then
        return None


def _opened(line: Any) -> Any:
    line = json.loads(encoded(line))
    for path, entry in line.pop("open", {}).items():
        keys = _keys_of(path)
        with suppress(KeyError, IndexError, TypeError):
            found_at(line, keys[:-1])[keys[-1]] = entry[1]
    return line


def lines_of(data: bytes) -> list[Any]:
    """Return the lines of a record as they are."""
    return [json.loads(line) for line in data.splitlines()]


def place_in(random: Random, lines: Sequence[Any]) -> tuple[int, list[Keys]]:
    """Return the number of a line, mostly one of the first and the last, and the keys that may change in it."""
    number = random.choice([0, len(lines) - 2, *[random.randrange(len(lines))] * 4])
    anywhere = list(paths(lines[number]))
    return number, [keys for keys in anywhere if keys[0] not in _FIXED or random.random() < 0.1] or anywhere


def change_record(path: Path, random: Random) -> tuple[How, str]:
    """Change a record of a match: its text, or a value in it, with everything else made again."""
    data, dice = path.read_bytes(), random.random()
    if dice < 0.2:
        path.write_bytes(mutated_text(random, data))
        return How.TEXT, ""
    lines, changes, is_settled = lines_of(data), [], dice < 0.6
    for _ in range(random.choice([1, 1, 1, 2])):
        number, places = place_in(random, lines)
        chosen = [keys for keys in places if not is_settled or keys[0] in _CAUSES]
        lines[number], keys = mutated(random, lines[number], chosen or places)
        changes.append(".".join(map(str, (number, *keys))))
    if random.random() < 0.05:
        random.shuffle(lines)
    folded = refolded(path, lines) if is_settled else None
    path.write_bytes(folded or rewritten(lines))
    return How.FOLDED if folded else How.WRITTEN, " ".join(changes)


def change_one_record(folder: Path, random: Random) -> str:
    """Put any record into a folder, changed, with the original next to it."""
    name = random.choice(NAMES)
    (folder / RECORD).write_bytes(whole(name))
    (folder / HONEST).write_bytes(whole(name))
    how, what = change_record(folder / RECORD, random)
    (folder / HOW).write_text(how)
    return f"{name}, {how}: {what}"


def check_told(folder: Path) -> None:
    """Audit a changed record with the key, and check what people see of it.

    Raises:
        Failed: the audit accepted it, but it shows something else. Changes that follow from other events are allowed.
    """
    path, how = folder / RECORD, (folder / HOW).read_text()
    try:
        record = audit(path, find_game, keys=[SEALER.public], find_wire=installed().wire)
    except RecordError:
        return
    honest = read_record(folder / HONEST)
    is_same = path.read_bytes() == (folder / HONEST).read_bytes() if how == How.TEXT else told(record) == told(honest)
    if not (is_same or how == How.FOLDED):
        raise Failed("a change was not found")


def told(record: Record) -> Any:
    """Return everything about a match that players and people see."""
    return record.result and record.result.result, [step.commands for step in record.transitions]


def change_one_redacted(folder: Path, random: Random) -> str:
    """Put any redacted record into a folder, changed."""
    name = random.choice([name for name in NAMES if b'"kind":"seal"' in whole(name)])
    (folder / RECORD).write_bytes(redacted(name, random.randrange(2)))
    return " ".join((name, *change_record(folder / RECORD, random)))


# --- tournaments


def change_course(path: Path, random: Random) -> tuple[How, str]:
    """Change the record of a tournament: its text, or a value in it, with everything else made again."""
    data, how = path.read_bytes(), How.WRITTEN
    if random.random() < 0.2:
        path.write_bytes(mutated_text(random, data))
        return How.TEXT, ""
    lines = tournament_forging.course_of(path)
    number, places = place_in(random, lines)
    lines[number], keys = mutated(random, lines[number], places)
    if random.random() < 0.5:
        with suppress(Exception):  # then its events can't be folded
            lines, how = tournament_forging.folded(lines), How.FOLDED
    path.write_bytes(tournament_forging.chain(lines, SEALER))
    return how, ".".join(map(str, (number, *keys)))


def change_tournament(folder: Path, random: Random) -> str:
    """Change the record of a folder's tournament, or of one of its matches."""
    path = folder / "cup.jsonl"
    if random.random() < 0.8:
        how, what = change_course(path, random)
    else:
        path = random.choice(sorted(folder.glob("cup-*.jsonl")))
        how, what = change_record(path, random)
    (folder / HOW).write_text(how)
    return f"{path.name}, {how}: {what}"


def keep_told(folder: Path) -> None:
    """Store what people see of a tournament before anything is changed."""
    (folder / HONEST).write_bytes(_told_of_all(folder))


def check_all_told(folder: Path) -> None:
    """Audit a folder with the key, and check what people see of its tournament.

    Raises:
        Failed: the audit took it, and it tells something else. What follows from another event goes: it was one that
            the organiser could have let happen.
    """
    held = audit_paths([folder], Demands(keys=(SEALER.public,)), 1, lambda *_: None).holds
    if held and (folder / HOW).read_text() != How.FOLDED and _told_of_all(folder) != (folder / HONEST).read_bytes():
        raise Failed("a change was not found")


def _told_of_all(folder: Path) -> bytes:
    """Return the commands of a tournament and the results of its matches."""
    record = read_tournament(folder / "cup.jsonl")
    entries = [step.event.entry for step in record.transitions if isinstance(step.event, MatchClosed)]
    return encoded([record.header.spec, entries, [step.commands for step in record.transitions]])


def change_manifest(folder: Path, random: Random) -> str:
    """Change the list of records, and perhaps sign it again."""
    path = folder / NAME
    if random.random() < 0.4:
        path.write_bytes(mutated_text(random, path.read_bytes()))
        return "text"
    content, keys = mutated(random, json.loads(path.read_bytes()))
    if random.random() < 0.7:
        signed = encoded([1, content.get("key"), content.get("records")])
        content["signature"] = SEALER.sign(MANIFEST_PURPOSE, digest(signed))
    path.write_bytes(msgspec.json.format(encoded(content), indent=2) + b"\n")
    return ".".join(map(str, keys))


def check_listed(folder: Path) -> None:
    """Audit a folder with the key, and compare its records with its manifest.

    Raises:
        Failed: the audit took it, and it tells something else.
    """
    held = audit_paths([folder], Demands(keys=(SEALER.public,)), 1, lambda *_: None).holds
    if held and (folder / NAME).read_bytes() != (folder / LISTED).read_bytes():
        raise Failed("a change was not found")
