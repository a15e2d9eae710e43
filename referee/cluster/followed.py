"""A match that a host plays, as far as its lines have come: on record here, and told to observers."""

from functools import partial
from pathlib import Path

from ..match.events import Answer, AnyEvent, MoveReceived
from ..net.jobs.job import MatchJob
from ..net.jobs.messages import Stepped
from ..net.jobs.remote_match import RemoteMatch
from ..observers import Observers
from ..observers.unusual import tell_step
from ..record.reader import RecordError, read_record
from ..record.schema import RecordedStep, read_line, typed
from ..record.seal import Sealer
from ..record.writer import RecordWriter
from .acceptance import HandedOut, accepted

AWAY = ".away"
"""Folder of the records of matches that hosts play: until one is judged, nothing goes on from it."""
REFUSED = ".refused"
"""Folder of the records that hosts have sent and that were not believed."""


class Followed:
    """A match that a host plays.

    What is told on the way is no proof: it is for those who look on, and for the record of a match whose host is lost.
    The record that comes at the end is judged by itself.

    Args:
        job: that was handed out.
        folder: of the records.
        observers: are told of each step.
        handed_out: to which host.
    """

    def __init__(self, job: MatchJob, folder: Path, observers: Observers, handed_out: HandedOut) -> None:
        self._folder = folder
        (folder / AWAY).mkdir(exist_ok=True)
        self.job = job
        self.handed_out = handed_out
        """How its host was given it."""
        self.moved: set[int] = set()
        """Seats that have answered a turn."""
        self.over_ms = 0.0
        """When it was over on the clock of its host, once its record was accepted."""
        self.lag_ms = 0.0
        """The most that the host had in an answer."""
        self.remote = self._followed_by(observers)
        self.remote.path.unlink(missing_ok=True)  # of a referee that was killed
        self._size = 0
        """Bytes of the record that have come."""
        self._is_clear = True
        """False: what was told can't be the match's record."""

    @property
    def is_begun(self) -> bool:
        """Whether anything of it has come."""
        return self._size > 0

    @property
    def stage(self) -> tuple[bool, str, int]:
        """How far it has come; events that lead nowhere change nothing about it."""
        match = self.remote.match
        return self.is_begun, match.phase, match.turn

    @property
    def is_over(self) -> bool:
        """Whether all of it has come, up to its result."""
        return self.remote.match.result is not None and b'"kind":"result"' in _last(self.come)

    def told(self, offset: int, lines: bytes) -> None:
        """Take lines of the record that its host tells.

        What came before is passed over; what does not follow is not taken: the whole record comes at the end.

        Args:
            offset: in bytes, where in the record they begin.
            lines: whole ones.

        Raises:
            OSError: the record can't be written.
        """
        new = lines[self._size - offset :] if offset <= self._size else b""
        if new and self._is_clear:
            self._take(new)
            if self._is_clear:
                with self.remote.path.open("ab") as file:
                    file.write(new)

    def end(self, record: bytes) -> None:
        """Let the match take what is left of the record that its host has sent, and put that in its place.

        Raises:
            RecordError: what is told in it can't be.
            OSError: it can't be written.
        """
        if not (self._is_clear and record.startswith(self.come)):
            self.remote = self._followed_by(Observers())
            self._size, self._is_clear = 0, True
            self.moved.clear()
        self._take(record[self._size :])
        if not self._is_clear:
            raise RecordError(self.remote.path, 0, "events that follow from each other", "others")
        self.remote.path.write_bytes(record)

    def sealed(self, sealer: Sealer) -> RecordWriter:
        """Judge the record that is in its place, and sign it; in any thread.

        Raises:
            RecordError: it can't be read, or is not what the job asked for.
            OSError: it can't be written.
        """
        record = read_record(self.remote.path)
        found = accepted(self.job, record, self.handed_out)
        assert found.match.result is not None, "it is at its end"
        self.over_ms = found.over_ms
        return self.remote.sealed(found.match.result, record.chain.end, sealer)

    def voided(self, why: str, sealer: Sealer) -> None:
        """End the record, as far as it has come, in any thread: void for the referee's fault.

        Raises:
            OSError: it can't be written.
        """
        if self.remote.match.result is not None:
            self.refuse()  # it was over, and nobody has judged it
        try:
            self.remote.voided(why, sealer)
        except RecordError:  # what was told does not hold
            self.refuse()
            self.remote.voided(why, sealer)

    def refuse(self) -> None:
        """Put what has come aside, for whoever wants to look at it: it is not believed.

        Raises:
            OSError: it can't be moved.
        """
        path = self.remote.path
        (self._folder / REFUSED).mkdir(exist_ok=True)
        if path.exists():
            path.replace(self._folder / REFUSED / path.name)
        self.remote = self._followed_by(Observers())

    def keep_aside(self, record: bytes, host: str) -> Path:
        """Keep a record that is not counted, for whoever wants to look at it; return where.

        Raises:
            OSError: it can't be written.
        """
        path = self._folder / REFUSED / f"{self.job.match}.{host}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(record)
        return path

    @property
    def come(self) -> bytes:
        """What of the record has come."""
        return self.remote.path.read_bytes() if self.is_begun else b""

    def _followed_by(self, observers: Observers) -> RemoteMatch:
        tell = partial(tell_step, observers)
        return RemoteMatch(self.job, self._folder, self.handed_out.durability, tell, self._folder / AWAY)

    def _take(self, lines: bytes) -> None:
        """Let the match take the steps among lines; what can't be makes it unclear."""
        try:
            for line in lines.splitlines():
                plain = read_line(line)
                step = typed(plain) if plain.fields.get("kind") == "step" else None
                if isinstance(step, RecordedStep):
                    stepped = Stepped(match=self.job.match, line=plain.fields["n"], hash=plain.hash, event=step.event)
                    self.remote.take(stepped)
                    self._note(step.event)
        except Exception:  # noqa: BLE001  # of a stranger's making: an event that can't be raises what it likes
            self._is_clear = False
        else:
            self._size += len(lines)

    def _note(self, event: AnyEvent) -> None:
        if isinstance(event, MoveReceived):
            self.moved.add(event.seat)
        if isinstance(event, Answer):
            self.lag_ms = max(self.lag_ms, event.lag_ms)


def _last(lines: bytes) -> bytes:
    return lines.removesuffix(b"\n").rpartition(b"\n")[2]
