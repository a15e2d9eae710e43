"""A match that a host plays, as far as its lines have come: kept here, told to observers who look on, and judged.

Whoever has played the match, and has no key, is not to be believed. What the job, the rules and the record itself can
show to be false is found here, before anything is sealed or counted.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .. import __version__
from ..match import events as e
from ..match.commands import Result
from ..match.machine import Match
from ..net.jobs.job import MatchJob
from ..net.jobs.messages import Stepped
from ..net.jobs.remote_match import RemoteMatch
from ..net.run_terms import RunTerms
from ..observers import Observer, Observers
from ..observers.unusual import UNUSUAL_COMMANDS, tell_step, unusual
from ..plugins import find_game
from ..record.audit.match import check_course
from ..record.audit.times import Presence, presences
from ..record.key import Sealer
from ..record.reader import MAX_RECORD_BYTES, ChainEnd, Record, RecordError, read_record
from ..record.schema import FORMAT, Header, RecordedStep, read_line, typed
from ..text import show_json

_ROUNDING_MS = 0.01
"""Of an instant and of a clock's, each rounded to a microsecond; with some room."""
_CHAIN_FIELDS = ("n", "prev")
_UNUSUAL: dict[Any, Any] = {kind.__struct_config__.tag: kind for kind in UNUSUAL_COMMANDS}


class HandedOut(Struct, frozen=True, kw_only=True):
    """How a job was handed out: what its record has to say besides."""

    process: str
    """What the tournament's record calls the process that plays it."""
    terms: RunTerms = RunTerms()
    since_ms: float = 0.0
    """When, on that process's clock, the last match was over of those that had come back from it by then."""


class Accepted(Struct, frozen=True, kw_only=True):
    """A match whose record holds, and is to be sealed."""

    result: Result
    end: ChainEnd
    """Of its record."""
    over_ms: float
    """When it was over, on the clock of its process."""
    moved: frozenset[int]
    """Seats that have answered a turn."""
    unusual: tuple[tuple[str, dict[str, Any]], ...]
    """What observers are told of it, as Observer.note has it, if nobody has followed it."""


def accepted(job: MatchJob, record: Record, handed_out: HandedOut) -> Accepted:
    """Judge a record that came back.

    Args:
        job: that was handed out.
        record: its lines hold together; nothing else is known of it.
        handed_out: how it was handed out.

    Raises:
        RecordError: it is not the record of that match. It names the first line that shows it, what the job or the
            lines before ask for there, and what was found.
    """
    try:
        return _accepted(job, record, handed_out)
    except RecordError:
        raise
    except Exception as error:  # a record that makes this process fail would stop the tournament
        found = f"one at which the audit fails: {type(error).__name__}: {error}"
        raise RecordError(record.path, None, "a record that can be audited", found) from error


def _accepted(job: MatchJob, record: Record, handed_out: HandedOut) -> Accepted:
    count, path = len(record.chain.lines), record.path
    _check_header(job, record, handed_out)
    if record.result is None or record.is_torn:
        raise RecordError(path, count, "a result as the last line", "part of a line" if record.is_torn else "none")
    if record.seal is not None:
        raise RecordError(path, count - 1, "no seal, which is for who has the key", "one")
    if record.result.seed != job.seed.hex():
        raise RecordError(path, count - 1, "the seed of the job", "another one")
    presence = _presence(job, record, handed_out)
    _check_vacancies(job, record)
    check_course(record, find_game)
    return Accepted(
        result=record.result.result,
        end=record.chain.end,
        over_ms=presence.clock_ms + presence.end_ms,
        moved=frozenset(step.event.seat for step in record.steps if isinstance(step.event, e.MoveReceived)),
        unusual=tuple(_unusual_in(record)),
    )


def _unusual_in(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    for step in record.steps:
        plain = [command for command in step.commands if command["command"] in _UNUSUAL]
        commands = [msgspec.convert(command, _UNUSUAL[command["command"]]) for command in plain]
        yield from unusual(step.event, commands, record.header.setup)


def _check_header(job: MatchJob, record: Record, handed_out: HandedOut) -> None:
    """Check all that was settled beforehand; when and in which folder it was played is the host's to say."""
    header = record.header
    wanted = replace(
        header,
        format=FORMAT,
        referee=__version__,
        key=job.key,
        setup=job.setup,
        locked_seed=job.locked_seed,
        seed=job.seed.hex() if job.number is not None else None,
        programs=[seat.given for seat in job.seats],
        context=job.context,
        dialect=None,
        durability=handed_out.terms.durability.on_record,
    )
    for name, expected, found in _differences(_plain(wanted), _plain(header), ""):
        raise RecordError(
            record.path, 0, f"{name} {show_json(expected, 140)}, as the job has it", show_json(found, 140)
        )
    if not _is_time_of_day(header.opened):
        raise RecordError(record.path, 0, "the time of day in UTC, ISO 8601", show_json(header.opened, 40))


def _plain(header: Header) -> dict[str, Any]:
    fields = {name: value for name in header.__struct_fields__ if (value := getattr(header, name)) is not None}
    return {name: msgspec.to_builtins(value) for name, value in fields.items() if name not in _CHAIN_FIELDS}


def _differences(expected: Any, found: Any, name: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs in two plain values: where, what should stand there, and what does."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected | found:
            inner = f"{name}.{key}" if name else key
            yield from _differences(expected.get(key), found.get(key), inner)
    elif msgspec.json.encode(expected) != msgspec.json.encode(found):  # to Python, true is 1 and 1.0 is 1
        yield name, expected, found


def _is_time_of_day(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo == UTC and len(text) <= len("2026-01-01T00:00:00.000000+00:00")
    except ValueError:
        return False


def _presence(job: MatchJob, record: Record, handed_out: HandedOut) -> Presence:
    """Return when the match was played; it is once, by the process that it was given to, after it was given.

    Raises:
        RecordError: it was not.
    """
    found, path = presences(record), record.path
    began = [n for n, step in enumerate(record.steps, 1) if isinstance(step.event, e.Began)]
    if began != [1]:
        raise RecordError(path, began[-1] if began else 1, "one begin, in line 1", "another one" if began else "none")
    presence = found[0]
    if presence.process != handed_out.process:
        expected = f"process {handed_out.process or 'none'}, which it was given to"
        raise RecordError(path, 1, expected, presence.process or "none")
    begin_ms = presence.clock_ms + presence.begin_ms
    if begin_ms < handed_out.since_ms - _ROUNDING_MS:
        what = f"a begin from {handed_out.since_ms:.3f} ms on, for its process had other matches before"
        raise RecordError(path, 1, what, f"{begin_ms:.3f} ms")
    started = [seat.launch is not None for seat in job.seats]
    are_fit = len(presence.starts) == len(started) and handed_out.terms.keep_for is not None
    if presence.starts and not (
        are_fit and all(n >= 0 and (has or not n) for n, has in zip(presence.starts, started, strict=True))
    ):
        raise RecordError(path, 1, "the starts of programs that stay, by seat", show_json(presence.starts, 140))
    return presence


def _check_vacancies(job: MatchJob, record: Record) -> None:
    """Check that nobody has played on a seat that the job leaves vacant."""
    vacant = {place for place, seat in enumerate(job.seats) if seat.why_not is not None}
    for number, step in enumerate(record.steps, 1):
        event = step.event
        if isinstance(event, e.SeatEvent) and event.seat in vacant and not isinstance(event, e.SeatVacant):
            what = f"nobody on seat {event.seat}, as the job has it"
            raise RecordError(record.path, number, what, type(event).__name__)


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
        return RemoteMatch(self.job, self._folder, self.handed_out.terms.durability, tell, self._folder / AWAY)

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
