"""`referee compare`: is B better than A? Plays until a sequential test can tell."""

import contextlib
import sys
from pathlib import Path
from typing import Any

import msgspec
import rich_click as click
from rich.markup import escape

from ...app.comparing import ComparisonFolder, find_place
from ...app.conducting import Conducted, conduct
from ...games.base import Game
from ...launch import PlayerError
from ...net.tournaments.observers import Observers
from ...net.tournaments.run_settings import RunSettings
from ...plugins import PluginError
from ...record.json_file import BadJsonFile
from ...record.programs import Programs, read_programs
from ...text import counted, printable
from ...tournament.machine import Tournament
from ...tournament.ratings.elo import elo_ratings
from ...tournament.spec import Participant, TimeControl, TournamentSpec
from ...tournament.sprt import Hypotheses, SprtDecision
from ...tournament.sprt_match import SprtMatch, State
from ..common import Count, console, find_game, json_option, out, parse_options, print_json, registry
from ..errors import FAILED
from ..options.completion import complete_games, complete_players
from ..options.match import find_sealer, table_options, time_limits
from ..options.monitoring import telemetry_options, watched
from ..options.players import find_launches
from ..options.sandbox import confinement_options, find_confinement
from ..views.live import watch_of

WORDS = {
    SprtDecision.ACCEPT: "{b} is better than {a}: by {elo1:g} Elo rather than by {elo0:g}",
    SprtDecision.REJECT: "{b} is not better than {a}: by {elo0:g} Elo at most rather than by {elo1:g}",
    SprtDecision.CONTINUE: "not decided: {pairs_played} too few to tell",
}


@click.command(epilog="Example:  referee compare house:random house:greedy --game quincy --tables 2")
@click.argument("a", shell_complete=complete_players)
@click.argument("b", shell_complete=complete_players)
@click.option("--game", required=True, shell_complete=complete_games, help="What they play; it must be a game for two.")
@click.option("--elo0", type=float, default=0.0, show_default=True, help="B is no better than by this many Elo...")
@click.option("--elo1", type=float, default=20.0, show_default=True, help="...or better by at least as many.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="How often B may be called better wrongly.")
@click.option(
    "--beta", type=float, default=0.05, show_default=True, help="How often it may be called no better wrongly."
)
@click.option("--pairs", type=Count(1, 1_000_000), default=2000, show_default=True, help="Stop after so many pairs.")
@click.option("--tables", type=Count(1, 1000), default=1, show_default=True, help="Matches at the same time.")
@table_options
@confinement_options
@telemetry_options
@json_option
def compare(a: str, b: str, as_json: bool, **values: Any) -> None:
    """Tell whether player B is better than player A, with as few matches as it takes.

    They play pairs of matches with the same deal, once from each seat, until a sequential probability ratio test
    tells whether B is better by --elo1 rather than by --elo0. Records and ledger go into a folder of --logs called
    after the two; the same command goes on with a test that was stopped. For a program whose folder has changed, and
    for other options, a new test is begun in a folder with a number.

    Exit status: 0 the test decided, 1 it did not, 2 used wrongly.
    """
    rules = find_game(values["game"])
    place = _place(_spec(rules, a, b, values), values["logs"].absolute())
    spec, folder = place.spec, place.folder
    run_settings = RunSettings(folder=folder, tables=values["tables"], sandbox=values["sandbox_mode"])
    sealer = find_sealer(values["key"])
    confinement = find_confinement(
        run_settings.sandbox, values["key"], folder, memory_mib=spec.memory_mib, written=[values["diagnostics"]]
    )
    with (
        watched(values["diagnostics"], values["metrics"]) as telling,
        Observers(watch_of(as_json=as_json), note=telling.telemetry.note) as watch,
    ):
        if place.notice:
            watch.noted(place.notice)
        conducted = conduct(
            spec,
            SprtMatch(),
            run_settings,
            total=None,
            sealer=sealer,
            confinement=confinement,
            watch=watch,
            watched=telling,
        )
    with contextlib.suppress(BrokenPipeError):  # what it decided is told by its exit status, too
        _show(conducted, folder, as_json=as_json)
    sys.exit(FAILED if conducted.tournament.state.verdict is SprtDecision.CONTINUE else 0)


def _place(spec: TournamentSpec, logs: Path) -> ComparisonFolder:
    """Return where it is played.

    Raises:
        click.ClickException: what is there can't be read.
    """
    try:
        return find_place(spec, logs)
    except (BadJsonFile, OSError) as error:
        raise click.ClickException(str(error)) from None


def _spec(rules: Game[Any, Any, Any], a: str, b: str, values: dict[str, Any]) -> TournamentSpec:
    """Return what is played.

    Raises:
        click.UsageError: a player or a number is wrong, or the game is not for two.
    """
    if 2 not in rules.seats:
        raise click.UsageError(f"{rules.name} is not played by two; compare is for games for two")
    chosen = {name: values[name] for name in ("elo0", "elo1", "alpha", "beta")}
    try:
        Hypotheses(**chosen)
        launches = find_launches(rules.name, (a, b), registry())
    except (PlayerError, PluginError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    names = [launch.name for launch in launches]
    givens = [str(Path(one).absolute()) if ":" not in one else one for one in (a, b)]
    return TournamentSpec(
        name=f"compare-{rules.name}-{names[0]}-{names[1]}"[:40],
        game=rules.name,
        options=parse_options(values["options"], rules.file_options),
        entrants=tuple(Participant(name=name, player=given) for name, given in zip(names, givens, strict=True)),
        seats=2,
        format=SprtMatch.name,
        format_options={"hypotheses": chosen, "max_pairs": values["pairs"], "window": values["tables"]},
        duplicate=True,
        time=TimeControl(**time_limits(values)),
        acknowledge=values["acknowledge"],
        seed=values["seed"],
        memory_mib=values["memory_mib"],
    )


def _show(conducted: Conducted, folder: Path, *, as_json: bool) -> None:
    """Print what the test says."""
    tournament, spec = conducted.tournament, conducted.spec
    state: State = tournament.state
    progress = SprtMatch().progress(state)
    elo_a, elo_b = elo_ratings(tournament.table)
    over_at = (read_programs(folder) or Programs()).over_at
    told = {
        "a": spec.entrants[0].name,
        "b": spec.entrants[1].name,
        "verdict": state.verdict.value,
        "pairs": state.counted,
        "outcomes_of_b": list(state.counts),
        "llr": progress.llr,
        "lower": progress.lower,
        "upper": progress.upper,
        "elo": elo_b.rating - elo_a.rating,
        "elo_error": 2 * elo_b.error,
        "records": str(folder),
        "is_stopped": not conducted.is_over,
        "not_starting": _not_starting(tournament),
        "was_over": conducted.was_over,
        "over_at": over_at,
    }
    if as_json:
        print_json(told)
        return
    out.print(f"[bold]{escape(_verdict(conducted, told))}[/]", highlight=False, soft_wrap=True)
    if conducted.was_over:
        out.print(_earlier(conducted, folder, over_at), markup=False, highlight=False, soft_wrap=True)
    out.print(f"pairs in which {told['b']} got 0, ½, 1, 1½ and 2 points: {told['outcomes_of_b']}", highlight=False)
    out.print(
        f"log-likelihood ratio {progress.llr:.2f}, decided below {progress.lower:.2f} or above {progress.upper:.2f};"
        f" {told['b']} is {told['elo']:+.0f} ± {told['elo_error']:.0f} Elo against {told['a']}",
        highlight=False,
    )
    console.print(f"the records are in {folder}", markup=False, highlight=False, soft_wrap=True)


def _verdict(conducted: Conducted, told: dict[str, Any]) -> str:
    """Return what the test says, in words."""
    state: State = conducted.tournament.state
    if not conducted.is_over:
        return "stopped; the same command goes on with it"
    missing = "; ".join(f"{name} does not start: {printable(why)}" for name, why in told["not_starting"].items())
    if missing and state.verdict is SprtDecision.CONTINUE:
        return f"not decided: {missing}"
    played = f"{counted(state.counted, 'pair')} of matches {'was' if state.counted == 1 else 'were'}"
    hypotheses = msgspec.to_builtins(state.options.hypotheses)
    words = WORDS[state.verdict].format(**{**hypotheses, **told, "pairs_played": played})
    return f"{words}; but {missing}" if missing else words


def _not_starting(tournament: Tournament) -> dict[str, str]:
    """Return why an entrant did not start, by name: those that are suspended for it, or never did."""
    found = {}
    for index, one in enumerate(tournament.spec.entrants):
        failures = tournament.failures[index]
        if index in tournament.suspended:
            found[one.name] = tournament.suspended[index].why
        elif failures and failures == tournament.played:
            found[one.name] = f"failed to start in {counted(failures, 'match', 'matches')}"
    return found


def _earlier(conducted: Conducted, folder: Path, at: str | None) -> str:
    """Return when a comparison was over that was taken up again, and how it is played anew."""
    state: State = conducted.tournament.state
    unseen = [one.player for one in conducted.spec.entrants if one.player.startswith("cmd:")]
    what = "ended" if state.verdict is SprtDecision.CONTINUE else "decided"
    when = f" on {at[:10]}" if at else " before"
    but = f" (whether the files of {' and '.join(unseen)} have changed, nobody looked)" if unseen else ""
    return f"{what}{when} with the same programs{but}; nothing was played. To play it anew, remove {folder}"
