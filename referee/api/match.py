"""A match: its turns, positions, result, tables and record."""

import tempfile
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Generic, SupportsIndex, TypeVar, overload

from msgspec import Struct

from ..app.replaying import write_page
from ..chance import shuffle_key
from ..errors import RefereeError
from ..files.scratch import remove
from ..files.whole import write_whole
from ..games.arguments import describe
from ..games.notation import format_move
from ..match.commands import Result
from ..match.fouls import Foul
from ..match.setup import MatchSetup
from ..pages.replay_frames import FoldedRecord, FrameKind, fold_record
from ..pages.replay_page import replay_page
from ..pages.words import Teams, outcome_of_result, ranking
from ..plugins import find_game, installed
from ..record.audit.match import audit
from ..record.reader import Record, read_record
from ..record.timing import timings
from ..text import counted
from ..tournament.match_context import Fixture, MatchEntry, make_entry
from .history import Origin, trace_steps
from .paths import read_path, writing
from .played import Played
from .position import M, Position, V
from .tables import Row, Tables

T = TypeVar("T")


class Numbered(tuple[T, ...]):  # noqa: SLOT001  # a tuple has no room for more slots
    """A tuple of a match's or a tournament's parts, whose IndexError says how many parts there are."""

    what: str
    """The parts in the plural: `turns`."""

    def __new__(cls, values: Iterable[T], what: str = "entries") -> "Numbered[T]":
        """Return the values as a tuple with a name for them."""
        made = super().__new__(cls, values)
        made.what = what
        return made

    @overload
    def __getitem__(self, at: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> T | tuple[T, ...]:
        """Return one part, or several for a slice.

        Raises:
            IndexError: there is no element of that number.
            TypeError: the index is neither a whole number nor a slice.
        """
        try:
            return super().__getitem__(at)
        except IndexError:
            numbers = f", numbered from 0 to {len(self) - 1}" if self else ""
            raise IndexError(f"there are {len(self)} {self.what}{numbers}; there is no number {describe(at)}") from None
        except TypeError:
            raise TypeError(f"{self.what} are chosen by a whole number or a slice, not by {describe(at)}") from None


def frame_page(page: str, title: str, *, height_px: int = 760) -> str:
    """Return HTML that shows a page inside another one, such as the cell of a notebook, without a network.

    The page runs in a frame of its own, so neither of the two can touch the other.

    Args:
        page: an HTML document that loads nothing from outside.
        title: description of the page for screen readers.
        height_px: height of the frame in pixels.
    """
    # Without `allow-same-origin`, a script of the page can't reach the notebook around it. The page contains names and
    # moves of players, which are not trusted.
    style = f"width: 100%; height: {height_px}px; border: 0"
    return f'<iframe title="{escape(title)}" srcdoc="{escape(page)}" sandbox="allow-scripts" style="{style}"></iframe>'


class NotOver(RefereeError):
    """A match without a result: its referee stopped, or is still playing it."""


class Turn(Struct, Generic[V, M], frozen=True, kw_only=True):
    """A move that a player was asked for and gave, legal or not.

    >>> match.turns[0]
    <referee.Turn 1 of greedy: add:4,4;4,4>
    """

    number: int
    """Number of the turn, from 1."""
    seat: int
    player: str
    """Name of the player whose turn it was."""
    view: V
    """The view that the player received, as plain data."""
    move: M
    """The move that the player answered, as plain data."""
    took_ms: float
    """Time that the answer took, in milliseconds."""
    before: Position[V, M]
    after: Position[V, M]
    """The position after the move and the draw that follows it; after an illegal move, the player is no longer in
    it."""
    foul: Foul | None
    """Why the player was expelled for this move; None if it was legal."""

    def __repr__(self) -> str:
        return f"<referee.Turn {self.number} of {self.player}: {format_move(self.move)}>"


class Match(Tables, Generic[V, M]):
    """A match, as `referee.play` and `referee.load` return it: a sequence of its turns.

    >>> match = referee.play("quincy", ["house:greedy", "house:random"], seed=7)
    >>> len(match), match[0].player
    (27, 'greedy')
    """

    def __init__(self, source: Played | Record) -> None:
        if not isinstance(source, Played | Record):
            raise TypeError(f"a match comes from referee.play or referee.load, not from {describe(source)}")
        self._source = source
        self._setup: MatchSetup = source.setup if isinstance(source, Played) else source.header.setup

    def __repr__(self) -> str:
        return f"<referee.Match {self.name}: {', '.join(self.players)}>"

    def __str__(self) -> str:
        if self._result is None:
            return f"{self.name}: the match was not finished"
        outcome = outcome_of_result(self.players, self._result, self._teams)
        lines = [f"{self.name}: {outcome.sentence}, {counted(self._result.turns, 'turn')}"]
        rows = ranking(self.players, self._result, self._teams)
        lines += (f"  {row.place}  {row.name}  {row.points}  {row.note}".rstrip() for row in rows)
        return "\n".join(lines)

    def __iter__(self) -> Iterator[Turn[V, M]]:
        return iter(self.turns)

    @overload
    def __getitem__(self, at: int) -> Turn[V, M]: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Turn[V, M], ...]: ...
    def __getitem__(self, at: int | slice) -> Turn[V, M] | tuple[Turn[V, M], ...]:
        return self.turns[at]

    def __len__(self) -> int:
        return len(self.turns)

    def __bool__(self) -> bool:
        return True  # a match without turns is a match, too

    @property
    def name(self) -> str:
        """Name of the match and of its record.

        >>> match.name
        'quincy-...'
        """
        return self._setup.match

    @property
    def game(self) -> str:
        """Name of the game.

        >>> match.game
        'quincy'
        """
        return self._setup.game

    @property
    def players(self) -> tuple[str, ...]:
        """Names of the players, by seat.

        >>> match.players
        ('greedy', 'random')
        """
        return self._setup.names

    @property
    def is_over(self) -> bool:
        """Whether the match has a result. A match that was played in this process always has one.

        >>> match.is_over
        True
        """
        return self._result is not None

    @property
    def _result(self) -> Result | None:
        if isinstance(self._source, Played):
            return self._source.result
        return self._source.result.result if self._source.result else None

    @property
    def _teams(self) -> Teams:
        game = find_game(self.game)
        return game.teams(game.parse_options(self._setup.options), len(self.players))

    @property
    def result(self) -> Result:
        """How the match ended.

        Raises:
            RefereeError: the match was not finished.

        >>> match.result.reason, match.result.turns
        ('quincy.end.lines', 27)
        """
        if self._result is None:
            raise NotOver(f"{self.name} was not finished: it has no result")
        return self._result

    @property
    def winners(self) -> tuple[str, ...]:
        """Names of the winners; several after a draw, or if a team won.

        >>> match.winners
        ('greedy',)
        """
        return tuple(self.players[seat] for seat in self.result.winners)

    @property
    def scores(self) -> tuple[int, ...]:
        """Points by seat at the end.

        >>> match.scores
        (1, 0)
        """
        return self.result.scores

    @property
    def fouls(self) -> tuple[Foul, ...]:
        """Why players were expelled, in the order in which it happened.

        >>> match.fouls
        ()
        """
        return self.result.fouls

    @property
    def tracebacks(self) -> dict[str, str]:
        """Traceback of each player that raised an exception, by name; a loaded record has none.

        >>> match.tracebacks
        {}
        """
        if isinstance(self._source, Record):
            return {}
        return {self.players[seat]: text for seat, text in self._source.tracebacks.items()}

    @cached_property
    def path(self) -> Path:
        """Path of the match's record. A match that was not saved has a temporary record, removed with this object.

        >>> match.path.suffix
        '.jsonl'
        """
        if isinstance(self._source, Record):
            return self._source.path
        folder = Path(tempfile.mkdtemp(prefix="referee-match-"))
        # Not `__del__`: a finalizer also runs when Python ends, when modules that `__del__` needs may be gone.
        weakref.finalize(self, remove, folder)
        self._source.write(folder / f"{self.name}.jsonl")
        return folder / f"{self.name}.jsonl"

    @cached_property
    def record(self) -> Record:
        """The record of the match; logs/README.md describes its lines.

        >>> match.record.is_sealed
        True
        """
        return self._source if isinstance(self._source, Record) else read_record(self.path)

    @cached_property
    def _folded(self) -> FoldedRecord:
        return fold_record(self.record, find_game)

    @cached_property
    def _shown(self) -> tuple[Position[V, M] | None, ...]:
        """The position of each frame; None before the deal."""
        folded = self._folded
        game, setup = folded.match.game, folded.match.setup
        if setup.position is None:
            deal = shuffle_key(folded.match.seed, folded.match.nonces.opened).hex()
            origin = Origin(options=setup.options, seats=len(setup.names), deal=deal)
        else:
            origin = Origin(options=setup.options, position=setup.position)
        frames = folded.frames
        return tuple(
            None if frame.state is None else Position(game, origin, frame.state, last=last, names=setup.names)
            for frame, last in zip(frames, trace_steps(game, origin.begin(game), frames), strict=True)
        )

    @cached_property
    def positions(self) -> tuple[Position[V, M], ...]:
        """The dealt position, and the position after each move and each expulsion.

        >>> len(match.positions)
        28
        """
        return Numbered((position for position in self._shown if position is not None), "positions")

    @cached_property
    def turns(self) -> tuple[Turn[V, M], ...]:
        """Every move that was answered, in order.

        >>> match.turns[-1].move
        {'action': 'add', 'domino': [0, 6], 'square': [6, 6]}
        """
        frames = self._folded.frames
        turns = (
            self._turn(at)
            for at, frame in enumerate(frames)
            if frame.took_ms is not None and frame.kind is not FrameKind.VOID
        )
        return Numbered(turns, "turns")

    def _turn(self, at: int) -> Turn[V, M]:
        """Return the turn that a frame shows."""
        frame, before, after = self._folded.frames[at], self._shown[at - 1], self._shown[at]
        assert frame.seat is not None
        assert before is not None
        assert after is not None
        return Turn(
            number=frame.turn,
            seat=frame.seat,
            player=self.players[frame.seat],
            view=before.view(frame.seat),
            move=frame.move,
            took_ms=frame.took_ms or 0.0,
            before=before,
            after=after,
            foul=frame.foul,
        )

    def save(self, path: str | Path = "logs") -> Path:
        """Write the record of the match, sealed with your key; `referee audit`, `replay` and `explain` read it.

        Args:
            path: path of the file; or a folder, which is made if it is missing, for a file named after the match.

        Returns:
            The path of the file.

        Raises:
            RefereeError: the file can't be written (this error is an OSError, too), or the file exists already (this
                error is a FileExistsError, too).

        >>> match.save(folder).exists()
        True
        """
        target = read_path("path", path)
        if target.suffix != ".jsonl":
            target /= f"{self.name}.jsonl"
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, [self.path.read_bytes()], may_replace=False)
        return target

    def audit(self) -> None:
        """Verify the record of the match, as `referee audit` does.

        Raises:
            RefereeError: the record does not hold; the text names the first line that does not.

        >>> match.audit()
        """
        audit(self.path, find_game, find_wire=installed().wire)

    def replay(self, html: str | Path | None = None) -> Path:
        """Make a page on which the match can be stepped through, without a network.

        Args:
            html: file for the page, which may exist; None: a temporary file, shown in a browser.

        Returns:
            The path of the page.

        Raises:
            RefereeError: the file can't be written, or there is no browser.

        >>> match.replay(folder / "match.html").name
        'match.html'
        """
        target = None if html is None else read_path("html", html)
        return write_page(self._folded, target, is_forced=True, is_opened=html is None)

    def _repr_html_(self) -> str:
        """Return the page of `replay`, for a notebook to show."""
        return frame_page(replay_page(self._folded), f"Replay of {self.name}")

    def _entries(self) -> Sequence[MatchEntry]:
        if self._result is None:
            return ()
        seats = tuple(range(len(self.players)))
        fixture = Fixture(match=self.name, number=1, round=1, table="", leg=0, attempt=0, entrants=seats)
        return (make_entry(fixture, self.players, self._result, ""),)

    def _record_rows(self, table: str) -> Iterator[Row]:
        return self._turn_rows() if table == "turns" else self._time_rows()

    def _turn_rows(self) -> Iterator[Row]:
        for turn in self.turns:
            scores, move = turn.after.scores, format_move(turn.move)
            score, took_ms = scores[turn.seat] if scores else None, round(turn.took_ms, 3)
            yield self.name, turn.number, turn.seat, turn.player, move, turn.foul is None, score, took_ms

    def _time_rows(self) -> Iterator[Row]:
        for timing in timings(self.record):
            used_ms, limit_ms, lag_ms = timing.used_ms, timing.limit_ms, timing.lag_ms
            yield self.name, timing.turn, timing.seat, timing.name, used_ms, limit_ms, lag_ms


class Matches(Tables):
    """Many matches: each table is the tables of all matches, one below the other."""

    @abstractmethod
    def _records(self) -> Iterable[Match]:
        """Return the matches, each with its record.

        Raises:
            RefereeError: no records were kept.
        """

    def _record_rows(self, table: str) -> Iterator[Row]:
        return (tuple(row.values()) for match in self._records() for row in match.rows(table))
