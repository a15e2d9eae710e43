"""`referee report`: a tournament as a page, as tables and as plain text, made of its spec and its records."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import rich_click as click
from msgspec import Struct
from rich.table import Table as RichTable

from ...app.pool import each
from ...pages.digest import Digest, digest_of
from ...pages.report import Titles
from ...pages.report_files import Replays, Targets, Written, make_replay, write_report
from ...pages.words import number
from ...pairing.base import BadFormat
from ...plugins import PluginError
from ...record.json_file import BadJsonFile
from ...record.manifest import record_files
from ...record.match_entries import BadCourse, course
from ...record.reader import RecordError, read_record
from ...record.spec_file import FILE, SpecFile, read_spec_file
from ...text import printable
from ...tournament.history import refolded
from ...tournament.machine import NotOpen, Tournament
from ...tournament.placing import placed
from ...tournament.standings import UnknownTieBreak
from ..common import Count, console, find_game, harmless, json_option, out, print_json, registry
from ..errors import FAILED
from ..views.live_lines import matches_text


class _Left(Struct, frozen=True):
    """A record that tells of no result: of a match that goes on, or that broke off."""

    path: Path


@click.command("report", epilog="Example:  referee report logs/autumn-cup --replays all")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--html", metavar="FILE", type=click.Path(path_type=Path), help="The page; FOLDER/report.html if not said."
)
@click.option("--csv", metavar="DIR", type=click.Path(path_type=Path), help="Where the tables go; FOLDER if not said.")
@click.option(
    "--pgn", metavar="FILE", type=click.Path(path_type=Path), help="All moves; FOLDER/matches.txt if not said."
)
@click.option(
    "--replays",
    type=click.Choice([str(one) for one in Replays]),
    default=str(Replays.FOULS),
    help="Which matches get a page of their own: none, those with a foul and void ones, or all.",
)
@click.option("--jobs", type=Count(min=1), default=os.cpu_count() or 1, help="Records at the same time.")
@json_option
def report_command(
    folder: Path, html: Path | None, csv: Path | None, pgn: Path | None, replays: str, jobs: int, as_json: bool
) -> None:
    """Report on a tournament, while it runs or afterwards: FOLDER has its records and its spec.json.

    Written are: report.html, one page with standings, crosstable, ratings, progress, fouls, time and every match, which
    needs nothing but a browser; standings.csv, crosstable.csv, matches.csv and fouls.csv; tournament.json with
    everything; matches.txt with the moves; and replays/ with pages of matches. What was written before is replaced.

    Records are read, their chain and their seal checked; `referee audit` says whether they hold.

    Exit status: 0 reported, 1 a record does not hold or is missing, 2 used wrongly.
    """
    report(folder, Targets(html=html, csv=csv, pgn=pgn, replays=Replays(replays)), jobs, as_json=as_json)


def report(folder: Path, targets: Targets, jobs: int = os.cpu_count() or 1, *, as_json: bool) -> None:
    """Read the records of a tournament, write its report, and print where it went and how the tournament stands.

    Args:
        folder: of the records.
        targets: where everything goes.
        jobs: so many records are read at the same time.
        as_json: whether one JSON object is printed.

    Raises:
        click.UsageError: the folder has no spec that could be played.
        click.ClickException: the disk failed.
        SystemExit: a record does not hold or is missing.
    """
    founding = find_spec_file(folder)
    try:
        found = _read(folder, founding.spec.name, jobs)
        digests = {one.entry.match: one for one in found if isinstance(one, Digest)}
        entries = course(one.entry for one in digests.values())
        format_ = registry().format(founding.spec.format)
        written = write_report(
            folder,
            refolded(founding.spec, format_, founding.salt, entries),
            digests,
            Titles(find_game(founding.spec.game).title, format_.title),
            targets,
            lambda records, target: _make_replays(records, target, jobs),
        )
    except (RecordError, BadCourse, NotOpen) as error:
        console.print(f"{error}; referee audit {folder} tells more", markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAILED)
    except BadJsonFile as error:
        raise click.ClickException(str(error)) from None
    except (BadFormat, PluginError, UnknownTieBreak) as error:
        raise click.UsageError(f"{folder / FILE}: {error}") from None
    except OSError as error:
        raise click.ClickException(f"can't write {error.filename}: {error.strerror}") from None
    left = sum(isinstance(one, _Left) for one in found)
    if as_json:
        _print_json(written, left)
    else:
        _show(written, left)


def find_spec_file(folder: Path) -> SpecFile:
    """Read what the tournament of a folder is.

    Raises:
        click.UsageError: there is none, or its file is not what it should be.
    """
    try:
        founding = read_spec_file(folder)
        if founding is None:
            raise click.UsageError(f"there is no {FILE} in {folder}: is it the folder of a tournament's records?")
        return founding
    except BadJsonFile as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"can't read {folder / FILE}: {error.strerror}") from None


def _read(folder: Path, tournament: str, jobs: int) -> list[Digest | _Left]:
    """Read the records of a tournament, in other processes if there are many.

    Raises:
        RecordError: one of them does not hold; the first of them is named.
    """
    paths = [path for path in record_files(folder) if path.parent == folder]
    found = each(partial(_digest, tournament=tournament), paths, jobs)
    return [one for one in found if one is not None]


def _digest(path: Path, tournament: str) -> Digest | _Left | None:
    """Read a record; None if it is of no match of the tournament."""
    with path.open("rb") as file:
        if not file.readline().endswith(b"\n"):
            return _Left(path)  # its match has hardly begun
    record = read_record(path)
    context = record.header.context
    if context is None or context.tournament != tournament:
        return None
    return _Left(path) if record.seal is None else digest_of(record)


def _make_replays(records: Sequence[Path], target: Path, jobs: int) -> None:
    for _ in each(partial(_make_replay, target=target), records, jobs):
        pass


def _make_replay(record: Path, target: Path) -> None:
    make_replay(record, target, find_game)


def _show(written: Written, left: int) -> None:
    tournament = written.summary.tournament
    state = "is over" if tournament.is_over else "goes on"
    text = f"{tournament.spec.name} {state}: {matches_text(tournament)}, {tournament.voided} void"
    out.print(text + (f", {left} not finished" if left else ""), markup=False, highlight=False)
    out.print()
    out.print(standings_table(tournament))
    out.print()
    for name, since in written.summary.changed.items():
        text = f"{printable(name)} has changed: its matches from {since} on are another program's"
        out.print(text, markup=False, highlight=False, soft_wrap=True)
    for what, path in (
        ("report", written.html),
        ("tables", written.csv[0].parent),
        ("all of it", written.json),
        ("moves", written.pgn),
    ):
        out.print(f"{what}: {path}", markup=False, highlight=False, soft_wrap=True)


def standings_table(tournament: Tournament, most: int = 20) -> RichTable:
    """Return the first lines of the standings as a table for a terminal; of tie-breaks, as many as have room."""
    table = RichTable(show_edge=False)
    breaks = tournament.spec.tie_breaks[: max((out.width - 50) // 20, 1)]
    for title in ("#", "entrant", "points", *breaks, "played"):
        table.add_column(title, justify="left" if title == "entrant" else "right", no_wrap=True)
    lines = placed(tournament)
    for line in lines[:most]:
        values = (number(line.tie_breaks[one]) if one in line.tie_breaks else "" for one in breaks)
        name = harmless(tournament.spec.entrants[line.entrant].name)
        mark = " [red](suspended)[/]" if line.entrant in tournament.suspended else ""
        table.add_row(str(line.place), name + mark, number(line.points), *values, str(line.played))
    if len(lines) > most:
        table.add_row("", f"and {len(lines) - most} more")
    return table


def _print_json(written: Written, left: int) -> None:
    tournament = written.summary.tournament
    print_json(
        {
            "tournament": tournament.spec.name,
            "is_over": tournament.is_over,
            "played": tournament.played,
            "given_up": tournament.given_up,
            "void": tournament.voided,
            "unfinished": left,
            "changed": written.summary.changed,
            "standings": [
                {"name": written.summary.names[line.entrant], **msgspec.to_builtins(line)}
                for line in written.summary.standings
            ],
            "written": {
                "html": str(written.html),
                "csv": [str(path) for path in written.csv],
                "json": str(written.json),
                "pgn": str(written.pgn),
                "replays": written.replays,
            },
        }
    )
