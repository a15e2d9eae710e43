"""Writes all that is told of a tournament beside its records. Knows names of files; refuses to know what is in them."""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from ..pairing.base import PairingFormat
from ..record.audit.audit import FindGame
from ..record.programs import Programs, read_programs
from ..record.reader import RecordError, read_record
from ..tournament.history import refolded
from ..tournament.match_context import MatchEntry
from ..tournament.spec import TournamentSpec
from . import exports
from .digest import Digest, digest_of
from .frames import StillSecret
from .notation import text_of
from .replay_page import replay_page
from .report import Links, Titles, report_page
from .summary import Summary

REPLAYS = "replays"


class Replays(StrEnum):
    """Of which matches pages are made."""

    NONE = "none"
    FOULS = "fouls"
    """Of those in which somebody fouled, and of void ones."""
    ALL = "all"


class Targets(Struct, frozen=True, kw_only=True):
    """Where everything goes; None: into the tournament's folder, under its usual name."""

    html: Path | None = None
    csv: Path | None = None
    """A folder."""
    pgn: Path | None = None
    replays: Replays = Replays.FOULS


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written, and of what."""

    summary: Summary

    html: Path
    csv: tuple[Path, ...]
    json: Path
    pgn: Path
    replays: int
    """Pages of matches that there are now."""


def write_report(
    folder: Path,
    spec: TournamentSpec,
    entries: Sequence[MatchEntry],
    *,
    salt: str,
    format_: PairingFormat[Any],
    find_game: FindGame,
    digests: Mapping[str, Digest] | None = None,
    targets: Targets | None = None,
    make_replays: Callable[[Sequence[Path], Path], None] | None = None,
) -> Written:
    """Write the report of a tournament, its tables, its matches in short, and pages of matches.

    Args:
        folder: of the records.
        spec: what was settled.
        entries: in the order in which they were taken.
        salt: from which the format's lots were drawn, in hex.
        format_: of the spec's name.
        find_game: a game's name -> its rules.
        digests: match -> what its record tells besides; None: the records are read for it.
        targets: where everything goes.
        make_replays: makes pages of records in a folder; None: one after the other.

    Raises:
        NotOpen: the entries are not those of this tournament in their order.
        RecordError: a record of which a page is to be made does not hold.
        BadJsonFile: the file of the programs is damaged.
        OSError: something can't be written; every file is whole, the old one or the new one.
    """
    targets = targets or Targets()
    told = digests if digests is not None else read_digests(folder, entries)
    programs = read_programs(folder) or Programs()
    summary = Summary(refolded(spec, format_, salt, entries), told, programs.changed)
    replayed = _replay(folder, summary, targets.replays, make_replays or _one_by_one(find_game))
    tables = list(_write_tables(targets.csv or folder, summary))
    page = targets.html or folder / "report.html"
    pgn = targets.pgn or folder / "matches.txt"
    links = Links(records=_prefix(page, folder), replays=_prefix(page, folder / REPLAYS), replayed=replayed)
    _write(pgn, _matches(summary))
    whole = folder / "tournament.json"
    _write(whole, [json.dumps(exports.everything(summary), ensure_ascii=False, indent=1), "\n"])
    titles = Titles(find_game(spec.game).title, format_.title)
    _write(page, [report_page(summary, titles, links)])
    return Written(summary=summary, html=page, csv=tuple(tables), json=whole, pgn=pgn, replays=len(replayed))


def read_digests(folder: Path, entries: Sequence[MatchEntry]) -> dict[str, Digest]:
    """Read what the records of some matches tell; one that can't be read is left out."""
    found = {}
    for entry in entries:
        with contextlib.suppress(RecordError):
            found[entry.match] = digest_of(read_record(folder / f"{entry.match}.jsonl"))
    return found


def make_replay(record: Path, target: Path, find_game: FindGame) -> None:
    """Write the page of a match.

    Args:
        record: of the match.
        target: the folder of the pages.
        find_game: a game's name -> its rules.

    Raises:
        RecordError: the record does not hold.
    """
    with contextlib.suppress(StillSecret):
        _write(target / f"{record.stem}.html", [replay_page(read_record(record), find_game)])


def _one_by_one(find_game: FindGame) -> Callable[[Sequence[Path], Path], None]:
    def _make(records: Sequence[Path], target: Path) -> None:
        for record in records:
            make_replay(record, target, find_game)

    return _make


def _replay(
    folder: Path, summary: Summary, which: Replays, make: Callable[[Sequence[Path], Path], None]
) -> frozenset[str]:
    """Make the pages that are missing; a record that is sealed does not change.

    Returns:
        The matches that have a page.
    """
    pages, entries = folder / REPLAYS, summary.history.entries
    wanted = [one.match for one in entries if which is Replays.ALL or one.fouls or one.void is not None]
    records = [folder / f"{match}.jsonl" for match in wanted if which is not Replays.NONE]
    missing = [one for one in records if one.is_file() and not (pages / f"{one.stem}.html").is_file()]
    if missing:
        pages.mkdir(exist_ok=True)
        make(missing, pages)
    return frozenset(one.match for one in entries if (pages / f"{one.match}.html").is_file())


def _write_tables(folder: Path, summary: Summary) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "standings": exports.standings_csv,
        "crosstable": exports.crosstable_csv,
        "matches": exports.matches_csv,
        "fouls": exports.fouls_csv,
    }
    for name, make in tables.items():
        path = folder / f"{name}.csv"
        _write(path, [make(summary)])
        yield path


def _matches(summary: Summary) -> Iterator[str]:
    for entry in summary.history.entries:
        digest = summary.digests.get(entry.match)
        opened, moves = ("", ()) if digest is None else (digest.opened, digest.moves)
        yield text_of(entry, summary.spec.game, opened, moves, summary.idle.get(entry.match, ""))


def _prefix(page: Path, folder: Path) -> str:
    """Return what leads from a page to a folder, as the beginning of an address."""
    way = os.path.relpath(folder.resolve(), page.resolve().parent)
    return "" if way == "." else quote(Path(way).as_posix()) + "/"


def _write(path: Path, parts: Iterator[str] | Sequence[str]) -> None:
    """Write a file beside its place, and then put it there: who reads it meanwhile reads the old one."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(parts)
    beside.replace(path)
