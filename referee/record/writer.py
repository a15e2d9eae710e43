"""Writes files of chained lines: the base class for all records, and the writer for the record of a match."""

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
from .hidden_fields import EVENT_HIDES, FOUL_HIDES, HASH_PREFIX, SALT_BYTES, hide
from .key import RECORD_PURPOSE, Sealer
from .reader import ChainEnd
from .schema import FIRST_PREV, FORMAT, encode_plain, line_hash, linked_core, with_open

# Record first
# ------------
# A line is written and flushed before any of its commands is carried out. So the record is never behind the facts: when
# a player has been asked for a move, the request is in the record. The price is one system call for each line, before
# anything is sent. The other order would be faster, but wrong: if the referee crashed between sending and writing, a
# player would answer a request that the record does not contain.
#
# A flushed line survives a crash of this process, but not of the machine. `sync` makes it survive both. The caller
# decides when this is worth its price: a match with durability `turn` waits for the disk at every line, other matches
# sync only at the end, and several matches of a process share one sync (net/group_commit.py).
#
# The chain
# ---------
# Each line holds the hash of the line before it, and the last line is a signature over such a hash. So one signature
# covers the file: a forger who changes, drops or inserts a line has to change all later lines, and can't sign the end.
#
# A line has the same hash with and without its `open` part, which makes redacted records possible (hidden_fields.py).
#
# If the hash of a line is published during the match, it is called a *head*, and it fixes all lines up to this one.
# Before the seal, nothing else fixes them: a referee can rewrite its own running record, and only a head that somebody
# has kept can prove it.
#
# What a crash leaves
# -------------------
# - Nothing: the header was not written. The match never began.
# - Whole lines, and perhaps a torn one. A torn line has no line feed, so none of its commands was carried out. It is
#   cut off when the file is opened again, since its missing part could only be guessed.
# - A result without a seal. `resume` writes the seal, which needs the key, but no new decision.
# - A file that another process is still writing, because a worker can outlive the process that started it. The lock on
#   the open file shows this. The kernel releases a lock in whatever way its owner ends, but a file with a process id
#   would stay behind.
#
# When the disk refuses a line, a part of it may already be in the file. So from then on every write raises the same
# error: a line written after half a line could not be read.

_encode = msgspec.json.Encoder().encode
_Showing = c.AskMove | c.StartSeat | c.ResumeSeat
_HIDDEN = HASH_PREFIX.decode() + '"%s"}'
_SALTS_AT_ONCE = 32


def new_salts() -> Iterator[str]:
    """Return an endless iterator over new salts in hex."""
    return chain.from_iterable(iter(_draw_salts, []))


def _draw_salts() -> list[str]:
    """Draw many salts at once, because one system call per salt would cost more than a hash."""
    block, chars = os.urandom(_SALTS_AT_ONCE * SALT_BYTES).hex(), 2 * SALT_BYTES
    return [block[at : at + chars] for at in range(0, len(block), chars)]


class _LineRedaction(Struct):
    """Replaces fields of one line by their hashes, and collects the hidden values."""

    salts: Iterator[str]
    opened: list[bytes] = []
    """Entries of the line's key `open`, as JSON."""

    def hide(self, path: str, value: bytes) -> Raw:
        """Return the object that stands in the core in place of a value, which is given as JSON."""
        salt = next(self.salts).encode()
        self.opened.append(b'"%s":["%s",%s]' % (path.encode(), salt, value))
        return Raw(_HIDDEN % hashlib.sha256(salt + value).hexdigest())


def encode_transition(
    event: Event, commands: Sequence[c.Command], standstills: Sequence[Standstill], salts: Iterator[str]
) -> tuple[bytes, bytes]:
    """Encode the line of a transition.

    Args:
        event: the event.
        commands: the commands that followed from it.
        standstills: the referee's standstills that this line reports. If there are none, the line has no such key.
        salts: salts for the hidden fields, one for each field.

    Returns:
        The keys and values of the line's core from `kind` on, and those of `open`, both as JSON without braces.
    """
    redaction = _LineRedaction(salts)
    happened = _encode(_hide_event(event, redaction))
    follows = list(commands)
    for index, command in enumerate(commands):
        hide = _HIDING.get(type(command))
        if hide is not None:
            follows[index] = hide(command, f"commands.{index}", redaction)
    stalled = b',"standstills":' + _encode(standstills) if standstills else b""
    core = b'"kind":"step","event":%s%s,"commands":%s' % (happened, stalled, _encode(follows))
    return core, b",".join(redaction.opened)


@cache
def _list_hidden(kind: type[Event]) -> tuple[tuple[str, Any], ...]:
    """Return the hidden fields of a kind of event, each with its default: a field with this value is left out."""
    config: Any = kind.__struct_config__
    defaults = {field.name: field.default for field in fields(kind)} if config.omit_defaults else {}
    return tuple((name, defaults.get(name)) for name in EVENT_HIDES.get(config.tag, ()))


def _hide_event(event: Event, redaction: _LineRedaction) -> Event:
    hidden = {}
    for name, default in _list_hidden(type(event)):
        value = getattr(event, name)
        if value is not None and value is not default:
            hidden[name] = redaction.hide(f"event.{name}", _encode(value))
    return replace(event, **hidden) if hidden else event


def _hide_view(command: _Showing, path: str, redaction: _LineRedaction) -> c.Command:
    """Hide the digest of a view. The line does not hold the view itself."""
    if command.view is None:
        return command
    digest = hashlib.sha256(command.view).hexdigest()
    return replace(command, view=redaction.hide(f"{path}.view", b'"%s"' % digest.encode()))


def _hide_draws(command: c.TellSeat, path: str, redaction: _LineRedaction) -> c.Command:
    if command.draws is None:
        return command
    return replace(command, draws=redaction.hide(f"{path}.draws", _encode(command.draws)))


def _hide_expulsion(command: c.ExpelSeat, path: str, redaction: _LineRedaction) -> c.Command:
    return replace(command, foul=_hide_foul(command.foul, f"{path}.foul", redaction))


def _hide_result(command: c.CloseMatch, path: str, redaction: _LineRedaction) -> c.Command:
    fouls = [
        _hide_foul(foul, f"{path}.result.fouls.{index}", redaction) for index, foul in enumerate(command.result.fouls)
    ]
    return replace(command, result=replace(command.result, fouls=fouls)) if fouls else command


def _hide_foul(foul: Foul, path: str, redaction: _LineRedaction) -> Foul:
    return replace(
        foul, **{name: redaction.hide(f"{path}.{name}", _encode(getattr(foul, name))) for name in FOUL_HIDES}
    )


_HIDING: dict[type[c.Command], Callable[[Any, str, _LineRedaction], c.Command]] = {
    c.AskMove: _hide_view,
    c.StartSeat: _hide_view,
    c.ResumeSeat: _hide_view,
    c.TellSeat: _hide_draws,
    c.ExpelSeat: _hide_expulsion,
    c.CloseMatch: _hide_result,
}


_LOOK_S = 0.02
_LOOKS = 250
"""Number of attempts to lock a file that another process may have locked. All attempts together take five seconds."""


class NotWritten(RefereeError, OSError):
    """A line of a record can't be written, so its commands must not be carried out."""

    def __str__(self) -> str:
        return f"the record {self.filename} can't be written: {self.strerror}; its match or tournament was not finished"


class ChainWriter:
    """Appends chained lines to a file.

    Args:
        path: the file. Its folder is created if it is missing; an existing file is never overwritten.
        sealer: the key for the seal.
        after: end of the file, to continue it. A torn line after this end is cut off. None for a new file.

    Raises:
        FileExistsError: there is already a record of that name.
        BlockingIOError: another referee is writing this record.
        OSError: the file can't be created or written.
    """

    def __init__(self, path: Path, sealer: Sealer, after: ChainEnd | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.head = FIRST_PREV if after is None else after.head
        """Hash of the last line written."""
        self.sealed_head = self.head
        """Hash of the last line before the seal, after `seal` was called."""
        self._sealer = sealer
        self.count = 0 if after is None else after.count
        """Number of lines in the file."""
        self._refusal: NotWritten | None = None
        """Error of the first write that failed. A part of that line may be in the file, so nothing more is written."""
        self.is_named = False
        """True once the file's entry in its folder is on the disk, too."""
        self.file = path.open("xb" if after is None else "r+b")
        self._lock(after)
        if after is not None:
            self.file.truncate(after.size_bytes)
            self.file.seek(after.size_bytes)

    def _lock(self, after: ChainEnd | None) -> None:
        """Lock the record against other referees until this one closes the file or ends."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if after is not None and os.fstat(self.file.fileno()).st_size != after.size_bytes + after.torn_bytes:
                raise BlockingIOError  # another process has written to the file after this one had read it
        except BlockingIOError:
            self.file.close()
            raise BlockingIOError(errno.EWOULDBLOCK, "another referee writes this record", str(self.path)) from None

    def seal(self) -> None:
        """Write the seal, if this process has the key; the seal is not synced.

        Raises:
            NotWritten: the seal can't be written.
        """
        self.sealed_head = self.head
        if self._sealer.can_sign:
            self.write("seal", signature=self._sealer.sign(RECORD_PURPOSE, self.head))

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line.

        Args:
            kind: kind of line.
            fields: the other keys, with plain values.

        Raises:
            NotWritten: the line, or an earlier one, can't be written.
        """
        plain = {"kind": kind, **fields}
        opened = hide(plain)
        self.append(encode_plain(plain)[1:-1], encode_plain(opened)[1:-1])

    def append(self, fields: bytes, opened: bytes) -> None:
        """Number a line, chain it to the previous one, and write it.

        Args:
            fields: keys and values of the core from `kind` on, as JSON without braces. Hidden fields are hashes.
            opened: the hidden values by path, as JSON without braces.

        Raises:
            NotWritten: the line, or an earlier one, can't be written.
        """
        if self._refusal is not None:
            raise self._refusal
        core = linked_core(self.count, self.head, fields)
        try:
            self.file.write(with_open(core, opened) + b"\n")
            self.file.flush()
        except OSError as error:
            raise self.refuse(error) from None
        self.head = line_hash(core)
        self.count += 1

    def sync(self) -> None:
        """Sync the file and its entry in the folder to the disk, so that all lines survive a power failure.

        Raises:
            NotWritten: the disk reports an error.
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
        """Sync the content of the file to the disk. Any thread may call this while another thread writes.

        Raises:
            OSError: the disk reports an error. Pass it to `refuse` in the writer's own thread.
            ValueError: the file is closed.
        """
        os.fsync(self.file.fileno())

    def refuse(self, error: OSError) -> NotWritten:
        """Stop all further writing after an error of the disk; return the error for the caller to raise."""
        if self._refusal is None:
            self._refusal = NotWritten(error.errno, error.strerror, str(self.path))
        return self._refusal

    def close(self) -> None:
        """Close the file. An error is ignored, because an earlier write or sync has already reported it."""
        with contextlib.suppress(OSError):
            self.file.close()


def wait_until_free(path: Path) -> None:
    """Wait until no other process writes a record, but for at most five seconds.

    If a tournament's process is killed, its workers need some time to notice this, and end. If a worker still has the
    file locked after five seconds, opening the record later fails with an error that says so.

    Args:
        path: the record.

    Raises:
        OSError: the file can't be read.
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
    """Writes the record of a running match.

    Args:
        path: the file. Its folder is created if it is missing; an existing file is never overwritten.
        sealer: the key for the seal.
        after: end of the record, to continue it. A torn line after this end is cut off. None for a new record.

    Raises:
        FileExistsError: there is already a record of that name.
        BlockingIOError: another referee is writing this record.
        OSError: the file can't be created or written.
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
        rules_version: str = "",
    ) -> None:
        """Write the first line.

        Args:
            setup: settings of the match.
            seed: the match's seed, which is encrypted for this key.
            is_fixed: True if the seed was fixed beforehand and is no secret, so that it is also written in clear.
            referee: version of this referee.
            opened: wall-clock time, ISO 8601 in UTC.
            programs: program of each seat as the organiser named it; None if the referee did not start the programs.
            folder: folder that the paths of the programs are relative to.
            context: place of the match in its tournament; None if it belongs to no tournament.
            dialect: name of the wire protocol of the players; None for the referee's own protocol.
            durability: `turn` if no command is carried out before its line is on the disk; None otherwise.
            rules_version: the game's `rules_version`.
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
            **({"rules_version": rules_version} if rules_version else {}),
        )

    def write_transition(
        self, event: Event, commands: tuple[Command, ...], standstills: Sequence[Standstill] = ()
    ) -> None:
        """Write an event and the commands that followed from it.

        Args:
            event: the event.
            commands: commands that followed from the event.
            standstills: standstills of the referee that no earlier line reports.

        Raises:
            NotWritten: the line, or an earlier one, can't be written.
        """
        self.append(*encode_transition(event, commands, standstills, self._salts))

    def end(self, match: Match) -> None:
        """Write the last lines: the result with the secrets of the match, and the seal.

        The file is neither synced nor closed.

        Args:
            match: the match after its last event.

        Raises:
            NotWritten: a line can't be written.
        """
        result = msgspec.to_builtins(match.result)
        self.write("result", result=result, seed=match.seed.hex(), nonces=match.nonces.opened)
        self.seal()
