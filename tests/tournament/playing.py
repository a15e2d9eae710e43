"""Tournaments that are simulated table by table, as a referee would run them.

The caller lets the tournament take each result, so that it can look at every transition.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from referee.chance import Dealer, derive
from referee.plugins import load
from referee.testing import random_result
from referee.tournament import commands as c
from referee.tournament import events as e
from referee.tournament.machine import Tournament
from referee.tournament.match_context import FoulEntry, MatchEntry
from referee.tournament.pairing.base import Pairing, PairingFormat, RoundToPair
from referee.tournament.pairing.dutch import pair_round
from referee.tournament.rulings import Ruling
from referee.tournament.spec import Participant, TournamentSpec

from ..time_controls import time_control

FORMATS = load().formats
AT = "2026-11-22T12:00:00.000+00:00"
SALT = "0f" * 16
TIME = time_control(per_move_ms=1000.0, start_ms=5000.0)


class Troubles(Struct, frozen=True):
    """How often something goes wrong, as a share of all matches."""

    void: float = 0.0
    """The referee's own fault."""
    failed: float = 0.0
    """A program does not start."""


NO_TROUBLES = Troubles()


def spec_of(size: int, format_: str = "roundrobin", seats: int = 2, **more: Any) -> TournamentSpec:
    """Return a spec; nobody plays it."""
    entrants = tuple(Participant(name=f"e{number}", player="house:dag") for number in range(size))
    given: dict[str, Any] = {"name": "cup", "game": "q", "suspend_after": 3, **more}
    return TournamentSpec(**given, entrants=entrants, seats=seats, format=format_, time=TIME)


def tournament_of(spec: TournamentSpec, format_: PairingFormat[Any] | None = None) -> Tournament:
    """Return a tournament before its first match."""
    dealer = Dealer(derive(bytes.fromhex(SALT), "format"))
    return Tournament(spec, format_ or FORMATS[spec.format], dealer)


def begun(spec: TournamentSpec, format_: PairingFormat[Any] | None = None) -> Tournament:
    """Return a tournament that has begun, with every round paired at once."""
    tournament = tournament_of(spec, format_)
    take(tournament, e.Begun(at=AT))
    return tournament


def take(tournament: Tournament, event: e.TournamentEvent) -> tuple[c.TournamentCommand, ...]:
    """Let a tournament take an event, and pair the next round if one is due; return the commands of both."""
    commands = tournament.handle(event)
    while (asked := tournament.to_pair) is not None:
        commands += tournament.handle(paired(asked))
    return commands


def paired(asked: RoundToPair) -> e.RoundPaired:
    """Return that a round was paired."""
    tables, by = pair_round(asked)
    return e.RoundPaired(at=AT, round=asked.round, tables=tables, by=by)


def events_of(
    tournament: Tournament, random: Random, *, tables: int = 4, troubles: Troubles = NO_TROUBLES
) -> Iterator[e.TournamentEvent]:
    """Yield the events of matches at some tables, which end in any order, until nothing is due.

    Whoever asks lets the tournament take each event before asking for more.
    """
    while True:
        while (asked := tournament.to_pair) is not None:
            yield paired(asked)
        openable = (fixture for fixture in tournament.fixtures() if fixture.match not in tournament.playing)
        while len(tournament.playing) < tables and (fixture := next(openable, None)) is not None:
            yield e.MatchOpened(at=AT, fixture=fixture)
            openable = (fixture for fixture in tournament.fixtures() if fixture.match not in tournament.playing)
        if not tournament.playing:
            return
        yield closed(tournament, random.choice(list(tournament.playing)), random, troubles)


def played_out(
    tournament: Tournament, random: Random, *, tables: int = 4, troubles: Troubles = NO_TROUBLES
) -> list[e.TournamentEvent]:
    """Play a tournament to its end, and return its events."""
    events = []
    for event in events_of(tournament, random, tables=tables, troubles=troubles):
        take(tournament, event)
        events.append(event)
    return events


def ask_anything(tournament: Tournament, random: Random, step: int) -> e.TournamentEvent:
    """Return a request that an organiser or an entrant might make at any moment."""
    names = [participant.name for participant in tournament.spec.entrants]
    number = random.randrange(1, 30)
    about: dict[str, dict[str, str]] = {
        "withdraw": {"entrant": random.choice(names)},
        "reinstate": {"entrant": random.choice(names)},
        "disqualify": {"entrant": random.choice(names)},
        "replay": {"match": f"cup-{number:05}"},
        "void": {"match": f"cup-{number:05}"},
        "award": {"match": f"cup-{number:05}", "entrant": random.choice(names)},
        "stop": {},
        "freeze": {},
        "lift": {},
    }
    rarely = [] if random.random() < 0.8 else ["stop"]
    kind: Any = random.choice([*(kind for kind in about if kind != "stop"), "join", "change", *rarely])
    if kind == "join":
        return e.EntrantJoined(at=AT, participant=Participant(name=f"late{step}", player="house:dag"), digest=None)
    if kind == "change":
        return e.ProgramChanged(at=AT, entrant=random.randrange(len(names)), digest="ab" * 32)
    return e.Ruled(at=AT, ruling=Ruling(id=f"{step}", kind=kind, reason="so", by="the organiser", **about[kind]))


def closed(
    tournament: Tournament, match: str, random: Random, troubles: Troubles = NO_TROUBLES, **changes: Any
) -> e.MatchClosed:
    """Return the end of a match that is being played."""
    fixture = tournament.playing[match]
    seats = fixture.entrants
    fouls: list[FoulEntry] = []
    ranking: tuple[tuple[int, ...], ...] = ()
    scores: tuple[int, ...] = (0,) * len(seats)
    void = "the disk is full" if random.random() < troubles.void else None
    if void is None:
        ranking, scores, fouls = _played(seats, random, troubles)
    entry = MatchEntry(
        fixture=fixture,
        names=tuple(tournament.spec.entrants[entrant].name for entrant in seats),
        void=void,
        ranking=ranking,
        scores=scores,
        fouls=tuple(fouls),
        reason="" if void else "q.end",
        turns=random.randrange(100),
        used_ms=tuple(round(random.random() * 1000, 3) for _ in seats),
        head=f"{random.getrandbits(256):064x}",
    )
    return e.MatchClosed(at=AT, entry=replace(entry, **changes))


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
