"""The matches of each author, read from the records, and the part of each match that the author may see."""

# A seat belongs to an author in two cases. Either the record's header shows that the seat's program was started from a
# folder that the author had handed in, or the author played a practice match in person. The name of a player proves
# nothing: anybody could call a program `ada`. Matches that are not over are not shown.

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ...games.base import Game
from ...match.setup import MatchSetup
from ...plugins import installed
from ...record.explain import Explanation, explain
from ...record.folder import Printed, read_last_output, read_output
from ...record.redacted_record import redact
from ...record.schema import BadLine, Header, ResultLine, SealLine, parse_line, read_line
from .challenges import PERSON, PRACTICE
from .store import PLAYER, VERSIONS

_MAX_LINE_BYTES = 1 << 20
"""Most bytes of a header or a result; names, options and the evidence of a dozen fouls take far fewer."""
_VERSION = re.compile(r"[0-9]{4,}")


class AuthorsSeat(Struct, frozen=True, kw_only=True):
    """A seat of an author's program."""

    seat: int
    author: str
    version: int | None
    """Version that played; None if the record does not contain it, or the author played in person."""


class AuthoredMatch(Struct, frozen=True, kw_only=True):
    """A match of authors that is over."""

    name: str
    """Path of the match's record in the folder of records, without the ending."""
    head: str
    """Hash of the last line of the match's record."""
    header: Header
    result: ResultLine
    seats: tuple[AuthorsSeat, ...]
    """Seats of all authors in this match."""


class Own(Struct, frozen=True, kw_only=True):
    """A line in an author's list of matches: one match for one seat."""

    match: str
    head: str
    """Hash of the last line of the record from which this entry was made."""
    game: str
    opened: str
    seat: int
    names: tuple[str, ...]
    version: int | None
    rank: int | None
    """Rank from 1; None if the match is void."""
    is_shared: bool
    """True if an opponent has the same rank, as in a draw."""
    winner: bool
    points: int | float
    foul: str | None
    """Cause of the seat's expulsion; None if it was not expelled."""


class AuthorsMatches:
    """The matches of all authors.

    Args:
        logs: folder of all records.
        root: folder of the submissions.
        find_game: name of a game -> its rules.
    """

    def __init__(self, logs: Path, root: Path, find_game: Callable[[str], Game[Any, Any, Any]]) -> None:
        self.logs = logs.absolute()
        self._roots = {root.absolute(), root.resolve()}
        self._find_game = find_game
        self._known: dict[Path, tuple[tuple[int, int], AuthoredMatch | None]] = {}
        """Record -> its size and time of change, and its match."""

    def list_own(self, author: str) -> list[Own]:
        """Return an author's matches that are over, one line for each seat, the latest first."""
        lines = [
            make_own(match, seat, self._teams(match.header.setup))
            for match in self._all()
            for seat in match.seats
            if seat.author == author
        ]
        return sorted(sorted(lines, key=lambda own: own.seat), key=lambda own: (own.opened, own.match), reverse=True)

    def _teams(self, setup: MatchSetup) -> Sequence[Sequence[int]]:
        game = self._find_game(setup.game)
        return game.teams(game.parse_options(setup.options), len(setup.names))

    def explain_match(self, author: str, name: str, seat: int | None) -> Explanation | None:
        """Return the explanation of a match for an author; None if the author had no such seat.

        Args:
            author: name of the author.
            name: name of the match, as in the author's list of matches.
            seat: one of the author's seats; None: the author's first seat.

        Raises:
            RecordError: the record does not hold.
        """
        match_and_seat = self._own_seat(author, name, seat)
        if match_and_seat is None:
            return None
        match, own_seat = match_and_seat
        rules = self._find_game(match.header.setup.game).rules
        lines = [read_line(line) for line in self._redact(name, own_seat)]
        return explain(lines, own_seat, rules, self._find_output(match, own_seat))

    def _find_output(self, match: AuthoredMatch, seat: int) -> Printed | None:
        """Return the last output of an author's program, without the path of the output file on this machine."""
        printed = read_last_output(self._path(match.name), seat, match.header.setup.names[seat])
        return None if printed is None else replace(printed, path="")

    def record(self, author: str, name: str, seat: int | None) -> bytes | None:
        """Return a match's record as an author may see it; None if the author had no such seat.

        Raises:
            RecordError: the record does not hold.
        """
        match_and_seat = self._own_seat(author, name, seat)
        if match_and_seat is None:
            return None
        return b"".join(line + b"\n" for line in self._redact(name, match_and_seat[1]))

    def read_output(self, author: str, name: str, seat: int | None) -> str | None:
        """Return all stored output of an author's program in a match; None if nothing is stored."""
        match_and_seat = self._own_seat(author, name, seat)
        if match_and_seat is None:
            return None
        match, own_seat = match_and_seat
        return read_output(self._path(name), own_seat, match.header.setup.names[own_seat])

    def _redact(self, name: str, seat: int) -> list[bytes]:
        return redact(self._path(name), self._find_game, seat, find_wire=installed().wire)

    def _path(self, name: str) -> Path:
        return self.logs / f"{name}.jsonl"

    def _own_seat(self, author: str, name: str, seat: int | None) -> tuple[AuthoredMatch, int] | None:
        """Return a match and the seat of an author. Only names from the list become paths, so no other file is read."""
        for match in self._all():
            seats = [each.seat for each in match.seats if each.author == author and seat in (None, each.seat)]
            if match.name == name and seats:
                return match, seats[0]
        return None

    def _all(self) -> list[AuthoredMatch]:
        """Return all matches that are over; records that have not changed are not read again."""
        paths = sorted(path for path in self.logs.rglob("*.jsonl") if path.is_file())
        for gone in self._known.keys() - paths:
            del self._known[gone]
        matches = []
        for path in paths:
            try:
                status = path.stat()
                stamp = (status.st_size, status.st_mtime_ns)
                if path not in self._known or self._known[path][0] != stamp:
                    self._known[path] = (stamp, self._read(path))
            except OSError:
                continue  # the record has been moved away in the meantime
            if match := self._known[path][1]:
                matches.append(match)
        return matches

    def _read(self, path: Path) -> AuthoredMatch | None:
        """Return the match of a record; None if the file is not a record, or the match is not over."""
        first, *last = _ends(path)
        try:
            lines = [read_line(line) for line in (first, *last)]
            header, result, seal = map(parse_line, lines)
        except (BadLine, ValueError):
            return None
        if not (isinstance(header, Header) and isinstance(result, ResultLine) and isinstance(seal, SealLine)):
            return None
        if not len(header.setup.names) == len(result.result.scores) >= len(header.programs or ()):
            return None  # the parts of the record contradict each other; `referee audit` shows this
        name = path.relative_to(self.logs).with_suffix("").as_posix()
        seats = self.find_seats(header, name)
        return AuthoredMatch(name=name, head=lines[-1].hash, header=header, result=result, seats=seats)

    def find_seats(self, header: Header, name: str) -> tuple[AuthorsSeat, ...]:
        """Return the seats of a match that belong to authors."""
        seats = []
        for seat, program in enumerate(header.programs or ()):
            if program.startswith(PERSON) and name.startswith(f"{PRACTICE}/{program.removeprefix(PERSON)}/"):
                seats.append(AuthorsSeat(seat=seat, author=program.removeprefix(PERSON), version=None))
            elif author_and_version := self._author(header.folder or "/", program):
                author, version = author_and_version
                seats.append(AuthorsSeat(seat=seat, author=author, version=version))
        return tuple(seats)

    def _author(self, where: str, program: str) -> tuple[str, int | None] | None:
        """Return author and version of the program in a folder; None if the program was not handed in."""
        if program.startswith(("house:", "cmd:")):
            return None
        folder = Path(os.path.normpath(Path(where, program)))  # links are not followed: their targets may have changed
        for root in self._roots:
            if folder.is_relative_to(root):
                match folder.relative_to(root).parts:
                    case (author,) if author != VERSIONS:
                        return author, None
                    case (first, author, number, last) if (first, last) == (VERSIONS, PLAYER):
                        return (author, int(number)) if _VERSION.fullmatch(number) else None
        return None


def _ends(path: Path) -> Sequence[bytes]:
    """Return a record's first line and its last two, without line feeds; fewer if some are missing or too long."""
    with path.open("rb") as file:
        first = file.readline(_MAX_LINE_BYTES)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 2 * _MAX_LINE_BYTES, len(first)))
        rest = file.read(2 * _MAX_LINE_BYTES)
    lines = rest.split(b"\n")
    return [first[:-1], *(lines[-3:-1] if len(lines) > 2 and not lines[-1] else ())]


def make_own(match: AuthoredMatch, seat: AuthorsSeat, teams: Sequence[Sequence[int]]) -> Own:
    """Return a line about a match for the author of one of its seats."""
    setup, result = match.header.setup, match.result.result
    fouls = [str(foul.cause) for foul in result.fouls if foul.seat == seat.seat]
    partners = next((set(team) for team in teams if seat.seat in team), {seat.seat})
    return Own(
        match=match.name,
        head=match.head,
        game=setup.game,
        opened=match.header.opened,
        seat=seat.seat,
        names=setup.names,
        version=seat.version,
        rank=result.rank(seat.seat),
        is_shared=any(seat.seat in group and not partners.issuperset(group) for group in result.ranking),
        winner=seat.seat in result.winners,
        points=result.scores[seat.seat],
        foul=fouls[0] if fouls else None,
    )
