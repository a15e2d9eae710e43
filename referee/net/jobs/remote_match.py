"""A match that another process plays: followed line by line here, if anybody looks on, and sealed or made void."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from ... import __version__
from ...clock import wall_clock
from ...match.commands import CloseMatch, Result
from ...match.events import RefereeFailed
from ...match.machine import Match
from ...observers import MatchStep
from ...plugins import find_game
from ...record.key import Sealer
from ...record.reader import ChainEnd, RecordError, read_end, read_record
from ...record.resume import TORN, has_line, reopen
from ...record.schema import FIRST_PREV, ResultLine
from ...record.writer import RecordWriter
from ..group_commit import Durability
from .job import MatchJob, SealedMatch
from .messages import Stepped


class RemoteMatch:
    """A match that another process plays: the same fold can be fed here with what that tells.

    Args:
        job: that was handed out.
        folder: of the records.
        durability: of its record.
        tell: takes each step that is told.
        coming: folder that the record is in until it is believed; None: it is in its place all the time.
    """

    def __init__(
        self,
        job: MatchJob,
        folder: Path,
        durability: Durability,
        tell: Callable[[MatchStep], None],
        coming: Path | None = None,
    ) -> None:
        self.job = job
        self._place = folder / f"{job.match}.jsonl"
        self.path = self._place if coming is None else coming / self._place.name
        self.untold: list[MatchStep] = []
        """What observers are still to be told once it was made void: what they were not told of, and the end."""
        self.told = 0, FIRST_PREV
        """How many lines after the first were told, and the hash of the last of these."""
        self._durability = durability
        self._tell = tell
        self._end: tuple[Result, str] | None = None
        """What came of it, and the hash of the line that says so."""

    @cached_property
    def match(self) -> Match:
        """The match, as far as it was told."""
        return Match(find_game(self.job.terms.game), self.job.setup, self.job.seed)

    def take(self, stepped: Stepped) -> None:
        """Let the match take an event, and tell of it.

        Raises:
            RecordError: it is not the next line.
        """
        lines = self.told[0] + 1
        if stepped.line != lines:
            raise RecordError(self.path, stepped.line, f"line {lines} to be told of", "another one")
        self.told = lines, stepped.hash
        commands = self.match.handle(stepped.event)
        self._tell(MatchStep.of(stepped.event, commands, self.match, self.told))

    @property
    def played(self) -> SealedMatch:
        """What came of it, once its record is sealed."""
        assert self._end is not None, "it is over"
        result, head = self._end
        return SealedMatch(result=result, record=self.path, head=head)

    def check_and_seal(self, head: str, sealer: Sealer) -> RecordWriter:
        """Sign the record that a process of our own has written.

        Args:
            head: hash of the result line, as that process says.
            sealer: the key.

        Returns:
            Its writer: it is to be synced, and closed.

        Raises:
            RecordError: it does not end with that line.
            OSError: it can't be written.
        """
        line, end = read_end(self.path)
        if not isinstance(line, ResultLine) or end.head != head:
            raise RecordError(self.path, end.count - 1, f"the result whose hash is {head}", end.head)
        return self.seal(line.result, end, sealer)

    def seal(self, result: Result, end: ChainEnd, sealer: Sealer) -> RecordWriter:
        """Sign a record that is believed.

        Args:
            result: of the match.
            end: of the record, where that stands.
            sealer: the key.

        Returns:
            Its writer: it is to be synced, and closed.

        Raises:
            OSError: it can't be written.
        """
        self._put_in_place()
        writer = RecordWriter(self.path, sealer, after=end)
        writer.seal()
        self._end = result, end.head
        return writer

    def void(self, why: str, sealer: Sealer) -> None:
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
        result = self.match.result or self._void(writer, RefereeFailed(at_ms=last_ms, detail=why))
        self._end = result, writer.sealed_head

    def _catch_up(self) -> None:
        """Let the match take the events that are on record, and that nobody was told of."""
        record = read_record(self.path)
        for line, step in enumerate(record.transitions[self.told[0] :], self.told[0] + 1):
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
            durability=self._durability.on_record,
        )
        return writer

    def _void(self, writer: RecordWriter, event: RefereeFailed) -> Result:
        commands = self.match.handle(event)
        writer.write_transition(event, commands)
        self.untold.append(MatchStep.of(event, commands, self.match, (writer.count - 1, writer.head)))
        closing = next(command for command in commands if isinstance(command, CloseMatch))
        writer.end(self.match)
        writer.sync()
        writer.close()
        return closing.result
