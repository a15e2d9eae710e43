"""Writes a file of chained lines, line by line: the record of a match, and what a tournament's record has in common.

Every line is flushed before the caller goes on; whoever writes a record syncs it to the disk.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import fields, replace

from ..errors import RefereeError
from ..files.whole import sync_folder
from ..match import commands as c
from ..match.commands import Command
from ..match.events import Event
from ..match.fouls import Foul
from ..match.machine import Match
from ..match.setup import MatchSetup
from ..match.timekeeper import Standstill
from ..tournament.match_context import MatchContext
from .hidden_fields import EVENT_HIDES, HASH_PREFIX, OF_FOULS, SALT_BYTES, hide
from .key import RECORD_PURPOSE, Sealer
from .reader import ChainEnd
from .schema import FIRST_PREV, FORMAT, encode_plain, line_hash, linked_core, with_open

_encode = msgspec.json.Encoder().encode
_Showing = c.AskMove | c.StartSeat | c.ResumeSeat
_HIDDEN = HASH_PREFIX.decode() + '"%s"}'
_SALTS_AT_ONCE = 32


def new_salts() -> Iterator[str]:
    """Return an endless iterator over new salts in hex."""
    return chain.from_iterable(iter(_draw_salts, []))


def _draw_salts() -> list[str]:
    """Draw many salts at once, because each call of the system costs more than a hash."""
    block, chars = os.urandom(_SALTS_AT_ONCE * SALT_BYTES).hex(), 2 * SALT_BYTES
    return [block[at : at + chars] for at in range(0, len(block), chars)]


class _LineRedaction(Struct):
    """Puts hashes in place of the fields of one line, and keeps what they stand for."""

    salts: Iterator[str]
    opened: list[bytes] = []
    """Entries of the line's key `open`, as JSON."""

    def hide(self, path: str, value: bytes) -> Raw:
        """Return the hash of a value, given as JSON, as it stands in the core."""
        salt = next(self.salts).encode()
        self.opened.append(b'"%s":["%s",%s]' % (path.encode(), salt, value))
        return Raw(_HIDDEN % hashlib.sha256(salt + value).hexdigest())


def transition_line(
    event: Event, commands: Sequence[c.Command], standstills: Sequence[Standstill], salts: Iterator[str]
) -> tuple[bytes, bytes]:
    """Return what the line of a step holds.

    Args:
        event: what happened.
        commands: what followed.
        standstills: of the referee, told in this line; none: the line has no such key.
        salts: for what is hidden, one each.

    Returns:
        The keys and values of its core from `kind` on, and those of `open`, as JSON without the braces around them.
    """
    redaction = _LineRedaction(salts)
    happened = _encode(_redacted_event(event, redaction))
    follows = list(commands)
    for index, command in enumerate(commands):
        hide = _HIDING.get(type(command))
        if hide is not None:
            follows[index] = hide(command, f"commands.{index}", redaction)
    stalled = b',"standstills":' + _encode(standstills) if standstills else b""
    core = b'"kind":"step","event":%s%s,"commands":%s' % (happened, stalled, _encode(follows))
    return core, b",".join(redaction.opened)


@cache
def _hidden_of(kind: type[Event]) -> tuple[tuple[str, Any], ...]:
    """Return the fields of an event that are hidden, each with the value with which it is left out."""
    config: Any = kind.__struct_config__
    defaults = {field.name: field.default for field in fields(kind)} if config.omit_defaults else {}
    return tuple((name, defaults.get(name)) for name in EVENT_HIDES.get(config.tag, ()))


def _redacted_event(event: Event, redaction: _LineRedaction) -> Event:
    hidden = {}
    for name, default in _hidden_of(type(event)):
        value = getattr(event, name)
        if value is not None and value is not default:
            hidden[name] = redaction.hide(f"event.{name}", _encode(value))
    return replace(event, **hidden) if hidden else event


def _redacted_view(command: _Showing, path: str, redaction: _LineRedaction) -> c.Command:
    """Hide the digest of a view, for the line does not hold the view itself."""
    if command.view is None:
        return command
    digest = hashlib.sha256(command.view).hexdigest()
    return replace(command, view=redaction.hide(f"{path}.view", b'"%s"' % digest.encode()))


def _redacted_draws(command: c.TellSeat, path: str, redaction: _LineRedaction) -> c.Command:
    if command.draws is None:
        return command
    return replace(command, draws=redaction.hide(f"{path}.draws", _encode(command.draws)))


def _redacted_expulsion(command: c.ExpelSeat, path: str, redaction: _LineRedaction) -> c.Command:
    return replace(command, foul=_redacted_foul(command.foul, f"{path}.foul", redaction))


def _redacted_result(command: c.CloseMatch, path: str, redaction: _LineRedaction) -> c.Command:
    fouls = [
        _redacted_foul(foul, f"{path}.result.fouls.{index}", redaction)
        for index, foul in enumerate(command.result.fouls)
    ]
    return replace(command, result=replace(command.result, fouls=fouls)) if fouls else command


def _redacted_foul(foul: Foul, path: str, redaction: _LineRedaction) -> Foul:
    return replace(foul, **{name: redaction.hide(f"{path}.{name}", _encode(getattr(foul, name))) for name in OF_FOULS})


_HIDING: dict[type[c.Command], Callable[[Any, str, _LineRedaction], c.Command]] = {
    c.AskMove: _redacted_view,
    c.StartSeat: _redacted_view,
    c.ResumeSeat: _redacted_view,
    c.TellSeat: _redacted_draws,
    c.ExpelSeat: _redacted_expulsion,
    c.CloseMatch: _redacted_result,
}


_LOOK_S = 0.02
_LOOKS = 250
"""So often it is looked whether a process that dies has left a record: for five seconds."""


class NotWritten(RefereeError, OSError):
    """A line of a record that can't be written: nothing that stands in it may happen."""

    def __str__(self) -> str:
        return f"the record {self.filename} can't be written: {self.strerror}; what it was for was not finished"


class ChainWriter:
    """A file of chained lines that grows.

    Args:
        path: the file; its folder is made, an existing file is never overwritten.
        sealer: the key that seals it.
        after: where it ends, if it is gone on with; a torn line behind that is cut off.

    Raises:
        FileExistsError: there is a record of that name.
        BlockingIOError: another referee is writing it.
        OSError: the file can't be made or written.
    """

    def __init__(self, path: Path, sealer: Sealer, after: ChainEnd | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.head = FIRST_PREV if after is None else after.head
        """Hash of the last line written."""
        self.sealed_head = self.head
        """Hash of the last line before the seal, once that is written."""
        self._sealer = sealer
        self.count = 0 if after is None else after.count
        """Lines written."""
        self._refusal: NotWritten | None = None
        """Why the disk has refused something: a part of it may stand there, so nothing is written behind that."""
        self.is_named = False
        """True once the file's name in its folder is on the disk, too."""
        self._file = path.open("xb" if after is None else "r+b")
        self._lock(after)
        if after is not None:
            self._file.truncate(after.size_bytes)
            self._file.seek(after.size_bytes)

    def _lock(self, after: ChainEnd | None) -> None:
        """Keep other referees from the record, until this one closes it or dies."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if after is not None and os.fstat(self._file.fileno()).st_size != after.size_bytes + after.torn_bytes:
                raise BlockingIOError  # it went on after it had been read
        except BlockingIOError:
            self._file.close()
            raise BlockingIOError(errno.EWOULDBLOCK, "another referee writes this record", str(self.path)) from None

    def seal(self) -> None:
        """Sign what is written, if the key is here; the signature is not synced.

        Raises:
            NotWritten: the disk refused.
        """
        self.sealed_head = self.head
        if self._sealer.can_sign:
            self.write("seal", signature=self._sealer.sign(RECORD_PURPOSE, self.head))

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line.

        Args:
            kind: of line.
            fields: plain values.

        Raises:
            NotWritten: the disk refused; so for all that is written.
        """
        plain = {"kind": kind, **fields}
        opened = hide(plain)
        self.append(encode_plain(plain)[1:-1], encode_plain(opened)[1:-1])

    def append(self, fields: bytes, opened: bytes) -> None:
        """Number a line, chain it to the one before, and write it.

        Args:
            fields: keys and values of its core from `kind` on, as JSON without braces; hidden ones are hashes.
            opened: keys and values of what the hashes stand for, in the same way.

        Raises:
            NotWritten: the disk refused; so for all that is written.
        """
        if self._refusal is not None:
            raise self._refusal
        core = linked_core(self.count, self.head, fields)
        try:
            self._file.write(with_open(core, opened) + b"\n")
            self._file.flush()
        except OSError as error:
            raise self.refuse(error) from None
        self.head = line_hash(core)
        self.count += 1

    def sync(self) -> None:
        """Let what is written outlive the machine.

        Raises:
            NotWritten: the disk refused.
        """
        if self._refusal is not None:
            raise self._refusal
        try:
            self.sync_file()
            if not self.is_named:
                sync_folder(self.path.parent)
                self.is_named = True
        except OSError as error:
            raise self.refuse(error) from None

    def sync_file(self) -> None:
        """Have the disk keep what is written, but for the file's name; in any thread, while this one writes on.

        Raises:
            OSError: the disk refused; `refuse` is to be told, in this writer's own thread.
            ValueError: the file is closed.
        """
        os.fsync(self._file.fileno())

    def refuse(self, error: OSError) -> NotWritten:
        """Write nothing more, because the disk has refused something; return the error for whoever waits for it."""
        if self._refusal is None:
            self._refusal = NotWritten(error.errno, error.strerror, str(self.path))
        return self._refusal

    def close(self) -> None:
        """Leave the file as it is; what could not be written before can't be now."""
        with contextlib.suppress(OSError):
            self._file.close()


def wait_until_free(path: Path) -> None:
    """Wait until nobody writes a file of lines any more, but not for ever: whoever opens it then is told who does.

    A worker outlives a tournament's process that is killed, for as long as it takes to notice.

    Args:
        path: the file.

    Raises:
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        for _ in range(_LOOKS):
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_LOOK_S)
            else:
                return


class RecordWriter(ChainWriter):
    """The record of one running match.

    Args:
        path: the file; its folder is made, an existing file is never overwritten.
        sealer: the key that seals the record.
        after: where the record ends if its referee died; a torn line behind that is cut off.

    Raises:
        FileExistsError: there is a record of that name.
        BlockingIOError: another referee is writing it.
        OSError: the file can't be made or written.
    """

    def __init__(self, path: Path, sealer: Sealer, after: ChainEnd | None = None) -> None:
        super().__init__(path, sealer, after)
        self._salts = new_salts()

    def write_header(
        self,
        setup: MatchSetup,
        seed: bytes,
        *,
        is_fixed: bool,
        referee: str,
        opened: str,
        programs: list[str] | None = None,
        folder: str | None = None,
        context: MatchContext | None = None,
        dialect: str | None = None,
        durability: str | None = None,
    ) -> None:
        """Write the first line.

        Args:
            setup: what was settled beforehand.
            seed: the match's seed; it is written so that this key alone can read it.
            is_fixed: whether the seed is no secret: it is written openly, too.
            referee: version of this program.
            opened: wall-clock time, ISO 8601 in UTC.
            programs: how the players' programs were given, by seat, if the referee started them.
            folder: the one in which they were.
            context: what the match was opened for, if it is one of a tournament.
            dialect: the wire that its players speak; None: the referee's own.
            durability: `turn` if whatever follows from a line waits for the disk; else None.
        """
        self.write(
            "header",
            format=FORMAT,
            referee=referee,
            opened=opened,
            key=self._sealer.public,
            setup=msgspec.to_builtins(setup),
            locked_seed=self._sealer.lock(seed, setup.commitment),
            seed=seed.hex() if is_fixed else None,
            programs=programs,
            **({} if folder is None else {"folder": folder}),
            **({} if context is None else {"context": msgspec.to_builtins(context)}),
            **({} if dialect is None else {"dialect": dialect}),
            **({} if durability is None else {"durability": durability}),
        )

    def write_transition(
        self, event: Event, commands: tuple[Command, ...], standstills: Sequence[Standstill] = ()
    ) -> None:
        """Write an event and the commands it gave.

        Args:
            event: what happened.
            commands: what followed.
            standstills: of the referee, those that were not written yet.

        Raises:
            NotWritten: the disk refused; so for all that is written.
        """
        self.append(*transition_line(event, commands, standstills, self._salts))

    def end(self, match: Match) -> None:
        """Write the result of a match that is over, what was hidden until then, and the seal; neither syncs nor closes.

        Args:
            match: the match after its last event.

        Raises:
            NotWritten: the disk refused.
        """
        result = msgspec.to_builtins(match.result)
        self.write("result", result=result, seed=match.seed.hex(), nonces=match.nonces.opened)
        self.seal()
