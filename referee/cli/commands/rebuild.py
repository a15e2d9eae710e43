"""`referee rebuild`: make the ledger of a tournament again from its records."""

import os
from pathlib import Path

import rich_click as click

from ...app.rebuild import RebuildOptions, Rebuilt, rebuild_ledger
from ...ledger.ledger import FILE, without_password
from ...record.key_file import parse_public
from ...text import counted
from ..common import EXISTING_FOLDER, Count, json_option, out, print_json
from ..views.progress import progress
from ..views.standings import plain_standings, standings_table


@click.command(epilog="Example:  referee rebuild logs/autumn --key referee.pub")
@click.argument("folder", type=EXISTING_FOLDER)
@click.option("--ledger", "where", help=f"File or URL of the ledger.  [default: FOLDER/{FILE}]")
@click.option("--key", "keys", multiple=True, help="Public key that must have sealed them: 64 hex digits, or a file.")
@click.option("--audit/--no-audit", "is_audited", default=True, help="Whether the matches themselves are verified.")
@click.option("--jobs", type=Count(min=1), default=os.cpu_count() or 1, help="Records at the same time.")
@json_option
def rebuild(folder: Path, where: str | None, keys: tuple[str, ...], is_audited: bool, jobs: int, as_json: bool) -> None:
    """Make the ledger of the tournament in FOLDER again, from its spec and its records alone.

    The records are put into the order in which their results were taken, held to the spec, and played through: who
    met whom, who was suspended and what did not count comes out again. An SQLite ledger is written beside the old one
    and then takes its place; other tournaments in it are kept. In PostgreSQL the database must not have the tournament.

    Exit status: 0 made, 1 a record does not hold or the ledger can't be written, 2 used wrongly.
    """
    options = RebuildOptions(ledger=where, keys=tuple(map(parse_public, keys)), is_audited=is_audited, jobs=jobs)
    with progress("reading", as_json) as advance:
        rebuilt = rebuild_ledger(folder, options, advance)
    if as_json:
        _print_json(rebuilt)
        return
    out.print(standings_table(rebuilt.tournament))
    left = f", {counted(rebuilt.unfinished, 'match', 'matches')} not over" if rebuilt.unfinished else ""
    out.say(f"{without_password(rebuilt.url)}: {counted(rebuilt.results, 'result')}{left}")


def _print_json(rebuilt: Rebuilt) -> None:
    tournament = rebuilt.tournament
    print_json(
        {
            "tournament": tournament.spec.name,
            "ledger": without_password(rebuilt.url),
            "results": rebuilt.results,
            "open": rebuilt.unfinished,
            "is_over": tournament.is_over,
            "standings": plain_standings(tournament),
        }
    )
