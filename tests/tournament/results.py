"""Results to count: written by hand, or at random from a seed."""

from collections.abc import Iterable, Sequence
from random import Random

from referee.tournament.crosstable import Crosstable
from referee.tournament.pairing.base import Entrant, EntrantField, Pairing, PlayedPairing, bye
from referee.tournament.points import Scoring

Groups = tuple[tuple[int, ...], ...]


def field(size: int, seats: int = 2) -> EntrantField:
    """Return a field of entrants with names of their own."""
    return EntrantField(entrants=tuple(Entrant(name=f"e{number}") for number in range(size)), seats=seats)


def match(round_: int, seats: Sequence[int], ranking: Groups, **more: Sequence[int]) -> PlayedPairing:
    """Return a result; without scores, all are zero."""
    return PlayedPairing(
        pairing=Pairing(number=1, round=round_, seats=tuple(seats)),
        ranking=ranking,
        scores=tuple(more.get("scores", [0] * len(seats))),
        fouls=tuple(more.get("fouls", ())),
    )


def duel(round_: int, one: int, other: int, score: str) -> PlayedPairing:
    """Return a match of two: `1-0`, `0-1` or `1/2`."""
    return match(round_, (one, other), {"1-0": ((0,), (1,)), "0-1": ((1,), (0,)), "1/2": ((0, 1),)}[score])


def sat_out(round_: int, entrant: int, table: str = "") -> PlayedPairing:
    """Return a bye."""
    return bye(Pairing(number=1, round=round_, seats=(entrant,), table=table))


def table_of(
    size: int,
    results: Iterable[PlayedPairing],
    *,
    seats: int = 2,
    scoring: Scoring | None = None,
    gone: Iterable[int] = (),
) -> Crosstable:
    """Return the table of some results, after some entrants have withdrawn."""
    table = Crosstable(field(size, seats), scoring)
    for played in results:
        table.add(played)
    for entrant in gone:
        table.withdraw(entrant)
    return table


def swiss(random: Random, size: int, seats: int, rounds: int) -> tuple[list[PlayedPairing], list[int]]:
    """Play rounds with random groups, ties, fouls, void matches, byes for those without a group, and withdrawals.

    Returns:
        The results, and who has withdrawn.
    """
    results: list[PlayedPairing] = []
    present = list(range(size))
    gone: list[int] = []
    for round_ in range(1, rounds + 1):
        random.shuffle(present)
        whole = len(present) - len(present) % seats
        results += [random_match(random, round_, present[i : i + seats]) for i in range(0, whole, seats)]
        results += [sat_out(round_, entrant) for entrant in present[whole:]]
        if round_ < rounds and len(present) > 2 * seats and random.random() < 0.3:
            gone.append(present.pop())
    return results, gone


def random_match(random: Random, round_: int, seats: Sequence[int]) -> PlayedPairing:
    """Return any result that a match of these seats can have."""
    order = random.sample(range(len(seats)), len(seats))
    fouls = [seat for seat in order if random.random() < 0.1]
    groups: list[list[int]] = []
    for seat in (seat for seat in order if seat not in fouls):
        if groups and random.random() < 0.3:
            groups[-1].append(seat)
        else:
            groups.append([seat])
    ranking = tuple(tuple(group) for group in [*groups, fouls] if group)
    is_void = random.random() < 0.05
    return match(
        round_,
        seats,
        () if is_void else ranking,
        scores=[random.randrange(-5, 30) for _ in seats],
        fouls=() if is_void else fouls,
    )
