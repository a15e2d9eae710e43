"""Tournaments of two seats in a short form, for tests of how their next round is paired."""

from referee.tournament.pairing.base import PlayedRounds, RoundLine

_POINTS = {"1": 2, "=": 1, "0": 0, "+": 2, "-": 0, "U": 2, "H": 1}


def played_rounds(*players: str, rounds: int, away: tuple[int, ...] = ()) -> PlayedRounds:
    """Return the rounds of a tournament so far.

    Args:
        players: by starting number, of each round opponent, colour and letter like `12w1`, `0-U` and, missed, `0-Z`.
        rounds: that are planned.
        away: starting numbers of those who miss the next round.
    """
    told = [player.split() for player in players]
    return PlayedRounds(
        rounds=rounds,
        through=max(map(len, told)),
        order=tuple(range(len(players))),
        lines=tuple(
            tuple(line for at, cell in enumerate(cells, start=1) if (line := _line(entrant, at, cell)) is not None)
            for entrant, cells in enumerate(told)
        ),
        away=frozenset(number - 1 for number in away),
    )


def _line(entrant: int, round_: int, cell: str) -> RoundLine | None:
    opponent, colour, letter = int(cell[:-2]), cell[-2], cell[-1]
    if letter == "Z":
        return None
    table = (entrant,) if colour == "-" else (entrant, opponent - 1) if colour == "w" else (opponent - 1, entrant)
    return RoundLine(round_, table, _POINTS[letter], "" if letter in "1=0" else letter)
