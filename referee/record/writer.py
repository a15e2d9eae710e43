"""Writes a file of chained lines, line by line: the record of a match, and what a tournament's record has in common."""

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
# A line is written and flushed before any of its commands is carried out. So the record is never behind the world: when
# a player has been asked for a move, the question is on file. The price is one system call for each line, before
# anything is sent. Doing it the other way round would be faster and wrong: after a crash between sending and writing, a
# player would have an answer ready for a question that the record does not know.
#
# A flushed line survives a crash of this process, not of the machine. For that there is `sync`, and the caller decides
# when it is worth its price: a match with durability `turn` waits for the disk at every line, others sync at the end
# only, and several matches of a process share one sync (net/group_commit.py).
#
# The chain
# ---------
# Each line holds the hash of the line before it, and the last line is a signature over such a hash. So one signature
# covers the file: to change, drop or insert a line, one has to change all later ones, and cannot sign the end.
#
# A line without its `open` part has the same hash, which is what makes a redacted record possible (hidden_fields.py).
#
# The hash of a line that was published before the end, a *head*, pins all lines up to it. Before the seal nothing else
# does: a referee can rewrite its own running record, and only a head that somebody kept will show it.
#
# What a crash leaves
# -------------------
# - Nothing: the header was not written. The match never began.
# - Whole lines, and maybe a torn one. A torn line has no line feed, so nothing followed from it: it is cut off when the
#   file is opened to go on. Repairing it would be guessing.
# - A result without a seal: `resume` writes the seal, which needs the key and no new decision.
# - A file that another process still writes: a worker may outlive the process that started it. The lock on the open
#   file tells, and the kernel releases it however its holder ends; a file with a process id would go stale.
#
# Once the disk has refused a line, a part of it may be there. From then on every write raises the same error: a line
# written behind half a line would be lost.

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
    """Replaces fields of one line by hashes, and keeps the values behind them."""

    salts: Iterator[str]
    opened: list[bytes] = []
    """Entries of the line's key `open`, as JSON."""

    def hide(self, path: str, value: bytes) -> Raw:
        """Return the hash of a value, given as JSON, as it stands in the core."""
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
        standstills: the referee's standstills that this line reports; without any, the line has no such key.
        salts: salts for the hidden fields, one each.

    Returns:
        Keys and values of the line's core from `kind` on, and those of `open`, as JSON without the braces around them.
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
    """Return the fields of an event that are hidden, each with the value with which it is left out."""
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
    """Hide the digest of a view, for the line does not hold the view itself."""
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
"""Number of attempts to lock a file that another process may still hold; all attempts together take five seconds."""


class NotWritten(RefereeError, OSError):
    """A line of a record can't be written, so none of its commands may be carried out."""

    def __str__(self) -> str:
        return f"the record {self.filename} can't be written: {self.strerror}; what it was for was not finished"


class ChainWriter:
    """A file of chained lines that grows.

    Args:
        path: the file; its folder is made, an existing file is never overwritten.
        sealer: the key that seals it.
        after: where the file ends, if it is continued; a torn line behind that is cut off.

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
        """Error of the first refused write; a part of that line may be there, so nothing is written behind it."""
        self.is_named = False
        """True once the file's name in its folder is on the disk, too."""
        self.file = path.open("xb" if after is None else "r+b")
        self._lock(after)
        if after is not None:
            self.file.truncate(after.size_bytes)
            self.file.seek(after.size_bytes)

    def _lock(self, after: ChainEnd | None) -> None:
        """Keep other referees from the record until this one closes it or ends."""
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if after is not None and os.fstat(self.file.fileno()).st_size != after.size_bytes + after.torn_bytes:
                raise BlockingIOError  # another process wrote to it after it was read
        except BlockingIOError:
            self.file.close()
            raise BlockingIOError(errno.EWOULDBLOCK, "another referee writes this record", str(self.path)) from None

    def seal(self) -> None:
        """Sign what is written, if this process has the key; the signature is not synced.

        Raises:
            NotWritten: the disk refused.
        """
        self.sealed_head = self.head
        if self._sealer.can_sign:
            self.write("seal", signature=self._sealer.sign(RECORD_PURPOSE, self.head))

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line.

        Args:
            kind: kind of line.
            fields: plain values.

        Raises:
            NotWritten: the disk refused, now or earlier.
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
            NotWritten: the disk refused, now or earlier.
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
        """Have the disk keep what is written, so that it survives a power failure.

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
        """Have the disk keep the file's content, but not its name. Any thread may call this while another one writes.

        Raises:
            OSError: the disk refused; pass the error to `refuse` in the writer's own thread.
            ValueError: the file is closed.
        """
        os.fsync(self.file.fileno())

    def refuse(self, error: OSError) -> NotWritten:
        """Stop all writing, because the disk has refused something; return the error that callers raise."""
        if self._refusal is None:
            self._refusal = NotWritten(error.errno, error.strerror, str(self.path))
        return self._refusal

    def close(self) -> None:
        """Close the file. An error is ignored: what the disk refused before, it would refuse again."""
        with contextlib.suppress(OSError):
            self.file.close()


def wait_until_free(path: Path) -> None:
    """Wait until no process writes a file of lines any more, for five seconds at most.

    A worker outlives a tournament's process that is killed, for as long as it takes to notice. If it still holds the
    file after that, opening it fails with an error that says so.

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
        after: where the record ends, if a crashed referee began it; a torn line behind that is cut off.

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
        rules_version: str = "",
    ) -> None:
        """Write the first line.

        Args:
            setup: what is settled before the match.
            seed: the match's seed, which is encrypted for this key.
            is_fixed: True if the seed is no secret, and is also written openly.
            referee: version of this program.
            opened: wall-clock time, ISO 8601 in UTC.
            programs: the program of each seat as it was given, if the referee started them.
            folder: folder that their paths are relative to.
            context: place of the match in its tournament, if it is one of a tournament.
            dialect: name of the wire that its players speak; None for the referee's own.
            durability: `turn` if all that follows from a line waits for the disk; else None.
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
            standstills: standstills of the referee that are not written yet.

        Raises:
            NotWritten: the disk refused, now or earlier.
        """
        self.append(*encode_transition(event, commands, standstills, self._salts))

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
