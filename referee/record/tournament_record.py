"""The record of a tournament: its spec, and every event with the commands that followed from it, chained and sealed.

It lies in the tournament's folder and has the tournament's name. Each run of the referee ends with a seal, so a record
may have several seals. The last one covers all lines before it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from ..text import show_json
from ..tournament import commands as c
from ..tournament import events as e
from ..tournament.machine import ImpossibleEvent
from ..tournament.match_context import MatchContext, MatchEntry
from ..tournament.pairing.base import BadRuling
from ..tournament.spec import TournamentSpec
from .reader import Chain, RecordError, is_sealed, read_chain, read_lines
from .schema import FORMAT, OTHER_FORM, TOURNAMENT, Hex32, Line, PlainLine, SealLine, has_form
from .writer import ChainWriter

_ENTRANT_MARKS = (b'"entrant-joined"', b'"program-changed"')
_encode = msgspec.json.Encoder().encode


class TournamentHeader(Line, frozen=True, kw_only=True, tag=TOURNAMENT):
    """First line: the settings that are fixed before the tournament."""

    format: int
    referee: str
    """Version of the referee that wrote the record."""
    opened: str
    """Wall-clock time, ISO 8601 in UTC, for human readers; nothing is derived from it."""
    key: Hex32
    """Public key for the signatures of this record and of the matches' records (Ed25519)."""
    spec: TournamentSpec
    salt: Annotated[str, Meta(pattern=r"^([0-9a-f]{2})+$(?!\n)")]
    """16 random bytes in hex. Random decisions of the pairing follow from them.

    The seeds of all matches follow from the salt together with the referee's private key.
    """
    programs: dict[str, e.Sha256]
    """Entrant -> digest of its program's folder. Entrants without a readable folder are left out."""


class TournamentTransition(Line, frozen=True, kw_only=True, tag="tournament-step"):
    """One event, and the commands that followed from it."""

    event: e.AnyTournamentEvent
    commands: list[Any]
    """Commands as plain objects. An audit compares them with those that it derives from the events."""


_TYPES: dict[Any, type[Line]] = {
    TOURNAMENT: TournamentHeader,
    "tournament-step": TournamentTransition,
    "seal": SealLine,
}


class TournamentRecord(Struct, frozen=True, kw_only=True):
    """The record of a tournament, after a check of its chain and its seals."""

    header: TournamentHeader
    transitions: tuple[TournamentTransition, ...]
    chain: Chain

    @property
    def path(self) -> Path:
        """The file."""
        return self.chain.path

    @property
    def is_sealed(self) -> bool:
        """True if the last line is a seal, which shows that the referee stopped without a crash."""
        return bool(self.chain.lines) and self.chain.lines[-1].fields["kind"] == "seal" and not self.chain.rest

    @property
    def head(self) -> str:
        """Hash of the last line before a final seal; a seal does not count, because its hash is never published."""
        return self.chain.lines[-2].hash if self.is_sealed else self.chain.head

    @property
    def is_finished(self) -> bool:
        """True if all matches had been played when the referee stopped."""
        return self.is_sealed and bool(self.transitions) and isinstance(self.transitions[-1].event, e.Finished)

    @property
    def contexts(self) -> dict[str, MatchContext]:
        """Name of each match, in the order in which they were opened -> the context that its own record must have."""
        name, lines = self.header.spec.name, self.chain.lines
        return {
            transition.event.fixture.match: MatchContext(
                tournament=name, fixture=transition.event.fixture, head=lines[transition.n].hash
            )
            for transition in self.transitions
            if isinstance(transition.event, e.MatchOpened)
        }


def record_path(folder: Path, tournament: str) -> Path:
    """Return the path of a tournament's record."""
    return folder / f"{tournament}.jsonl"


def find_record(folder: Path) -> Path | None:
    """Find the record of the tournament in a folder; None if there is none.

    Raises:
        OSError: the folder can't be read.
    """
    paths = sorted(folder.glob("*.jsonl"), key=lambda path: (len(path.name), path.name))  # matches have longer names
    return next((path for path in paths if is_tournament(path)), None)


def is_tournament(path: Path) -> bool:
    """Return whether a file begins like the record of a tournament. The rest of the file is not checked.

    Raises:
        OSError: the file can't be read.
    """
    if not path.is_file():
        return False  # to open a pipe could wait for ever
    with path.open("rb") as file:
        return f'"kind":"{TOURNAMENT}"'.encode() in file.read(200)


class TournamentStart(NamedTuple):
    """Settings with which a tournament began, and the entrants that joined or changed later."""

    spec: TournamentSpec
    """The spec, including the entrants that joined later."""
    starters: int
    """Number of entrants at the beginning."""
    salt: str
    programs: dict[str, str]
    """Entrant -> digest of its latest program."""
    changed: dict[str, str]
    """Entrant whose program has changed since the beginning -> date and time at which the referee noticed."""


def read_start(folder: Path) -> TournamentStart | None:
    """Read the settings with which a folder's tournament began, without a check of its record.

    Returns:
        The settings; None if the folder holds no tournament.

    Raises:
        RecordError: the settings can't be read.
        OSError: the folder can't be read.
    """
    path = find_record(folder)
    if path is None:
        return None
    with path.open("rb") as file:
        lines = enumerate(read_lines(path, file))
        chosen = [line for number, line in lines if not number or any(word in line for word in _ENTRANT_MARKS)]
    try:
        header = msgspec.json.decode(chosen[0], type=TournamentHeader)
        transitions = [
            msgspec.json.decode(line, type=TournamentTransition) for line in chosen[1:] if line.endswith(b"\n")
        ]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(path, None, "the record of a tournament", str(error)) from None
    return find_start(header, transitions)


def find_start(header: TournamentHeader, transitions: Iterable[TournamentTransition]) -> TournamentStart:
    """Collect the settings with which a tournament began, and the entrants that joined or changed later."""
    spec, programs = header.spec, dict(header.programs)
    changed: dict[str, str] = {}
    for transition in transitions:
        event = transition.event
        if isinstance(event, e.EntrantJoined):
            spec = replace(spec, entrants=(*spec.entrants, event.participant))
            if event.digest is not None:
                programs[event.participant.name] = event.digest
        elif isinstance(event, e.ProgramChanged) and event.entrant < len(spec.entrants):  # else an audit refuses it
            name = spec.entrants[event.entrant].name
            programs[name] = event.digest
            changed[name] = event.at
    return TournamentStart(spec, len(header.spec.entrants), header.salt, programs, changed)


def read_tournament(path: Path) -> TournamentRecord:
    """Read a tournament's record, and check the form of its lines, their numbers, the chain and the seals.

    Raises:
        RecordError: the file can't be read, or a line is wrong. The error names the first wrong line.
    """
    chain = read_chain(path)
    lines = [_parse_line(path, number, line) for number, line in enumerate(chain.lines)]
    header = lines.pop(0) if lines else None
    if not isinstance(header, TournamentHeader):
        raise RecordError(path, 0, "the header of a tournament", "none")
    transitions = []
    for number, line in enumerate(lines, 1):
        if isinstance(line, TournamentTransition):
            transitions.append(line)
        elif not isinstance(line, SealLine):
            raise RecordError(path, number, "an event with its commands", "another header")
        elif not is_sealed(header.key, line):
            raise RecordError(path, number, f"the seal of key {header.key}", line.signature)
    return TournamentRecord(header=header, transitions=tuple(transitions), chain=chain)


def _parse_line(path: Path, number: int, line: PlainLine) -> Line:
    kind = line.fields.get("kind")
    form = _TYPES.get(kind) if isinstance(kind, str) else None
    if form is None or line.opened or line.is_redacted:
        raise RecordError(path, number, "a line of a tournament's record", f"a line of kind {show_json(kind, 40)}")
    try:
        typed: Line = msgspec.convert(line.fields, form, strict=True)
    except (msgspec.ValidationError, RecursionError, OverflowError) as error:
        raise RecordError(path, number, "a line of a tournament's record", str(error)) from None
    if (
        isinstance(typed, TournamentTransition)
        and isinstance(typed.event, e.MatchClosed)
        and not _is_sound(typed.event.entry)
    ):
        raise RecordError(path, number, "a result for every seat of the match", "missing seats, or other ones")
    if not has_form(line.fields, typed):
        raise RecordError(path, number, "a line of a tournament's record", OTHER_FORM)
    if isinstance(typed, TournamentHeader):
        names = [entrant.name for entrant in typed.spec.entrants]
        if [*typed.programs] != [name for name in names if name in typed.programs]:
            raise RecordError(path, number, "programs of entrants, in their order", ", ".join(typed.programs))
    return typed


def _is_sound(entry: MatchEntry) -> bool:
    """Return whether an entry covers exactly the seats of its match."""
    seats = range(len(entry.fixture.entrants))
    by_seat = (entry.names, entry.scores, entry.used_ms)
    ranked = sorted(seat for group in entry.ranking for seat in group)
    return (
        all(len(entries) == len(seats) for entries in by_seat)
        and all(foul.seat in seats for foul in entry.fouls)
        and all(entry.ranking)
        and (ranked == list(seats) or (not ranked and entry.void is not None))
    )


def refold(
    record: TournamentRecord, take: Callable[[e.TournamentEvent], Sequence[c.TournamentCommand]]
) -> Iterator[c.TakenTransition]:
    """Apply the recorded events to a new tournament, and yield each transition after it was applied.

    Args:
        record: record of the tournament.
        take: function that applies an event to the new tournament, and returns the commands.

    Raises:
        RecordError: an event can't happen, or other commands follow from it than its line holds.
    """
    for transition in record.transitions:
        try:
            commands = tuple(take(transition.event))
        except (ImpossibleEvent, BadRuling) as error:
            raise RecordError(record.path, transition.n, "an event that can happen then", str(error)) from None
        # Bytes are compared, because comparing objects would take true for 1, and ignore the order of keys.
        expected, recorded = _encode(commands), _encode(transition.commands)
        if expected != recorded:
            raise RecordError(
                record.path, transition.n, f"commands {expected.decode():.300}", f"{recorded.decode():.300}"
            )
        line = record.chain.lines[transition.n]
        yield c.TakenTransition(
            line=transition.n, hash=line.hash, event=transition.event, commands=commands, is_recalled=True
        )


class TournamentWriter(ChainWriter):
    """Writes the record of a running tournament. The caller syncs every line to the disk.

    Args:
        path: the file. Its folder is created if it is missing; an existing file is never overwritten.
        sealer: the key for the seals.
        after: end of the record, to continue it. A torn line after this end is cut off. None for a new record.

    Raises:
        FileExistsError: there is already a record of that name.
        BlockingIOError: another referee is writing this record.
        OSError: the file can't be created or written.
    """

    def write_header(
        self, spec: TournamentSpec, salt: str, programs: dict[str, str], *, referee: str, opened: str
    ) -> None:
        """Write the first line.

        Args:
            spec: settings of the tournament.
            salt: random bytes in hex, the source of the tournament's random numbers.
            programs: entrant -> digest of its program's folder.
            referee: version of this referee.
            opened: wall-clock time, ISO 8601 in UTC.
        """
        plain = msgspec.to_builtins(spec)
        key = self._sealer.public
        self.write(
            TOURNAMENT, format=FORMAT, referee=referee, opened=opened, key=key, spec=plain, salt=salt, programs=programs
        )
        self.sync()

    def write_transition(self, event: e.TournamentEvent, commands: Sequence[c.TournamentCommand]) -> c.TakenTransition:
        """Write an event with its commands, and return the transition.

        The caller must not carry out the commands before the line is synced to the disk.

        Raises:
            NotWritten: the line can't be written.
        """
        line = self.count
        plain = [msgspec.to_builtins(command) for command in commands]
        self.write("tournament-step", event=msgspec.to_builtins(event), commands=plain)
        return c.TakenTransition(line=line, hash=self.head, event=event, commands=tuple(commands))
