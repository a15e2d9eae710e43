"""`referee rule` and `referee join-tournament`: requests, refusals, and their effect on the next run."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.app.tournaments.from_file import read_plan
from referee.app.tournaments.requests import FOLDER
from referee.cli.commands.new import make_player
from referee.plugins import find_format
from referee.record.key import VARIABLE, load_or_make
from referee.record.tournament_record import read_tournament, record_path, refold
from referee.tournament import events as e
from referee.tournament.history import History, new_tournament

from .. import warm
from ..record.tournaments import Organiser
from .calling import referee

CUP = """\
game = "quincy"
entrants = ["house:random", "house:random", "house:random", "house:random"]
tables = 2
sandbox = "off"
{more}
[format]
name = "swiss"
rounds = 3
"""
LADDER = CUP.replace('"swiss"\nrounds = 3', '"ladder"\nmatches = 6')
FIRST = "cup-00001"


def begun(folder: Path, text: str = CUP, most: int | None = None, more: str = "") -> Path:
    """Write the file of a tournament, play some of its matches or all, and return the folder of its records."""
    (folder / "cup.toml").write_text(text.format(more=more))
    plan = read_plan(folder / "cup.toml")
    sealer, _ = load_or_make(Path(os.environ[VARIABLE]))
    with Organiser(plan.run_settings.folder, plan.spec, Random(3), sealer=sealer) as organiser:
        organiser.play(most)
        if most is None:
            organiser.finish()
    return plan.run_settings.folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a Swiss that is over."""
    folder = tmp_path_factory.mktemp("played")
    begun(folder)
    return folder


@pytest.fixture
def over(played: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder."""
    return Path(shutil.copytree(played, tmp_path, dirs_exist_ok=True))


def rule(folder: Path, *arguments: str, status: int = 0) -> str:
    """Rule on the cup, and return the output."""
    done = referee("rule", "logs/cup", *arguments, "--reason", "so decided", "--by", "Ada", cwd=folder, status=status)
    return said(done)


def said(done: "subprocess.CompletedProcess[str]") -> str:
    """Return a command's output without frames and line ends."""
    return " ".join((done.stdout + done.stderr).replace("│", " ").split())


def run(folder: Path, status: int = 0) -> list[Any]:
    """Run the cup, or go on with it, and return the output."""
    done = referee("tournament", "cup.toml", "--json", cwd=folder, status=status)
    return [json.loads(line) for line in done.stdout.splitlines()]


def notes(told: list[Any]) -> list[str]:
    """Return the notes in the output."""
    return [item["text"] for item in told if item.get("event") == "noted"]


def history(folder: Path) -> History:
    """Return the cup from its record, whether the referee stopped normally or not."""
    record = read_tournament(record_path(folder / "logs" / "cup", "cup"))
    found = History(new_tournament(record.header.spec, find_format(record.header.spec.format), record.header.salt))
    for _ in refold(record, found.take):
        pass
    return found


def events(folder: Path, kind: type[e.TournamentEvent]) -> list[Any]:
    """Return the events of a kind."""
    steps = read_tournament(record_path(folder / "logs" / "cup", "cup")).transitions
    return [step.event for step in steps if isinstance(step.event, kind)]


def requests(folder: Path) -> list[str]:
    """Return the endings of the files of requests."""
    return [path.suffix for path in sorted((folder / "logs" / "cup" / FOLDER).iterdir())]


def points(folder: Path) -> dict[str, float]:
    """Return everybody's points."""
    tournament = history(folder).tournament
    return {tournament.spec.entrants[line.entrant].name: line.points for line in tournament.standings()}


# --- rulings on a tournament that nobody runs


def test_a_withdrawal_is_carried_out_by_the_next_run_and_undone_by_another_ruling(over: Path) -> None:
    """The request waits in a file. The record has who decided what and why, and nothing is removed from it."""
    assert "the ruling was handed in; no referee runs cup now: run `referee tournament`" in rule(
        over, "withdraw", "random1"
    )
    assert (requests(over), history(over).tournament.suspended) == ([".json"], {})
    assert "Ada ruled: withdraw random1: so decided" in notes(run(over))
    tournament = history(over).tournament
    assert (requests(over), [tournament.suspended[0].why]) == ([], ["so decided"])
    rule(over, "reinstate", "random1")
    run(over)
    assert (requests(over), history(over).tournament.suspended) == ([], {})
    assert [(event.ruling.kind, event.ruling.by) for event in events(over, e.Ruled)] == [
        ("withdraw", "Ada"),
        ("reinstate", "Ada"),
    ]
    referee("audit", "logs/cup", cwd=over)


def test_who_is_disqualified_comes_last(over: Path) -> None:
    """The entrant's points do not matter; the report says so."""
    best = history(over).tournament
    name = best.spec.entrants[best.standings()[0].entrant].name
    rule(over, "disqualify", name)
    (told,) = [item for item in run(over) if "standings" in item and "event" not in item]
    assert told["standings"][-1]["name"] == name


def test_a_match_is_awarded_and_voided(over: Path) -> None:
    """Its points go to the winner of the award, or to nobody; its record stays."""
    entry = next(entry for entry in history(over).entries if entry.match == FIRST)
    before, loser = points(over), entry.names[entry.ranking[-1][0]]
    rule(over, "award", FIRST, "--to", loser)
    told = notes(run(over))
    assert f"Ada ruled: award {FIRST} {loser}: so decided" in told
    assert f"{FIRST} does not count: so decided" in told
    assert points(over)[loser] > before[loser]
    assert (over / "logs" / "cup" / f"{FIRST}.jsonl").exists()
    rule(over, "void", FIRST)
    run(over)
    assert sum(points(over).values()) == sum(before.values()) - 1
    referee("audit", "logs/cup", cwd=over)


def test_a_match_is_played_again(over: Path) -> None:
    """A finished tournament goes on for it, with the same players, and is finished again."""
    before = history(over)
    rule(over, "replay", FIRST)
    told = run(over)
    assert [item["match"] for item in told if item.get("event") == "match-opened"] == [f"{FIRST}r1"]
    after = history(over)
    assert (after.tournament.is_over, after.tournament.played) == (True, before.tournament.played)
    assert after.disregarded[FIRST] == "so decided"
    assert len(after.entries) == len(before.entries) + 1
    referee("audit", "logs/cup", cwd=over)


def test_a_ruling_is_handed_in_as_json(over: Path) -> None:
    """The object has the tournament, the request's file, and whether a referee is running it."""
    words = ("rule", "logs/cup", "withdraw", "random1", "--reason", "so decided", "--json")
    told = json.loads(referee(*words, cwd=over).stdout)
    (path,) = (over / "logs" / "cup" / FOLDER).iterdir()
    assert told == {"version": 1, "tournament": "cup", "request": f"logs/cup/{FOLDER}/{path.name}", "is_running": False}


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "nobody": (("withdraw", "ada"), "nobody in cup is called ada"),
    "plays": (("reinstate", "random1"), "random1 takes part: there is nothing to reinstate"),
    "no match": (("void", "cup-00099"), "cup has no match cup-00099 to rule on: it is not paired yet"),
    "another's match": (("void", "m-1"), "m-1 is no match of cup: its matches are called like cup-00001"),
    "to nobody": (("award", FIRST), "award needs --to: the entrant that the match is awarded to"),
    "to a stranger": (("award", FIRST, "--to", "ada"), "nobody in cup is called ada"),
    "void for somebody": (("void", FIRST, "--to", "random1"), "--to goes with award, not with void"),
    "withdrawn for somebody": (("withdraw", "random1", "--to", "random2"), "--to goes with award, not with withdraw"),
    "no reason": (("withdraw", "random1", "--reason", " "), "--reason takes one line of 1 to 500 characters"),
    "a story": (("withdraw", "random1", "--reason", "so " * 200), "--reason takes one line of 1 to 500 characters"),
    "two lines": (("withdraw", "random1", "--reason", "so\nlong"), "--reason takes one line"),
    "no text": (("withdraw", "random1", "--reason", "\udcff"), "--reason takes one line"),
    "by nobody": (("withdraw", "random1", "--by", ""), "--by takes one line of 1 to 100 characters"),
    "no kind": (("fine", "random1"), "freeze or lift, not fine"),
    "what is over": (("stop",), "cup is over: there is nothing to stop"),
    "freezing what is over": (("freeze",), "cup is over: there is nothing to freeze"),
    "lifting no freeze": (("lift",), "the standings of cup are not frozen"),
    "an entrant to stop": (("stop", "random1"), "stop is about the whole tournament: name nothing"),
    "nobody named": (("withdraw",), "withdraw is about one entrant or match: name it"),
}


@pytest.mark.parametrize(("arguments", "why"), REFUSED.values(), ids=REFUSED)
def test_a_ruling_that_makes_no_sense_is_refused_at_once(over: Path, arguments: tuple[str, ...], why: str) -> None:
    """The status is 2, the reason is printed, and no request is left."""
    words = ("rule", "logs/cup", "--reason", "so decided", *arguments)
    assert why in said(referee(*words, cwd=over, status=2))
    assert not (over / "logs" / "cup" / FOLDER).exists()


def test_a_match_is_awarded_to_one_of_its_players_alone(over: Path) -> None:
    entry = next(entry for entry in history(over).entries if entry.match == FIRST)
    other = next(entrant.name for entrant in history(over).tournament.spec.entrants if entrant.name not in entry.names)
    assert f"{other} does not play {FIRST}" in rule(over, "award", FIRST, "--to", other, status=2)


@pytest.mark.parametrize(
    "command", [("rule", "{}", "withdraw", "ada", "--reason", "so"), ("join-tournament", "{}", ".")]
)
@pytest.mark.parametrize(("where", "why"), [("logs/cap", "logs/cap"), (".", "holds no tournament")])
def test_a_folder_without_the_tournament_is_named(over: Path, command: tuple[str, ...], where: str, why: str) -> None:
    """Examples are a misspelt folder, and the one above it."""
    assert why in said(referee(*(word.format(where) for word in command), cwd=over, status=2))


# --- what may go wrong with requests


def test_garbage_among_the_requests_is_put_aside_and_told(over: Path) -> None:
    """The other requests are carried out."""
    rule(over, "withdraw", "random1")
    folder = over / "logs" / "cup" / FOLDER
    for name, text in (("a", "nonsense"), ("b", "{}"), ("c", '{"ruling":{"id":"0","kind":"fine"}}')):
        (folder / f"{name}.json").write_text(text)
    told = notes(run(over))
    assert sum("is no request: " in text and "the file was renamed" in text for text in told) == 3
    assert (requests(over), list(history(over).tournament.suspended)) == ([".refused"] * 3, [0])
    assert run(over)[0].get("event") != "tournament-begun"


def test_a_request_is_carried_out_once_though_the_referee_was_killed(over: Path) -> None:
    """If it is killed after the line in the record, before removing the file, the next run only removes it."""
    rule(over, "replay", FIRST)
    (path,) = (over / "logs" / "cup" / FOLDER).iterdir()
    request = path.read_bytes()
    run(over)
    path.write_bytes(request)
    assert [item for item in run(over) if item.get("event") == "match-opened"] == []
    assert (requests(over), len(events(over, e.Ruled))) == ([], 1)


def test_a_ruling_that_no_longer_makes_sense_is_told(over: Path) -> None:
    """Two rulings are requested before the tournament runs; the second one comes too late."""
    rule(over, "withdraw", "random1")
    rule(over, "withdraw", "random1")
    told = notes(run(over))
    why = "the ruling withdraw random1 was not carried out: random1 plays no more already: so decided"
    assert why in told
    assert (requests(over), len(events(over, e.Ruled))) == ([], 1)


# --- a tournament that is being run


@contextmanager
def running(folder: Path) -> Iterator[Iterator[Any]]:
    """Run the cup on a full disk, where no match can begin, and yield its output, until it is stopped."""
    command = [warm.program(), "tournament", "cup.toml", "--json"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = map(json.loads, process.stdout)
            next(item for item in told if "no match is begun" in item.get("text", ""))
            yield told
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
    assert process.returncode == 1


def test_the_referee_that_runs_a_tournament_takes_requests_in(tmp_path: Path) -> None:
    """While it waits for room on the disk, it takes a ruling and a late entrant, without another referee."""
    begun(tmp_path, most=2, more="min_free_mib = 1e12")
    with running(tmp_path) as told:
        words = "the ruling was handed in; the referee that runs cup carries it out within a second"
        assert rule(tmp_path, "withdraw", "random4") == words
        next(item for item in told if "Ada ruled: withdraw random4" in item.get("text", ""))
        done = referee("join-tournament", "logs/cup", "house:random", "--name", "late", "--json", cwd=tmp_path)
        assert json.loads(done.stdout)["is_running"]
        next(item for item in told if item.get("text") == "late has joined")
    tournament = history(tmp_path).tournament
    assert (requests(tmp_path), list(tournament.suspended), tournament.spec.entrants[4].name) == ([], [3], "late")


# --- joining


def join(folder: Path, *arguments: str, status: int = 0) -> str:
    """Ask to join the cup, and return the output."""
    return said(referee("join-tournament", "logs/cup", *arguments, cwd=folder, status=status))


def test_who_joins_a_swiss_gets_late_byes_and_plays_the_rounds_that_are_left(tmp_path: Path) -> None:
    """The file sets the points of late byes. The entrant need not be in the file, and a killed referee adds it once."""
    begun(tmp_path, most=2, more="[scoring]\nlate_bye = 0.25\n")
    assert "the entrant was handed in; no referee runs cup now" in join(tmp_path, "house:random", "--name", "late")
    (path,) = (tmp_path / "logs" / "cup" / FOLDER).iterdir()
    request = path.read_bytes()
    told = run(tmp_path)
    assert "late has joined" in notes(told)
    assert any("late" in item["names"] for item in told if item.get("event") == "match-opened")
    found = history(tmp_path)
    late = [played for played in found.played if played.pairing.seats == (4,) and played.pairing.table == "late"]
    assert [played.pairing.round for played in late] == [1]
    assert found.points_by_round()[1][4] == 0.25
    path.write_bytes(request)
    told = run(tmp_path)
    assert not any("late" in text for text in notes(told))
    assert (requests(tmp_path), len(events(tmp_path, e.EntrantJoined))) == ([], 1)
    referee("audit", "logs/cup", cwd=tmp_path)


def test_who_joins_a_ladder_plays_in_it(tmp_path: Path) -> None:
    """A match with a new entrant tells most, because the least is known of it."""
    begun(tmp_path, LADDER, most=2)
    join(tmp_path, "house:random", "--name", "late")
    told = run(tmp_path)
    assert any("late" in item["names"] for item in told if item.get("event") == "match-closed")
    assert "late" in points(tmp_path)
    referee("audit", "logs/cup", cwd=tmp_path)


@pytest.mark.parametrize(
    ("text", "more", "is_requested"),
    [(CUP, "", True), (LADDER, "", True), (CUP, 'programs = "kept"', False), (LADDER, "", False)],
)
def test_an_entrant_that_joins_has_one_version(tmp_path: Path, text: str, more: str, *, is_requested: bool) -> None:
    """Its program is the one it joined with. It changes only with its folder, also when the referee resumes."""
    (tmp_path / "players").mkdir()
    (tmp_path / "elsewhere").mkdir()
    for name in ("one", "two", "three", "four"):
        make_player("python-socket", tmp_path / "players" / name)
    names = 'entrants = ["house:random", "house:random", "house:random", "house:random"]'
    text = text.replace(names, 'entrants_from = "players"')
    begun(tmp_path, text, most=2, more=more)
    late = tmp_path / ("elsewhere" if is_requested else "players") / "late"
    make_player("python-socket", late)
    if is_requested:
        join(tmp_path, str(late))
    told = run(tmp_path)
    assert "late has joined" in notes(told)
    assert not any("changed" in note for note in notes(told))
    assert events(tmp_path, e.ProgramChanged) == []
    (joined,) = events(tmp_path, e.EntrantJoined)
    assert any("late" in item["names"] for item in told if item.get("event") == "match-opened")
    assert joined.digest is not None
    report = json.loads((tmp_path / "logs" / "cup" / "tournament.json").read_text())
    assert [version["number"] for version in report["versions"]] == [1] * 5


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("house:random", "--name", "random1"), "random1 takes part already"),
        (("house:random",), "nobody can join a Swiss whose last round is paired"),
        (("remote",), "a remote entrant needs a token"),
        (("house:nobody",), "there is no house player"),
        (("house:random", "--name", "a b"), "a b is no name: 1 to 20"),
        (("nowhere",), "nowhere"),
    ],
)
def test_who_can_not_join_is_told_why(over: Path, arguments: tuple[str, ...], why: str) -> None:
    """The status is 2, and no request is left."""
    assert why in join(over, *arguments, status=2)
    assert not (over / "logs" / "cup" / FOLDER).exists()
