"""A match that a host plays: this module collects its lines, passes them on to observers, and checks its record.

The check comes before the seal: the record must be that of the job, its hashes must hold, and it must follow the rules.
So a host with a broken disk or with other rules is noticed while the match can still be played elsewhere.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
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
from ..net.jobs.messages import Advanced
from ..net.jobs.remote_match import RemoteMatch
from ..observers import Observer, Observers
from ..observers.base import UNUSUAL_COMMANDS, unusual_events
from ..plugins import find_game
from ..record.audit.match import check_consequences
from ..record.key import Sealer
from ..record.reader import MAX_RECORD_BYTES, ChainEnd, Record, RecordError, read_record
from ..record.schema import FORMAT, Transition, parse_line, read_line
from ..settings import RunTerms
from ..text import show_json
from ..tournament.spec import differences

_UNUSUAL: dict[Any, Any] = {kind.__struct_config__.tag: kind for kind in UNUSUAL_COMMANDS}


class JudgedMatch(Struct, frozen=True, kw_only=True):
    """A match whose record holds and can be sealed."""

    result: Result
    end: ChainEnd
    """End of the record's chain, to which the seal is added."""
    moved: frozenset[int]
    """Seats that have answered a turn."""
    unusual: tuple[tuple[str, dict[str, Any]], ...]
    """Unusual events and their facts, for `Observer.note` if nobody has followed the match."""


def judge_record(job: MatchJob, record: Record, terms: RunTerms) -> JudgedMatch:
    """Check a record that a host has returned.

    Args:
        job: the job that was handed out.
        record: the record. Its chain of hashes holds; nothing else in it was checked.
        terms: terms of all matches of the run.

    Raises:
        RecordError: it is not the record of that match. The error names the first wrong line, what was expected there,
            and what the line says.
    """
    try:
        return _judge(job, record, terms)
    except RecordError:
        raise
    except Exception as error:  # an odd record must not stop the tournament
        problem = f"one at which the audit fails: {type(error).__name__}: {error}"
        raise RecordError(record.path, None, "a record that can be audited", problem) from error


def _judge(job: MatchJob, record: Record, terms: RunTerms) -> JudgedMatch:
    count, path = len(record.chain.lines), record.path
    _check_header(job, record, terms)
    if record.result is None or record.is_torn:
        raise RecordError(path, count, "a result as the last line", "part of a line" if record.is_torn else "none")
    if record.seal is not None:
        raise RecordError(path, count - 1, "no seal, since the host has no key", "one")
    check_consequences(record, find_game)
    return JudgedMatch(
        result=record.result.result,
        end=record.chain.end,
        moved=frozenset(
            transition.event.seat for transition in record.transitions if isinstance(transition.event, e.MoveReceived)
        ),
        unusual=tuple(_find_unusual(record)),
    )


def _find_unusual(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    for transition in record.transitions:
        plain = [command for command in transition.commands if command["command"] in _UNUSUAL]
        commands = [msgspec.convert(command, _UNUSUAL[command["command"]]) for command in plain]
        yield from unusual_events(transition.event, commands, record.header.setup)


def _check_header(job: MatchJob, record: Record, terms: RunTerms) -> None:
    """Check every field of the header that the job determines; only the host knows the time and its folder."""
    header = record.header
    # Start from the header that came, and put in every field that this process knows. To compare the two then covers
    # all fields: a field that is added to the header later is compared without a change here.
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
        durability=terms.durability.on_record,
        rules_version=find_game(job.setup.game).rules_version,
    )
    for name, (expected, actual) in differences(wanted, header).items():
        what = f"{name} {show_json(expected, 140)}, as in the job"
        raise RecordError(record.path, 0, what, show_json(actual, 140))


AWAY = ".away"
"""Folder of the records of matches that hosts are playing. A record that has passed the check is moved out of it."""
REFUSED = ".refused"
"""Folder of the records that did not pass the check."""
_LAG_MS = re.compile(rb'"lag_ms":([0-9]+(?:\.[0-9]+)?)[,}]')


class FollowedMatch:
    """A match that a host plays.

    The lines that come during the match are for those who watch; if the host is lost, they are the record of the match.
    They prove nothing: the record that comes at the end is checked by itself. While nobody watches, the lines are only
    stored: to replay each of them would cost this process as much as the match costs the host.

    Args:
        job: the job that was handed out.
        folder: folder of the records.
        observers: observers of the tournament.
        terms: terms of all matches of the run.
    """

    def __init__(self, job: MatchJob, folder: Path, observers: Observers, terms: RunTerms) -> None:
        self._folder = folder
        (folder / AWAY).mkdir(exist_ok=True)
        self.job = job
        self._terms = terms
        self.is_live = observers.has_listener(Observer.on_match_advanced)
        """True if somebody watches the match."""
        self.remote = self._new_match(observers)
        self.remote.path.unlink(missing_ok=True)  # a killed referee may have left a file
        self._size = 0
        """Number of bytes of the record that have come."""
        self._is_clear = True
        """False if the lines that came cannot be the record of this match."""

    @property
    def is_begun(self) -> bool:
        """True if any line of the match has come."""
        return self._size > 0

    @property
    def size(self) -> int:
        """Number of bytes of the match's record that have come."""
        return self._size

    @property
    def is_over(self) -> bool:
        """True if all lines of the match have come, up to its result."""
        return b'"kind":"result"' in _last_line(self.received)

    @property
    def _match(self) -> Match:
        """The match, replayed from the lines that have come, up to the first impossible line."""
        if self.is_live:
            return self.remote.match
        remote = self._new_match(Observers())
        with suppress(Exception):  # an impossible event may raise anything
            _feed(remote, self.received)
        return remote.match

    def take_lines(self, offset: int, lines: bytes) -> None:
        """Take lines of the record from the host.

        Bytes that have come already are skipped. Lines after a gap are dropped: the whole record comes at the end.

        Args:
            offset: position of the first of these lines in the record, in bytes.
            lines: whole lines.

        Raises:
            OSError: the record cannot be written.
        """
        # After a reconnection the host sends its lines from the first one again, so most of them are here already.
        new = lines[self._size - offset :] if offset <= self._size else b""
        if new and self._is_clear and self._size + len(new) <= MAX_RECORD_BYTES:
            self._take(new)
            if self._is_clear:
                with self.remote.path.open("ab") as file:
                    file.write(new)

    def end(self, record: bytes) -> None:
        """Store the whole record that the host has sent, and show observers the part that they have not seen.

        Raises:
            RecordError: an event in it is impossible.
            OSError: the record cannot be written.
        """
        # If the whole record does not begin with the lines that came before, the whole record counts. Observers then
        # see the match again from its start.
        if not (self._is_clear and record.startswith(self.received)):
            self.remote = self._new_match(Observers())
            self._size, self._is_clear = 0, True
        self._take(record[self._size :])
        if not self._is_clear:
            raise RecordError(self.remote.path, None, "events that are possible in this match", "impossible ones")
        self.remote.path.write_bytes(record)

    def judge(self) -> JudgedMatch:
        """Check the whole record. Call it in any thread.

        Raises:
            RecordError: the record cannot be read, or is not that of the job.
        """
        return judge_record(self.job, read_record(self.remote.path), self._terms)

    def void(self, why: str, sealer: Sealer) -> None:
        """End the record as far as it has come: the match is void, because of the referee. Call it in any thread.

        Raises:
            OSError: the record cannot be written.
        """
        if self._match.result is not None:
            self.refuse()  # the record has a result that was never checked
        try:
            self.remote.void(why, sealer)
        except OSError:
            raise
        except Exception:  # noqa: BLE001  # an impossible event may raise anything
            self.refuse()
            self.remote.void(why, sealer)

    def refuse(self) -> None:
        """Move the record to REFUSED, where the organiser can look at it, and begin an empty one.

        Raises:
            OSError: the record cannot be moved.
        """
        path = self.remote.path
        (self._folder / REFUSED).mkdir(exist_ok=True)
        if path.exists():
            path.replace(self._folder / REFUSED / path.name)
        self.remote = self._new_match(Observers())

    @property
    def received(self) -> bytes:
        """The part of the record that has come."""
        return self.remote.path.read_bytes() if self.is_begun else b""

    def _new_match(self, observers: Observers) -> RemoteMatch:
        durability, away = self._terms.durability, self._folder / AWAY
        return RemoteMatch(self.job, self._folder, durability, observers.notify_transition, away)

    def _take(self, lines: bytes) -> None:
        """Feed lines to the match, if somebody watches; note if they are impossible."""
        try:
            if self.is_live:
                _feed(self.remote, lines)
        except Exception:  # noqa: BLE001  # an impossible event may raise anything
            self._is_clear = False
        else:
            self._size += len(lines)


def _feed(remote: RemoteMatch, lines: bytes) -> None:
    """Feed the events in lines of a record to a match.

    Raises:
        Exception: an event is impossible. It may be any exception.
    """
    for line in lines.splitlines():
        plain = read_line(line)
        transition = parse_line(plain) if plain.fields.get("kind") == "step" else None
        if isinstance(transition, Transition):
            match, number = remote.job.match, plain.fields["n"]
            remote.take(Advanced(match=match, line=number, hash=plain.hash, event=transition.event))


def find_longest_lag_ms(record: bytes) -> float:
    """Return the longest lag in the answers of a record, in milliseconds."""
    return max(map(float, _LAG_MS.findall(record)), default=0.0)


def _last_line(lines: bytes) -> bytes:
    return lines.removesuffix(b"\n").rpartition(b"\n")[2]
