"""A tournament for rating and pairing programs: results as PGN, rounds as FIDE's report file."""

import re
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from referee.pages.exports import games_pgn, tournament_trf
from referee.pages.summary import Summary
from referee.tournament.match_context import Fixture, FoulEntry, MatchEntry
from referee.tournament.points import Scoring

from ..tournament.pairing.trf_files import read_trf
from .reports import report
from .tournaments import Cast, Stage, spec

WORTH: dict[str, tuple[Fraction, Fraction]] = {
    "1-0": (Fraction(1), Fraction(0)),
    "0-1": (Fraction(0), Fraction(1)),
    "1/2-1/2": (Fraction(1, 2),) * 2,
}


def games(text: str) -> list[dict[str, str]]:
    """Return the tags of each game, with its end as `end`."""
    found = []
    for head, body in re.findall(r"((?:\[.*\]\n)+)\n(.*)\n", text):
        tags = dict(re.findall(r'^\[(\w+) "((?:[^"\\]|\\.)*)"\]$', head, re.MULTILINE))
        found.append({**tags, "end": body.rpartition(" ")[2]})
    return found


def test_games_amount_to_what_was_played(cup: Stage) -> None:
    """Each match that counts is a game; the results add up to the standings without byes."""
    found = games((cup.folder / "matches.pgn").read_text(encoding="utf-8"))
    assert len(found) == cup.tournament.played
    assert [game["Result"] for game in found] == [game["end"] for game in found]
    points: defaultdict[str, Fraction] = defaultdict(Fraction)
    for game in found:
        for side, worth in zip(("White", "Black"), WORTH.get(game["Result"], (Fraction(0),) * 2), strict=True):
            points[game[side]] += worth
    for line in cup.tournament.standings():
        assert points[cup.spec.entrants[line.entrant].name] == line.points - line.byes
    assert {game["Site"] for game in found} == {"?"}
    assert all(re.fullmatch(r"\d{4}\.\d\d\.\d\d", game["Date"]) for game in found)


def entry(ranking: tuple[tuple[int, ...], ...], fouls: dict[int, str]) -> MatchEntry:
    """Return the entry of a match with as many seats as are ranked, or two if none is ranked."""
    seats = max(2, sum(map(len, ranking)))
    fixture = Fixture(match="cup-00001", number=1, round=3, table="", leg=0, attempt=0, entrants=tuple(range(seats)))
    return MatchEntry(
        fixture=fixture,
        names=tuple(f'p"{seat}\\' for seat in range(seats)),
        void=None,
        ranking=ranking,
        scores=(0,) * seats,
        fouls=tuple(FoulEntry(seat=seat, cause=cause, turn=1) for seat, cause in fouls.items()),
        reason="q.end}",
        turns=1,
        used_ms=(0.0,) * seats,
        head="",
    )


RESULTS: tuple[tuple[tuple[tuple[int, ...], ...], dict[int, str], list[str], str], ...] = (
    (((0,), (1,)), {}, ["1-0"], "normal"),
    (((1,), (0,)), {}, ["0-1"], "normal"),
    (((0, 1),), {}, ["1/2-1/2"], "normal"),
    (((1,), (0,)), {0: "timeout"}, ["0-1"], "time forfeit"),
    (((0,), (1,)), {1: "illegal-move"}, ["1-0"], "rules infraction"),
    (((0, 1),), {0: "timeout", 1: "crashed"}, ["*"], "rules infraction"),
    ((), {}, ["*"], "normal"),
    (((2,), (0, 1)), {}, ["1/2-1/2", "0-1", "0-1"], "normal"),
    (((2,), (0,), (1,)), {1: "timeout"}, ["1-0", "0-1", "0-1"], "time forfeit"),
)
"""A ranking; seat -> cause; the result of every two seats, in order; the end of the first game."""


@pytest.mark.parametrize(("ranking", "fouls", "results", "ended"), RESULTS)
def test_every_two_seats_have_a_result(
    ranking: tuple[tuple[int, ...], ...], fouls: dict[int, str], results: list[str], ended: str
) -> None:
    """The better placed seat has won. If both fouled, neither has won, and PGN has no word for that."""
    summary = cast(
        "Summary",
        SimpleNamespace(
            results=[entry(ranking, fouls)],
            history=SimpleNamespace(uncounted_reason=lambda _: ""),
            match_summaries={},
            spec=SimpleNamespace(scoring=Scoring()),
        ),
    )
    text = "".join(games_pgn(summary))
    found = games(text)
    assert [game["Result"] for game in found] == results
    assert found[0]["Termination"] == ended
    assert (found[0]["White"], found[0]["Black"], found[0]["Round"]) == ('p\\"0\\\\', 'p\\"1\\\\', "3")
    assert text.count("}") == len(results)


@pytest.mark.parametrize(("form", "size"), [("swiss", 9), ("roundrobin", 7)])
def test_rounds_are_told_as_they_were(form: str, size: int, tmp_path: Path) -> None:
    """Points and opponents in FIDE's file are those of the standings, with byes, walkovers, fouls and a suspension."""
    stage = Stage(spec(size, form), tmp_path, Cast(cheats={1: 2}, dead=frozenset({size - 1}))).play()
    path = report(stage).trf
    assert path is not None
    players = {player.name: player for player in read_trf(path.read_text(encoding="utf-8")).player_sections}
    assert stage.tournament.suspended
    for line in stage.tournament.standings():
        player = players[stage.spec.entrants[line.entrant].name]
        assert player.points_times_ten == 10 * line.points
        met = [result for result in player.results if result.result.is_played()]
        assert len(met) == line.played
        for result in met:
            other = next(found for found in players.values() if found.starting_number == result.id)
            back = other.results[player.results.index(result)]
            assert (back.id, back.result.is_played()) == (player.starting_number, True)
            assert {back.color.value, result.color.value} == {"w", "b"}


@pytest.mark.parametrize("form", ["swiss", "roundrobin"])
def test_a_tournament_that_goes_on_is_told_up_to_its_last_whole_round(form: str, tmp_path: Path) -> None:
    """No program could pair the next round from an incomplete one."""
    stage = Stage(spec(8, form), tmp_path)
    while (fixture := next(stage.tournament.fixtures(), None)) is not None:
        text = tournament_trf(Summary(stage.history, {}))
        assert text is not None
        players = read_trf(text).player_sections
        assert {len(player.results) for player in players} == {fixture.round - 1}
        stage.play_one(fixture)


def test_other_tournaments_have_no_rounds_to_tell(tmp_path: Path) -> None:
    """A knockout and larger tables have no such file; every two seats of a table are a game."""
    stage = Stage(spec(6, seats=3), tmp_path).play()
    written = report(stage)
    assert written.trf is None
    assert not (tmp_path / "tournament.trf").exists()
    assert len(games(written.games.read_text(encoding="utf-8"))) == 3 * stage.tournament.played
    assert report(Stage(spec(4, "knockout"), tmp_path / "knockout").play()).trf is None


@pytest.mark.parametrize("form", ["swiss", "roundrobin"])
def test_an_award_without_a_match_is_a_forfeit(form: str, tmp_path: Path) -> None:
    """The two have not met. An award that replaces a played match leaves it a game."""
    stage = Stage(spec(4, form, tie_breaks=()), tmp_path)
    awarded, played = list(stage.tournament.fixtures())[:2]
    stage.rule("award", "ill", match=awarded.match, entrant=stage.spec.entrants[awarded.entrants[1]].name)
    stage.play_one(played)
    stage.rule("award", "cheated", match=played.match, entrant=stage.spec.entrants[played.entrants[0]].name)
    text = tournament_trf(Summary(stage.play().history, {}))
    assert text is not None
    players = {player.name: player.results[0] for player in read_trf(text).player_sections}
    names = [stage.spec.entrants[entrant].name for fixture in (awarded, played) for entrant in fixture.entrants]
    assert [players[name].result.value for name in names] == ["-", "+", "1", "0"]
    assert [players[name].color.value for name in names] == ["w", "b", "w", "b"]
