"""A tournament, as its records tell of it."""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

from ..app.records.audit import audit_paths
from ..app.records.audit_reports import Demands
from ..app.report import read_summary, titles_of
from ..errors import BadRequest, DoesNotHold
from ..pages.report import PageLinks, report_page
from ..pages.summary import Summary
from ..record.reader import read_record
from ..record.tournament_record import is_tournament
from ..text import counted
from ..tournament.match_context import MatchEntry
from ..tournament.ratings.elo import Rating
from ..tournament.standings import Standing
from .match import Match, Matches, Numbered, framed
from .paths import read_path

_LEAST_HIGH_PX, _OF_AN_ENTRANT_PX, _MOST_HIGH_PX = 1100, 62, 1800
"""Of the frame in a notebook: as high as its page is, so that the curves below the tables are seen, within bounds."""


class Tournament(Matches):
    """A tournament that is over or goes on: a sequence of its matches, as far as they have records."""

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
        return True  # before its first match, too

    @property
    def name(self) -> str:
        """The tournament's name."""
        return self._summary.spec.name

    @property
    def entrants(self) -> tuple[str, ...]:
        """The entrants' names, in the order in which standings and ratings number them."""
        return tuple(self._summary.names)

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be played."""
        return self._summary.tournament.is_over

    @property
    def standings(self) -> tuple[Standing, ...]:
        """Everybody, from first to last."""
        return self._summary.standings

    @property
    def ladder_ratings(self) -> tuple[float, ...] | None:
        """In a ladder, by entrant, the rating that decides its place, around 1500; None in every other format."""
        return self._summary.placing_ratings

    @property
    def ratings(self) -> tuple[Rating, ...]:
        """How strong each entrant is, with its interval, by entrant."""
        return self._summary.ratings

    def audit(self) -> None:
        """Verify the records of the tournament and of its matches, as `referee audit` does.

        Raises:
            RefereeError: something does not hold.
        """
        report = audit_paths([self._folder], Demands(), len(os.sched_getaffinity(0)), lambda _report, _count: None)
        if not report.holds:
            raise DoesNotHold(f"{self._folder} does not hold; `referee audit {self._folder}` tells what")

    @cached_property
    def _played(self) -> Sequence[Match]:
        paths = (self._folder / f"{entry.match}.jsonl" for entry in self._summary.history.entries)
        return Numbered((Match(read_record(path)) for path in paths if path.exists()), "matches")

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the standings, the ratings, and how they came about."""
        links = PageLinks(entrants=None)
        page = report_page(self._summary, titles_of(self._summary.spec), links, ("standings", "ratings", "history"))
        height_px = min(_LEAST_HIGH_PX + _OF_AN_ENTRANT_PX * len(self.entrants), _MOST_HIGH_PX)
        return framed(page, f"Standings of {self.name}", height_px=height_px)

    def _entries(self) -> Sequence[MatchEntry]:
        return self._summary.history.entries

    def _records(self) -> Sequence[Match]:
        return self._played


def load(path: str | Path) -> Match | Tournament:
    """Read the record of a match or of a tournament.

    Its chain, its numbers and its seal are checked; `audit` verifies all the rest.

    Args:
        path: of a match's record (`NAME.jsonl`), of a tournament's record, or of a tournament's folder.

    Returns:
        The match, or the tournament.

    Raises:
        RefereeError: there is no record, or it is damaged; the text names the first line that does not hold.
    """
    found = read_path("path", path)
    try:
        is_folder = found.is_dir()
    except OSError as error:
        raise BadRequest(f"can't read {found}: {error.strerror}") from None
    if is_folder:
        return Tournament(found)
    return Tournament(found.parent) if found.exists() and is_tournament(found) else Match(read_record(found))
