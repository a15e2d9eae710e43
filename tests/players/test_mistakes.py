"""The mistakes that students make most: `play` and `explain` name each of them, and say how to fix it."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from ..cli.calling import referee

PROGRAM = Path(__file__).parent / "mistaken.py"
PLAY = ("play", "quincy", "house:greedy")
LIMITS = ("--time", "1", "--start-time", "3", "--seed", "7", "--sandbox", "off", "--logs", ".")
COMPUTING = "N s of processor time: it was still computing"
WAITING = "N s of processor time: it was waiting"
CONNECT = "First connect to the address in REFEREE_ADDRESS"
THINK = "Look for a loop that does not end"
FLUSH = "Is the answer flushed?"
FORM = "`referee list quincy --schema` prints the form of a move"
COORDINATES = "Check how your program counts rows and columns"
ERROR = "Fix the error that it printed last."
SANDBOX = "Did it run in a sandbox? There, a program sees only its own folder and the system"

_SECONDS = re.compile(r"\b[0-9.]+ s of")

MISTAKES: dict[str, tuple[str, str, str]] = {
    "CrashesAtOnce": ("crashed", "ValueError: no model (mistaken.py:", ERROR),
    "CrashesLate": ("crashed", "KeyError: 'tile_left' (mistaken.py:", ERROR),
    "CrashesInAThread": ("timeout", WAITING, "Is the answer flushed?"),
    "ReadsOutside": ("crashed", "No such file or directory: '/home/ada/weights.txt' (mistaken.py:", SANDBOX),
    "RaisesFromAnother": ("crashed", "in choose), after KeyError: 'best' (mistaken.py:", ERROR),
    "LacksAModule": ("crashed", "No module named 'torchvisionx'", "Install torchvisionx for the Python that runs"),
    "Hangs": ("timeout", COMPUTING, THINK),
    "Sleeps": ("timeout", WAITING, "It waits for something: a sleep, a lock, a thread, a subprocess, input,"),
    "FlushesNothing": ("timeout", WAITING, FLUSH),
    "LoadsFirst": ("refused-to-start", f"not connected within 3 s; {WAITING}", CONNECT),
    "ComputesFirst": ("refused-to-start", COMPUTING, "load models after that"),
    "NamesItsOwnTurn": ("out-of-turn", "answers number 1, number 2 was asked", "Copy `turn` or `ack`"),
    "NamesNoMatch": ("malformed-message", "names a match other than", "Copy `match` from the message"),
    "CountsFromZero": ("illegal-move", "with rows and columns one larger the move would be legal", COORDINATES),
    "ExchangesRowAndColumn": ("illegal-move", "with row and column exchanged the move would be legal", COORDINATES),
    "LaysWhatItHasNot": (
        "illegal-move",
        "quincy.play.owned: [0, 0] is not in the hand",
        "Compare the move with the view",
    ),
    "Prints": ("refused-to-start", "no hello within 3 s", "stdout do not lead to the referee"),
    "ReadsStdin": (
        "crashed",
        "the program ended: exit status 0",
        f"Does the file call `run(...)`, or another function that connects? {CONNECT}",
    ),
    "ExitsEarly": (
        "crashed",
        "the program ended: exit status 0",
        "look for exit, quit or return. It must run until the referee closes the connection",
    ),
    "Closes": ("disconnected", "its connection was closed", "Keep the connection open"),
    "SpeaksJson": ("malformed-message", "not-msgpack", "not as JSON"),
    "SpeaksLines": ("oversize", "a frame announces", "This is JSON without a prefix"),
    "TurnsThePrefixRound": ("oversize", "a frame announces", "The prefix has its least significant byte first"),
    "CountsThePrefix": ("refused-to-start", "no complete message", "The prefix counts its own 4 bytes"),
    "LeavesOutThePrefix": ("oversize", "a frame announces", "This is a map of msgpack without a prefix"),
    "ReadsOnce": ("crashed", "incomplete input (mistaken.py:", "It did not decode exactly one frame"),
    "ReadsThePrefixRound": (
        "refused-to-start",
        WAITING,
        "Does it read whole frames: 4 bytes, the most significant first",
    ),
    "SendsASet": ("crashed", "can not serialize 'set' object", "Make it an int, str, list or dict first"),
    "SendsText": ("malformed-message", "Expected `object`, got `str` - at `$.move`", FORM),
    "NamesNoAction": ("malformed-message", "'place'", f"`action` is one of add, remove, discard. {FORM}"),
    "ReturnsNothing": ("malformed-message", "got `null`", "Does the function that chooses one return it?"),
    "SendsFractions": ("malformed-message", "Expected `int`, got `float`", FORM),
    "AnswersTwice": ("out-of-turn", "`move` came where a message of the referee was due", "answer each message once"),
    "SaysNothingToAnOffer": ("refused-to-start", WAITING, "Answer `offer` with `ready`"),
    "HasNoToken": (
        "crashed",
        "ValueError: the token is not one of this match (mistaken.py:",
        "Put the content of REFEREE_TOKEN into the hello",
    ),
}
"""Class of the mistake -> cause, part of what happened, part of how to fix it."""


def test_every_mistake_is_in_the_table() -> None:
    """The table has at least 21 mistakes."""
    assert re.findall(r"^class (\w+)\(Player\):", PROGRAM.read_text(), re.MULTILINE) == [*MISTAKES]
    assert len(MISTAKES) >= 21


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(mistake: str, tmp_path: Path) -> None:
    """The cause comes first, once, in one line, with the advice that fits it; `explain` says the same."""
    cause, happened, remedy = MISTAKES[mistake]
    command = f"cmd:{shlex.join((sys.executable, str(PROGRAM), mistake))}"
    shown = referee(*PLAY, command, *LIMITS, cwd=tmp_path)
    _, _, verdict = shown.stdout.partition(f"player2 was expelled: {cause}\n")
    rows = {line[2:16].strip(): line[18:] for line in verdict.splitlines() if line.startswith("  ")}
    assert happened in _SECONDS.sub("N s of", rows["what happened"])
    assert remedy in rows["how to fix it"]
    assert "Traceback" not in shown.stdout + shown.stderr
    assert "^^^" not in shown.stdout
    assert rows["what happened"] not in shown.stderr
    explained = referee(*shlex.split(rows["all about it"])[1:], cwd=tmp_path).stdout
    assert rows["how to fix it"] in explained
