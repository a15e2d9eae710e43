"""`referee rebuild`: make the ledger of a tournament again from its record."""

from pathlib import Path

import rich_click as click

from ...app.tournaments.rebuild import Rebuilt, rebuild_ledger
from ...ledger.ledger import FILE, without_password
from ...text import counted
from ..common import EXISTING_FOLDER, json_option, out, print_json
from ..options.proofs import keys_option
from ..views.standings import plain_standings, standings_table


@click.command(epilog="Example:  referee rebuild logs/autumn --key referee.pub")
@click.argument("folder", type=EXISTING_FOLDER)
@click.option("--ledger", "where", help=f"File or URL of the ledger.  [default: FOLDER/{FILE}]")
@keys_option
@json_option
def rebuild(folder: Path, where: str | None, keys: tuple[str, ...], as_json: bool) -> None:
    """Make the ledger of the tournament in FOLDER again, from the tournament's record alone.

    The record is held to its chain and its seals, and played through: every event must be one that could happen then.
    The records of the matches are not read; `referee audit FOLDER` verifies them. An SQLite ledger is written beside
    the old one and then takes its place; other tournaments in it are kept. In PostgreSQL the database must not have
    the tournament.

    Exit status: 0 made, 1 the record does not hold or the ledger can't be written, 2 used wrongly.
    """
    rebuilt = rebuild_ledger(folder, where, keys)
    if as_json:
        _print_json(rebuilt)
        return
    playing = len(rebuilt.tournament.playing)
    out.print(standings_table(rebuilt.tournament))
    left = f", {counted(playing, 'match', 'matches')} not over" if playing else ""
    out.say(f"{without_password(rebuilt.url)}: {counted(rebuilt.steps, 'event')}{left}")


def _print_json(rebuilt: Rebuilt) -> None:
    tournament = rebuilt.tournament
    print_json(
        {
            "tournament": tournament.spec.name,
            "ledger": without_password(rebuilt.url),
            "events": rebuilt.steps,
            "matches": tournament.played,
            "open": len(tournament.playing),
            "is_over": tournament.is_over,
            "standings": plain_standings(tournament),
        }
    )
