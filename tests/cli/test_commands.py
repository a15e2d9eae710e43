"""The commands as a user runs them: their output, their files, and their exit status."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rich_click as click
from click.testing import CliRunner

from referee.cli.main import Commands

from .calling import played, referee

PLAYER = """
import sys
from protocol.client import run
run(lambda view: {MOVE})
"""
THINKER = """
import time
from protocol.client import run

def choose(view):
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        pass
    return {"action": "pass"}

run(choose)
"""
PASS = {"action": "pass"}


@pytest.fixture
def one_match(tmp_path: Path) -> Path:
    """Return the path of the record of a match just played."""
    found = played(referee("play", "q", "house:dag", "house:greedy", "--seed", "7", "--json", cwd=tmp_path))
    return tmp_path / str(found["record"])


def test_play_shows_the_match_to_a_person(tmp_path: Path) -> None:
    """Progress goes to stderr; board, ranking and the record's path to stdout."""
    done = referee("play", "q", "house:dag", "house:ldasg", "house:greedy", "house:random", "--seed", "7", cwd=tmp_path)
    assert "turn 1: dag" in done.stderr
    for word in ("winner", "greedy", "rank", "record: logs/"):
        assert word in done.stdout


def test_the_same_seed_plays_the_same_match(tmp_path: Path) -> None:
    """Moves, scores and ranking of two runs with one seed agree; another seed gives another match."""
    players = ("house:dag", "house:ldasg", "house:greedy", "house:random")
    first, second, other = (
        played(referee("play", "q", *players, "--seed", seed, "--json", cwd=tmp_path)) for seed in ("7", "7", "8")
    )
    for key in ("winners", "ranking", "scores", "turns"):
        assert first["result"][key] == second["result"][key]
    assert first["moves"] == second["moves"]
    assert first["moves"] != other["moves"]


@pytest.mark.forges
def test_every_record_audits(one_match: Path) -> None:
    """The record of `play` holds; the same record with one changed digit does not, and the line is named."""
    report = played(referee("audit", "logs", "--json", cwd=one_match.parent.parent))
    assert report["version"] == 1
    assert (report["broken"], report["records"][0]["holds"], report["records"][0]["state"]) == (0, True, "sealed")
    lines = one_match.read_text().splitlines()
    lines[5] = lines[5].replace('"at_ms":', '"at_ms":1', 1)
    one_match.write_text("\n".join(lines) + "\n")
    done = referee("audit", str(one_match), cwd=one_match.parent.parent, status=1)
    assert "BROKEN" in done.stdout
    assert "expected" in done.stdout


def test_replay_shows_every_turn(one_match: Path) -> None:
    """A replay has the turns and the result of the match; one turn can be picked."""
    whole = referee("replay", str(one_match), cwd=one_match.parent)
    assert "turn 1: seat 0, dag" in whole.stdout
    assert "winner" in whole.stdout
    third = referee("replay", str(one_match), "--turn", "3", cwd=one_match.parent)
    assert "turn 3" in third.stdout
    assert "turn 4" not in third.stdout
    plain = played(referee("replay", str(one_match), "--json", cwd=one_match.parent))
    assert len(plain["turns"]) == plain["result"]["turns"]


def test_replay_beyond_the_end(one_match: Path) -> None:
    """A turn that the match does not have is a usage error."""
    done = referee("replay", str(one_match), "--turn", "999", cwd=one_match.parent, status=2)
    assert "no turn 999" in " ".join(done.stderr.split())


def test_list_names_games_players_and_formats(tmp_path: Path) -> None:
    """The overview has all games, players and formats, with the options of each."""
    done = played(referee("list", "--json", cwd=tmp_path))
    assert {game["name"] for game in done["games"]} == {"q", "quincy", "quincala", "quadominos"}
    assert {player["name"] for player in done["house_players"]} >= {"random", "dag", "ldasg", "greedy"}
    assert {form["name"]: form["options"] for form in done["formats"]}["swiss"].keys() >= {"rounds", "pairing_program"}
    shown = referee("list", cwd=tmp_path).stdout
    assert "house:greedy" in shown
    assert "Double elimination" in shown
    rules = referee("list", "q", cwd=tmp_path).stdout
    assert "q.fit.row" in rules
    assert "docs/games/q.md" in rules


def test_list_prints_the_schema_of_a_game(tmp_path: Path) -> None:
    """It describes the form of views and moves for programs in any language."""
    schema = json.loads(referee("list", "q", "--schema", cwd=tmp_path).stdout)
    assert {"view", "move", "options", "$defs"} == schema.keys()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("play", "chess", "house:dag", "house:dag"), "there is no game 'chess'; there are: q"),
        (("play", "q", "house:dag"), "q takes 2 to 4 players, not 1"),
        (("play", "quincy", *["house:dag"] * 3), "quincy takes 2 or 4 players, not 3"),
        (("play", "quincy", "house:dag", "python3", "a.py"), "is one player: write cmd:'python3 a.py'"),
        (("serve", "quincy", "--min", "3"), "quincy takes 2 or 4 players, not 3"),
        (("play", "q", *["house:dag"] * 5), "not 5"),
        (("play", "q", "house:dagg", "house:dag"), "there is no house player 'dagg'; did you mean"),
        (("play", "q", "my_playr", "house:dag"), "there is no folder 'my_playr'"),
        (("play", "q", "cmd:", "house:dag"), "cmd: needs a command"),
        (("play", "q", "house:dag", "house:dag", "--option", "q_bonus"), "--option takes NAME=VALUE"),
        (("play", "q", "house:dag", "house:dag", "--time", "0"), "--time"),
        (
            ("play", "q", "house:dag", "house:dag", "--time", "nan"),
            "takes a number of seconds from 0.001 to 86400, not nan",
        ),
        (("serve", "q", "--wait", "inf"), "--wait"),
        (("play", "q", "house:dag", "house:dag", "--increment", "1"), "--increment adds to a bank"),
        (("compare", "house:dag", "house:dag", "--game", "q", "--increment", "1"), "--increment adds to a bank"),
        (("compare", "house:dag", "house:dag", "--game", "q", "--lot"), "No such option '--lot'"),
        (("serve", "q", "--min", "1"), "q takes 2 to 4 players, not 1"),
        (("audit", "nowhere"), "there is no file or folder nowhere"),
        (("audit", ".", "--head", "abc"), "--head takes the 64 hex digits"),
        (("serve", "q", "--min", "5"), "q takes 2 to 4 players, not 5"),
        (("serve", "q", "--min", "4", "--max", "3"), "--min 4 is more than --max 3"),
        (("play", "--resume", "nowhere.jsonl"), "there is no record nowhere.jsonl"),
        (("list", "swis"), "there is no game or pairing format 'swis'; did you mean \"swiss\"?"),
        (("list", "dag"), "house:dag is a house player"),
        (("list", "swiss", "--schema"), "--schema needs a game; swiss is a pairing format"),
        (("replay", "."), "replay takes one record; in the folder . there is none"),
        (("audit", "."), "there is no record (*.jsonl) in ."),
        (("replay", "nowhere"), "there is no record nowhere"),
        (("list", "--schema"), "--schema needs a game"),
        (("dance",), "there is no command 'dance'; `referee help` lists them all"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    """A usage error ends with status 2 and a sentence that says what is wrong, never with a traceback."""
    assert complaint in complaints(referee(*arguments, cwd=tmp_path, status=2, is_stopped_early=True))


def test_a_program_that_does_not_start_is_no_wrong_use(tmp_path: Path) -> None:
    """The command was right, so the error shows no usage."""
    done = referee("play", "q", "cmd:no-such-program", "house:dag", cwd=tmp_path, status=1)
    assert "can't start no-such-program" in complaints(done)
    assert "Usage" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ("play", "q", "house:dag", "house:dag", "--option", "qbonus=3"),
            'there is no option "qbonus"; did you mean "q_bonus"',
        ),
        (("play", "q", "house:dag", "house:dag", "--option", "q_bonus=-1"), "options of q"),
        (("serve", "q", "--listen", "tcp:99999"), "'tcp:99999' is no endpoint"),
        (("serve", "q", "--listen", "nonsense:7"), "'nonsense:7' is no endpoint"),
    ],
)
def test_mistakes_that_are_found_later_are_named(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    """Errors that only a match or a port can show are printed in the same way."""
    assert complaint in complaints(referee(*arguments, cwd=tmp_path, status=2))


def complaints(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the stderr of a command, on one line."""
    return " ".join(done.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    "command", ["play", "serve", "audit", "explain", "fairness", "replay", "manifest", "key", "token", "list", "doctor"]
)
def test_help_has_an_example(tmp_path: Path, command: str) -> None:
    """Every command's help has an example."""
    assert f"Example: referee {command}" in " ".join(referee(command, "--help", cwd=tmp_path).stdout.split())


def test_a_player_of_ones_own(disk_path: Path) -> None:
    """A script that uses the client plays against a house player, from a folder and from a command line."""
    script = PLAYER.replace("{MOVE}", repr(PASS))
    folder = disk_path / "mine"
    folder.mkdir()
    (folder / "player.py").write_text(script)
    (folder / "player.toml").write_text(f'name = "mine"\nrun = "{sys.executable} player.py"\ngames = ["q"]\n')
    command = f"cmd:{sys.executable} mine/player.py"
    found = played(referee("play", "q", "mine", command, "--json", cwd=disk_path))
    assert (found["names"], found["result"]["fouls"]) == (["mine", "player2"], [])
    for words in (disk_path / "logs").glob("*.stderr"):
        assert "the referee kept its commitment; last head" in words.read_text()
    assert len(list((disk_path / "logs").glob("*.stderr"))) == len(found["names"])


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("raise SystemExit(3)", "crashed"),
        (PLAYER.replace("{MOVE}", "sys.exit(4)"), "crashed"),
        (PLAYER.replace("{MOVE}", "1"), "malformed-message"),
        (PLAYER.replace("{MOVE}", "{'action': 'place', 'tiles': []}"), "illegal-move"),
        (PLAYER.replace("{MOVE}", "__import__('threading').Event().wait()"), "timeout"),
    ],
)
def test_a_foul_is_its_authors_only(tmp_path: Path, script: str, cause: str) -> None:
    """A program that fails is expelled for its foul; the house player plays on and wins; the record holds."""
    (tmp_path / "bad.py").write_text(script)
    arguments = ("play", "q", f"cmd:{sys.executable} bad.py", "house:dag", "--time", "2", "--json")
    found = played(referee(*arguments, cwd=tmp_path))
    assert [(0, cause)] == [(foul["seat"], foul["cause"]) for foul in found["result"]["fouls"]]
    assert found["result"]["winners"] == [1]
    referee("audit", "logs", cwd=tmp_path)


def test_a_bank_runs_out(tmp_path: Path) -> None:
    """A player is expelled when its bank is empty, even if no move took longer than its limit."""
    (tmp_path / "slow.py").write_text(THINKER)
    arguments = (
        "play",
        "q",
        f"cmd:{sys.executable} slow.py",
        "house:dag",
        "--time",
        "5",
        "--bank",
        "0.3",
        "--seed",
        "7",
        "--json",
    )
    (foul,) = played(referee(*arguments, cwd=tmp_path))["result"]["fouls"]
    assert (foul["seat"], foul["cause"]) == (0, "timeout")
    assert "no complete answer within" in foul["detail"]
    referee("audit", "logs", cwd=tmp_path)


def test_the_last_words_of_a_crashed_program_are_kept(tmp_path: Path) -> None:
    """Its output is in a file next to the record, and in the explanation for its author."""
    (tmp_path / "bad.py").write_text("raise RuntimeError('no idea')")
    referee("play", "q", f"cmd:{sys.executable} bad.py", "house:dag", cwd=tmp_path)
    (words,) = (tmp_path / "logs").glob("*.seat0.player1.stderr")
    assert "RuntimeError: no idea" in words.read_text()
    (record,) = (tmp_path / "logs").glob("*.jsonl")
    name = str(record.relative_to(tmp_path))
    told = referee("explain", name, "0", cwd=tmp_path).stdout
    assert f"its program printed last (logs/{words.name}):" in told
    assert "\n  RuntimeError: no idea\n" in told
    printed = played(referee("explain", name, "0", "--json", cwd=tmp_path))["printed"]
    assert (printed["path"], printed["lines"][-1]) == (f"logs/{words.name}", "RuntimeError: no idea")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_the_match_where_it_is(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end the programs and leave a record from which the match goes on; nobody is blamed."""
    slow = PLAYER.replace("{MOVE}", "print('thinking') or __import__('signal').pause()")
    (tmp_path / "slow.py").write_text(slow)
    players = ("house:dag", f"cmd:{sys.executable} -u slow.py")
    command = [sys.executable, "-m", "referee", "play", "q", *players, "--seed", "7", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        _wait_for_text(tmp_path / "logs", "*.seat1.player2.stderr", "thinking")
        running.send_signal(number)
        _, said = running.communicate(timeout=30)
    assert running.returncode == 1
    (record,) = (tmp_path / "logs").glob("*.jsonl")
    assert f"--resume {record.relative_to(tmp_path)}" in " ".join(said.split())
    (tmp_path / "slow.py").write_text(PLAYER.replace("{MOVE}", "{'action': 'pass'}"))
    referee("play", "--resume", str(record), cwd=tmp_path)
    referee("audit", "logs", cwd=tmp_path)


def _wait_for_text(folder: Path, pattern: str, text: str) -> None:
    """Wait until a file of a folder contains a text."""
    give_up = time.monotonic() + 60
    while not any(text in path.read_text() for path in folder.glob(pattern)):
        assert time.monotonic() < give_up, f"no {text!r} in {pattern}"
        os.sched_yield()


def test_serve_takes_sign_ups(tmp_path: Path) -> None:
    """Programs that connect by themselves are seated in order and play."""
    command = [sys.executable, "-m", "referee", "serve", "q", "--listen", "tcp:0:interface=127.0.0.1", "--max", "2"]
    with subprocess.Popen(
        [*command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        address = server.stderr.readline().split()[-1]
        (tmp_path / "player.py").write_text(PLAYER.replace("{MOVE}", repr(PASS)))
        environment = {"REFEREE_ADDRESS": address, "PYTHONPATH": str(Path(__file__).parents[2])}
        players = [
            subprocess.Popen([sys.executable, "player.py"], cwd=tmp_path, env={**environment, "REFEREE_NAME": name})
            for name in ("ada", "bob")
        ]
        out, _ = server.communicate(timeout=60)
        assert [player.wait(timeout=30) for player in players] == [0, 0]
    assert server.returncode == 0
    assert "ada" in out
    assert "bob" in out


def test_serve_without_players(tmp_path: Path) -> None:
    """If too few come, no match is played, and the exit status says so."""
    arguments = ("serve", "q", "--listen", "tcp:0:interface=127.0.0.1", "--wait", "0.05", "--tries", "2", "--json")
    done = referee(*arguments, cwd=tmp_path, status=1)
    assert played(done)["match"] is None
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("tournament", "cup.toml"),
        ("tournament", "cup.toml", "--json"),
        ("compare", "house:random", "house:greedy", "--game", "q", "--logs", "way/logs", "--sandbox", "off"),
        ("check", "bob", "--only", "7", "--logs", "way/logs", "--sandbox", "off"),
        ("play", "q", "house:random", "bob", "--logs", "way/logs", "--sandbox", "off"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """In every command, a sentence says what the machine refused, for example because of a file in the way."""
    (tmp_path / "way").write_text("")
    (tmp_path / "cup.toml").write_text(
        'game = "q"\nentrants = ["house:dag", "house:random"]\nformat = "roundrobin"\nlogs = "way/logs"\n'
    )
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "player.toml").write_text('name = "bob"\nrun = "false"\nbuild = "true"\n')
    done = referee(*arguments, cwd=tmp_path, status=2, is_stopped_early=True)
    told = " ".join((done.stdout + done.stderr).replace("│", "").split())
    assert "can't" in told
    assert "way/logs" in told.replace(" ", "")
    assert "Not a directory" in told


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("tournament", "autmn.toml"), "there is no file autmn.toml; did you mean autumn.toml?"),
        (("report", "autum"), "there is no folder autum; did you mean autumn.toml?"),
        (("audit", "lgos"), "there is no file or folder lgos; did you mean logs?"),
        (("fairness", "lgos"), "there is no file or folder lgos; did you mean logs?"),
        (("replay", "logs/mach.json"), "there is no record logs/mach.json; did you mean logs/match.json?"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_the_path_that_was_meant_is_named(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    """A misspelt path is a usage error, and similar names next to it are listed."""
    (tmp_path / "autumn.toml").write_text("")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "match.json").write_text("")
    done = referee(*arguments, cwd=tmp_path, status=2, is_stopped_early=True)
    assert complaint in " ".join(done.stderr.replace("│", "").split())


def test_a_refusal_without_a_path_is_told() -> None:
    """If the machine does not say which path it refused, only its reason is printed."""

    @click.group(cls=Commands, invoke_without_command=True)
    def failing() -> None:
        """Run into the machine's limits."""
        raise OSError(errno.ENOSPC, "No space left on device")

    done = CliRunner().invoke(failing)
    assert done.exit_code == 1
    assert "the operating system refused: No space left on device" in done.output


def test_a_pairing_format_is_listed(tmp_path: Path) -> None:
    """Its options are listed as a tournament's file has them."""
    shown = referee("list", "ladder", cwd=tmp_path).stdout
    assert shown.startswith("Ladder (ladder), ")
    assert "at_once = 4" in shown
    assert "certainty, not set" in shown
    assert json.loads(referee("list", "ladder", "--json", cwd=tmp_path).stdout)["name"] == "ladder"


@pytest.mark.parametrize("command", ["play", "serve", "compare"])
@pytest.mark.parametrize("seed", ["-5", "9223372036854775808"])
def test_a_seed_that_is_none_is_refused(tmp_path: Path, command: str, seed: str) -> None:
    """This holds for every command that takes a seed."""
    done = referee(command, "q", "house:dag", "house:dag", "--seed", seed, cwd=tmp_path, status=2)
    assert "--seed" in done.stderr


def test_play_says_who_beat_whom(tmp_path: Path) -> None:
    """The result is in one line, followed by the points; a draw has no winner."""
    said = set()
    for seed in range(8):
        done = referee("play", "quincy", "house:random", "house:random", "--seed", str(seed), cwd=tmp_path)
        (line,) = (line for line in done.stdout.splitlines() if re.search(r"(beat random\d|: draw); \d+ : \d+$", line))
        assert ("winner" in done.stdout) == ("draw" not in line)
        said.add("draw" in line)
    assert False in said
