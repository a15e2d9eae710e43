"""The record of a tournament: its spec, and every event with the commands that it gave, chained and sealed.

It lies in the tournament's folder and is called after it. Every run of the referee ends with a seal, so there may be
several; the last one covers all that stands before it.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ..pairing.base import BadRuling
from ..tournament import commands as c
from ..tournament import events as e
from ..tournament.machine import ImpossibleEvent
from ..tournament.match_context import MatchContext
from ..tournament.spec import TournamentSpec
from .chain_writer import ChainWriter
from .reader import Chain, RecordError, is_sealed, read_chain
from .schema import FORMAT, Hex32, Line, PlainLine, SealLine

KIND = "tournament"
_encode = msgspec.json.Encoder().encode


class TournamentHeader(Line, frozen=True, kw_only=True, tag=KIND):
    """First line: what was settled beforehand."""

    format: int
    referee: str
    """Version of the program that wrote it."""
    opened: str
    """Wall-clock time, ISO 8601 in UTC; for people, nothing is derived from it."""
    key: Hex32
    """The Ed25519 public key that seals the record and those of the matches."""
    spec: TournamentSpec
    salt: Annotated[str, Meta(pattern=r"^([0-9a-f]{2})+$(?!\n)")]
    """16 bytes in hex, chosen at random: the format's chance follows from it, and with the referee's key every seed."""
    programs: dict[str, e.Sha256]
    """Entrant -> digest of its program's folder; who has none that can be read is not in it."""


class TournamentStep(Line, frozen=True, kw_only=True, tag="tournament-step"):
    """One event and the commands it gave."""

    event: e.AnyTournamentEvent
    commands: list[Any]
    """Plain objects; they are compared with those of the fold."""


_TYPES: dict[Any, type[Line]] = {KIND: TournamentHeader, "tournament-step": TournamentStep, "seal": SealLine}


class TournamentRecord(Struct, frozen=True, kw_only=True):
    """The record of a tournament, its chain and its seals checked."""

    header: TournamentHeader
    steps: tuple[TournamentStep, ...]
    chain: Chain

    @property
    def path(self) -> Path:
        """The file."""
        return self.chain.path

    @property
    def is_sealed(self) -> bool:
        """Whether its last line is a seal: its referee stopped, and did not die."""
        return bool(self.chain.lines) and self.chain.lines[-1].fields["kind"] == "seal" and not self.chain.rest

    @property
    def is_finished(self) -> bool:
        """Whether nothing more was to be played when it was left."""
        return self.is_sealed and bool(self.steps) and isinstance(self.steps[-1].event, e.Finished)

    def taken(self, step: TournamentStep, commands: Sequence[c.TournamentCommand]) -> c.TakenStep:
        """Return a step as observers are told of it."""
        digest = self.chain.lines[step.n].hash
        return c.TakenStep(line=step.n, hash=digest, event=step.event, commands=tuple(commands))

    @property
    def contexts(self) -> dict[str, MatchContext]:
        """Match -> what its own record has to say that it was opened for, in the order of the openings."""
        name, lines = self.header.spec.name, self.chain.lines
        return {
            step.event.fixture.match: MatchContext(tournament=name, fixture=step.event.fixture, head=lines[step.n].hash)
            for step in self.steps
            if isinstance(step.event, e.MatchOpened)
        }


def path_of(folder: Path, tournament: str) -> Path:
    """Return where the record of a tournament is."""
    return folder / f"{tournament}.jsonl"


def find_record(folder: Path) -> Path | None:
    """Return the record of the tournament that a folder holds; None if it holds none.

    Raises:
        OSError: the folder can't be read.
    """
    return next((path for path in sorted(folder.glob("*.jsonl")) if is_tournament(path)), None)


def is_tournament(path: Path) -> bool:
    """Tell whether a file begins as the record of a tournament does; it may be damaged further on.

    Raises:
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        return f'"kind":"{KIND}"'.encode() in file.read(200)


def read_tournament(path: Path) -> TournamentRecord:
    """Read a tournament's record, and check its lines' form, numbers, chain and seals.

    Raises:
        RecordError: the file can't be read, or a line is not what it should be; the first such line is named.
    """
    chain = read_chain(path)
    lines = [_typed(path, number, line) for number, line in enumerate(chain.lines, 1)]
    header = lines.pop(0) if lines else None
    if not isinstance(header, TournamentHeader):
        raise RecordError(path, 1, "the header of a tournament", "none")
    steps = []
    for number, line in enumerate(lines, 2):
        if isinstance(line, TournamentStep):
            steps.append(line)
        elif not isinstance(line, SealLine):
            raise RecordError(path, number, "an event with its commands", "another header")
        elif not is_sealed(header.key, line):
            raise RecordError(path, number, f"the seal of key {header.key}", line.signature)
    return TournamentRecord(header=header, steps=tuple(steps), chain=chain)


def _typed(path: Path, number: int, line: PlainLine) -> Line:
    kind = line.fields.get("kind")
    form = _TYPES.get(kind) if isinstance(kind, str) else None
    if form is None or line.opened or line.is_redacted:
        raise RecordError(path, number, "a line of a tournament's record", f"a line of kind {kind!r:.40}")
    try:
        typed: Line = msgspec.convert(line.fields, form, strict=True)
    except (msgspec.ValidationError, RecursionError, OverflowError) as error:
        raise RecordError(path, number, "a line of a tournament's record", str(error)) from None
    if isinstance(typed, SealLine) and list(line.fields) != ["n", "prev", "kind", "signature"]:
        raise RecordError(path, number, "a line of a record", "keys in another order")
    return typed


def plain_commands(commands: Sequence[c.TournamentCommand]) -> Any:
    """Return commands as they stand in a line once it is read again."""
    return msgspec.json.decode(_encode(commands))


def refold(
    record: TournamentRecord, take: Callable[[e.TournamentEvent], Sequence[c.TournamentCommand]]
) -> Iterator[TournamentStep]:
    """Fold a tournament's events again, and yield each step once it is taken.

    Args:
        record: of the tournament.
        take: takes an event into a tournament that has not begun, and returns the commands.

    Raises:
        RecordError: an event can't happen, or gives other commands than stand in its line.
    """
    for step in record.steps:
        try:
            commands = plain_commands(take(step.event))
        except (ImpossibleEvent, BadRuling) as error:
            raise RecordError(record.path, step.n + 1, "an event that can happen then", str(error)) from None
        if commands != step.commands:
            raise RecordError(
                record.path, step.n + 1, f"commands {_encode(commands)!r:.300}", f"{_encode(step.commands)!r:.300}"
            )
        yield step


class TournamentWriter(ChainWriter):
    """The record of one running tournament; every line is synced to the disk.

    Args:
        path: the file; its folder is made, an existing file is never overwritten.
        sealer: the key that seals it.
        after: what there is of it, if it is gone on with; a torn line behind that is cut off.

    Raises:
        FileExistsError: there is a record of that name.
        BlockingIOError: another referee is writing it.
        OSError: the file can't be made or written.
    """

    def write_header(
        self, spec: TournamentSpec, salt: str, programs: dict[str, str], *, referee: str, opened: str
    ) -> None:
        """Write the first line.

        Args:
            spec: what is settled.
            salt: from which chance follows, in hex.
            programs: entrant -> digest of its program's folder.
            referee: version of this program.
            opened: wall-clock time, ISO 8601 in UTC.
        """
        plain = msgspec.to_builtins(spec)
        key = self._sealer.public
        self.write(
            KIND, format=FORMAT, referee=referee, opened=opened, key=key, spec=plain, salt=salt, programs=programs
        )
        self.sync()

    def write_step(self, event: e.TournamentEvent, commands: Sequence[c.TournamentCommand]) -> c.TakenStep:
        """Write an event and the commands it gave, and return the step.

        Raises:
            NotWritten: the disk refused.
        """
        line = self.count
        plain = [msgspec.to_builtins(command) for command in commands]
        self.write("tournament-step", event=msgspec.to_builtins(event), commands=plain)
        self.sync()
        return c.TakenStep(line=line, hash=self.head, event=event, commands=tuple(commands))

