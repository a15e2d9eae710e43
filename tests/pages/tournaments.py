"""Small tournaments, really played without a network, with their records: a cast says who fouls and fails to start.

No record is written by hand: the fold tells what happened.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from msgspec import to_builtins

from referee import chance
from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.plugins import load
from referee.record.match_entries import entry_of
from referee.record.reader import read_record
from referee.record.writer import RecordWriter
from referee.testing import Choose
from referee.tournament.machine import Fixture, GivenUp, Tournament
from referee.tournament.match_context import MatchContext, MatchEntry
from referee.tournament.spec import Participant, TournamentSpec

from ..driving import drive, random_chooser
from ..match.folding import EXCHANGE, PASS, place
from ..record.records import SEALER
from ..time_controls import time_control
from .matches import Actor, Deed

SALT = "5a" * 32
REGISTRY = load()
TIME = time_control(per_move_ms=1000.0, start_ms=5000.0)
START_DETAIL = (
    "exit status 1: ModuleNotFoundError: No module named 'numpy', which was looked for in the folders of this program; "
    "its last words are in /srv/autumn/logs/cup.stderr"
)
"""Longer than a list has it every time, and with a path of the organiser's machine."""


@dataclass
class Cast:
    """Who does what in a tournament; everybody else plays honestly, the first entrants best."""

    cheats: Mapping[int, int] = field(default_factory=dict)
    """Entrant -> in which of its matches, from 1, it places a tile that it does not have."""
    rude: Mapping[int, int] = field(default_factory=dict)
    """Entrant -> in which of its matches, from 1, it sends junk."""
    dead: frozenset[int] = frozenset()
    """Entrants whose program never starts."""
    void: frozenset[int] = frozenset()
    """Openings, from 0, in which the referee fails."""
    junk: str = "no frame"
    """The detail of junk."""


class Seat(Actor):
    """A seat that may fail to start."""

    is_dead = False

    def answer(self, command: c.SeatCommand, sent_ms: float) -> e.SeatEvent | None:
        """Answer, or end before the first answer."""
        if self.is_dead and isinstance(command, c.OfferMatch):
            return e.ProgramExited(seat=command.seat, at_ms=sent_ms + 40.0, status=START_DETAIL)
        return super().answer(command, sent_ms)


def spec(size: int, form: str = "swiss", seats: int = 2, **more: Any) -> TournamentSpec:
    """Return the spec of a tournament of Q."""
    names = more.pop("names", None) or [f"bot{number:02}" for number in range(size)]
    given: dict[str, Any] = {"name": "cup", "game": "q", "tie_breaks": ("buchholz", "wins"), "suspend_after": 2}
    entrants = tuple(Participant(name=name, player="house:dag") for name in names)
    return TournamentSpec(**{**given, "entrants": entrants, "seats": seats, "format": form, "time": TIME, **more})


def new(of: TournamentSpec) -> Tournament:
    """Return a tournament before its first match."""
    return Tournament(of, REGISTRY.format(of.format), chance.Dealer(chance.derive(bytes.fromhex(SALT), "format")))


class Stage:
    """Plays a tournament match by match.

    Args:
        of: what was settled.
        folder: for the records; the spec is written there, too.
        cast: who does what.
    """

    def __init__(self, of: TournamentSpec, folder: Path, cast: Cast | None = None) -> None:
        self.spec = of
        self.folder = folder
        self.cast = cast or Cast()
        self.tournament = new(of)
        self.entries: list[MatchEntry] = []
        self._openings = 0
        self._seen = [0] * len(of.entrants)
        folder.mkdir(exist_ok=True)
        (folder / "spec.json").write_text(json.dumps({"spec": to_builtins(of), "salt": SALT}))

    def play(self, most: int = 10_000) -> "Stage":
        """Play until it is over, or so many matches."""
        while most and (fixture := next(self.tournament.fixtures(), None)) is not None:
            self.play_one(fixture)
            most -= 1
        return self

    def play_one(self, fixture: Fixture) -> tuple[MatchEntry, Match]:
        """Play a match, write its record, and take its result."""
        name, seats = fixture.name_in(self.spec.name), fixture.seats
        taken = [self.entries[-1].match] if self.entries else []
        context = fixture.context(self.spec.name, self._openings, taken)
        match, steps = self._played(name, seats, is_void=self._openings in self.cast.void)
        self._openings += 1
        path = self.folder / f"{name}.jsonl"
        _write(path, match, steps, context)
        entry = entry_of(read_record(path))
        with suppress(GivenUp):
            self.tournament.take(entry)
        self.entries.append(entry)
        return entry, match

    def steps_of(self, fixture: Fixture) -> Iterator[tuple[Match, tuple[e.Event, tuple[c.Command, ...]]]]:
        """Yield a match and its last step, step by step, without a record."""
        match, actors = self._seated(fixture.name_in(self.spec.name), fixture.seats)
        for step in drive(match, actors):
            yield match, step

    def _seated(self, name: str, seats: Sequence[int]) -> tuple[Match, list["Seat"]]:
        seed = chance.match_seed(bytes.fromhex(SALT), name)
        setup = MatchSetup(
            match=name,
            game=self.spec.game,
            names=tuple(self.spec.entrants[entrant].name for entrant in seats),
            time=TIME,
            commitment=chance.commitment(seed),
        )
        match = Match(REGISTRY.game(self.spec.game), setup, seed)
        return match, [self._seat(match, seat, entrant) for seat, entrant in enumerate(seats)]

    def _played(
        self, name: str, seats: Sequence[int], *, is_void: bool
    ) -> tuple[Match, list[tuple[e.Event, tuple[c.Command, ...]]]]:
        match, actors = self._seated(name, seats)
        steps = []
        for step in drive(match, actors):
            steps.append(step)
            if is_void and match.turn == 2 and match.result is None:
                failure = e.RefereeFailed(at_ms=step[0].at_ms, detail="the disk is full")
                steps.append((failure, match.handle(failure)))
                break
        return match, steps

    def _seat(self, match: Match, seat: int, entrant: int) -> Seat:
        self._seen[entrant] += 1
        deed: Deed | None = None
        if self.cast.cheats.get(entrant) == self._seen[entrant]:
            deed = _cheated
        if self.cast.rude.get(entrant) == self._seen[entrant]:
            deed = self._junk
        share = 1 - entrant / len(self.spec.entrants)
        actor = Seat(_placing(match, Random(f"{match.setup.match} {entrant}"), share), seat, deed)
        actor.is_dead = entrant in self.cast.dead
        return actor

    def _junk(self, command: c.AskMove, sent_ms: float) -> e.SeatEvent:
        return e.ProtocolBroken(
            seat=command.seat, at_ms=sent_ms + 3.0, code="bad-frame", detail=self.cast.junk, evidence="c1"
        )


def _placing(match: Match, random: Random, share: float) -> Choose:
    """Return a player that places a tile in its first turns, the more often the greater the share; then it passes."""
    pick = random_chooser(match.game, random, match)

    def _choose(view: Any) -> Any:
        if match.turn > 8:
            return PASS
        for _ in range(4 if random.random() < share else 0):
            move = pick(view)
            if move["action"] == "place":
                return move
        return EXCHANGE

    return _choose


def _cheated(command: c.AskMove, sent_ms: float) -> e.SeatEvent:
    at_ms = sent_ms + 7.5
    return e.MoveReceived(
        seat=command.seat,
        at_ms=at_ms,
        sent_ms=sent_ms,
        first_byte_ms=at_ms,
        lag_ms=0.0,
        turn=command.turn,
        move=place((99, 99, "red-star")),
    )


def _write(
    path: Path, match: Match, steps: Sequence[tuple[e.Event, tuple[c.Command, ...]]], context: MatchContext
) -> None:
    writer = RecordWriter(path, SEALER)
    opened = "2026-01-01T00:00:00+00:00"
    writer.write_header(match.setup, match.seed, is_fixed=False, referee="0.0", opened=opened, context=context)
    for event, commands in steps:
        writer.write_step(event, commands)
    assert match.result is not None
    writer.write_result(match.result, seed=match.seed.hex(), nonces=match.nonces)
