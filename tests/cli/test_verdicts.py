"""The message to an author whose player is expelled: why, where to look, and what to do next."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from referee.check.remedies import foul_remedy, words_remedy
from referee.match.events import Ending
from referee.match.fouls import Cause, Foul
from referee.net.matches.programs import find_ending
from referee.programs.program import Program

from .calling import played, referee

GOLDEN = Path(__file__).parents[1] / "golden"
SAMPLE = Path(__file__).parents[2] / "sample_players" / "python_library" / "player.py"
WITHOUT_PACKAGES = f"cmd:{shlex.join((sys.executable, '-I', '-S', str(SAMPLE)))}"
"""The Python sample, run by a Python without packages."""


def test_an_expulsion_names_what_to_look_at(tmp_path: Path) -> None:
    """Below the ranking are the line of the record, the file of the output, and a command that can be copied."""
    shown = referee(
        *("play", "q", "house:random", "cmd:sh -c 'echo over and out; exit 3'", "--sandbox", "off"),
        *("--logs", "my logs"),
        cwd=tmp_path,
    ).stdout
    _, _, told = shown.partition("player2 was expelled: crashed")
    rows = dict(line.strip().split("  ", 1) for line in told.splitlines() if "  " in line.strip())
    number, _, record = rows["in the record"].strip().removeprefix("line ").partition(" of ")
    assert '"foul":{"seat":1' in (tmp_path / record).read_text().splitlines()[int(number)]
    assert (tmp_path / rows["it printed"].strip()).read_text() == "over and out\n"
    command = shlex.split(rows["all about it"])
    assert command == ["referee", "explain", record, "player2"]
    assert "exit status 3: over and out" in referee(*command[1:], cwd=tmp_path).stdout


def test_a_match_without_a_foul_says_nothing_of_it(tmp_path: Path) -> None:
    assert "was expelled" not in referee("play", "q", "house:random", "house:random", cwd=tmp_path).stdout


def test_a_sample_without_its_packages_says_how_to_run_it(tmp_path: Path) -> None:
    """The player says which Python lacks what; play and check say where to find one that does not."""
    play = referee("play", "q", "house:random", WITHOUT_PACKAGES, "--sandbox", "off", cwd=tmp_path)
    check = referee("check", WITHOUT_PACKAGES, "--sandbox", "off", "--only", "connects", cwd=tmp_path, status=1)
    for shown in (play.stdout, check.stdout):
        told = " ".join(shown.split())
        assert "lacks msgspec" in told
        assert "`. .venv/bin/activate`" in told
        assert "stdin and stdout do not lead to the referee" not in told
    printed = next((tmp_path / "logs").glob("*.stderr")).read_text()
    assert "No module named 'msgspec'" in printed
    assert f"This is {sys.executable}; run it with the Python that has the referee" in printed


def test_a_package_of_the_players_own_is_told_from_the_referees() -> None:
    """The advice to install a package is only for packages that the referee does not bring along."""
    assert words_remedy("ModuleNotFoundError: No module named 'numpy.linalg'") == (
        "Install numpy for the Python that runs the program, or put it into the folder."
    )
    shadowed = str(words_remedy("AttributeError: module 'random' has no attribute 'Random' (player.py:38)"))
    assert shadowed.startswith("If one of your files is called random.py, rename it")
    assert words_remedy("exit status 1: KeyError: 'hand'") is None


@pytest.mark.parametrize(
    "words",
    [
        "FileNotFoundError: [Errno 2] No such file or directory: '/home/ada/weights.txt'",
        "OSError: [Errno 30] Read-only file system: 'log.txt'",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "OSError: [Errno 101] Network is unreachable",
        "Error: ENOENT: no such file or directory, open '/home/ada/weights.txt'",
        "panic: open /home/ada/weights.txt: no such file or directory",
        "java.io.FileNotFoundException: /home/ada/weights.txt (No such file or directory)",
    ],
)
def test_what_a_sandbox_forbids_is_told(words: str) -> None:
    """The advice is about things that a sandbox forbids and the author's own machine may allow."""
    assert str(words_remedy(words)).startswith("Did it run in a sandbox? There,")
    assert words_remedy("FileNotFoundError: [Errno 2] No such file or directory: 'weights.txt'") is None


@pytest.mark.parametrize(
    ("cause", "ending", "detail", "advice"),
    [
        (Cause.CRASHED, Ending.FAILED, "exit status 1: KeyError", "Fix the error that it printed last."),
        (Cause.CRASHED, Ending.FAILED, "exit status 1: No module named 'numpy.linalg'", "Install numpy for the Python"),
        (
            Cause.CRASHED,
            Ending.SPEECHLESS,
            "exit status 3",
            "It printed nothing. Run the command yourself to see why",
        ),
        (Cause.CRASHED, Ending.OUT_OF_MEMORY, "signal SIGKILL", "Use less memory, or ask the"),
        (
            Cause.CRASHED,
            Ending.ENDED,
            "exit status 0: bye",
            "Does the file call `run(...)`, or another function that connects? First",
        ),
        (Cause.CRASHED, Ending.STRANGER, "exit status 0", "Put the content of REFEREE_TOKEN into the hello as"),
        (
            Cause.REFUSED_TO_START,
            Ending.FAILED,
            "its program ended: exit status 1: SyntaxError: '(' was never closed",
            "Fix the error that it printed last.",
        ),
        (Cause.REFUSED_TO_START, Ending.SILENT, "", "Its hello was read. Answer `offer` with"),
        (Cause.TIMEOUT, None, "", "Answer sooner"),
        (Cause.TIMEOUT, Ending.WAITING, "", "Is the answer flushed? Does it wait for a sleep, a lock"),
        (Cause.TIMEOUT, Ending.COMPUTING, "", "Look for a loop that does not end"),
        (Cause.REFUSED_TO_START, Ending.WAITING, "", "First connect to the address"),
        (Cause.REFUSED_TO_START, None, "", "First connect to the address in REFEREE_ADDRESS"),
    ],
)
def test_who_ended_is_told_what_ended_it(cause: Cause, ending: Ending | None, detail: str, advice: str) -> None:
    """An error, too little memory, a wrong token and an end without any of them have different remedies."""
    foul = Foul(seat=0, cause=cause, at_ms=1.0, turn=0, detail=detail, ending=ending)
    assert foul_remedy(foul, "q").startswith(advice)


@pytest.mark.parametrize(
    ("parts", "ending"),
    [
        (["exit status 0"], Ending.ENDED),
        (["exit status 0", "bye"], Ending.ENDED),
        (["exit status 3"], Ending.SPEECHLESS),
        (["signal SIGSEGV"], Ending.SPEECHLESS),
        (["exit status 1", "KeyError: 'x'"], Ending.FAILED),
        (["exit status 1", "MemoryError"], Ending.OUT_OF_MEMORY),
        (["signal SIGKILL", "out of memory (limit 512 MiB)", "loading"], Ending.OUT_OF_MEMORY),
    ],
)
def test_how_a_program_ended_is_told(parts: list[str], ending: Ending) -> None:
    """It depends on its exit status, on whether it printed anything, and on its memory."""
    program = Program.__new__(Program)
    program.end_parts = parts
    assert find_ending(program) is ending


def test_play_and_check_name_the_error_and_where_it_was_printed(tmp_path: Path) -> None:
    """An author who has misspelt a name in a program gets no advice about addresses."""
    (tmp_path / "wrong.py").write_text("print('thinking')\n{}['hand']\n")
    command = f"cmd:{sys.executable} wrong.py"
    play = referee("play", "q", "house:random", command, "--sandbox", "off", cwd=tmp_path)
    check = referee("check", command, "--sandbox", "off", "--only", "connects", cwd=tmp_path, status=1)
    (printed,) = (tmp_path / "logs").glob("*.stderr")
    remedy = "Fix the error that it printed last."
    assert f"  how to fix it   {remedy}\n" in play.stdout
    assert f"{printed.relative_to(tmp_path)}\n" in play.stdout
    assert f"how to fix it {remedy}" in " ".join(check.stdout.split())
    assert play.stdout.count("KeyError") == play.stdout.count("  what happened   KeyError: 'hand' (wrong.py:2)\n") == 1
    assert "KeyError" not in play.stderr
    happened, _, rest = " ".join(check.stdout.split()).rpartition(" it printed ")
    assert "it crashed before it connected: KeyError: 'hand' (wrong.py:2)" in happened
    assert rest.startswith("thinking")
    assert "KeyError" not in rest


OFF_THE_MAP = """
from protocol.client import run

run(lambda view: {"action": "place", "tiles": [[50, 50, view["hand"][0]]]})
"""


def test_an_illegal_move_is_told_with_its_rule_and_its_view(tmp_path: Path) -> None:
    """The rule's sentence is what was expected; the commands show the turn and draw its board."""
    (tmp_path / "wrong.py").write_text(OFF_THE_MAP)
    shown = referee("play", "q", f"cmd:{sys.executable} wrong.py", "house:random", "--sandbox", "off", cwd=tmp_path)
    told = shown.stdout
    assert "\n  expected        A tile shares a side with a tile of the map" in told
    assert "(q.place.adjacent)\n" in told
    command = told.partition("\n  the view ")[2].partition("\n")[0].strip()
    explained = referee(*shlex.split(told.partition("\n  all about it ")[2].partition("\n")[0])[1:], cwd=tmp_path)
    assert f"\n  view     {command}\n" in explained.stdout
    turn = referee(*shlex.split(command)[1:], cwd=tmp_path).stdout
    assert '\n      "map": [[0, 0, ' in turn, "a tile is on one line"
    replay, sign, _ = turn.strip().splitlines()[-1].partition("  draws the board.")
    assert sign
    assert "row 50, column 50 touches no tile" in referee(*shlex.split(replay)[1:], cwd=tmp_path).stdout


SPEAKS_JSON = """
import json, os, socket
host, _, port = os.environ["REFEREE_ADDRESS"].removeprefix("tcp:").rpartition(":")
with socket.create_connection((host, int(port))) as sock:
    token = os.environ["REFEREE_TOKEN"]
    sock.sendall(json.dumps({"type": "hello", "version": 1, "name": "ada", "token": token}).encode() + b"\\n")
    sock.recv(1000)
"""


def test_who_says_hello_in_json_is_told_so(tmp_path: Path) -> None:
    """The record has the bytes, although the lobby refused them.

    play and explain say what they are, and what is due.
    """
    (tmp_path / "speaks_json.py").write_text(SPEAKS_JSON)
    command = f"cmd:{sys.executable} speaks_json.py"
    shown = referee("play", "q", "house:random", command, "--sandbox", "off", cwd=tmp_path).stdout
    assert "player2 was expelled: oversize" in shown
    assert "This is JSON without a prefix" in shown
    (record,) = (tmp_path / "logs").glob("*.jsonl")
    assert played(referee("audit", str(record), "--json", cwd=tmp_path))["broken"] == 0
    told = referee("explain", str(record), "player2", cwd=tmp_path).stdout
    assert "expected a hello and then a ready, within 30 s" in told
    assert 'JSON, where msgpack is due: {"type":"hello"' in told
    evidence = played(referee("explain", str(record), "player2", "--json", cwd=tmp_path))["verdict"]["evidence"]
    assert json.loads(bytes.fromhex(evidence["hex"]))["type"] == "hello"


@pytest.mark.parametrize(
    ("record", "expected", "came"),
    [
        ("silent-offer", "a ready, within 5 s", "its hello, which was read; only `ready`"),
        ("vacant", "a hello and then a ready, within 5 s", "nothing\n"),
        ("late-move", "a move with `turn` 2, within 1 s", '43 bytes: {"type":"move"'),
        ("late-start--acknowledged", "an ack with `ack` 2, within 1 s", '23 bytes: {"type":"ack"'),
    ],
)
def test_what_was_expected_stands_beside_what_came(record: str, expected: str, came: str, tmp_path: Path) -> None:
    """A missing answer differs from a late one, and the message names the missing message: a ready, a move, an ack."""
    told = _explained(record, tmp_path)
    assert f"\n  expected {expected}\n" in told
    assert f"\n  came     {came}" in told
    assert "\n  fix      " in told


def _explained(record: str, folder: Path) -> str:
    return referee("explain", str(GOLDEN / f"{record}.jsonl"), cwd=folder).stdout
