"""A match as a worker plays it, for tests: a record that is written without the key."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from referee import __version__
from referee.match import commands as c
from referee.match import events as e
from referee.match.machine import Match
from referee.net.jobs.job import KeylessSealer, MatchJob
from referee.net.jobs.messages import Advanced
from referee.plugins import find_game
from referee.record.writer import RecordWriter
from referee.testing.seats import Choose, ScriptedSeat

from ...driving import drive, random_chooser
from .making import LAUNCH, job_of

Lie = Callable[[e.MoveReceived], e.SeatEvent]
TAKES_MS = 5.0
ALL = 10_000
"""More transitions than a match has."""
JOB = job_of(LAUNCH, LAUNCH, game="quincy", number=7, drawn=None)


class Played:
    """A match as a worker plays it, up to a chosen transition.

    Args:
        folder: of the records.
        steps: most transitions to play.
        header: changed values in its first line.
    """

    def __init__(self, folder: Path, steps: int = ALL, *, header: dict[str, Any] | None = None) -> None:
        self.told: list[Advanced] = []
        self.match = _new_match(JOB)
        self.writer = _begun(folder, JOB, header or {})
        self.path = self.writer.path
        for number, (event, commands) in enumerate(drive(self.match, _seats(self.match)), 1):
            self.writer.write_transition(event, commands)
            self.told.append(Advanced(match=JOB.match, line=number, hash=self.writer.head, event=_any(event)))
            if number == steps:
                break

    def end(self) -> str:
        """Write the result, and return its hash, which the process with the key seals."""
        return _end(self.writer, self.match)


class Nobody(ScriptedSeat):
    """A seat that nobody takes."""

    def answer(self, command: c.SeatCommand, sent_ms: float) -> e.SeatEvent | None:
        """Tell so."""
        return e.SeatVacant(at_ms=sent_ms, seat=command.seat, detail="so it was")


class Liar(ScriptedSeat):
    """A player with one move that a worker reports wrongly.

    Args:
        choose: from a view to a move.
        lie: makes another event of the move.
        turn: of the move.
    """

    def __init__(self, choose: Choose, lie: Lie, turn: int) -> None:
        super().__init__(choose, takes_ms=TAKES_MS)
        self._lie = lie
        self._turn = turn

    def answer(self, command: c.SeatCommand, sent_ms: float) -> e.SeatEvent | None:
        """Answer a command; once, report a lie."""
        said = super().answer(command, sent_ms)
        if isinstance(said, e.MoveReceived) and said.turn == self._turn:
            return self._lie(said)
        return said


def record_of(
    job: MatchJob = JOB,
    lie: Lie = lambda move: move,
    began: Callable[[Any], e.Event] = lambda event: event,
    turn: int = 1,
    vacant: int | None = None,
) -> bytes:
    """Return the record of a match that follows from its events, as a worker returns it.

    Args:
        job: the match.
        lie: makes another event of a move of the first seat.
        began: makes another one of the first event.
        turn: of that move.
        vacant: the seat that nobody takes.
    """
    match = _new_match(job)
    first, *others = _seats(match)
    seats = [Liar(first.choose, lie, turn), *others]
    steps = list(drive(match, [Nobody(each.choose) if at == vacant else each for at, each in enumerate(seats)]))
    with TemporaryDirectory() as folder:
        writer = _begun(Path(folder), job, {})
        for event, commands in steps:
            writer.write_transition(began(event) if isinstance(event, e.MatchOpened) else event, commands)
        _end(writer, match)
        return writer.path.read_bytes()


def _new_match(job: MatchJob) -> Match:
    return Match(find_game(job.terms.game), job.setup, job.seed)


def _seats(match: Match) -> list[ScriptedSeat]:
    source = Random(1)
    return [ScriptedSeat(random_chooser(match.game, source, match), takes_ms=TAKES_MS) for _ in match.setup.names]


def _begun(folder: Path, job: MatchJob, header: dict[str, Any]) -> RecordWriter:
    writer = RecordWriter(folder / f"{job.match}.jsonl", KeylessSealer(job))
    said: dict[str, Any] = {
        "is_fixed": job.number is not None,
        "referee": __version__,
        "opened": "2026-01-01T00:00:00+00:00",
        "programs": [seat.given for seat in job.seats],
        "context": job.context,
    }
    writer.write_header(job.setup, job.seed, **said | header)
    return writer


def _end(writer: RecordWriter, match: Match) -> str:
    assert match.result is not None
    writer.end(match)
    writer.close()
    return writer.sealed_head


def _any(event: e.Event) -> Any:
    return event
