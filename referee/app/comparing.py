"""Compares two players: plays pairs of matches until a sequential test can tell whether one is better.

A comparison goes on in the folder of one that was begun alike with the same programs, and else in a new one. What
differs from the last one is told, so that nobody takes an old verdict for that of a changed program.
"""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..errors import BadRequest
from ..games.base import Game
from ..net.matches.settings import MatchSettings
from ..net.tournaments.play import RunSettings
from ..observers import Observer
from ..programs.build import BUILDS
from ..record.tournament_record import TournamentStart, read_start
from ..text import counted
from ..tournament.machine import Tournament
from ..tournament.ratings.elo import elo_ratings
from ..tournament.spec import Participant, TournamentSpec, differences
from ..tournament.sprt import Hypotheses, SprtDecision, SprtMatch, State
from .players import find_players, folder_of
from .services import RefereeOptions, services
from .tournaments.beginning import digests_of
from .tournaments.conducting import Conducted, conduct

MAX_CHARS = 40
"""Of a tournament's name."""


class ComparisonTest(Struct, frozen=True, kw_only=True):
    """How sure the answer is to be, and how long it may take."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    pairs: int
    """Stop after so many."""
    tables: int
    """Matches at the same time."""


class Comparison(Struct, frozen=True, kw_only=True):
    """What a comparison says of B against A."""

    a: str
    b: str
    verdict: SprtDecision
    pairs: int
    """Played and counted."""
    outcomes_of_b: tuple[int, ...]
    """Pairs in which B got 0, ½, 1, 1½ and 2 points."""
    llr: float
    lower: float
    upper: float
    elo: float
    elo_error: float
    records: str
    is_stopped: bool
    not_starting: dict[str, str]
    """Player that did not start -> why."""
    over_before: str | None
    """The time of day at which it had been decided, if nothing was played now."""


def compare(
    game: Game[Any, Any, Any],
    players: Sequence[str],
    test: ComparisonTest,
    settings: MatchSettings,
    options: RefereeOptions,
    observer: Observer,
) -> Comparison:
    """Play until the test decides, or until it is stopped.

    Args:
        game: what is played.
        players: A and B, as they are given.
        test: how sure the answer is to be.
        settings: of their matches; its folder is where the folders of all comparisons are.
        options: how the referee runs.
        observer: is told what happens.

    Raises:
        BadRequest: a number is wrong, or the game is not for two.
        PlayerError: a player is not to be had.
        RefereeError: what is in the folder does not hold.
        OSError: the machine failed.
    """
    place = find_place(_spec(game, players, test, settings, options.memory_mib), settings.folder.absolute())
    builds = settings.folder / BUILDS  # with those of checks and single matches: nothing is built anew for a comparison
    run_settings = RunSettings(folder=place.folder, builds=builds, tables=test.tables, sandbox=options.sandbox)
    with services(options, place.folder) as at_hand, at_hand.match.observers.also(observer) as observers:
        if place.notice:
            observers.notify(Observer.on_notice, place.notice)
        conducted = conduct(place.spec, SprtMatch(), run_settings, at_hand)
    return _comparison(conducted, place.folder)


def _spec(
    game: Game[Any, Any, Any], players: Sequence[str], test: ComparisonTest, settings: MatchSettings, memory_mib: int
) -> TournamentSpec:
    if 2 not in game.seats:  # players of a match
        raise BadRequest(f"{game.name} is not played by two; compare is for games for two")
    hypotheses = {name: getattr(test, name) for name in ("elo0", "elo1", "alpha", "beta")}
    try:
        Hypotheses(**hypotheses)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    names = [launch.name for launch in find_players(game.name, players)]
    whole = [str(folder.absolute()) if (folder := folder_of(player)) else player for player in players]
    return TournamentSpec(
        name=f"compare-{game.name}-{names[0]}-{names[1]}"[:MAX_CHARS],
        game=game.name,
        options=settings.options,
        entrants=tuple(Participant(name=name, player=player) for name, player in zip(names, whole, strict=True)),
        seats=2,
        format=SprtMatch.name,
        format_options={"hypotheses": hypotheses, "max_pairs": test.pairs, "window": test.tables},
        duplicate=True,
        time=settings.time,
        lag_margin_ms=settings.lag_margin_ms,
        acknowledge=settings.acknowledge,
        seed=settings.seed,
        memory_mib=memory_mib,
    )


def _comparison(conducted: Conducted, folder: Path) -> Comparison:
    tournament, entrants = conducted.tournament, conducted.tournament.spec.entrants
    state: State = tournament.state
    progress = SprtMatch().progress(state)
    elo_a, elo_b = elo_ratings(tournament.table)
    return Comparison(
        a=entrants[0].name,
        b=entrants[1].name,
        verdict=state.verdict,
        pairs=state.counted,
        outcomes_of_b=tuple(state.counts),
        llr=progress.llr,
        lower=progress.lower,
        upper=progress.upper,
        elo=elo_b.rating - elo_a.rating,
        elo_error=2 * elo_b.error,
        records=str(folder),
        is_stopped=not conducted.is_over,
        not_starting=_not_starting(tournament),
        over_before=conducted.over_before,
    )


def _not_starting(tournament: Tournament) -> dict[str, str]:
    """Return why an entrant did not start, by name: those that are suspended for it, or never did."""
    found = {}
    for index, entrant in enumerate(tournament.spec.entrants):
        failures = tournament.failures.times(index)
        if index in tournament.suspended:
            found[entrant.name] = tournament.suspended[index].why
        elif failures and failures == tournament.played:
            found[entrant.name] = f"failed to start in {counted(failures, 'match', 'matches')}"
    return found


class ComparisonFolder(Struct, frozen=True, kw_only=True):
    """Where a comparison is played."""

    spec: TournamentSpec
    """With the name that its folder has."""
    folder: Path
    notice: str = ""
    """Why it is begun anew though the two were compared before; empty: it is not."""


def find_place(spec: TournamentSpec, logs: Path) -> ComparisonFolder:
    """Return where a comparison goes on, or is begun.

    Args:
        spec: what is played; its name may get a number.
        logs: where all folders of records are.

    Raises:
        RecordError: the record of a comparison in a folder of that name is damaged.
        OSError: it can't be read.
    """
    digests = digests_of(spec.entrants)
    before: tuple[Path, str] | None = None
    for number in count(1):
        suffix = "" if number == 1 else f"-{number}"
        wanted = replace(spec, name=spec.name[: MAX_CHARS - len(suffix)] + suffix)
        folder = logs / wanted.name
        begun = read_start(folder)
        if begun is None:
            break
        wanted = _as_wide(wanted, begun.spec)
        why = _otherwise(begun.spec, wanted) or _changed(begun, digests)
        if not why:
            return ComparisonFolder(spec=wanted, folder=folder)
        before = folder, why
    notice = "" if before is None else f"{before[1]} (see {before[0]}); a new comparison is begun in {folder}"
    return ComparisonFolder(spec=wanted, folder=folder, notice=notice)


def _as_wide(spec: TournamentSpec, kept: TournamentSpec) -> TournamentSpec:
    """Return a spec with as many pairings due at once as another: it is no matter to the verdict."""
    if "window" not in kept.format_options:
        return spec
    options = {**spec.format_options, "window": kept.format_options["window"]}
    return replace(spec, format_options=options)


def _otherwise(kept: TournamentSpec, wanted: TournamentSpec) -> str:
    """Return in what a comparison was begun otherwise; empty: in nothing."""
    parts = [
        f"{path.rpartition('.')[2]} was {_value(old)}, is {_value(new)}"
        for path, (old, new) in differences(kept, wanted).items()
    ]
    return f"the last comparison of the two was another: {', '.join(parts)}" if parts else ""


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _changed(begun: TournamentStart, digests: dict[str, str]) -> str:
    """Return which programs have changed since a comparison was begun; empty: none."""
    names = [name for name, now in digests.items() if name in begun.changed or begun.programs.get(name) != now]
    have = "has" if len(names) == 1 else "have"
    return f"{' and '.join(names)} {have} changed since the last comparison" if names else ""
