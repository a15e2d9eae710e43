"""Exports of a tournament for other programs: tables, one object, moves in short, time."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.games.notation import format_move
from referee.pages.match_summary import summarize_match
from referee.pages.summary import Summary
from referee.pages.tournament_json import VERSION, TournamentReport, report_tournament
from referee.plugins import find_game
from referee.record.reader import read_record

from .reports import page, report, rows
from .tournaments import AT, LATER, Cast, Stage, spec


def test_the_tables_agree_with_the_tournament(cup: Stage) -> None:
    """The standings, both ways of each pair in the crosstable, each seat of a match and each foul agree."""
    table, lines = cup.tournament.table, cup.tournament.standings()
    names = [cup.spec.entrants[line.entrant].name for line in lines]
    assert [(row["place"], row["name"]) for row in rows(cup, "standings")] == [
        (str(line.place), name) for line, name in zip(lines, names, strict=True)
    ]
    crossed = {row["name"]: row for row in rows(cup, "crosstable")}
    for line, name in zip(lines, names, strict=True):
        for other, opponent in zip(lines, names, strict=True):
            versus = table.head_to_head(line.entrant, other.entrant)
            wanted = f"{versus.wins}-{versus.draws}-{versus.losses}" if versus.played else ""
            assert crossed[name][opponent] == wanted
    assert len(rows(cup, "matches")) == sum(len(entry.names) for entry in cup.entries)
    counted = [(entry.match, foul.cause) for entry in cup.entries if entry.void is None for foul in entry.fouls]
    assert [(row["match"], row["cause"]) for row in rows(cup, "fouls")] == counted


def test_no_cell_is_a_formula(hostile_cup: Stage) -> None:
    """A player's text is a text to a spreadsheet, and has no control characters."""
    details = [row["detail"] for row in rows(hostile_cup, "fouls")]
    assert details != []
    assert all(detail.startswith("'=1+1") for detail in details)
    assert "\x1b" not in "".join(details)


def test_the_whole_object_has_spec_and_entries(cup: Stage) -> None:
    """tournament.json has everything that the points follow from: the spec, and all entries in their order."""
    found = json.loads((cup.folder / "tournament.json").read_text(encoding="utf-8"))
    settled = msgspec.to_builtins(cup.spec)
    assert found["version"] == VERSION
    assert is_part(found["spec"], settled)
    assert {"entrants", "seats", "duplicate", "scoring", "tie_breaks", "time"} <= found["spec"].keys()
    assert [entry["fixture"]["match"] for entry in found["entries"]] == [entry.match for entry in cup.entries]
    assert found["state"] == "over"
    assert found["void"] == 1


def test_all_that_happened_beside_matches_is_told(ruled_cup: Stage) -> None:
    """The object has byes with their points, rulings, late entrants, changes, and the runs of the tournament."""
    found = json.loads((ruled_cup.folder / "tournament.json").read_text(encoding="utf-8"))
    played = [entry for entry in ruled_cup.history.played if entry.pairing.is_bye]
    assert [(bye["number"], bye["round"], bye["entrant"], bye["table"], bye["against"]) for bye in found["byes"]] == [
        (entry.pairing.number, entry.pairing.round, *entry.pairing.seats, entry.pairing.table, entry.pairing.against)
        for entry in played
    ]
    for line in found["standings"]:
        met = [pair for pair in found["crosstable"] if pair["entrant"] == line["entrant"]]
        byes = [bye["worth"] for bye in found["byes"] if bye["entrant"] == line["entrant"]]
        assert line["points"] == sum(pair["wins"] + pair["draws"] / 2 for pair in met) + sum(byes)
    assert found["joined"] == [{"entrant": 9, "at": LATER}]
    later = [(each["entrant"], each["at"], each["digest"]) for each in found["versions"] if each["number"] > 1]
    assert later == [(3, LATER, "0" * 64)]
    assert found["disqualified"] == [6]
    assert [(ruling["kind"], ruling["by"], ruling["at"]) for ruling in found["rulings"]] == [
        (kind, "jury", LATER) for kind in ("withdraw", "award", "disqualify")
    ]
    assert (found["begun_at"], found["left_at"]) == ([AT, LATER, LATER], [LATER] * 3)


def test_matches_as_text(cup: Stage) -> None:
    """The text has tags and moves of every match in order; an expulsion follows its move."""
    text = (cup.folder / "matches.txt").read_text(encoding="utf-8")
    assert re.findall(r'\[Match "([^"]*)"\]', text) == [entry.match for entry in cup.entries]
    assert '[Void "the disk is full"]' in text
    assert re.search(r"place:99,99,red-star\? \{seat \d\s+expelled: illegal-move\s+q\.place\.\w+\}", text)
    assert all(len(line) <= 700 for line in text.splitlines())
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("move", "word"),
    [
        ({"action": "pass"}, "pass"),
        ({"action": "place", "tiles": [[0, -1, "red-star"], [2, 3, "b"]]}, "place:0,-1,red-star;2,3,b"),
        ({"action": "leg", "start": [1, 2], "end": [3, 4]}, "leg:1,2;3,4"),
        ({"action": "lay", "row": 1, "column": 2, "tile": "0-1-2-3"}, "lay:1,2,0-1-2-3"),
        ({"action": "lay", "tile": None, "is": True, "at": 1.5}, "lay:null,true,1.5"),
        ({"action": "a b"}, '{"action":"a\\u0020b"}'),
        ({"action": "say", "text": "a;b"}, '{"action":"say","text":"a;b"}'),
        ({"action": "deep", "in": [[[1]]]}, '{"action":"deep","in":[[[1]]]}'),
        ({"action": "map", "in": {}}, '{"action":"map","in":{}}'),
        ([1, "x y"], '[1,"x\\u0020y"]'),
        (None, "null"),
        ("\x1b[2J", '"\\u001b[2J"'),
    ],
)
def test_moves_are_single_words(move: Any, word: str) -> None:
    """Each move is one word: short if it has a short form, else JSON."""
    assert format_move(move) == word
    assert not re.search(r"\s", format_move(move))


def test_too_deep_a_move_is_told_as_such() -> None:
    """A move that is nested too deeply has no text."""
    move: Any = []
    for _ in range(100_000):
        move = [move]
    assert format_move({"action": "x", "y": move}) == "(too-deep)"


@pytest.mark.parametrize("name", ["cup", "ruled_cup", "hostile_cup"])
def test_what_is_read_back_is_what_was_written(name: str, request: pytest.FixtureRequest) -> None:
    """A site sends the whole object; it has no evidence, seeds or paths of programs."""
    stage: Stage = request.getfixturevalue(name)
    whole = (stage.folder / "tournament.json").read_bytes()
    told = json.loads(whole)
    assert json.loads(msgspec.json.encode(msgspec.json.decode(whole, type=TournamentReport))) == told
    assert {foul["match"] for foul in told["fouls"]} <= {entry.match for entry in stage.entries if entry.fouls}
    assert "/srv/" not in json.dumps(told)
    del told["fouls"]  # it has everything that pages show
    assert not set(re.findall(r'"(detail|code|seed|player|options)":', json.dumps(told)))


def is_part(told: Any, whole: Any) -> bool:
    """Return whether a part of the object is in the whole, too, in the same place."""
    if isinstance(told, dict):
        return all(name in whole and is_part(value, whole[name]) for name, value in told.items())
    if isinstance(told, list):
        return len(told) == len(whole) and all(map(is_part, told, whole))
    return bool(told == whole)


def test_no_foul_of_an_unfinished_deal_is_told(tmp_path: Path) -> None:
    """Before the last leg of a deal is over, an illegal move could reveal something about the others' hands."""
    stage = Stage(spec(2, "roundrobin", duplicate=True), tmp_path, Cast(cheats={0: 1, 1: 1}))
    counts = []
    for fixture in list(stage.tournament.fixtures()):
        stage.play_one(fixture)
        counts.append(len(report_tournament(Summary(stage.history, {})).fouls))
    assert counts == [0, 2]


def test_time_is_that_of_the_record(cup: Stage) -> None:
    """The moves of a match, their sum and the longest are those of the record's events."""
    entry = next(entry for entry in cup.entries if entry.turns > 4 and not entry.fouls and entry.void is None)
    digest = summarize_match(read_record(cup.folder / f"{entry.match}.jsonl"), find_game)
    assert sum(time.answers for time in digest.times) == entry.turns == len(digest.moves)
    for time, used_ms in zip(digest.times, entry.used_ms, strict=True):
        assert 0 < time.most_ms <= time.total_ms < used_ms  # the answer to the offer does not count as a move
        assert time.most_share == pytest.approx(time.most_ms / 1000.0)


def test_records_that_are_gone_leave_the_rest(tmp_path: Path) -> None:
    """Without records there is no time, there are no moves and no replays, but there is no error."""
    stage = Stage(spec(4, "roundrobin"), tmp_path, Cast(cheats={0: 1})).play()
    for path in tmp_path.glob("*.jsonl"):
        path.unlink()
    assert report(stage).replays == 0
    assert 'id="time"' not in page(stage)
    assert report_tournament(report(stage).summary).played == 6


def test_two_that_both_fouled_share_the_last_place(tmp_path: Path) -> None:
    """Nobody is first in a match that nobody started."""
    stage = Stage(spec(2, "roundrobin"), tmp_path, Cast(dead=frozenset({0, 1}))).play()
    report(stage)
    assert [(row["place"], row["foul"]) for row in rows(stage, "matches")] == [("2", "crashed")] * 2


def test_a_match_that_a_ruling_voids_has_no_winner_in_the_table(tmp_path: Path) -> None:
    """Its result agrees with the column for the reason."""
    stage = Stage(spec(3, "roundrobin"), tmp_path)
    entry, _ = stage.play_one(next(stage.tournament.fixtures()))
    stage.rule("void", "the wrong program", match=entry.match)
    report(stage.play())
    lines = [(row["void"], row["result"]) for row in rows(stage, "matches") if row["match"] == entry.match]
    assert lines == [("the wrong program", f"{' - '.join(entry.names)}: void")] * 2
