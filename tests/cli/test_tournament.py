"""`referee tournament` and `referee compare` as an organiser runs them: with real programs, stopped and resumed."""

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.cli.commands.new import make_player
from referee.net.links.tokens import add_tokens
from referee.programs.build import content_hash
from referee.record.tournament_record import read_start, read_tournament, record_path
from referee.tournament import events as e

from ..benchmarks import kills
from ..net.tournaments.playing import play_remotely
from ..ports import free_port
from .calling import referee

CRASHES = "import sys; sys.exit('no such module')"
SMALL = """\
game = "quincy"
entrants = ["house:random", "house:random", "house:random"]
tables = 3
seed = 4
sandbox = "off"

[format]
name = "roundrobin"
"""
RESULTS = 3
THREE = 'entrants = ["house:random", "house:random", "house:random"]'
IN_ALL = 'entrants_from = "."'


def entries(folder: Path, name: str) -> list[Any]:
    """Return the entries of a tournament's matches in its record, as plain values."""
    steps = read_tournament(record_path(folder / "logs" / name, name)).transitions
    closed = [step.event.entry for step in steps if isinstance(step.event, e.MatchClosed)]
    return [{**msgspec.to_builtins(entry), "match": entry.match} for entry in closed]


def events(stdout: str) -> list[Any]:
    """Return the JSON objects of a run."""
    return [json.loads(line) for line in stdout.splitlines()]


def named(told: Iterable[Any], event: str) -> list[Any]:
    """Return the events of a name."""
    return [item for item in told if item.get("event") == event]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a folder with the file of a small tournament."""
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path


def test_a_tournament_leaves_records_report_and_database(small: Path) -> None:
    """One command plays it; the records pass the audit, and the database has every match once."""
    done = referee("tournament", "small.toml", cwd=small)
    assert "small is over: 3 matches" in done.stdout + done.stderr
    folder = small / "logs" / "small"
    records = [f"small-0000{item}.jsonl" for item in (2, 4, 6)]
    assert sorted(path.name for path in folder.glob("*.jsonl")) == [*records, "small.jsonl"]
    assert (folder / "report.html").exists()
    referee("audit", "logs/small", cwd=small)
    found = entries(small, "small")
    assert len({entry["match"] for entry in found}) == len(found) == RESULTS
    with closing(sqlite3.connect(folder / "tournament.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM results").fetchall() == [(RESULTS,)]


def test_a_tournament_that_is_over_is_not_played_again(small: Path) -> None:
    """The same command says how it ended, and opens nothing."""
    referee("tournament", "small.toml", cwd=small)
    records = {path: path.read_bytes() for path in (small / "logs" / "small").glob("*.jsonl")}
    done = referee("tournament", "small.toml", "--json", cwd=small)
    assert named(events(done.stdout), "match-opened") == []
    assert {path: path.read_bytes() for path in (small / "logs" / "small").glob("*.jsonl")} == records


def test_another_tournament_of_the_same_name_is_refused(small: Path) -> None:
    """A changed file can't continue the tournament; the error says what differs and what to do."""
    referee("tournament", "small.toml", cwd=small)
    (small / "small.toml").write_text(SMALL.replace("seed = 4", "seed = 5").replace("tables = 3", "tables = 1"))
    done = referee("tournament", "small.toml", cwd=small, status=2, is_stopped_early=True)
    said = " ".join(done.stderr.replace("│", " ").split())
    assert "seed was 4, is 5; change that back to go on with it, or give the new tournament a name of its own" in said
    assert "tables" not in said


def test_who_comes_late_to_a_round_robin_does_not_join(small: Path) -> None:
    """In a format that nobody can join, a program that is handed in later gets a message, and nothing is written."""
    make_player("python-socket", small / "one")
    make_player("python-socket", small / "two")
    (small / "small.toml").write_text(
        SMALL.replace('entrants = ["house:random", "house:random", "house:random"]', IN_ALL)
    )
    referee("tournament", "small.toml", cwd=small)
    make_player("python-socket", small / "zoe")
    records = {path: path.read_bytes() for path in (small / "logs" / "small").glob("*.jsonl")}
    done = referee("tournament", "small.toml", "--json", cwd=small)
    assert "zoe does not join: nobody can join a tournament of the format roundrobin that has begun" in done.stdout
    assert {path: path.read_bytes() for path in (small / "logs" / "small").glob("*.jsonl")} == records
    assert {name for entry in entries(small, "small") for name in entry["names"]} == {"one", "two"}


def test_a_file_is_only_read_with_check(small: Path) -> None:
    """--check says what the file means, and plays nothing."""
    done = referee("tournament", "small.toml", "--check", cwd=small)
    assert (done.returncode, (small / "logs").exists()) == (0, False)
    assert "roundrobin" in done.stdout
    done = referee("tournament", "small.toml", "--check", "--json", cwd=small)
    assert json.loads(done.stdout)["extent"]["fewest"] == RESULTS


@pytest.mark.parametrize("key", ["run", "build"])
def test_check_tells_of_a_command_that_is_not_there(small: Path, key: str) -> None:
    """The command is looked up, not run; a file that a build will make need not exist yet."""
    (small / "ada").mkdir()
    toml = 'name = "ada"\n' + ('run = "./nosuch"\n' if key == "run" else 'run = "./made"\nbuild = "nosuch"\n')
    (small / "ada" / "player.toml").write_text(toml)
    (small / "small.toml").write_text(SMALL.replace(THREE, 'entrants = ["house:random", "ada"]'))
    done = referee("tournament", "small.toml", "--check", cwd=small, status=1, is_stopped_early=True)
    command = "./nosuch" if key == "run" else "nosuch"
    assert done.stderr == f"ada: can't start {command}: No such file or directory\n"
    (small / "ada" / "player.toml").write_text(toml.replace('"./nosuch"', '"true"').replace('"nosuch"', '"true"'))
    referee("tournament", "small.toml", "--check", cwd=small, is_stopped_early=True)


def test_a_program_that_does_not_start_is_suspended(tmp_path: Path) -> None:
    """After as many matches as the file says, it plays no more; the others win by default and play on."""
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "player.toml").write_text(f'name = "broken"\nrun = """{sys.executable} -c "{CRASHES}" """\n')
    text = SMALL.replace('"house:random", "house:random", "house:random"', '"house:random", "house:random", "broken"')
    text += "cycles = 3\n[scoring]\ndefault_margin = 4\n"
    (tmp_path / "t.toml").write_text("suspend_after = 2\n" + text)
    done = referee("tournament", "t.toml", "--json", cwd=tmp_path)
    told = events(done.stdout)
    (suspended,) = named(told, "entrant-suspended")
    assert (suspended["name"], "failed to start in 2 matches" in suspended["why"]) == ("broken", True)
    defaults = [entry for entry in entries(tmp_path, "t") if entry["fouls"]]
    assert {(entry["reason"], sum(entry["scores"])) for entry in defaults} == {("default", 4)}
    fouls = [foul for entry in defaults for foul in entry["fouls"]]
    assert {foul["cause"] for foul in fouls} <= {"refused-to-start", "crashed", "disconnected"}
    assert 2 <= len(fouls) <= 3  # one match may have been going on
    assert len(entries(tmp_path, "t")) - len(fouls) == 3  # matches of the other two against each other


def test_a_failed_build_does_not_stop_the_others(tmp_path: Path) -> None:
    """An entrant that can't be built misses its matches; the reason is in the verdict, and on the screen."""
    folder = tmp_path / "unbuilt"
    folder.mkdir()
    (folder / "player.toml").write_text('name = "unbuilt"\nrun = "true"\nbuild = "false"\n')
    text = SMALL.replace('"house:random", "house:random", "house:random"', '"house:random", "unbuilt"')
    (tmp_path / "t.toml").write_text(text)
    seen = seen_on_a_terminal("tournament", "t.toml", cwd=tmp_path)
    (entry,) = entries(tmp_path, "t")
    assert [(foul["cause"], "its build failed" in foul["detail"]) for foul in entry["fouls"]] == [
        ("refused-to-start", True)
    ]
    assert f"{entry['match']} unbuilt expelled: refused-to-start" in seen


def seen_on_a_terminal(*arguments: str, cwd: Path) -> str:
    """Run a command at a terminal, and return its output there, without colours."""
    master, slave = pty.openpty()
    with os.fdopen(master, "rb", buffering=0) as terminal:
        command = [sys.executable, "-m", "referee", *arguments]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160", "LINES": "40"}
        with subprocess.Popen(command, cwd=cwd, stdout=slave, stderr=slave, env=environment) as process:
            os.close(slave)
            shown = b""
            with suppress(OSError):  # the end of a terminal that nobody writes to any more
                while part := terminal.read(65536):
                    shown += part
        assert process.returncode == 0, shown
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())


def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(small: Path) -> None:
    """Open matches are paused, nobody is blamed, and nothing is played twice."""
    command = [sys.executable, "-m", "referee", "tournament", "small.toml", "--json"]
    with subprocess.Popen(command, cwd=small, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("event") == "match-closed":
                break
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1, stderr
    assert "stopped; no player is at fault, and `referee tournament small.toml` continues the tournament" in stderr
    referee("tournament", "small.toml", "--json", cwd=small)
    found = entries(small, "small")
    assert len({entry["match"] for entry in found}) == len(found) == RESULTS
    assert [entry["fouls"] for entry in found] == [()] * RESULTS


@pytest.mark.needs("gcc", "make")
def test_a_killed_referee_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Killed at random instants and started again, a tournament ends as the undisturbed one with the same seeds.

    Its programs keep running between matches; those of the undisturbed one are started again for each match.
    """
    arguments = ["--matches", "10", "--kills", "3", "--seed", "5", "--programs", "kept"]
    assert kills.main(arguments) == 0, capsys.readouterr().out


def test_a_trial_names_the_entrants_that_fail(tmp_path: Path) -> None:
    """Each is started once and plays three turns; no record is begun, and the command says how to see more."""
    for name, script in (("bob", CRASHES), ("cyd", "raise KeyError('tile')")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "player.py").write_text(script)
        (folder / "player.toml").write_text(f'name = "{name}"\nrun = "python3 player.py"\n')
    text = SMALL.replace(THREE, 'entrants = ["house:greedy", "bob", "cyd"]')
    (tmp_path / "small.toml").write_text(text)
    done = referee("tournament", "small.toml", "--try", cwd=tmp_path, status=1)
    assert done.stdout.splitlines() == [
        "plays   greedy",
        "FAILED  bob  the program ended before it connected: exit status 1: no such module",
        "FAILED  cyd  it crashed before it connected: KeyError: 'tile' (player.py:1)",
        "2 of 3 entrants failed",
        f"To see all about one of them:  referee check {tmp_path / 'bob'} --game quincy",
    ]
    assert read_start(tmp_path / "logs" / "small") is None
    whole = json.loads(referee("tournament", "small.toml", "--try", "--json", cwd=tmp_path, status=1).stdout)
    assert (whole["version"], whole["tournament"], whole["failing"]) == (1, "small", 2)
    assert [entrant["trouble"] is None for entrant in whole["entrants"]] == [True, False, False]
    (tmp_path / "small.toml").write_text(SMALL)
    assert "3 entrants: none failed" in referee("tournament", "small.toml", "--try", cwd=tmp_path).stdout


@contextmanager
def without_room(folder: Path, text: str = SMALL) -> Iterator[str]:
    """Run the small tournament on a disk with too little room until it says so; stop it at the end."""
    (folder / "small.toml").write_text("min_free_mib = 1e12\n" + text)
    command = [sys.executable, "-m", "referee", "tournament", "small.toml", "--json"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield next(line for line in process.stdout if "no match is begun" in line)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
    assert process.returncode == 1


def test_a_full_disk_is_told_before_anything_is_lost(small: Path) -> None:
    """While the disk has less room than required, no match begins, and a message says so."""
    with without_room(small) as told:
        assert "the tournament goes on by itself" in told
    assert [path.name for path in (small / "logs" / "small").glob("*.jsonl")] == ["small.jsonl"]


def test_a_program_that_changes_in_between_is_told(small: Path) -> None:
    """An entrant with a changed program is named once, in the notes and in the report; a build is no change."""
    make_player("python-socket", small / "ada")
    (small / "ada" / "notes").write_text("good")
    with (small / "ada" / "player.toml").open("a") as manifest:
        manifest.write('build = "cp notes made"\n')
    text = SMALL.replace(THREE, 'entrants = ["house:random", "ada"]')
    (small / "small.toml").write_text(text)
    with without_room(small, text):
        pass
    begun = read_start(small / "logs" / "small")
    assert begun is not None
    assert (begun.programs, begun.changed) == ({"ada": content_hash(small / "ada")}, {})
    (small / "ada" / "notes").write_text("better")
    (small / "small.toml").write_text(text)
    told = events(referee("tournament", "small.toml", "--json", cwd=small).stdout)
    warnings = [item["text"] for item in named(told, "noted") if "changed" in item["text"]]
    assert warnings == ["ada has changed: from now on, another program plays its matches"]
    assert (small / "ada" / "made").read_text() == "better"
    assert told[-1]["changed"].keys() == {"ada"}
    assert "Changed programs" in (small / "logs" / "small" / "report.html").read_text()
    referee("audit", "logs/small", cwd=small)


def test_two_referees_do_not_run_one_tournament(small: Path) -> None:
    """A folder belongs to one referee at a time."""
    with without_room(small):
        done = referee("tournament", "small.toml", cwd=small, status=1, is_stopped_early=True)
    assert "another referee runs the tournament" in " ".join(done.stderr.split())
    assert "wait until it is over" in " ".join(done.stderr.split())


REMOTE = """\
game = "q"
seats = 2
tables = 2
seed = 9
sandbox = "off"

[format]
name = "roundrobin"
cycles = 1

[remote]
listen = "tcp:{port}:interface=127.0.0.1"
tokens = "players.toml"
show_up = {show_up}

[[entrants]]
player = "house:dag"

[[entrants]]
name = "ada"
player = "remote"

[[entrants]]
name = "bob"
player = "remote"
"""


def test_remote_entrants_play_match_after_match(tmp_path: Path) -> None:
    """They connect with their tokens, and stay connected from one match to the next."""
    port = free_port()
    given = add_tokens(tmp_path / "players.toml", ["ada", "bob"], may_renew=False)
    (tmp_path / "t.toml").write_text(REMOTE.format(port=port, show_up=60))
    threads = [threading.Thread(target=play_remotely, args=(port, token), daemon=True) for token in given.values()]
    for thread in threads:
        thread.start()
    referee("tournament", "t.toml", "--json", cwd=tmp_path)
    found = entries(tmp_path, "t")
    assert [entry["fouls"] for entry in found] == [()] * RESULTS
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


def test_who_does_not_show_up_holds_nobody_up(tmp_path: Path) -> None:
    """A remote entrant that never connects misses its matches; the others play theirs."""
    port = free_port()
    add_tokens(tmp_path / "players.toml", ["ada", "bob"], may_renew=False)
    (tmp_path / "t.toml").write_text("suspend_after = 1\n" + REMOTE.format(port=port, show_up=0.2))
    done = referee("tournament", "t.toml", "--json", cwd=tmp_path)
    assert {item["name"] for item in named(events(done.stdout), "entrant-suspended")} == {"ada", "bob"}


def test_compare_tells_the_better_one(tmp_path: Path) -> None:
    """Greedy against random is decided after a few pairs, and the same command continues a comparison."""
    players = ("house:random", "house:greedy", "--game", "quincy", "--elo1", "400", "--seed", "3")
    done = referee("compare", *players, "--tables", "2", "--sandbox", "off", "--json", cwd=tmp_path)
    told = events(done.stdout)[-1]
    assert (told["verdict"], told["b"]) == ("better", "greedy")
    again = referee("compare", *players, "--tables", "2", "--sandbox", "off", cwd=tmp_path)
    assert "greedy is better than random: " in again.stdout
