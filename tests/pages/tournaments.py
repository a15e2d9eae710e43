"""Small tournaments, really played without a network, with their records: a cast says who fouls and fails to start.

No record is written by hand: each follows from the events.
"""

import weakref
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from referee import chance
from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.plugins import load
from referee.record.reader import read_entry, read_record
from referee.record.tournament_record import TournamentWriter
from referee.record.writer import RecordWriter
from referee.testing import Choose
from referee.tournament import commands as tc
from referee.tournament import events as te
from referee.tournament.history import History, new_tournament
from referee.tournament.machine import Tournament
from referee.tournament.match_context import Fixture, MatchContext, MatchEntry
from referee.tournament.pairing.dutch import pair_round
from referee.tournament.rulings import Kind, Ruling
from referee.tournament.spec import Participant, TournamentSpec

from ..driving import drive, random_chooser
from ..match.folding import EXCHANGE, PASS, place
from ..record.records import SEALER
from ..time_controls import time_control
from .matches import Actor, Deed

SALT = "5a" * 32
AT = "2026-01-01T00:00:00+00:00"
LATER = "2026-01-01T02:30:00+00:00"
REGISTRY = load()
TIME = time_control(per_move_ms=1000.0, start_ms=5000.0)
START_DETAIL = (
    "exit status 1: ModuleNotFoundError: No module named 'numpy', which was looked for in the folders of this program; "
    "its last words are in /srv/autumn/logs/cup.stderr"
)
"""A detail that is longer than a list shows each time, with a path of the organiser's machine."""


@dataclass
class Cast:
    """The faults in a tournament; all other entrants play honestly, the first ones best."""

    cheats: Mapping[int, int] = field(default_factory=dict)
    """Entrant -> its matches, from 1, in which it places a tile that it does not have."""
    rude: Mapping[int, int] = field(default_factory=dict)
    """Entrant -> its matches, from 1, in which it sends junk."""
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
    """Return a tournament before its first event."""
    return new_tournament(of, REGISTRY.format(of.format), SALT)


class Stage:
    """Plays a tournament match by match, at one table.

    Args:
        of: what was settled.
        folder: for the records; that of the tournament is begun there, too.
        cast: who does what.
    """

    def __init__(self, of: TournamentSpec, folder: Path, cast: Cast | None = None) -> None:
        self.folder = folder
        self.cast = cast or Cast()
        self.history = History(new(of))
        self._openings = 0
        self._seen: Counter[int] = Counter()
        self._writer = TournamentWriter(folder / f"{of.name}.jsonl", SEALER)
        weakref.finalize(self, self._writer.close)
        self._writer.write_header(of, SALT, {}, referee="0.0", opened=AT)
        self.take(te.Begun(at=AT))

    @property
    def tournament(self) -> Tournament:
        """Where it stands."""
        return self.history.tournament

    @property
    def spec(self) -> TournamentSpec:
        """The spec, with the late entrants."""
        return self.tournament.spec

    @property
    def entries(self) -> list[MatchEntry]:
        """Entries of the matches, in their order."""
        return self.history.entries

    def take(self, event: te.TournamentEvent) -> tuple[tc.TournamentCommand, ...]:
        """Let the tournament take an event, and pair the next round if one is due."""
        commands = self.history.take(event)
        self._writer.write_transition(event, commands)
        while (asked := self.tournament.to_pair) is not None:
            tables, by = pair_round(asked)
            self.take(te.RoundPaired(at=event.at, round=asked.round, tables=tables, by=by))
        return commands

    def rule(self, kind: Kind, reason: str, **about: str) -> None:
        """Let the organiser decide something."""
        id_ = f"{len(self.tournament.rulings):04x}"
        self.take(te.Ruled(at=LATER, ruling=Ruling(id=id_, kind=kind, reason=reason, by="jury", **about)))

    def play(self, most: int = 10_000) -> "Stage":
        """Play until it is over, or so many matches."""
        while most and (fixture := next(self.tournament.fixtures(), None)) is not None:
            self.play_one(fixture)
            most -= 1
        is_over = self.tournament.is_over and not self.tournament.playing
        self.take(te.Finished(at=LATER) if is_over else te.Stopped(at=LATER, why="the day is over"))
        self._writer.seal()
        return self

    def play_one(self, fixture: Fixture) -> tuple[MatchEntry, Match]:
        """Play a match, write its record, and take its result."""
        self.take(te.MatchOpened(at=AT, fixture=fixture))
        return self.close(fixture)

    def close(self, fixture: Fixture) -> tuple[MatchEntry, Match]:
        """Play a match that was opened, write its record, and take its result."""
        context = MatchContext(tournament=self.spec.name, fixture=fixture, head=self._writer.head)
        match, steps = self._played(fixture.match, fixture.entrants, is_void=self._openings in self.cast.void)
        self._openings += 1
        path = self.folder / f"{fixture.match}.jsonl"
        _write(path, match, steps, context)
        entry = read_entry(read_record(path))
        self.take(te.MatchClosed(at=AT, entry=entry))
        return entry, match

    def steps_of(self, fixture: Fixture) -> Iterator[tuple[Match, tuple[e.Event, tuple[c.Command, ...]]]]:
        """Yield a match and its last transition, one after the other, without a record."""
        match, actors = self._seated(fixture.match, fixture.entrants)
        for step in drive(match, actors):
            yield match, step

    def _seated(self, name: str, seats: Sequence[int]) -> tuple[Match, list["Seat"]]:
        seed = chance.match_seed(bytes.fromhex(SALT), name)
        setup = MatchSetup(
            match=name,
            game=self.spec.game,
            names=tuple(self.spec.entrants[entrant].name for entrant in seats),
            time=TIME,
            nonces=not self.spec.duplicate,
            seed_opens="after-last-leg" if self.spec.duplicate else "at-end",
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
            seat=command.seat, at_ms=sent_ms + 3.0, code="not-msgpack", detail=self.cast.junk, evidence="c1"
        )


def _placing(match: Match, random: Random, share: float) -> Choose:
    """Return a player that places a tile in its first turns, more often with a greater share; then it passes."""
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
    programs = [f"house:{name}" for name in match.setup.names]  # all were started, so that they can end
    told: dict[str, Any] = {"referee": "0.0", "opened": AT, "context": context, "programs": programs}
    writer.write_header(match.setup, match.seed, is_fixed=False, **told)
    for event, commands in steps:
        writer.write_transition(event, commands)
    assert match.result is not None
    writer.end(match)
    writer.close()
