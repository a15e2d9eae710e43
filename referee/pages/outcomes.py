"""Describes in one sentence how a match ended: who beat whom and why, who drew, or the order of all players.

Every page, terminal and export uses this sentence: `gus beat typo (typo crashed)`, `dan - hana: draw`,
`ann, then bob and cy, then dan (too late)`. Partners are named together. The ranking decides who has won, not the
points.
"""

# Why a sentence and not a table of places? A reader wants to know who won and why. A table of places and points can be
# confusing: a player with more points loses if its program crashes. So the sentence says who beat whom and names the
# foul; the points come last.

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..match.commands import Result
from ..match.fouls import Cause
from ..text import printable
from ..tournament.match_context import MatchEntry
from ..tournament.points import Scoring

Ranking = Sequence[Sequence[int]]
Teams = tuple[tuple[int, ...], ...]


class _Fault(NamedTuple):
    """Words for a foul."""

    after_name: str
    """Words that follow the player's name in a sentence."""
    alone: str
    """Words in brackets after the name."""


_FAULTS = {
    str(cause): _Fault(*words)
    for cause, words in {
        Cause.TIMEOUT: ("was too late", "too late"),
        Cause.ILLEGAL_MOVE: ("made an illegal move", "illegal move"),
        Cause.MALFORMED_MESSAGE: ("sent a malformed message", "malformed message"),
        Cause.OUT_OF_TURN: ("sent a message out of turn", "out of turn"),
        Cause.FLOOD: ("flooded the referee", "flood"),
        Cause.OVERSIZE: ("sent too long a message", "message too long"),
        Cause.NOT_READING: ("did not read its messages", "did not read"),
        Cause.DISCONNECTED: ("disconnected", "disconnected"),
        Cause.CRASHED: ("crashed", "crashed"),
        Cause.REFUSED_TO_START: ("did not start", "did not start"),
    }.items()
}


class OutcomeWords(NamedTuple):
    """Words for how a match ended."""

    sentence: str
    order: tuple[int, ...]
    """All seats, in the order of their names in the sentence; empty for a void match, whose points are not shown."""

    def by_ruling(self) -> "OutcomeWords":
        """Return the words with the remark that a ruling made the result."""
        return self._replace(sentence=f"{self.sentence} (by a ruling)")

    def with_points(self, scores: Sequence[int]) -> str:
        """Return the sentence, then the points in the order of its names: `gus beat typo (typo crashed); 3 : 5`."""
        return "; ".join(filter(None, (self.sentence, " : ".join(str(scores[seat]) for seat in self.order))))


def outcome(names: Sequence[str], ranking: Ranking, faults: Mapping[int, str], sides: Sequence[int]) -> OutcomeWords:
    """Return in words how a match ended.

    Args:
        names: the players, by seat.
        ranking: groups of seats from best to worst; empty if the match is void.
        faults: seat that fouled -> cause of its foul.
        sides: side of each seat: a number that is equal only for partners.
    """
    if not ranking:
        return OutcomeWords(void_sentence(names), ())
    levels = _levels(ranking, faults, sides)
    seats = {side: [seat for seat, other in enumerate(sides) if other == side] for level in levels for side in level}
    order = tuple(seat for level in levels for side in level for seat in seats[side])
    blame = ", ".join(f"{printable(names[seat])} {_fault(faults[seat]).after_name}" for seat in order if seat in faults)
    if len(faults) == len(names):
        return OutcomeWords(f"nobody won: {blame}", order)
    if len(seats) == 2:
        labels = [_join_names([printable(names[seat]) for seat in seats[side]]) for level in levels for side in level]
        sentence = f"{labels[0]} - {labels[1]}: draw" if len(levels) == 1 else f"{labels[0]} beat {labels[1]}"
        return OutcomeWords(f"{sentence} ({blame})" if blame else sentence, order)
    parts = [
        _join_names([_name_seat(names, seat, faults) for side in level for seat in seats[side]]) for level in levels
    ]
    return OutcomeWords(f"{parts[0]}: draw" if len(parts) == 1 else ", then ".join(parts), order)


def void_sentence(names: Sequence[str]) -> str:
    """Return the sentence for a match that does not count: `ann - bob: void`."""
    return f"{' - '.join(map(printable, names))}: void"


def _levels(ranking: Ranking, faults: Mapping[int, str], sides: Sequence[int]) -> list[list[int]]:
    """Return the sides from best to worst, grouped if equal. The best seat that did not foul decides for its side."""
    clean = [[seat for seat in group if seat not in faults] for group in ranking]
    fouled = [seat for group in ranking for seat in group if seat in faults]
    known: set[int] = set()
    levels = []
    for group in (*clean, fouled):
        level = sorted({sides[seat] for seat in group} - known)
        known.update(level)
        levels += [level] if level else []
    return levels


def _name_seat(names: Sequence[str], seat: int, faults: Mapping[int, str]) -> str:
    fault = f" ({_fault(faults[seat]).alone})" if seat in faults else ""
    return f"{printable(names[seat])}{fault}"


def _fault(cause: str) -> _Fault:
    return _FAULTS.get(cause) or _Fault(f"fouled: {printable(cause)}", printable(cause))


def _join_names(names: Sequence[str]) -> str:
    """Return names as a list in words: `ann, bob and cy`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def outcome_of_entry(entry: MatchEntry, scoring: Scoring, names: Sequence[str] | None = None) -> OutcomeWords:
    """Return how a match of a tournament ended, in words.

    Args:
        entry: result of the match.
        scoring: scoring of the tournament, which says which seats are partners.
        names: other names for the players, by seat; None: their own.
    """
    faults = {foul.seat: foul.cause for foul in entry.fouls}
    ranking = () if entry.void is not None else entry.ranking
    ended = outcome(names or entry.names, ranking, faults, scoring.sides(len(entry.names)))
    return ended.by_ruling() if entry.is_ruled else ended


def outcome_of_result(names: Sequence[str], result: Result, teams: Teams) -> OutcomeWords:
    """Return how a match ended, in words.

    Args:
        names: the players, by seat.
        result: result of the match.
        teams: the game's teams, seats that win and lose together; empty if every seat plays for itself.
    """
    faults = {foul.seat: str(foul.cause) for foul in result.fouls}
    ranking = () if result.void is not None else result.ranking
    return outcome(names, ranking, faults, Scoring(teams=teams).sides(len(names)))
