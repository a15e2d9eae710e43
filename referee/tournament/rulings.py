"""Rulings: the decisions that an organiser can make about an entrant, a match or the tournament.

A ruling is an event like any other. The tournament's record holds it with its reason and the name of the person that
decided, and an audit folds it again with all other events. These are its kinds:

    kind         about          what follows
    withdraw     an entrant     It plays no more; its other matches are cancelled, or become walkovers.
    disqualify   an entrant     The same, and it comes last whatever it has won. It may follow a withdrawal.
    reinstate    an entrant     It plays on, if its format allows a return. It does not make up for missed matches.
    replay       a match        Its result is taken back, and the match is played again with another deal.
    void         a match        Its result is taken back, and counts for nobody: a round that nobody played.
    award        a match        Its result is taken back, and the named entrant has won; nothing is played.
    stop         all            No further pairing begins; those that have begun are finished.
    freeze       all            Play goes on, but a contest's site shows no later result until the freeze is lifted.
    lift         all            The freeze is lifted: the site shows all results again.

If a match has a result, the format revises it (`PairingFormat.revise`). Some formats refuse this if later pairings
depend on the result. A match that a ruling voids is not played again. But a match that is void because the referee
failed (`match/outcome.py`) is played again without a ruling. `Tournament` in machine.py carries rulings out.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ..text import is_blank, near
from .match_context import Fixture, MatchEntry
from .pairing.base import BadRuling
from .spec import TournamentSpec

Kind = Literal["withdraw", "reinstate", "disqualify", "replay", "void", "award", "stop", "freeze", "lift"]
ENTRANT_RULINGS = ("withdraw", "reinstate", "disqualify")
"""The rulings on an entrant."""
STOP, FREEZE, LIFT = TOURNAMENT_RULINGS = ("stop", "freeze", "lift")
"""The rulings on the tournament as a whole; all others are on a match."""
MOST_REASON, MOST_BY = 500, 100
"""Largest number of characters of a ruling's reason, and of the name of the person that decided."""
_DECISIONS: Mapping[Kind, str] = {
    "withdraw": "withdrawn",
    "disqualify": "disqualified",
    "reinstate": "reinstated",
    "replay": "to be played once more",
    "void": "counts for nobody",
    "stop": "stopped for good",
    "freeze": "standings frozen",
    "lift": "standings shown again",
}
_PLACE = re.compile(r"-(\d{5,9})(?:\.(\d{1,3}))?(?:r\d{1,9})?")
"""The part of a match's name that follows the tournament's: number, leg and attempt."""


class Ruling(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A decision of the organiser."""

    id: Annotated[str, Meta(pattern=r"^[0-9a-f-]{1,60}$(?!\n)")]
    """Unique id, so that a ruling that is submitted twice is carried out only once."""
    kind: Kind
    entrant: str | None = None
    """Name of the entrant that is withdrawn, reinstated or disqualified, or that wins the match."""
    match: str | None = None
    """Name of the match that the ruling is about."""
    reason: Annotated[str, Meta(min_length=1, max_length=MOST_REASON)]
    by: Annotated[str, Meta(min_length=1, max_length=MOST_BY)]
    """Name of the person that decided."""

    def __post_init__(self) -> None:
        if (self.match is None) != (self.kind in (*ENTRANT_RULINGS, *TOURNAMENT_RULINGS)):
            raise ValueError(f"{self.kind} is {'not ' if self.match else ''}about a match")
        if (self.entrant is None) != (self.kind in ("replay", "void", *TOURNAMENT_RULINGS)):
            raise ValueError(f"{self.kind} {'names no' if self.entrant else 'names an'} entrant")
        if is_blank(self.reason) or is_blank(self.by):
            raise ValueError("a ruling says why, and who decided")

    @property
    def decision(self) -> str:
        """The decision in words that follow the name of the entrant or the match."""
        return _DECISIONS.get(self.kind) or f"awarded to {self.entrant}"


def parse_match_name(match: str, tournament: str) -> tuple[int, int]:
    """Return the number of a match's pairing and its leg, from 0.

    Raises:
        BadRuling: this is not the name of a match of this tournament.
    """
    named = _PLACE.fullmatch(match.removeprefix(tournament)) if match.startswith(tournament) else None
    if named is None:
        raise BadRuling(f"{match} is no match of {tournament}: its matches are called like {tournament}-00001")
    number, leg = named.groups()
    return int(number), int(leg or 1) - 1


def check_decidable(match: str, fixture: Fixture | None, playing: Mapping[str, Fixture]) -> Fixture:
    """Return the match that a ruling is about.

    Args:
        match: name of the match in the ruling.
        fixture: the latest match of that leg; None if there is none.
        playing: name of each match that is being played -> its fixture.

    Raises:
        BadRuling: there is no such match, or it is being played.
    """
    if fixture is None:
        why = "it is not paired yet, or it was given up, or is too long ago"
        raise BadRuling(f"{match.rpartition('-')[0]} has no match {match} to rule on: {why}")
    if fixture.match in playing:
        raise BadRuling(f"{fixture.match} is being played: rule on it when it is over")
    return fixture


def find_entrant(name: str, spec: TournamentSpec) -> int:
    """Return the index of an entrant.

    Raises:
        BadRuling: no entrant has this name.
    """
    for entrant, participant in enumerate(spec.entrants):
        if participant.name == name:
            return entrant
    names = [entrant.name for entrant in spec.entrants]
    raise BadRuling(f"nobody in {spec.name} is called {name}{near(name, names)}")


def make_ruled_entry(fixture: Fixture, names: tuple[str, ...], winner: int | None) -> MatchEntry:
    """Return the result that a ruling gives a match.

    Args:
        fixture: the match.
        names: names of its players, by seat.
        winner: the entrant that has won; None if the ruling voids the match.
    """
    seats = range(len(names))
    first = () if winner is None else tuple(seat for seat in seats if fixture.entrants[seat] == winner)
    rest = tuple(seat for seat in seats if seat not in first)
    return MatchEntry(
        fixture=fixture,
        names=names,
        void=None,
        ranking=(first, rest) if first else (),
        scores=(0,) * len(names),
        fouls=(),
        reason="",
        turns=0,
        used_ms=(0.0,) * len(names),
        head="",
    )
