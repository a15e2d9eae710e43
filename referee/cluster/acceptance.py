"""Judges the record that came back for a job: whoever has played the match, and has no key, is not to be believed.

What the job, the rules and the record itself can show to be false is found here, before anything is sealed or counted.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .. import __version__
from ..match import events as e
from ..match.commands import Result
from ..net.group_commit import Durability
from ..net.jobs.job import MatchJob
from ..observers.unusual import UNUSUAL_COMMANDS, unusual
from ..plugins import find_game
from ..record.audit.audit import check_course
from ..record.audit.standstills import Presence, presences
from ..record.reader import ChainEnd, Record, RecordError
from ..record.schema import FORMAT, Header
from ..text import show_json

_ROUNDING_MS = 0.01
"""Of an instant and of a clock's, each rounded to a microsecond; with some room."""
_CHAIN_FIELDS = ("n", "prev")
_UNUSUAL: dict[Any, Any] = {kind.__struct_config__.tag: kind for kind in UNUSUAL_COMMANDS}


class HandedOut(Struct, frozen=True, kw_only=True):
    """How a job was handed out: what its record has to say besides."""

    process: str
    """What the tournament's record calls the process that plays it."""
    durability: Durability = Durability.MATCH
    keeps_programs: bool = False
    """Whether programs stay from match to match there."""
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
        durability=handed_out.durability.on_record,
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
    are_fit = len(presence.starts) == len(started) and handed_out.keeps_programs
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
