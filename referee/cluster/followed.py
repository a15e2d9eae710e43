"""A match that a host plays, as far as its lines have come: kept here, and told to observers who look on."""

import re
from contextlib import suppress
from functools import partial
from pathlib import Path

from ..match.machine import Match
from ..net.jobs.job import MatchJob
from ..net.jobs.messages import Stepped
from ..net.jobs.remote_match import RemoteMatch
from ..observers import Observer, Observers
from ..observers.unusual import tell_step
from ..record.reader import MAX_RECORD_BYTES, RecordError, read_record
from ..record.schema import RecordedStep, read_line, typed
from ..record.seal import Sealer
from .acceptance import Accepted, HandedOut, accepted

AWAY = ".away"
"""Folder of the records of matches that hosts play: until one is judged, nothing goes on from it."""
REFUSED = ".refused"
"""Folder of the records that hosts have sent and that were not believed."""
_LAG_MS = re.compile(rb'"lag_ms":([0-9]+(?:\.[0-9]+)?)[,}]')


class Followed:
    """A match that a host plays.

    What is told on the way is no proof: it is for those who look on, and for the record of a match whose host is lost.
    The record that comes at the end is judged by itself. While nobody looks on, lines are kept as they come.

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
        self.is_live = observers.hear(Observer.match_stepped)
        """Whether somebody looks on."""
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
        match = self._match
        return self.is_begun, match.phase, match.turn

    @property
    def size(self) -> int:
        """How many bytes of its record have come."""
        return self._size

    @property
    def is_over(self) -> bool:
        """Whether all of it has come, up to its result."""
        return b'"kind":"result"' in _last(self.come)

    @property
    def _match(self) -> Match:
        """The match, as far as what has come follows from itself."""
        if self.is_live:
            return self.remote.match
        remote = self._followed_by(Observers())
        with suppress(Exception):  # of a stranger's making: an event that can't be raises what it likes
            _feed(remote, self.come)
        return remote.match

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
        if new and self._is_clear and self._size + len(new) <= MAX_RECORD_BYTES:
            self._take(new)
            if self._is_clear:
                with self.remote.path.open("ab") as file:
                    file.write(new)

    def end(self, record: bytes) -> None:
        """Put the record that its host has sent in its place, and tell who looks on of what is left of it.

        Raises:
            RecordError: what is told in it can't be.
            OSError: it can't be written.
        """
        if not (self._is_clear and record.startswith(self.come)):
            self.remote = self._followed_by(Observers())
            self._size, self._is_clear = 0, True
        self._take(record[self._size :])
        if not self._is_clear:
            raise RecordError(self.remote.path, None, "events that follow from each other", "others")
        self.remote.path.write_bytes(record)

    def judged(self) -> Accepted:
        """Judge the record that is in its place; in any thread.

        Raises:
            RecordError: it can't be read, or is not what the job asked for.
        """
        return accepted(self.job, read_record(self.remote.path), self.handed_out)

    def void(self, why: str, sealer: Sealer) -> None:
        """End the record, as far as it has come, in any thread: void for the referee's fault.

        Raises:
            OSError: it can't be written.
        """
        if self._match.result is not None:
            self.refuse()  # it was over, and nobody has judged it
        try:
            self.remote.void(why, sealer)
        except OSError:
            raise
        except Exception:  # noqa: BLE001  # what was told does not hold, or raises what it likes
            self.refuse()
            self.remote.void(why, sealer)

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
        """Let the match take the steps among lines, if somebody looks on; what can't be makes it unclear."""
        try:
            if self.is_live:
                _feed(self.remote, lines)
        except Exception:  # noqa: BLE001  # as in _match
            self._is_clear = False
        else:
            self._size += len(lines)


def _feed(remote: RemoteMatch, lines: bytes) -> None:
    """Let a match take the steps among lines.

    Raises:
        Exception: one that can't be, of whatever kind.
    """
    for line in lines.splitlines():
        plain = read_line(line)
        step = typed(plain) if plain.fields.get("kind") == "step" else None
        if isinstance(step, RecordedStep):
            match, number = remote.job.match, plain.fields["n"]
            remote.take(Stepped(match=match, line=number, hash=plain.hash, event=step.event))


def longest_lag_ms(record: bytes) -> float:
    """Return the most that the host had in an answer, as the lines of a record tell."""
    return max(map(float, _LAG_MS.findall(record)), default=0.0)


def _last(lines: bytes) -> bytes:
    return lines.removesuffix(b"\n").rpartition(b"\n")[2]
