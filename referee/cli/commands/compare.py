"""`referee compare`: is B better than A? Plays until a sequential test can tell."""

import contextlib
import sys
from collections.abc import Sequence

import rich_click as click
from rich.markup import escape

from ...app import comparing
from ...app.comparing import Comparison, ComparisonTest
from ...app.services import RefereeOptions
from ...plugins import find_game
from ...programs.player_spec import PlayerKind, parse_player
from ...text import counted, printable
from ...tournament.sprt import SprtDecision
from ..common import Count, Decorator, console, grouped, json_option, out, print_json
from ..completion import complete_games, complete_players
from ..errors import FAILED, FINE
from ..match_options import MatchOptions, match_options
from ..running_options import referee_options
from ..tournament_view import watch_of

WORDS = {
    SprtDecision.ACCEPT: "{b} is better than {a}: by {elo1:g} Elo rather than by {elo0:g}",
    SprtDecision.REJECT: "{b} is not better than {a}: by {elo0:g} Elo at most rather than by {elo1:g}",
    SprtDecision.CONTINUE: "not decided: {pairs_played} too few to tell",
}


def _number(name: str, default: float, what: str) -> Decorator:
    return click.option(name, type=float, default=default, show_default=True, help=what)


def _count(name: str, most: int, default: int, what: str) -> Decorator:
    return click.option(name, type=Count(1, most), default=default, show_default=True, help=what)


_test_options = grouped(
    "test",
    ComparisonTest,
    _number("--elo0", 0.0, "B is no better than by this many Elo..."),
    _number("--elo1", 20.0, "...or better by at least as many."),
    _number("--alpha", 0.05, "How often B may be called better wrongly."),
    _number("--beta", 0.05, "How often it may be called no better wrongly."),
    _count("--pairs", 1_000_000, 2000, "Stop after so many pairs."),
    _count("--tables", 1000, 1, "Matches at the same time."),
)


@click.command(epilog="Example:  referee compare house:random house:greedy --game quincy --tables 2")
@click.argument("a", shell_complete=complete_players)
@click.argument("b", shell_complete=complete_players)
@click.option("--game", required=True, shell_complete=complete_games, help="What they play; it must be a game for two.")
@_test_options
@match_options
@referee_options
@json_option
def compare(
    a: str, b: str, *, game: str, test: ComparisonTest, match: MatchOptions, running: RefereeOptions, as_json: bool
) -> None:
    """Tell whether player B is better than player A, with as few matches as it takes.

    They play pairs of matches with the same deal, once from each seat, until a sequential probability ratio test
    tells whether B is better by --elo1 rather than by --elo0. Records go into a folder of --logs called
    after the two; the same command goes on with a test that was stopped. For a program whose folder has changed, and
    for other options, a new test is begun in a folder with a number.

    Exit status: 0 the test decided, 1 it did not, 2 usage error.
    """
    rules = find_game(game)
    found = comparing.compare(rules, (a, b), test, match.settings(rules), running, watch_of(as_json=as_json))
    with contextlib.suppress(BrokenPipeError):  # what it decided is told by its exit status, too
        if as_json:
            print_json(found)
        else:
            _show(found, (a, b), test)
    sys.exit(FAILED if found.verdict is SprtDecision.CONTINUE else FINE)


def _show(found: Comparison, players: Sequence[str], test: ComparisonTest) -> None:
    out.print(f"[bold]{escape(_verdict(found, test))}[/]", highlight=False, soft_wrap=True)
    if found.over_before is not None:
        out.say(_earlier(found, players))
    out.print(f"pairs in which {found.b} got 0, ½, 1, 1½ and 2 points: {list(found.outcomes_of_b)}", highlight=False)
    out.print(
        f"log-likelihood ratio {found.llr:.2f}, decided below {found.lower:.2f} or above {found.upper:.2f};"
        f" {found.b} is {found.elo:+.0f} ± {found.elo_error:.0f} Elo against {found.a}",
        highlight=False,
    )
    console.say(f"the records are in {found.records}")


def _verdict(found: Comparison, test: ComparisonTest) -> str:
    if found.is_stopped:
        return "stopped; the same command goes on with it"
    missing = "; ".join(f"{name} does not start: {printable(why)}" for name, why in found.not_starting.items())
    if missing and found.verdict is SprtDecision.CONTINUE:
        return f"not decided: {missing}"
    played = f"{counted(found.pairs, 'pair')} of matches {'was' if found.pairs == 1 else 'were'}"
    words = WORDS[found.verdict].format(a=found.a, b=found.b, elo0=test.elo0, elo1=test.elo1, pairs_played=played)
    return f"{words}; but {missing}" if missing else words


def _earlier(found: Comparison, players: Sequence[str]) -> str:
    """Return when a comparison was over that was taken up again, and how it is played anew."""
    unseen = [player for player in players if parse_player(player).kind is PlayerKind.COMMAND]
    what = "ended" if found.verdict is SprtDecision.CONTINUE else "decided"
    when = f" on {found.over_before[:10]}" if found.over_before else " before"
    but = f" (whether the files of {' and '.join(unseen)} have changed, nobody looked)" if unseen else ""
    return f"{what}{when} with the same programs{but}; nothing was played. To play it anew, remove {found.records}"
