"""A referee that is killed in mid-match leaves a valid beginning of a record, from which the match goes on."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.match.events import MatchResumed, MoveReceived
from referee.plugins import load
from referee.record.audit.match import audit
from referee.record.reader import RecordError

from .. import warm
from ..peers import q_assassin
from .calling import played, referee

SEED = "2"
"""Seed of a deal that is played in 69 turns."""
FREE = ("--sandbox", "off")
"""A program in a sandbox does not see its referee, and can't kill it."""
MATCHES, KILLS = 12, 5
"""Number of matches, and of kills in each: more than fifty instants, spread over a match."""
MOST_TURNS = 10
"""Most turns of the assassin from one kill to the next; it has 34 in that match."""
LONGEST_US = 4000.0
"""Longest delay of a kill: longer than a turn takes, so kills hit every stage of a turn."""


def played_until_killed(folder: Path, mark: Path, *instants: tuple[int, float]) -> Path:
    """Play until the referee is killed, or to the end if the kill comes too late; return the record."""
    when = " ".join(f"{turn} {delay_us}" for turn, delay_us in instants)
    assassin = f"cmd:{sys.executable} {q_assassin.__file__} {mark} {when}"
    killed("q", assassin, "house:ldasg", "--seed", SEED, "--logs", str(folder), *FREE)
    (record,) = folder.glob("*.jsonl")
    return record


def killed(*arguments: str) -> None:
    """Run `play` until its referee is killed, or to its end."""
    done = warm.run(["play", *arguments])
    assert done.returncode in (0, -signal.SIGKILL), done.stderr


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the match without a kill, as `play --json` prints it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return played(referee("play", "q", "house:dag", "house:ldasg", "--seed", SEED, "--json", cwd=folder))


@pytest.mark.parametrize("number", range(MATCHES))
def test_a_killed_referee_leaves_a_valid_beginning_and_goes_on(tmp_path: Path, undisturbed: Any, number: int) -> None:
    """Wherever it crashed, the resumed match has the moves, the scores and the ranking of the undisturbed one."""
    random, mark, games = Random(number), tmp_path / "killed", load().game
    instants = [(random.randint(1, MOST_TURNS), random.uniform(0, LONGEST_US)) for _ in range(KILLS)]
    record = played_until_killed(tmp_path / "logs", mark, *instants)
    while (before := audit(record, games, is_strict=False)).state == "unfinished":
        with pytest.raises(RecordError, match="a result and its seal"):
            audit(record, games)
        killed("--resume", str(record), *FREE)
        after = audit(record, games, is_strict=False)
        assert after.header == before.header
        assert after.transitions[: len(before.transitions)] == before.transitions
        assert (
            len(after.transitions) > len(before.transitions) or after.result is not None
        )  # it was killed after the last move
    whole = audit(record, games)
    assert mark.exists()
    assert whole.result is not None
    assert [step.event.move for step in whole.transitions if isinstance(step.event, MoveReceived)] == [
        move["move"] for move in undisturbed["moves"]
    ]
    found = whole.result.result
    ranking = [list(level) for level in found.ranking]
    expected = undisturbed["result"]
    assert [ranking, list(found.scores), found.turns] == [expected["ranking"], expected["scores"], expected["turns"]]
    assert found.fouls == ()


def test_the_time_in_between_is_nobodys(tmp_path: Path) -> None:
    """The instants of a resumed match follow the last instant on record."""
    record = played_until_killed(tmp_path / "logs", tmp_path / "killed", (5, 0.0))
    before = audit(record, load().game, is_strict=False)
    referee("play", "--resume", str(record), cwd=tmp_path)
    whole = audit(record, load().game)
    last, resumed = (
        step.event for step in whole.transitions[len(before.transitions) - 1 : len(before.transitions) + 1]
    )
    assert isinstance(resumed, MatchResumed)
    assert resumed.at_ms == last.at_ms


def test_what_cannot_be_resumed_is_told(tmp_path: Path, undisturbed: Any) -> None:
    """A finished record, another referee's, a missing one, and players next to a record have different errors."""
    record = played_until_killed(tmp_path / "logs", tmp_path / "killed", (3, 0.0))
    name, other = str(record), str(tmp_path / "other.pem")
    assert "the referee's key; found key" in _told(tmp_path, "--resume", name, "--key", other, status=1)
    assert "leave them out" in _told(tmp_path, "q", "--resume", name, status=2)
    assert "there is no record nowhere.jsonl" in _told(tmp_path, "--resume", "nowhere.jsonl", status=2)
    assert "GAME or PLAYERS are missing" in _told(tmp_path, status=2)
    referee("play", "--resume", name, cwd=tmp_path)
    assert "found one that is sealed" in _told(tmp_path, "--resume", name, status=1)


def test_a_match_is_resumed_from_another_folder(tmp_path: Path) -> None:
    """Players given by a relative path are found in the first folder; a missing one stops it, and nothing is played."""
    (tmp_path / "then").mkdir()
    (tmp_path / "then" / "assassin.py").write_text(Path(q_assassin.__file__).read_text())
    mark = tmp_path / "killed"
    command = ["play", "q", f"cmd:{sys.executable} assassin.py {mark} 3 0", "house:ldasg", "--seed", SEED, *FREE]
    warm.run(command, cwd=tmp_path / "then")
    (record,) = (tmp_path / "then" / "logs").glob("*.jsonl")
    before = record.read_bytes()
    (tmp_path / "then" / "assassin.py").rename(tmp_path / "assassin.py")
    done = referee("play", "--resume", str(record), cwd=tmp_path, status=1)
    assert "fix it and resume again" in " ".join(done.stderr.replace("│", " ").split())
    assert record.read_bytes() == before
    (tmp_path / "assassin.py").rename(tmp_path / "then" / "assassin.py")
    referee("play", "--resume", str(record.relative_to(tmp_path)), cwd=tmp_path)
    whole = audit(record, load().game)
    assert whole.result is not None
    assert whole.result.result.fouls == ()


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    """Half a line at the end is removed, because nothing has followed from it."""
    record = played_until_killed(tmp_path / "logs", tmp_path / "killed", (3, 0.0))
    lines = record.read_bytes().splitlines(keepends=True)
    whole = lines[:-1] if lines[-1].endswith(b"\n") else lines[:-2]
    record.write_bytes(b"".join(whole) + lines[len(whole)][: len(lines[len(whole)]) // 2])
    assert audit(record, load().game, is_strict=False).is_torn
    referee("play", "--resume", str(record), cwd=tmp_path)
    assert audit(record, load().game).transitions[: len(whole) - 1]


THINKER = """
import contextlib
import os
import sys
from protocol.client import run
from sample_players.python.q_simple import make_dag

dag = make_dag()

def choose(view):
    with contextlib.suppress(FileExistsError):
        os.mkdir("thought")  # who is asked first thinks: of some deals, that is the only turn
        open("fifo").read()
    return dag(view)

(ended,) = run(choose, address=sys.argv[1], name=sys.argv[2], say=None)
print(ended.verdict.finding, ended.message.void, flush=True)
"""


def test_players_of_a_served_match_come_back(tmp_path: Path) -> None:
    """Killed while a player thinks, a restarted server takes both back by their tokens, and nobody fouls."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, fifo = f"tcp:127.0.0.1:{port}", tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "thinker.py").write_text(THINKER)
    serve = [sys.executable, "-m", "referee", "serve", "q", "--listen", f"{address.replace('127.0.0.1:', '')}"]
    with contextlib.ExitStack() as stack:

        def start(*command: str) -> "subprocess.Popen[str]":
            process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
            stack.callback(process.kill)
            return stack.enter_context(process)

        first = start(*serve, "--max", "2", "--json")
        play = (sys.executable, "thinker.py", address)
        players = [start(*play, "ada"), start(*play, "bob")]
        thinking = stack.enter_context(fifo.open("w"))  # once somebody reads there
        first.kill()
        (record,) = (tmp_path / "logs").glob("*.jsonl")
        second = start(*serve, "--resume", str(record), "--json")
        thinking.close()
        out, _ = second.communicate(timeout=60)
        assert second.returncode == 0
        found = json.loads(out)["result"]
        assert (found["fouls"], found["void"]) == ([], None)
        assert [player.communicate(timeout=60)[0] for player in players] == ["kept None\n"] * 2
    assert [type(step.event) for step in audit(record, load().game).transitions].count(MatchResumed) == 1


def _told(folder: Path, *arguments: str, status: int) -> str:
    """Return the error of a `play` that fails, in one line."""
    done = referee("play", *arguments, cwd=folder, status=status, is_stopped_early=True)
    assert "Traceback" not in done.stderr
    return " ".join((done.stdout + done.stderr).replace("│", " ").split())
