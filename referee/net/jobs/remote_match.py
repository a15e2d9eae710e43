"""A match that a worker plays: followed line by line by the process that has the key, judged, and sealed or voided."""

from pathlib import Path

from ... import __version__
from ...clock import wall_clock
from ...match.commands import CloseMatch
from ...match.events import RefereeFailed
from ...match.machine import Match
from ...observers import MatchStep, Observer, Observers
from ...plugins import find_game
from ...record.reader import Record, RecordError, read_record
from ...record.recovery import TORN, has_line
from ...record.resume import reopen
from ...record.schema import FIRST_PREV
from ...record.seal import Sealer
from ...record.writer import RecordWriter
from ..matches.host import MatchReport
from .acceptance import FalseRecord, HandedOut, accepted
from .job import MatchJob
from .messages import Stepped


class RemoteMatch:
    """A match that a worker plays: the same fold is fed here with what the worker tells.

    Args:
        job: that was handed out.
        folder: of the records.
        observers: are told of each step.
        handed_out: to which worker.
        coming: folder that the record is in until it is believed; None: it is in its place all the time.
    """

    def __init__(
        self, job: MatchJob, folder: Path, observers: Observers, handed_out: HandedOut, coming: Path | None = None
    ) -> None:
        self.job = job
        self._place = folder / f"{job.match}.jsonl"
        self.path = self._place if coming is None else coming / self._place.name
        self.match = Match(find_game(job.terms.game), job.setup, job.seed)
        self._observers = observers
        self.untold: list[MatchStep] = []
        """What observers are still to be told once it was made void: what its worker did not come to, and the end."""
        self.over_ms = 0.0
        """When it was over on the clock of its worker, once its record was accepted."""
        self._handed_out = handed_out
        self._lines = 1
        self._head = FIRST_PREV

    def take(self, stepped: Stepped) -> None:
        """Let the match take an event, and tell observers of it.

        Raises:
            RecordError: it is not the next line.
        """
        if stepped.line != self._lines:
            raise RecordError(self.path, stepped.line + 1, f"line {self._lines + 1} to be told of", "another one")
        self._lines, self._head = stepped.line + 1, stepped.hash
        commands = self.match.handle(stepped.event)
        step = MatchStep.of(stepped.event, commands, self.match, (stepped.line, stepped.hash))
        self._observers.tell(Observer.match_stepped, step)

    @property
    def report(self) -> MatchReport:
        """What came of it, once its record is sealed."""
        result = self.match.result
        assert result is not None, "it is over"
        return MatchReport(
            names=self.match.setup.names, result=result, record=self.path, match=self.match, head=self._head
        )

    def sealed(self, head: str, sealer: Sealer) -> RecordWriter:
        """Judge the record that came of the job, and sign it; in any thread.

        Args:
            head: hash of the result line, as the worker says.
            sealer: the key.

        Returns:
            Its writer: it is to be synced, and closed.

        Raises:
            RecordError: it can't be read.
            FalseRecord: it is not what the job asked for, or not what the worker told of.
            OSError: it can't be written.
        """
        record = read_record(self.path)
        self._check(record, head)
        self._put_in_place()
        writer = RecordWriter(self.path, sealer, after=record.chain)
        writer.write_signature()
        self._head = writer.result_head
        return writer

    def _check(self, record: Record, head: str) -> None:
        found = accepted(self.job, record, self._handed_out)
        told = (self._lines + 1, self._head, head, self.match.result)
        count, line = len(record.chain.lines), record.result
        if line is None or told != (count, line.prev, found.head, line.result):
            raise FalseRecord(self.path, count, "the result of the steps that were told", "another one")
        self.over_ms = found.over_ms

    def voided(self, why: str, sealer: Sealer) -> None:
        """End the record of a match whose worker is no more: void for the referee's fault, unless it was over.

        In any thread; nobody writes it any more.

        Args:
            why: it can't go on.
            sealer: the key.

        Raises:
            RecordError: what there is of it does not hold.
            OSError: it can't be written.
        """
        self._put_in_place()
        if self.path.exists() and not has_line(self.path):
            self.path.rename(self.path.with_suffix(TORN))
        if self.path.exists():
            left = reopen(self.path, find_game, sealer)
            self._catch_up()
            self.match, writer, last_ms = left.match, left.writer, left.last_ms
        else:
            writer, last_ms = self._begun(sealer), 0.0
        if self.match.result is None:
            self._void(writer, RefereeFailed(at_ms=last_ms, detail=why))
        self._head = writer.result_head

    def _catch_up(self) -> None:
        """Let the match take the events that are on record, and that nobody was told of."""
        record = read_record(self.path)
        for line, step in enumerate(record.steps[self._lines - 1 :], self._lines):
            commands, line_hash = self.match.handle(step.event), record.chain.lines[line].hash
            self.untold.append(MatchStep.of(step.event, commands, self.match, (line, line_hash)))

    def _put_in_place(self) -> None:
        if self.path != self._place and self.path.exists():
            self.path.replace(self._place)
        self.path = self._place

    def _begun(self, sealer: Sealer) -> RecordWriter:
        """Write the first line of the record of a match that its worker has not begun."""
        job, writer = self.job, RecordWriter(self.path, sealer)
        writer.write_header(
            job.setup,
            job.seed,
            is_fixed=job.number is not None,
            referee=__version__,
            opened=wall_clock(),
            programs=[seat.given for seat in job.seats],
            folder=str(Path.cwd()),
            context=job.context,
            durability=self._handed_out.durability.on_record,
        )
        return writer

    def _void(self, writer: RecordWriter, event: RefereeFailed) -> None:
        commands = self.match.handle(event)
        writer.write_step(event, commands)
        self.untold.append(MatchStep.of(event, commands, self.match, (writer.count - 1, writer.head)))
        closing = next(command for command in commands if isinstance(command, CloseMatch))
        writer.write_result(closing.result, seed=self.match.seed.hex(), nonces=self.match.nonces.opened)
