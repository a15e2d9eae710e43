"""The matches of a tournament: what each is opened for, and what came of it."""

from typing import Annotated

from msgspec import Meta, Struct


class Fixture(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One match that is to be played."""

    match: str
    """Its name, and that of its record: the tournament's, the pairing's number, the leg if there are more, the
    replay."""
    number: Annotated[int, Meta(ge=1)]
    """Of the pairing."""
    round: Annotated[int, Meta(ge=1)]
    table: str
    """Where in the format the pairing belongs, if that is worth a word."""
    leg: Annotated[int, Meta(ge=0)]
    """Which of the pairing's matches with one deal this is, from 0; always 0 without duplicate deals."""
    attempt: Annotated[int, Meta(ge=0)]
    """How many matches of the same leg went before that did not count."""
    entrants: tuple[int, ...]
    """By seat, each as its index among the entrants; in another order than the pairing's in later legs."""


def name_match(tournament: str, number: int, leg: int, attempt: int) -> str:
    """Return the name of a match of a tournament, and of its record.

    Args:
        tournament: its name.
        number: of the pairing, from 1.
        leg: of the pairing, from 0.
        attempt: how many matches of that leg went before that did not count.
    """
    return f"{tournament}-{number:05}{f'.{leg + 1}' if leg else ''}{f'r{attempt}' if attempt else ''}"


class MatchContext(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a match was opened for; it stands in the header of the match's record."""

    tournament: str
    fixture: Fixture
    head: str
    """Hash of the line in the tournament's record that says that the match was opened."""


class FoulEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One player's foul, in short."""

    seat: int
    cause: str
    turn: int
    """Number of the turn in which it happened; 0 before the first."""
    rule: str | None = None
    code: str | None = None
    detail: str = ""


class MatchEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What came of a match."""

    fixture: Fixture
    names: tuple[str, ...]
    """By seat."""
    void: str | None
    """The referee's fault for which the match does not count; None: it does."""
    ranking: tuple[tuple[int, ...], ...]
    """Groups of seats from best to worst; who fouled comes last."""
    scores: tuple[int, ...]
    fouls: tuple[FoulEntry, ...]
    reason: str
    """Id of the rule that ended the game."""
    turns: int
    used_ms: tuple[float, ...]
    """By seat."""
    head: str
    """Hash of the record's result line, over which it is sealed."""

    @property
    def match(self) -> str:
        """Its name, and that of its record."""
        return self.fixture.match

    @property
    def is_ruled(self) -> bool:
        """Whether a ruling has made this result, and no game."""
        return not (self.head or self.reason or self.void)
