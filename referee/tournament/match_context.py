"""What a tournament keeps of its matches: what each was opened for, and what came of it."""

from typing import Annotated

from msgspec import Meta, Struct


class MatchContext(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a match was opened for; it stands in the header of the match's record.

    From the contexts and results of all records, the course of the tournament can be told again, in its order.
    """

    tournament: str
    opening: Annotated[int, Meta(ge=0)]
    """How many matches of the tournament were opened before."""
    number: Annotated[int, Meta(ge=1)]
    """Of the pairing."""
    round: Annotated[int, Meta(ge=1)]
    table: str
    """Where in the format the pairing belongs, if that is worth a word."""
    leg: Annotated[int, Meta(ge=0)]
    """Which of the pairing's matches with one deal this is, from 0; always 0 without duplicate deals."""
    attempt: Annotated[int, Meta(ge=0)]
    """How many void matches of the same leg went before."""
    entrants: tuple[int, ...]
    """By seat, each as its index among the entrants."""
    taken: tuple[str, ...]
    """The matches whose results were taken since the opening before this one, in their order."""


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

    match: str
    """Its name, and that of its record."""
    context: MatchContext
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
