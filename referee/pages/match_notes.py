"""What a tournament's record says of a match beside its own record: rulings on it, what became of it, who looked on."""

import hashlib
from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec import Struct

from ..tournament.history import RuledLine
from ..tournament.match_context import MatchEntry
from .summary import Summary
from .words import sight


class MatchNotes(Struct, frozen=True, kw_only=True):
    """What the page of a match shows of its tournament."""

    rulings: Sequence[RuledLine] = ()
    """On the match, or on one that was played in its place."""
    uncounted: str = ""
    """Why it does not count; empty: it does."""
    others: Mapping[str, bool] = {}
    """The other matches of the same leg -> whether they have a page."""
    begun_at: Sequence[str] = ()
    """The times of day at which the referee began or went on while the match was open."""
    sights: Sequence[str] = ()
    """What spectators were shown of it while it was played, one after the other."""

    @property
    def is_ruled(self) -> bool:
        """Whether its page changes after the match."""
        return bool(self.rulings or self.uncounted or self.others)

    @property
    def mark(self) -> str:
        """What its page holds, so that one is known that was made before a ruling."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


def match_notes(summary: Summary, shown: Collection[str]) -> Mapping[str, MatchNotes]:
    """Return what is to be said of each match that has a page.

    Args:
        summary: of their tournament.
        shown: the matches that have a page, or are about to.
    """
    legs: dict[tuple[int, int], list[str]] = {}
    for entry in summary.history.entries:
        legs.setdefault((entry.fixture.number, entry.fixture.leg), []).append(entry.match)
    return {
        entry.match: _notes_of(summary, entry, legs[entry.fixture.number, entry.fixture.leg], shown)
        for entry in summary.history.entries
        if entry.match in shown
    }


def _notes_of(summary: Summary, entry: MatchEntry, leg: Sequence[str], shown: Collection[str]) -> MatchNotes:
    runs = summary.history.runs[entry.match]
    return MatchNotes(
        rulings=summary.rulings.of_match(entry.fixture),
        uncounted=summary.uncounted.get(entry.match, ""),
        others={match: match in shown for match in leg if match != entry.match},
        begun_at=[run.at for run in runs],
        sights=list(dict.fromkeys(sight(run.spectators, is_duplicate=summary.spec.duplicate) for run in runs)),
    )
