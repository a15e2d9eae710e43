"""A person's seat in the terminal, with input from a file; the records are ordinary ones."""

from pathlib import Path

import pytest

from referee.cli.errors import FAILED, FINE, USAGE

from ...warm import run

TYPED = "2\n1\n\n"
"""Input: choose the second option, then always the first, and hand the move in."""
SHORT = {
    "q": (),
    "quincy": (),
    "quincala": ("--option", "sizes=3", "--option", "max_turns=12"),
    "quadominos": ("--option", "max_rounds=1"),
}


@pytest.mark.parametrize("game", SHORT)
def test_a_whole_match_is_played_by_numbers(game: str, tmp_path: Path) -> None:
    """Every game ends with a record that holds, and nobody is expelled."""
    command = ["play", game, "me:terminal", "house:random", *SHORT[game], "--seed", "7", "--logs", str(tmp_path)]
    done = run(command, stdin=TYPED.encode() * 400)
    assert done.returncode == FINE, done.stderr
    assert "600 s left: your move" in done.stderr
    assert "expelled" not in done.stdout + done.stderr
    assert run(["audit", str(tmp_path)]).returncode == FINE


def test_a_mistake_is_told_and_taken_back(tmp_path: Path) -> None:
    """Wrong input changes nothing; `u` takes back; the board and the help are shown on request."""
    typed = b"99\nx\n?\n2\nu\nb\n2\n\n" + TYPED.encode() * 40
    done = run(["play", "q", "me:terminal", "house:random", "--seed", "7", "--logs", str(tmp_path)], stdin=typed)
    assert done.returncode == FINE, done.stderr
    assert "'99' is not one of the choices" in done.stderr
    assert "'x' is not one of the choices" in done.stderr
    assert "take back the last choice" in done.stderr
    head, _, rest = done.stderr.partition("chosen: exchange")
    assert head.count("your move") == 4
    assert rest.lstrip().startswith("(Enter makes the move")
    assert "your move" in rest.partition("me: exchange")[0]


def test_who_leaves_can_go_on_later(tmp_path: Path) -> None:
    """At the end of the input the match stops, as with Ctrl-C; with --resume the person plays on."""
    done = run(["play", "quincy", "me:terminal", "house:random", "--logs", str(tmp_path)], stdin=TYPED.encode())
    assert done.returncode == FAILED
    assert "goes on from its record with --resume" in done.stderr
    (record,) = tmp_path.glob("*.jsonl")
    done = run(["play", "--resume", str(record)], stdin=TYPED.encode() * 100)
    assert done.returncode == FINE, done.stderr
    assert run(["audit", str(record)]).returncode == FINE


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["play", "q", "me:terminal", "me:terminal"], "only one person can play in the terminal"),
        (["play", "q", "me:a b", "house:random"], "a person's name must be"),
        (["compare", "--game", "q", "me:", "house:random"], "only `referee play` has a seat for one"),
        (["check", "me:ada"], "is a person; only a program can be checked"),
    ],
)
def test_persons_are_refused_where_there_is_no_seat_for_them(command: list[str], text: str, tmp_path: Path) -> None:
    """The error says where there is one."""
    done = run(command, cwd=tmp_path)
    assert done.returncode == USAGE
    assert text in done.stderr
