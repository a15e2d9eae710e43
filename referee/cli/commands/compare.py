"""`referee compare`: is B better than A? Plays pairs of matches until a sequential test decides.

A comparison is a tournament of two entrants, and can be stopped and continued like one. With the same programs and
options, it continues in the folder of the earlier comparison; otherwise it begins in a new folder. The command prints
what has changed, so that nobody takes the verdict on an old program for the verdict on the new one.
"""

import contextlib
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import rich_click as click
from msgspec import Struct
from msgspec.structs import asdict, replace
from rich.markup import escape

from ...app.comparison import Comparison, SequentialTest, compare_pairs, run_test
from ...app.players import find_folder, find_players
from ...app.services import RefereeOptions, services
from ...app.tournaments.beginning import hash_programs
from ...app.tournaments.conducting import Conducted, conduct
from ...errors import BadRequest
from ...games.base import Game
from ...net.matches.settings import MatchSettings
from ...net.tournaments.play import RunSettings
from ...observers import Observer
from ...plugins import find_game
from ...programs.build import BUILDS
from ...programs.player_spec import PlayerKind, parse_player
from ...record.tournament_record import TournamentStart, read_start
from ...settings import RunTerms
from ...text import counted, printable
from ...tournament.machine import Tournament
from ...tournament.spec import Participant, TournamentSpec, differences
from ...tournament.sprt import Hypotheses, SprtMatch, State
from ..common import Count, Decorator, console, group_options, json_option, out, print_json
from ..completion import complete_games, complete_players
from ..errors import FAILED, FINE
from ..options import MatchOptions, match_options, referee_options
from ..tournament_view import choose_view

MAX_CHARS = 40
"""Longest name of a tournament, in characters."""


class ComparisonTest(Struct, frozen=True, kw_only=True):
    """The test's two hypotheses, its error rates, and the largest number of pairs."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    pairs: int
    """Largest number of pairs of matches."""
    tables: int
    """Number of matches played at the same time."""

    @property
    def hypotheses(self) -> Hypotheses:
        """The hypotheses in the form that the tournament's format needs."""
        return Hypotheses(elo0=self.elo0, elo1=self.elo1, alpha=self.alpha, beta=self.beta)


class PlayedComparison(Comparison, frozen=True, kw_only=True):
    """The state of a comparison after this command, as `referee compare --json` prints it."""

    records: str
    """Folder of the records."""
    is_stopped: bool
    """Whether the command was stopped before the comparison was over."""
    not_starting: dict[str, str]
    """Player that did not start -> reason."""
    over_before: str | None
    """Time at which the comparison had ended before, if this command played no match; null if it played."""


def _number(name: str, default: float, what: str) -> Decorator:
    return click.option(name, type=float, default=default, show_default=True, help=what)


def _count(name: str, most: int, default: int, what: str) -> Decorator:
    return click.option(name, type=Count(1, most), default=default, show_default=True, help=what)


_test_options = group_options(
    "test",
    ComparisonTest,
    _number("--elo0", 0.0, "First hypothesis: B is better by this many Elo."),
    _number("--elo1", 20.0, "Second hypothesis: B is better by this many Elo."),
    _number("--alpha", 0.05, "Probability that the test wrongly calls B better."),
    _number("--beta", 0.05, "Probability that the test wrongly calls B no better."),
    _count("--pairs", 1_000_000, 2000, "Stop after this many pairs of matches."),
    _count("--tables", 1000, 1, "Play this many matches at the same time."),
)


@click.command(epilog="Example:  referee compare house:random house:greedy --game quincy --tables 2")
@click.argument("a", shell_complete=complete_players)
@click.argument("b", shell_complete=complete_players)
@click.option("--game", required=True, shell_complete=complete_games, help="The game; it must be a game for two.")
@_test_options
@match_options
@referee_options
@json_option
def compare(
    a: str, b: str, *, game: str, test: ComparisonTest, match: MatchOptions, running: RefereeOptions, as_json: bool
) -> None:
    """Find out whether player B is better than player A, with as few matches as possible.

    They play pairs of matches: the same deal twice, with the seats changed. A sequential probability ratio test stops
    the matches as soon as it can decide whether B is better by --elo1 rather than by --elo0.

    The records go to a folder below --logs that is named after the two players. The same command continues a
    comparison that was stopped. If a program's folder or an option has changed, a new comparison begins, in a folder
    with a number in its name.

    Exit status: 0 the test decided, 1 it did not, 2 usage error.
    """
    rules = find_game(game)
    played = play_comparison(rules, (a, b), test, match.settings(rules), running, choose_view(as_json=as_json))
    with contextlib.suppress(BrokenPipeError):  # even if nobody reads the output, the exit status tells the result
        if as_json:
            print_json(played)
        else:
            _show(played, (a, b))
    sys.exit(FAILED if played.verdict == "undecided" else FINE)


def play_comparison(
    game: Game[Any, Any, Any],
    players: Sequence[str],
    test: ComparisonTest,
    settings: MatchSettings,
    options: RefereeOptions,
    observer: Observer,
) -> PlayedComparison:
    """Play until the test decides, or until the user stops it.

    Args:
        game: the game that the two play.
        players: player specs of A and B.
        test: the hypotheses, and the largest number of pairs.
        settings: settings of each match; the comparison gets a folder below `settings.folder`.
        options: options of the referee.
        observer: is notified of the comparison's events.

    Raises:
        BadRequest: a number is wrong, or the game is not for two.
        PlayerError: a player can't be found.
        RefereeError: a record in the folder does not hold.
        OSError: the machine failed.
    """
    # A comparison is a tournament of two, with a format that ends when its test decides. So the code for tournaments
    # records, seals and audits it, and continues it after Ctrl-C. A loop of matches would be shorter here, but all of
    # this would have to be written again.
    place = find_place(_spec(game, players, test, settings, options.terms), settings.folder.absolute())
    builds = settings.folder / BUILDS  # shared with checks and single matches, so that no program is built twice
    run_settings = RunSettings(folder=place.folder, builds=builds, tables=test.tables)
    with services(options, place.folder) as at_hand, at_hand.match.observers.also(observer) as observers:
        if place.notice:
            observers.notify(Observer.on_notice, place.notice)
        conducted = conduct(place.spec, SprtMatch(), run_settings, at_hand)
    return _summarise(conducted, place.folder, test.hypotheses)


def _spec(
    game: Game[Any, Any, Any], players: Sequence[str], test: ComparisonTest, settings: MatchSettings, terms: RunTerms
) -> TournamentSpec:
    if 2 not in game.seats:
        raise BadRequest(f"{game.name} is not a game for two; compare needs a game for two players")
    try:
        hypotheses = msgspec.to_builtins(test.hypotheses)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    names = [launch.name for launch in find_players(game.name, players)]
    # Write a folder with its absolute path: the comparison may be continued from another working directory.
    paths = [str(folder.absolute()) if (folder := find_folder(player)) else player for player in players]
    return TournamentSpec(
        name=f"compare-{game.name}-{names[0]}-{names[1]}"[:MAX_CHARS],
        game=game.name,
        options=settings.options,
        entrants=tuple(Participant(name=name, player=path) for name, path in zip(names, paths, strict=True)),
        seats=2,
        format=SprtMatch.name,
        format_options={"hypotheses": hypotheses, "max_pairs": test.pairs, "window": test.tables},
        duplicate=True,
        time=settings.time,
        lag_margin_ms=settings.lag_margin_ms,
        acknowledge=settings.acknowledge,
        seed=settings.seed,
        memory_mib=terms.memory_mib,
        durability=terms.durability,
    )


def _summarise(conducted: Conducted, folder: Path, hypotheses: Hypotheses) -> PlayedComparison:
    tournament = conducted.tournament
    a, b = (entrant.name for entrant in tournament.spec.entrants)
    state: State = tournament.state
    result = compare_pairs(a, b, state.counts, run_test(state.counts, hypotheses, state.verdict))
    return PlayedComparison(
        **asdict(result),
        records=str(folder),
        is_stopped=not conducted.is_over,
        not_starting=_failed_starts(tournament),
        over_before=conducted.over_before,
    )


def _failed_starts(tournament: Tournament) -> dict[str, str]:
    """Return name -> reason for the entrants that were suspended or that failed to start in every match."""
    reasons = {}
    for index, entrant in enumerate(tournament.spec.entrants):
        failures = tournament.failures.times(index)
        if index in tournament.suspended:
            reasons[entrant.name] = tournament.suspended[index].why
        elif failures and failures == tournament.played:
            reasons[entrant.name] = f"failed to start in {counted(failures, 'match', 'matches')}"
    return reasons


# --- the folder of a comparison


class ComparisonFolder(Struct, frozen=True, kw_only=True):
    """The folder in which a comparison is played."""

    spec: TournamentSpec
    """The comparison, under the name of its folder."""
    folder: Path
    notice: str = ""
    """Why a new comparison begins although the two were compared before; empty if they were not compared before."""


def find_place(spec: TournamentSpec, logs: Path) -> ComparisonFolder:
    """Return the folder in which a comparison continues or begins.

    Args:
        spec: the comparison; its name may get a number.
        logs: folder of all records.

    Raises:
        RecordError: a folder of that name has a damaged record.
        OSError: the folder can't be read.
    """
    # One test must not mix the results of an old and a new version of a program. Folders are compared by their content.
    # Of a command only the words can be compared; the output says so.
    digests = hash_programs(spec.entrants)
    before: tuple[Path, str] | None = None
    for number in count(1):
        suffix = "" if number == 1 else f"-{number}"
        wanted = replace(spec, name=spec.name[: MAX_CHARS - len(suffix)] + suffix)
        folder = logs / wanted.name
        begun = read_start(folder)
        if begun is None:
            break
        wanted = _with_window(wanted, begun.spec)
        why = _explain_difference(begun.spec, wanted) or _explain_change(begun, digests)
        if not why:
            return ComparisonFolder(spec=wanted, folder=folder)
        before = folder, why
    notice = "" if before is None else f"{before[1]} (see {before[0]}); a new comparison begins in {folder}"
    return ComparisonFolder(spec=wanted, folder=folder, notice=notice)


def _with_window(spec: TournamentSpec, earlier: TournamentSpec) -> TournamentSpec:
    """Return a spec with the window of an earlier spec: the number of pairings at once can't change the verdict."""
    if "window" not in earlier.format_options:
        return spec
    options = {**spec.format_options, "window": earlier.format_options["window"]}
    return replace(spec, format_options=options)


def _explain_difference(earlier: TournamentSpec, wanted: TournamentSpec) -> str:
    """Return in words which options differed in an earlier comparison; empty if none did."""
    parts = [
        f"{path.rpartition('.')[2]} was {_word_value(old)}, now it is {_word_value(new)}"
        for path, (old, new) in differences(earlier, wanted).items()
    ]
    return f"the last comparison of the two had other options: {', '.join(parts)}" if parts else ""


def _word_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _explain_change(begun: TournamentStart, digests: dict[str, str]) -> str:
    """Return in words which programs have changed since a comparison began; empty if none has."""
    names = [name for name, now in digests.items() if name in begun.changed or begun.programs.get(name) != now]
    have = "has" if len(names) == 1 else "have"
    return f"{' and '.join(names)} {have} changed since the last comparison" if names else ""


# --- output


def _show(played: PlayedComparison, players: Sequence[str]) -> None:
    out.print(f"[bold]{escape(_word_result(played))}[/]", highlight=False, soft_wrap=True)
    if played.over_before is not None:
        out.say(_explain_earlier(played, players))
    if played.test is not None:
        out.say(_word_test(played.b, played.test))
    out.print(f"pairs in which {played.b} got 0, ½, 1, 1½ and 2 points: {list(played.outcomes_of_b)}", highlight=False)
    console.say(f"the records are in {played.records}")


def _word_result(played: PlayedComparison) -> str:
    if played.is_stopped:
        return f"stopped; the same command continues it. So far: {played.sentence}"
    missing = "; ".join(f"{name} does not start: {printable(why)}" for name, why in played.not_starting.items())
    if missing and played.verdict == "undecided":
        return f"not decided: {missing}"
    return f"{played.sentence}; but {missing}" if missing else played.sentence


def _word_test(b: str, test: SequentialTest) -> str:
    bounds = f"log-likelihood ratio {test.llr:.2f}, decided below {test.lower:.2f} or above {test.upper:.2f}"
    return f"sequential test of whether {b} is better by {test.elo1:g} or by {test.elo0:g} Elo: {bounds}"


def _explain_earlier(played: PlayedComparison, players: Sequence[str]) -> str:
    """Return in words when an earlier comparison ended, because this command played nothing, and how to repeat it."""
    unseen = [player for player in players if parse_player(player).kind is PlayerKind.COMMAND]
    what = "ended" if played.verdict == "undecided" else "decided"
    when = f" on {played.over_before[:10]}" if played.over_before else " before"
    but = f" (the referee can't see whether the files of {' and '.join(unseen)} have changed)" if unseen else ""
    return f"{what}{when} with the same programs{but}; nothing was played. To play it again, remove {played.records}"
