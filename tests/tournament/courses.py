"""Tournaments that are simulated table by table, as a referee would run them.

Refuses to take a result: whoever asks for the course does, so that he can look at every step.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

from msgspec import Struct

from referee.chance import Dealer, derive
from referee.pairing.base import Pairing, PairingFormat
from referee.plugins import load
from referee.testing import random_result
from referee.tournament.machine import Fixture, GivenUp, Tournament
from referee.tournament.match_context import FoulEntry, MatchContext, MatchEntry
from referee.tournament.spec import Participant, TournamentSpec

from ..time_controls import time_control

FORMATS = load().formats
SALT = "0f" * 16
TIME = time_control(per_move_ms=1000.0, start_ms=5000.0)


class Troubles(Struct, frozen=True):
    """How often something goes wrong, as a share of all matches."""

    void: float = 0.0
    """The referee's own fault."""
    failed: float = 0.0
    """Somebody's program does not start."""


NO_TROUBLES = Troubles()


class Happening(Struct, frozen=True):
    """A match was opened, or is over."""

    match: str
    context: MatchContext
    entry: MatchEntry | None = None
    """None when it was opened."""


def spec_of(size: int, format_: str = "roundrobin", seats: int = 2, **more: Any) -> TournamentSpec:
    """Return a spec; nobody plays it."""
    entrants = tuple(Participant(name=f"e{number}", player="house:dag") for number in range(size))
    given: dict[str, Any] = {"name": "cup", "game": "q", "suspend_after": 3, **more}
    return TournamentSpec(**given, entrants=entrants, seats=seats, format=format_, time=TIME)


def tournament_of(spec: TournamentSpec, format_: PairingFormat[Any] | None = None) -> Tournament:
    """Return a tournament before its first match."""
    dealer = Dealer(derive(bytes.fromhex(SALT), "format"))
    return Tournament(spec, format_ or FORMATS[spec.format], dealer)


def happenings(
    tournament: Tournament, random: Random, *, tables: int = 4, troubles: Troubles = NO_TROUBLES
) -> Iterator[Happening]:
    """Yield what happens while matches are played at some tables, which end in any order.

    Whoever asks takes each result before asking for more.
    """
    name, openings = tournament.spec.name, 0
    untold: list[str] = []
    playing: dict[str, tuple[Fixture, MatchContext]] = {}
    while True:
        for fixture in tournament.fixtures():
            if len(playing) == tables:
                break
            if (match := fixture.name_in(name)) not in playing:
                context = fixture.context(name, openings, untold)
                openings, untold = openings + 1, []
                playing[match] = (fixture, context)
                yield Happening(match, context)
        if not playing:
            return
        match = random.choice(list(playing))
        fixture, context = playing.pop(match)
        yield Happening(match, context, _result(tournament.spec, match, fixture, context, random, troubles))
        untold.append(match)


def course_of(
    tournament: Tournament, random: Random, *, tables: int = 4, troubles: Troubles = NO_TROUBLES
) -> Iterator[MatchEntry]:
    """Play a tournament to its end, and yield every result once it is taken; what came too late, too."""
    for happening in happenings(tournament, random, tables=tables, troubles=troubles):
        if happening.entry is not None:
            take(tournament, happening.entry)
            yield happening.entry


def take(tournament: Tournament, entry: MatchEntry) -> bool:
    """Take a result; return whether it was in time."""
    try:
        tournament.take(entry)
    except GivenUp:
        return False
    return True


def _result(
    spec: TournamentSpec, match: str, fixture: Fixture, context: MatchContext, random: Random, troubles: Troubles
) -> MatchEntry:
    seats = fixture.seats
    fouls: list[FoulEntry] = []
    ranking: tuple[tuple[int, ...], ...] = ()
    scores: tuple[int, ...] = (0,) * len(seats)
    void = "the disk is full" if random.random() < troubles.void else None
    if void is None:
        ranking, scores, fouls = _played(seats, random, troubles)
    return MatchEntry(
        match=match,
        context=context,
        names=tuple(spec.entrants[entrant].name for entrant in seats),
        void=void,
        ranking=ranking,
        scores=scores,
        fouls=tuple(fouls),
        reason="" if void else "q.end",
        turns=random.randrange(100),
        used_ms=tuple(round(random.random() * 1000, 3) for _ in seats),
        head=f"{random.getrandbits(256):064x}",
    )


def _played(
    seats: tuple[int, ...], random: Random, troubles: Troubles
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...], list[FoulEntry]]:
    if random.random() < troubles.failed:
        gone = random.randrange(len(seats))
        rest = tuple(seat for seat in range(len(seats)) if seat != gone)
        crash = FoulEntry(seat=gone, cause="crashed", turn=0, detail="exit status 1")
        return (rest, (gone,)), (0,) * len(seats), [crash]
    played = random_result(Pairing(number=1, round=1, seats=seats), random)
    fouls = [FoulEntry(seat=seat, cause="timeout", turn=3, rule=None, code="late") for seat in played.fouls]
    return played.ranking or (tuple(range(len(seats))),), played.scores, fouls
