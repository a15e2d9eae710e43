"""A tournament, read from its records; and `load`, which reads a match or a tournament."""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, overload

from ..app.records.audit import audit_paths
from ..app.records.audit_reports import Demands
from ..app.report import find_titles, read_summary
from ..errors import BadRequest, DoesNotHold
from ..games.arguments import describe
from ..pages.links import PageLinks
from ..pages.report import report_page
from ..pages.summary import Summary
from ..record.reader import read_record
from ..record.tournament_record import is_tournament
from ..text import counted
from ..tournament.match_context import MatchEntry
from ..tournament.ratings.elo import Rating
from ..tournament.standings import Standing
from .match import Match, Matches, Numbered, frame_page
from .paths import read_path

_LEAST_HIGH_PX, _PER_ENTRANT_PX, _MOST_HIGH_PX = 1100, 62, 1800
"""Height of the frame in a notebook, in pixels: about that of the page, so that the charts are visible, within
limits."""


_KINDS = ("match", "tournament")
"""The two kinds of records."""


class Tournament(Matches):
    """A tournament, over or still running, as a sequence of those of its matches that have a record.

    >>> cup = referee.load(cup_folder)
    >>> cup
    <referee.Tournament cup: 7 entrants>
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = read_path("folder", folder)
        self._summary: Summary = read_summary(self._folder)

    def __repr__(self) -> str:
        return f"<referee.Tournament {self.name}: {counted(len(self.entrants), 'entrant')}>"

    def __str__(self) -> str:
        state = "is over" if self.is_over else "goes on"
        lines = [f"{self.name} {state}: {counted(len(self._entries()), 'match', 'matches')}"]
        for row in self.standings:
            rating = self.ratings[row.entrant]
            strength = f"rating {rating.rating:.0f} ± {rating.error:.0f}"
            ladder = "" if self.ladder_ratings is None else f"ladder rating {self.ladder_ratings[row.entrant]:.1f}  "
            lines.append(f"  {row.place}  {self.entrants[row.entrant]}  {ladder}{row.points:g}  {strength}")
        return "\n".join(lines)

    def __iter__(self) -> Iterator[Match]:
        return iter(self._played)

    @overload
    def __getitem__(self, at: int) -> Match: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Match]: ...
    def __getitem__(self, at: int | slice) -> Match | Sequence[Match]:
        return list(self._played[at]) if isinstance(at, slice) else self._played[at]

    def __len__(self) -> int:
        return len(self._played)

    def __bool__(self) -> bool:
        return True  # a tournament without matches is a tournament, too

    @property
    def name(self) -> str:
        """Name of the tournament.

        >>> cup.name
        'cup'
        """
        return self._summary.spec.name

    @property
    def entrants(self) -> tuple[str, ...]:
        """Names of the entrants, in the order in which standings and ratings number them.

        >>> len(cup.entrants)
        7
        """
        return tuple(self._summary.names)

    @property
    def is_over(self) -> bool:
        """Whether the tournament has ended.

        >>> cup.is_over
        True
        """
        return self._summary.tournament.is_over

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The standings, from first to last.

        >>> cup.standings[0].place
        1
        """
        return self._summary.standings

    @property
    def ladder_ratings(self) -> tuple[float, ...] | None:
        """In a ladder, the rating that decides the place of each entrant, around 1500; None in every other format.

        >>> cup.ladder_ratings is None
        True
        """
        return self._summary.placing_ratings

    @property
    def ratings(self) -> tuple[Rating, ...]:
        """Strength of each entrant with its interval, in the order of `entrants`.

        >>> [rating.entrant for rating in cup.ratings]
        [0, 1, 2, 3, 4, 5, 6]
        """
        return self._summary.ratings

    def audit(self) -> None:
        """Verify the records of the tournament and of its matches, as `referee audit` does.

        Raises:
            RefereeError: a record does not hold.

        >>> cup.audit()
        """
        report = audit_paths([self._folder], Demands(), len(os.sched_getaffinity(0)), lambda _report, _count: None)
        if not report.holds:
            raise DoesNotHold(f"{self._folder} does not hold; `referee audit {self._folder}` shows why")

    @cached_property
    def _played(self) -> Sequence[Match]:
        paths = (self._folder / f"{entry.match}.jsonl" for entry in self._summary.history.entries)
        return Numbered((Match(read_record(path)) for path in paths if path.exists()), "matches")

    def _repr_html_(self) -> str:
        """Return the page that a notebook shows: standings, ratings, and how they developed."""
        links = PageLinks(entrants=None)
        page = report_page(self._summary, find_titles(self._summary.spec), links, ("standings", "ratings", "history"))
        height_px = min(_LEAST_HIGH_PX + _PER_ENTRANT_PX * len(self.entrants), _MOST_HIGH_PX)
        return frame_page(page, f"Standings of {self.name}", height_px=height_px)

    def _entries(self) -> Sequence[MatchEntry]:
        return self._summary.history.entries

    def _records(self) -> Sequence[Match]:
        return self._played


@overload
def load(path: str | Path, kind: Literal["match"]) -> Match: ...
@overload
def load(path: str | Path, kind: Literal["tournament"]) -> Tournament: ...
@overload
def load(path: str | Path, kind: None = None) -> Match | Tournament: ...
def load(path: str | Path, kind: str | None = None) -> Match | Tournament:
    """Read the record of a match or of a tournament.

    The chain of hashes and the seal are checked here; `audit` verifies everything else.

    Args:
        path: a match's record (`NAME.jsonl`), a tournament's record, or a tournament's folder.
        kind: `match` or `tournament`, if it must be one of these; then a type checker knows it, too. None: either.

    Returns:
        The match, or the tournament.

    Raises:
        RefereeError: there is no record, it is of the other kind, or it is damaged; the text names the first line that
            does not hold.

    >>> referee.load(match.save(folder / "again.jsonl"), "match").winners
    ('greedy',)
    """
    source = read_path("path", path)
    if kind not in (None, *_KINDS):
        raise BadRequest(f"kind is 'match', 'tournament' or None, not {describe(kind)}")
    try:
        is_folder = source.is_dir()
    except OSError as error:
        raise BadRequest(f"can't read {source}: {error.strerror}") from None
    is_cup = is_folder or (source.exists() and is_tournament(source))
    if kind is not None and is_cup != (kind == "tournament"):
        raise BadRequest(
            f"{source} is the record of a {_KINDS[is_cup]}, not of a {kind}; leave the kind out, or give another path"
        )
    if is_cup:
        return Tournament(source if is_folder else source.parent)
    return Match(read_record(source))
