"""A second computation of the standings of a tournament of two seats, only from the lines of its record.

Written from docs/organisers/formats.md, and for the tie-breaks from FIDE's Handbook, C.07, articles 6 to 9, 14 and 16.
It imports nothing of the referee, and is slow and plain: every value is found by walking through all results again.

`python -m tests.naive.standings RECORD...` compares them with what stands at the end of each record.
"""

import json
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

HALF = Fraction(1, 2)
BUCHHOLZ = ("buchholz-cut-1", "buchholz", "sonneborn-berger", "direct-encounter", "wins")
"""The tie-breaks that this program knows; it ignores others."""


class Game(NamedTuple):
    """The result of a match."""

    round: int
    entrants: tuple[int, ...]
    points: tuple[Fraction, ...]


class Bye(NamedTuple):
    """A round without an opponent."""

    round: int
    entrant: int
    points: Fraction
    is_late: bool
    """Whether the round was before the entrant joined."""


@dataclass
class PlayedRounds:
    """Everything in a record from which standings follow."""

    spec: dict[str, Any]
    names: list[str]
    games: dict[int, Game] = field(default_factory=dict)
    """Results that count, by the number of the pairing."""
    byes: list[Bye] = field(default_factory=list)
    voids: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    """Number -> round and entrants of a match that a ruling made void."""
    paired: int = 0
    """The last paired round."""
    back: dict[int, int] = field(default_factory=dict)
    """Entrant that returned -> the last round that was paired by then."""
    fixtures: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Number -> a pairing that is or was due."""
    gone: set[int] = field(default_factory=set)
    disqualified: set[int] = field(default_factory=set)

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        games, voids = (game.round for game in self.games.values()), (number for number, _ in self.voids.values())
        return max([*games, *voids, *(bye.round for bye in self.byes)], default=0)


def read(lines: list[dict[str, Any]]) -> PlayedRounds:
    """Return what the lines of a record tell."""
    spec = lines[0]["spec"]
    assert spec["seats"] == 2
    assert not spec["duplicate"]
    assert not spec["scoring"]["by_rank"]
    course = PlayedRounds(spec, [entrant["name"] for entrant in spec["entrants"]])
    for line in lines[1:]:
        if line["kind"] == "tournament-step":
            take(course, line["event"], line["commands"])
    return course


def take(course: PlayedRounds, event: dict[str, Any], commands: list[dict[str, Any]]) -> None:
    """Take a line into the course."""
    if event["event"] == "entrant-joined":
        course.names.append(event["participant"]["name"])
    elif event["event"] == "round-paired":
        course.paired = event["round"]
    elif event["event"] == "ruled":
        rule(course, event["ruling"])
    for command in commands:
        if command["command"] == "play-match":
            course.fixtures[command["fixture"]["number"]] = command["fixture"]
        elif command["command"] == "give-bye":
            give_bye(course, command)
        elif command["command"] == "suspend-entrant":
            course.gone.add(command["entrant"])
    if event["event"] == "match-closed":
        close(course, event["entry"], commands)


def rule(course: PlayedRounds, ruling: dict[str, Any]) -> None:
    """Take a ruling; the commands say that an entrant plays no more."""
    kind, name = ruling["kind"], ruling["entrant"]
    who = -1 if name is None else course.names.index(name)
    if kind == "disqualify":
        course.disqualified.add(who)
    elif kind == "reinstate":
        course.gone.discard(who)
        course.disqualified.discard(who)
        course.back[who] = course.paired
    elif kind in ("void", "replay", "award"):
        number = int(ruling["match"].removeprefix(course.spec["name"] + "-")[:5])
        course.games.pop(number, None)
        course.voids.pop(number, None)
        if kind == "void":
            fixture = course.fixtures[number]
            course.voids[number] = fixture["round"], tuple(fixture["entrants"])
        if kind == "award":
            fixture = course.fixtures[number]
            points = tuple(Fraction(entrant == who) for entrant in fixture["entrants"])
            course.games[number] = Game(fixture["round"], tuple(fixture["entrants"]), points)


def give_bye(course: PlayedRounds, command: dict[str, Any]) -> None:
    """Take a bye, worth a win, or as much as the spec says."""
    scoring, is_late = course.spec["scoring"], command["table"] == "late"
    worth = scoring["late_bye"] if is_late else 1 if scoring["bye"] is None else scoring["bye"]
    course.byes.append(Bye(command["round"], command["entrant"], Fraction(str(worth)), is_late))


def close(course: PlayedRounds, entry: dict[str, Any], commands: list[dict[str, Any]]) -> None:
    """Take the result of a match, unless it does not count."""
    fixture = entry["fixture"]
    is_disregarded = {"command": "disregard-match", "match": fixture["match"]}.items()
    if entry["void"] is not None or any(is_disregarded <= command.items() for command in commands):
        return
    fouled = {foul["seat"] for foul in entry["fouls"]}
    first = set(entry["ranking"][0])
    points = [Fraction(0)] * 2
    for seat in (0, 1):
        if seat not in fouled:
            points[seat] = HALF if first == {0, 1} and not fouled else Fraction(seat in first or 1 - seat in fouled)
    course.games[fixture["number"]] = Game(fixture["round"], tuple(fixture["entrants"]), tuple(points))


# --- points


def games_of(course: PlayedRounds, who: int) -> list[tuple[int, Fraction, int]]:
    """Return opponent, points and round of each match of an entrant."""
    found = []
    for game in course.games.values():
        if who in game.entrants:
            seat = game.entrants.index(who)
            found.append((game.entrants[1 - seat], game.points[seat], game.round))
    return found


def byes_of(course: PlayedRounds, who: int) -> list[Bye]:
    """Return the byes of an entrant."""
    return [bye for bye in course.byes if bye.entrant == who]


def points_of(course: PlayedRounds, who: int) -> Fraction:
    """Return all points of an entrant."""
    games = sum((points for _, points, _ in games_of(course, who)), Fraction(0))
    return games + sum((bye.points for bye in byes_of(course, who)), Fraction(0))


def voids_of(course: PlayedRounds, who: int) -> list[int]:
    """Return the rounds of an entrant's void matches."""
    return [number for number, entrants in course.voids.values() if who in entrants]


def rounds_of(course: PlayedRounds, who: int) -> list[int]:
    """Return the rounds in which an entrant had a match or a bye."""
    had = [number for _, _, number in games_of(course, who)] + [bye.round for bye in byes_of(course, who)]
    return had + voids_of(course, who)


def missed_before(course: PlayedRounds, who: int) -> int:
    """Return how many rounds an entrant missed before it came back."""
    return len(set(range(1, course.back.get(who, 0) + 1)) - set(rounds_of(course, who)))


def missed(course: PlayedRounds, who: int) -> int:
    """Return the number of rounds after a withdrawn entrant's last one."""
    if who not in course.gone:
        return 0
    own = rounds_of(course, who)
    return course.rounds - max([*own, min(course.back.get(who, 0), course.rounds)], default=0)


def for_others(course: PlayedRounds, who: int) -> Fraction:
    """Return an entrant's points for its opponents' tie-breaks: missed rounds count as draws (16.3.2)."""
    return points_of(course, who) + HALF * missed(course, who)


def virtual(course: PlayedRounds, who: int) -> Fraction:
    """Return the points of the virtual opponent of a round that was not played (16.4)."""
    return min(points_of(course, who), HALF * course.rounds)


# --- tie-breaks


def contributions(course: PlayedRounds, who: int) -> list[Fraction]:
    """Return what each round adds to Buchholz."""
    real = [for_others(course, opponent) for opponent, _, _ in games_of(course, who)]
    unplayed = len(byes_of(course, who)) + len(voids_of(course, who)) + missed(course, who) + missed_before(course, who)
    return real + [virtual(course, who)] * unplayed


def buchholz(course: PlayedRounds, who: int, _tied: list[int]) -> Fraction:
    """Return the points of all opponents (8.1)."""
    return sum(contributions(course, who), Fraction(0))


def buchholz_cut_1(course: PlayedRounds, who: int, _tied: list[int]) -> Fraction:
    """Return the same without a round that was missed by choice, or else without the smallest one (14.1, 16.5)."""
    left = sorted(contributions(course, who))
    if missed(course, who) or missed_before(course, who) or any(bye.is_late for bye in byes_of(course, who)):
        left.remove(virtual(course, who))
    return sum(left[1:] if len(left) == len(contributions(course, who)) else left, Fraction(0))


def sonneborn_berger(course: PlayedRounds, who: int, _tied: list[int]) -> Fraction:
    """Return the points of each opponent, times the result against it (9.1)."""
    real = sum((points * for_others(course, opponent) for opponent, points, _ in games_of(course, who)), Fraction(0))
    return real + sum((bye.points * virtual(course, who) for bye in byes_of(course, who)), Fraction(0))


def direct_encounter(course: PlayedRounds, who: int, tied: list[int]) -> Fraction:
    """Return the number of tied entrants that one is surely ahead of, whatever missing matches would bring (6)."""
    sure, met = {}, {}
    for somebody in tied:
        among = [(opponent, points) for opponent, points, _ in games_of(course, somebody) if opponent in tied]
        sure[somebody] = sum((points for _, points in among), Fraction(0))
        met[somebody] = [opponent for opponent, _ in among]
    most = max(met[somebody].count(other) for somebody in tied for other in tied)
    could = {somebody: sure[somebody] + most * (len(tied) - 1) - len(met[somebody]) for somebody in tied}
    ahead_of = 0
    for least in {sure[somebody] for somebody in tied if sure[somebody] <= sure[who]}:
        rest = [somebody for somebody in tied if sure[somebody] < least]
        if rest and least > max(could[somebody] for somebody in rest):
            ahead_of = max(ahead_of, len(rest))
    return Fraction(ahead_of)


def wins(course: PlayedRounds, who: int, _tied: list[int]) -> Fraction:
    """Return the number of matches won, without byes."""
    return Fraction(sum(points == 1 for _, points, _ in games_of(course, who)))


VALUES = dict(
    zip(BUCHHOLZ, (buchholz_cut_1, buchholz, sonneborn_berger, direct_encounter, wins), strict=True),
)


# --- standings


def standings(course: PlayedRounds) -> list[dict[str, Any]]:
    """Return a line for each entrant, from first to last, in the form of the record."""
    values: dict[int, dict[str, float]] = {who: {} for who in range(len(course.names))}
    groups = parts(list(values), {who: points_of(course, who) for who in values})
    for name in course.spec["tie_breaks"]:
        finer = []
        for group in groups:
            found = {who: VALUES[name](course, who, group) for who in group}
            for who in group:
                values[who][name] = float(found[who])
            finer += parts(group, found)
        groups = finer
    out = [[who for who in group if who in course.disqualified] for group in groups]
    if any(out):
        groups = [[who for who in group if who not in course.disqualified] for group in groups]
        groups.append([who for group in out for who in group])
    lines: list[dict[str, Any]] = []
    for group in groups:
        place = len(lines) + 1
        lines += [line_of(course, who, place, values[who]) for who in group]
    return lines


def parts(group: list[int], values: dict[int, Fraction]) -> list[list[int]]:
    """Divide entrants by a value, the greatest first."""
    levels = sorted({values[who] for who in group}, reverse=True)
    return [sorted(who for who in group if values[who] == level) for level in levels]


def line_of(course: PlayedRounds, who: int, place: int, values: dict[str, float]) -> dict[str, Any]:
    """Return an entrant's line."""
    return {
        "place": place,
        "entrant": who,
        "points": float(points_of(course, who)),
        "tie_breaks": values,
        "played": len(games_of(course, who)),
        "byes": len(byes_of(course, who)),
        "has_withdrawn": who in course.gone,
    }


def differences(record: Path) -> list[str]:
    """Return the differences between the standings at the end of a record and those of this program."""
    lines = [json.loads(line) for line in record.read_bytes().splitlines()]
    ends = [command for line in lines for command in line.get("commands", ()) if command["command"] == "end-tournament"]
    told, found = ends[-1]["standings"], standings(read(lines))
    assert len(told) == len(found)
    return [f"the record has {one}; found {other}" for one, other in zip(told, found, strict=True) if one != other]


if __name__ == "__main__":
    wrong = [f"{path}: {text}" for path in sys.argv[1:] for text in differences(Path(path))]
    print("\n".join(wrong) or f"{len(sys.argv) - 1} the same")
    sys.exit(bool(wrong))
