"""What tests of the ledger have in common: the course of a tournament, its record, and a program that is killed."""

from collections.abc import Sequence
from contextlib import closing
from functools import cache
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from referee.ledger.ledger import Ledger
from referee.record.seal import Sealer
from referee.record.tournament_record import TournamentRecord, TournamentWriter, path_of, read_tournament
from referee.tournament import events as e
from referee.tournament.commands import TakenStep
from referee.tournament.machine import Tournament
from referee.tournament.match_context import FoulEntry, MatchEntry
from referee.tournament.spec import Participant, TournamentSpec

from ..tournament.courses import AT, SALT, Troubles, closed, events_of, paired, spec_of, tournament_of

SEALER = Sealer.new()
KEY = SEALER.public
SPEC = spec_of(5, "swiss", format_options={"rounds": 3})
_IDS = count()
LATER = "2026-11-22T13:00:00.000+00:00"


def begin(spec: TournamentSpec = SPEC) -> tuple[Tournament, list[TakenStep]]:
    """Return a tournament that has begun, and its steps."""
    tournament = tournament_of(spec)
    steps: list[TakenStep] = []
    step(tournament, steps, e.Begun(at=AT))
    assert tournament.to_pair is not None
    step(tournament, steps, paired(tournament.to_pair))
    return tournament, steps


def step(tournament: Tournament, steps: list[TakenStep], event: e.TournamentEvent) -> None:
    """Let a tournament take an event, and add what it gave to its steps; a hash is made up."""
    line = len(steps) + 1
    steps.append(TakenStep(line=line, hash=f"{line:064x}", event=event, commands=tournament.handle(event)))


def opened(tournament: Tournament, steps: list[TakenStep]) -> str:
    """Open the next match, and return its name."""
    fixture = next(each for each in tournament.fixtures() if each.match not in tournament.playing)
    step(tournament, steps, e.MatchOpened(at=AT, fixture=fixture))
    return fixture.match


def played(tournament: Tournament, steps: list[TakenStep], **changes: Any) -> MatchEntry:
    """Play the next match, and return what came of it."""
    event = closed(tournament, opened(tournament, steps), Random(1), **changes)
    step(tournament, steps, event)
    return event.entry


def ruling(kind: Any, **about: str) -> e.Ruled:
    """Return a ruling of an organiser."""
    return e.Ruled(
        at=LATER,
        ruling=e.Ruling(id=f"{next(_IDS)}", kind=kind, reason="the table was wet", by="the organiser", **about),
    )


@cache
def course(name: str = "cup") -> tuple[TakenStep, ...]:
    """Return the steps of a tournament in which everything happens that a ledger has a table for."""
    tournament, steps = begin(replace(SPEC, name=name))
    played(tournament, steps, void="the disk is full", ranking=())
    foul = FoulEntry(seat=1, cause="illegal-move", turn=5, rule="q.fit.row", detail="a\0b '\"; \\ %s :x \u202e")
    first = played(tournament, steps, fouls=(foul,)).match
    step(tournament, steps, ruling("replay", match=first))
    step(tournament, steps, ruling("withdraw", entrant="e4"))
    step(tournament, steps, ruling("reinstate", entrant="e4"))
    late = Participant(name="late", player="house:dag")
    step(tournament, steps, e.EntrantJoined(at=LATER, participant=late, digest="0f" * 32))
    step(tournament, steps, ruling("disqualify", entrant="e3"))
    for event in events_of(tournament, Random(2), tables=2, troubles=Troubles(void=0.1, failed=0.1)):
        step(tournament, steps, event)
    step(tournament, steps, e.Finished(at=LATER))
    return tuple(steps)


def write_record(folder: Path, spec: TournamentSpec, steps: Sequence[TakenStep]) -> TournamentRecord:
    """Write the record of a tournament into a folder, and read it."""
    path = path_of(folder, spec.name)
    with closing(TournamentWriter(path, SEALER)) as writer:
        writer.write_header(spec, SALT, {}, referee="0.0", opened=AT)
        for taken in steps:
            writer.write_step(taken.event, taken.commands)
        writer.write_seal()
    return read_tournament(path)


def founded(url: str) -> Ledger:
    """Return a ledger that has the tournament `cup`."""
    ledger = Ledger(url)
    ledger.found(SPEC, SALT, KEY)
    return ledger


def taken(ledger: Ledger, steps: Sequence[TakenStep], name: str = "cup") -> None:
    """Let a ledger take steps."""
    for each in steps:
        ledger.take(name, each)


def rows(ledger: Ledger, table: str, name: str = "cup") -> list[tuple[Any, ...]]:
    """Return what a table has of a tournament, without the tournament's name."""
    return [row[2:] for row in ledger.rows(name) if row[0] == table]


def stop(number: int) -> TakenStep:
    """Return a step that says nothing but that a referee stopped."""
    return TakenStep(line=number, hash=f"{number:064x}", event=e.Stopped(at=AT, why="so"), commands=())


def write_until_killed(url: str, first: int, told: Connection) -> None:
    """Take steps one after the other, and tell the line of each once it is taken."""
    ledger = Ledger(url)
    for line in count(first):
        ledger.take("cup", stop(line))
        told.send(line)
