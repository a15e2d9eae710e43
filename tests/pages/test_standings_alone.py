"""Standings follow from tournament.json alone: adding up its results gives its points."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from random import Random
from typing import Any

import msgspec
import pytest

from referee.pages.exports import games_pgn, matches_csv
from referee.pages.summary import Summary
from referee.pages.tournament_json import report_tournament
from referee.tournament import events as e
from referee.tournament.history import History
from referee.tournament.pairing.base import BadRuling
from referee.tournament.points import Scoring
from referee.tournament.rulings import Ruling

from ..tournament.playing import AT, FORMATS, Troubles, ask_anything, events_of, spec_of, tournament_of

TEAMS = Scoring(teams=((0, 2), (1, 3)))
ODD = Scoring(bye=0.5, late_bye=0.25)
KINDS = [
    *((name, 2, Scoring(), False) for name in sorted(FORMATS)),
    *((name, 4, Scoring(), False) for name in sorted(FORMATS) if 4 in FORMATS[name].seats),
    *((name, 4, TEAMS, False) for name in sorted(FORMATS) if 4 in FORMATS[name].seats),
    ("swiss", 2, ODD, False),
    ("roundrobin", 2, Scoring(), True),
    ("swiss", 3, Scoring(), True),
]
"""Format, seats, scoring, and whether every deal is played from every seat."""


def played(kind: tuple[str, int, Scoring, bool], seed: int) -> Summary:
    """Play a tournament in which any request may come at any moment."""
    name, seats, scoring, is_duplicate = kind
    options = {"ladder": {"matches": 60}, "swiss": {"rounds": 4}}.get(name, {})
    spec = spec_of(9, name, seats, scoring=scoring, duplicate=is_duplicate, format_options=options)
    history, random = History(tournament_of(spec)), Random(seed)
    history.take(e.Begun(at=AT))
    for step, event in enumerate(events_of(history.tournament, random, troubles=Troubles(void=0.1, failed=0.1))):
        history.take(event)
        if random.random() < 0.15 and step < 200:
            try:
                history.take(ask_anything(history.tournament, random, step))
            except BadRuling:
                continue
    return Summary(history, {})


def add_up(told: Any) -> dict[int, Fraction]:
    """Return all points from results and byes; this is a second implementation of the manual's rules."""
    teams = told["spec"]["scoring"]["teams"]
    points: defaultdict[int, Fraction] = defaultdict(Fraction)
    for bye in told["byes"]:
        points[bye["entrant"]] += Fraction(bye["worth"]).limit_denominator(1000)
    counted = sorted(
        (entry for entry in told["entries"] if entry["counts"]), key=lambda entry: entry["fixture"]["number"]
    )
    for _, group in groupby(counted, key=lambda entry: entry["fixture"]["number"]):
        legs = list(group)
        shares = [leg_points(leg, teams) for leg in legs]
        sums = {entrant: sum((share[entrant] for share in shares), Fraction(0)) for entrant in shares[0]}
        if len(legs) > 1:
            out = set.intersection(
                *({leg["fixture"]["entrants"][foul["seat"]] for foul in leg["fouls"]} for leg in legs)
            )
            values = {entrant: (entrant not in out, worth) for entrant, worth in sums.items()}
            sums = {entrant: Fraction(0) if entrant in out else beaten(values, entrant) for entrant in sums}
        for entrant, worth in sums.items():
            points[entrant] += worth
    return points


def leg_points(entry: Any, teams: Sequence[Sequence[int]]) -> Mapping[int, Fraction]:
    """Return the share of beaten opponents in a match, by entrant."""
    entrants, fouls = entry["fixture"]["entrants"], {foul["seat"] for foul in entry["fouls"]}
    place = {seat: -at for at, group in enumerate(entry["ranking"]) for seat in group}
    sides = teams or [[seat] for seat in range(len(entrants))]
    values = {
        at: max((seat not in fouls, seat not in fouls and place[seat]) for seat in side)
        for at, side in enumerate(sides)
    }
    return {
        entrants[seat]: Fraction(0) if seat in fouls else beaten(values, at)
        for at, side in enumerate(sides)
        for seat in side
    }


def beaten(values: Mapping[int, Any], one: int) -> Fraction:
    """Return the share of the other entrants that one is better than; an equal entrant counts half."""
    others = [value for other, value in values.items() if other != one]
    won = sum(Fraction(values[one] > value) + Fraction(values[one] == value, 2) for value in others)
    return Fraction(won) / len(others)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_standings_follow_from_what_is_told(kind: tuple[str, int, Scoring, bool], seed: int) -> None:
    """The tournaments have byes, late byes, awards, void matches, withdrawals, and other rulings."""
    summary = played(kind, seed)
    told = json.loads(msgspec.json.encode(report_tournament(summary)))
    points = add_up(told)
    assert {line["entrant"]: line["points"] for line in told["standings"]} == pytest.approx(
        {line["entrant"]: float(points[line["entrant"]]) for line in told["standings"]}
    )


def test_an_award_of_a_match_that_was_never_played_is_told_everywhere() -> None:
    """Every export has its opponent, round and result; it does not count as a played match."""
    history = History(tournament_of(spec_of(4)))
    history.take(e.Begun(at=AT))
    fixture = next(history.tournament.fixtures())
    winner, loser = (f"e{entrant}" for entrant in fixture.entrants)
    ruling = Ruling(id="1", kind="award", match=fixture.match, entrant=winner, reason="ill", by="jury")
    history.take(e.Ruled(at=AT, ruling=ruling))
    for event in events_of(history.tournament, Random(1)):
        history.take(event)
    summary = Summary(history, {})
    told = report_tournament(summary)
    first, *others = told.entries
    assert (first.fixture.entrants, first.fixture.round) == (fixture.entrants, fixture.round)
    assert (first.reason, first.counts, first.result) == (
        "award",
        True,
        f"{winner} beat {loser} (by a ruling); 0 : 0",
    )
    assert (len(others), told.played) == (5, 5)
    lines = [line for line in matches_csv(summary).splitlines() if line.startswith(fixture.match)]
    assert [(f",{name}," in line, ",award," in line) for name, line in zip((winner, loser), lines, strict=True)] == [
        (True, True)
    ] * 2
    game = next(games_pgn(summary))
    assert f'[White "{winner}"]' in game
    assert '[Result "1-0"]' in game
    assert '[Termination "adjudication"]' in game
    ruled = replace_ruling(ruling, "2", "void")
    history.take(e.Ruled(at=AT, ruling=ruled))
    assert [entry.is_ruled for entry in history.results] == [False] * 5


def replace_ruling(ruling: Ruling, id_: str, kind: Any) -> Ruling:
    """Return a ruling of another kind on the same match."""
    return Ruling(id=id_, kind=kind, match=ruling.match, reason=ruling.reason, by=ruling.by)
