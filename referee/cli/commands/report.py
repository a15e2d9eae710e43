"""`referee report`: write the report of a tournament, from its records: a page, tables and plain text."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import rich_click as click

from ...app.publishing import publish_tournament
from ...app.report import Progress, ReportedTournament, report_tournament
from ...pages.replays import ReplayPages
from ...pages.report_files import Targets
from ...text import printable
from ..common import EXISTING_FOLDER, PATH, Word, jobs_option, json_option, out, print_json
from ..completion import complete_tournaments
from ..tournament_view import matches_text, plain_standings, standings_table


@click.command("report", epilog="Example:  referee report logs/autumn-cup --replays all")
@click.argument("folder", type=EXISTING_FOLDER, shell_complete=complete_tournaments)
@click.option("--html", metavar="FILE", type=PATH, help="File of the page. (Default: FOLDER/report.html)")
@click.option("--csv", metavar="DIR", type=PATH, help="Folder of the tables. (Default: FOLDER)")
@click.option(
    "--pgn",
    metavar="FILE",
    type=PATH,
    help="File of all moves. (Default: FOLDER/matches.txt)",
)
@click.option(
    "--database",
    metavar="FILE or URL",
    help="The database, e.g. postgresql://USER@HOST/NAME. (Default: FOLDER/tournament.sqlite)",
)
@click.option(
    "--replays",
    type=Word([*map(str, ReplayPages)]),
    help="Which matches get a page: none; fouls (matches with a foul, and void ones); all; on-request (for a site). "
    f"(Default: {ReplayPages.FOULS}; with --publish, {ReplayPages.ALL})",
)
@click.option(
    "--home",
    metavar="ADDRESS",
    default="",
    help="Address of a page that all pages link back to; the address of a contest's site ends in a slash. "
    "(Default: no link)",
)
@click.option("--public", is_flag=True, help="Leave out links to the output of programs, which is not public.")
@click.option(
    "--publish",
    metavar="DIR",
    type=PATH,
    help="Write records, report and replays, as far as they are public, to a new folder DIR.",
)
@click.option("--for", "author", metavar="NAME", help="With --publish: add the explained matches and output of NAME.")
@click.option("--quick", is_flag=True, help="Read only the tournament's own record: no times, moves and fairness.")
@click.option("--progress", is_flag=True, help="Print every second how many records were read, as a line of JSON.")
@jobs_option("Read this many records")
@json_option
def report_command(
    folder: Path,
    jobs: int,
    *,
    replays: str | None,
    publish: Path | None,
    author: str | None,
    public: bool,
    quick: bool,
    progress: bool,
    as_json: bool,
    **where: Any,
) -> None:
    """Write the report of a tournament, during or after it: FOLDER has its records.

    Pages for a browser: report.html has standings, ratings, progress, fouls and times; matches.html has every match;
    crosstable.html is written for more than 40 entrants; replays/ has pages of matches.

    Files for other programs: standings.csv, crosstable.csv, matches.csv and fouls.csv; tournament.json with everything;
    matches.txt with the moves; the database tournament.sqlite, unless --public is given.

    An earlier report is replaced.

    With --publish, the output of programs, requests, tokens and the database are left out. With --for, index.html links
    to the matches of one entrant. Each match is explained to its author, with what the program printed.

    It checks the chain and the seal of each record; `referee audit` checks everything else.

    Exit status: 0 reported, 1 a record does not hold or is missing, 2 usage error.
    """
    pages = ReplayPages(replays or (ReplayPages.FOULS if publish is None else ReplayPages.ALL))
    targets = Targets(replays=pages, is_public=public, is_quick=quick, **where)
    if publish is None:
        if author is not None:
            raise click.UsageError("--for needs --publish DIR")
        report(folder, targets, jobs, as_json=as_json, shows_progress=progress)
        return
    if taken := [f"--{name}" for name, place in where.items() if name != "home" and place is not None]:
        raise click.UsageError(f"--publish writes everything into one folder: leave out {', '.join(taken)}")
    on_progress: Progress = _Printed() if progress else lambda _read, _of: None
    (_print_json if as_json else _show)(publish_tournament(folder, publish, author, targets, jobs, on_progress))


def report(
    folder: Path,
    targets: Targets,
    jobs: int = os.cpu_count() or 1,
    *,
    as_json: bool,
    shows_progress: bool = False,
) -> None:
    """Write the report of a tournament, and print its files and the standings.

    Args:
        folder: folder of the records.
        targets: the files to write.
        jobs: number of records read at the same time.
        as_json: whether to print the result as one JSON object.
        shows_progress: whether to print progress before it, as lines of JSON.
    """
    reported = report_tournament(folder, targets, jobs, *([_Printed()] if shows_progress else []))
    (_print_json if as_json else _show)(reported)


class _Printed:
    """Prints how far a report is, at most once a second."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, read: int, of: int) -> None:
        """Print how many records were read, and how many there are."""
        if time.monotonic() - self._last >= 1 or read == of:
            self._last = time.monotonic()
            sys.stdout.write(json.dumps({"records_read": read, "records": of}) + "\n")
            sys.stdout.flush()


def _show(reported: ReportedTournament) -> None:
    written, unfinished = reported.written, reported.unfinished
    tournament = written.summary.tournament
    state = "is over" if tournament.is_over else "is not over"
    text = f"{tournament.spec.name} {state}: {matches_text(tournament)}, {tournament.voided} void"
    out.print(text + (f", {unfinished} not finished" if unfinished else ""), markup=False, highlight=False)
    out.print()
    out.print(standings_table(written.summary))
    out.print(tournament.explain_order(), markup=False, highlight=False)
    out.print()
    for name, since in written.summary.changed.items():
        out.say(f"{printable(name)} has changed: from {since} on, another program played its matches")
    for what, path in (
        ("report", written.html),
        ("tables", written.csv[0].parent),
        ("all data", written.json),
        ("moves", written.pgn),
        ("results for rating programs", written.games),
        ("rounds for pairing programs", written.trf),
        ("database", reported.database),
    ):
        if path is not None:
            out.say(f"{what}: {path}")


def _print_json(reported: ReportedTournament) -> None:
    written = reported.written
    tournament = written.summary.tournament
    files = {"html": written.html, "csv": written.csv, "json": written.json, "pgn": written.pgn}
    files |= {"games": written.games, "trf": written.trf, "database": reported.database}
    print_json(
        {
            "tournament": tournament.spec.name,
            "is_over": tournament.is_over,
            "played": tournament.played,
            "awarded": len(tournament.awards),
            "given_up": tournament.given_up,
            "void": tournament.voided,
            "unfinished": reported.unfinished,
            "changed": written.summary.changed,
            "order": tournament.explain_order(),
            "standings": plain_standings(tournament),
            "written": {**msgspec.to_builtins(files, enc_hook=str), "replays": written.replays},
        }
    )
