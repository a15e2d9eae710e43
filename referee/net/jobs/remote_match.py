"""A match that another process plays; this one follows it if anybody watches, and seals it or makes it void."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from ... import __version__
from ...clock import wall_clock
from ...match.commands import CloseMatch, Result
from ...match.events import RefereeFailed
from ...match.machine import Match
from ...observers import MatchTransition
from ...plugins import find_game
from ...record.key import Sealer
from ...record.reader import ChainEnd, RecordError, read_end, read_record
from ...record.resume import TORN, has_line, reopen
from ...record.schema import FIRST_PREV, ResultLine
from ...record.writer import RecordWriter
from ...settings import Durability
from .job import MatchJob, SealedMatch
from .messages import Advanced


class RemoteMatch:
    """A match that another process plays; a copy of its state in this process takes the events that are reported.

    Args:
        job: the match.
        folder: folder for the records.
        durability: durability of its record.
        notify: takes each transition that was reported.
        coming: folder for the record until it is verified; None: it is in `folder` from the beginning.
    """

    def __init__(
        self,
        job: MatchJob,
        folder: Path,
        durability: Durability,
        notify: Callable[[MatchTransition], None],
        coming: Path | None = None,
    ) -> None:
        self.job = job
        self._place = folder / f"{job.match}.jsonl"
        self.path = self._place if coming is None else coming / self._place.name
        self.unreported: list[MatchTransition] = []
        """Transitions that observers must still see after `void`: those that were not reported, and the end."""
        self.reported = 0, FIRST_PREV
        """Number of lines after the first that were reported, and the hash of the last of these."""
        self._durability = durability
        self._notify = notify
        self._end: tuple[Result, str] | None = None
        """The result, and the hash of its line; None while the match is not over."""

    @cached_property
    def match(self) -> Match:
        """The match, as far as it was reported."""
        return Match(find_game(self.job.terms.game), self.job.setup, self.job.seed)

    def take(self, advanced: Advanced) -> None:
        """Let the match take a reported event, and notify observers.

        Raises:
            RecordError: the report is not that of the next line.
        """
        lines = self.reported[0] + 1
        if advanced.line != lines:
            raise RecordError(self.path, advanced.line, f"line {lines} to be reported", "another one")
        self.reported = lines, advanced.hash
        commands = self.match.handle(advanced.event)
        self._notify(MatchTransition.of(advanced.event, commands, self.match, self.reported))

    @property
    def played(self) -> SealedMatch:
        """The result, once the record is sealed."""
        assert self._end is not None, "it is over"
        result, head = self._end
        return SealedMatch(result=result, record=self.path, head=head)

    def check_and_seal(self, head: str, sealer: Sealer) -> RecordWriter:
        """Sign the record that a worker has written.

        Args:
            head: hash of the result line, as the worker reports it.
            sealer: the key.

        Returns:
            Writer of the record; the caller syncs and closes it.

        Raises:
            RecordError: the record does not end with that line.
            OSError: it can't be written.
        """
        line, end = read_end(self.path)
        if not isinstance(line, ResultLine) or end.head != head:
            raise RecordError(self.path, end.count - 1, f"the result whose hash is {head}", end.head)
        return self.seal(line.result, end, sealer)

    def seal(self, result: Result, end: ChainEnd, sealer: Sealer) -> RecordWriter:
        """Sign a record that is trusted or verified.

        Args:
            result: result of the match.
            end: end of the record, which has the result.
            sealer: the key.

        Returns:
            Writer of the record; the caller syncs and closes it.

        Raises:
            OSError: it can't be written.
        """
        self._put_in_place()
        writer = RecordWriter(self.path, sealer, after=end)
        writer.seal()
        self._end = result, end.head
        return writer

    def void(self, why: str, sealer: Sealer) -> None:
        """End the record of a match whose worker has ended; a match that was not over is void by the referee's fault.

        May run in any thread: nobody else writes the record any more.

        Args:
            why: why the match can't go on.
            sealer: the key.

        Raises:
            RecordError: the part that was written is not valid.
            OSError: it can't be written.
        """
        self._put_in_place()
        if self.path.exists() and not has_line(self.path):
            self.path.rename(self.path.with_suffix(TORN))
        if self.path.exists():
            left = reopen(self.path, find_game, sealer)
            self._take_recorded()
            self.match, writer, last_ms = left.match, left.writer, left.last_ms
        else:
            writer, last_ms = self._begin(sealer), 0.0
        result = self.match.result or self._void(writer, RefereeFailed(at_ms=last_ms, detail=why))
        self._end = result, writer.sealed_head

    def _take_recorded(self) -> None:
        """Let the match take the events that are on record but were not reported."""
        record = read_record(self.path)
        for line, transition in enumerate(record.transitions[self.reported[0] :], self.reported[0] + 1):
            commands, line_hash = self.match.handle(transition.event), record.chain.lines[line].hash
            self.unreported.append(MatchTransition.of(transition.event, commands, self.match, (line, line_hash)))

    def _put_in_place(self) -> None:
        if self.path != self._place and self.path.exists():
            self.path.replace(self._place)
        self.path = self._place

    def _begin(self, sealer: Sealer) -> RecordWriter:
        """Write the first line of the record, which the worker has not begun."""
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
            rules_version=self.match.game.rules_version,
        )
        return writer

    def _void(self, writer: RecordWriter, event: RefereeFailed) -> Result:
        commands = self.match.handle(event)
        writer.write_transition(event, commands)
        self.unreported.append(MatchTransition.of(event, commands, self.match, (writer.count - 1, writer.head)))
        closing = next(command for command in commands if isinstance(command, CloseMatch))
        writer.end(self.match)
        writer.sync()
        writer.close()
        return closing.result
