"""The brackets of an elimination: each match leads to the next match of its winner.

If a format fixes the bracket beforehand, all matches are shown; a future match shows the entrants that may meet in it.
For other formats, the played rounds of groups are shown. templates/report_sections.html draws them.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from msgspec import Struct

from ...tournament.pairing.base import BracketPlace, Pairing, PlayedPairing
from ..summary import Summary
from ..words import OutcomeWords, outcome


class BracketSide(Struct, frozen=True):
    """One side of a match: an entrant, or the entrants that may still reach it."""

    entrants: Sequence[int]
    """The entrant, or all candidates; empty if the candidates are unknown, or if no entrant can come here."""
    scores: Sequence[int | None]
    """Score in each match of the box; None for a match in which the entrant fouled."""
    is_winner: bool


class BracketBox(Struct, frozen=True):
    """One box of a bracket: a match, or all matches that decide who goes on."""

    sides: Sequence[BracketSide]
    results: Sequence[str]
    """Result of each match of the box, in words, with the points."""
    note: str
    """Remark on the box; usually empty."""
    pairings: Sequence[int]
    """Numbers of the pairings of the box."""
    is_empty: bool = False
    """True if no entrant can come here. The box is only there to keep the other boxes in place."""


class BracketRound(Struct, frozen=True):
    """A round of a bracket."""

    title: str
    """Label of the round's matches."""
    boxes: Sequence[BracketBox]
    leads: str
    """How boxes lead to the next round. `pairs`: two boxes lead to one. `each`: each leads to one. Empty: neither."""


class Bracket(Struct, frozen=True):
    """One of the brackets of an elimination."""

    title: str
    """Name of the bracket; empty if there is only one."""
    rounds: Sequence[BracketRound]


class _Pairings(NamedTuple):
    """The pairings that were played, and the pairings that are due."""

    summary: Summary
    played: Mapping[int, PlayedPairing]
    due: Mapping[int, Pairing]


def brackets(summary: Summary) -> list[Bracket]:
    """Return the brackets of a tournament; an empty list if its format is not an elimination."""
    places = summary.tournament.bracket()
    if places is None:
        return []
    bracket = _Pairings(
        summary,
        {played.pairing.number: played for played in summary.history.played},
        {pairing.number: pairing for pairing in summary.tournament.due},
    )
    if not places:
        return [Bracket("", list(_rounds(bracket)))]
    parts: dict[str, list[BracketPlace]] = {}
    for place in places:
        parts.setdefault(place.part, []).append(place)
    return [Bracket(part, _columns(bracket, group)) for part, group in parts.items()]


def _columns(bracket: _Pairings, places: Sequence[BracketPlace]) -> list[BracketRound]:
    """Return the rounds of one bracket; a box that no entrant can reach stays empty."""
    rounds = [list(group) for _, group in groupby(places, key=lambda place: place.round)]
    sizes = [len(group) for group in rounds]
    return [
        BracketRound(
            _title(group[0].table, group[0].round),
            [_box(bracket, place) for place in group],
            "" if size_after == 0 else "pairs" if size_after * 2 == len(group) else "each",
        )
        for group, size_after in zip(rounds, [*sizes[1:], 0], strict=True)
    ]


def _box(bracket: _Pairings, place: BracketPlace) -> BracketBox:
    first, last = place.numbers
    numbers = [number for number in range(first, last + 1) if number in bracket.played or number in bracket.due]
    played = [bracket.played[number] for number in numbers if number not in bracket.due]
    due = next((bracket.due[number] for number in numbers if number in bracket.due), None)
    slots = [slot for slot in place.slots if slot != ()]
    sides = [_side(slot or (), played, None if due else place.winner) for slot in slots]
    return BracketBox(sides, _results(bracket, played), _note(place, played, due), numbers, is_empty=not slots)


def _results(bracket: _Pairings, played: Sequence[PlayedPairing]) -> list[str]:
    return [
        _outcome(bracket.summary, result).with_points(result.scores) for result in played if not result.pairing.is_bye
    ]


def _outcome(summary: Summary, played: PlayedPairing) -> OutcomeWords:
    """Return in words how a pairing ended, with all its matches; if an entrant fouled often, its last foul is named."""
    pairing = played.pairing
    fouls = ((entry, foul) for entry, foul in summary.fouls() if entry.fixture.number == pairing.number)
    causes = {entry.fixture.entrants[foul.seat]: foul.cause for entry, foul in fouls}
    faults = {seat: causes.get(pairing.seats[seat], "foul") for seat in played.fouls}
    names = [summary.names[entrant] for entrant in pairing.seats]
    ended = outcome(names, played.ranking, faults, summary.spec.scoring.sides(len(names)))
    is_ruled = any(number == pairing.number for number, _ in summary.tournament.awards)
    return ended.by_ruling() if is_ruled else ended


def _note(place: BracketPlace, played: Sequence[PlayedPairing], due: Pairing | None) -> str:
    """Return the remark on a box, which is shown next to the result."""
    slots = [slot for slot in place.slots if slot != ()]
    is_settled = all(slot is not None and len(slot) == 1 for slot in slots)
    if len(slots) < len(place.slots):
        return "bye"
    if place.is_optional and not is_settled:
        return "if needed"
    if due is not None:
        return "to be played again" if played else "to be played"
    if not played and is_settled and place.winner is not None:
        return "not played: the other side goes on"
    return f"played {len(played)} times" if len(played) > 1 else ""


def _side(entrants: Sequence[int], played: Sequence[PlayedPairing], winner: int | None) -> BracketSide:
    entrant = entrants[0] if len(entrants) == 1 else None
    seats = [(result, result.pairing.seats.index(entrant)) for result in played if entrant in result.pairing.seats]
    return BracketSide(
        entrants,
        [None if seat in result.fouls else result.scores[seat] for result, seat in seats if not result.pairing.is_bye],
        is_winner=entrant is not None and entrant == winner,
    )


def _rounds(bracket: _Pairings) -> Iterator[BracketRound]:
    """Yield rounds of groups. Replayed matches share a box. An entrant of the next round counts as a winner here."""
    pairings = {number: result.pairing for number, result in bracket.played.items()} | dict(bracket.due)
    rounds: dict[int, dict[frozenset[int], list[Pairing]]] = {}
    for _, pairing in sorted(pairings.items()):
        rounds.setdefault(pairing.round, {}).setdefault(frozenset(pairing.seats), []).append(pairing)
    for round_, tables in sorted(rounds.items()):
        through = frozenset[int]().union(*rounds.get(round_ + 1, ()))
        title = next(iter(tables.values()))[0].table
        yield BracketRound(_title(title, round_), [_table(bracket, legs, through) for legs in tables.values()], "")


def _table(bracket: _Pairings, pairings: Sequence[Pairing], through: frozenset[int]) -> BracketBox:
    numbers = [pairing.number for pairing in pairings]
    played = [bracket.played[number] for number in numbers if number not in bracket.due]
    is_due, last = len(played) < len(numbers), pairings[-1]
    if last.table == "final" and not is_due and played[-1].ranking:
        through = frozenset(last.seats[seat] for seat in played[-1].ranking[0])
    note = "to be played" if is_due else f"played {len(played)} times" if len(played) > 1 else ""
    sides = [
        _side((entrant,), played, entrant if entrant in through and not is_due else None)
        for entrant in pairings[0].seats
    ]
    return BracketBox(sides, _results(bracket, played), "bye" if last.is_bye else note, numbers)


def _title(table: str, round_: int) -> str:
    return table or f"round {round_}"
