"""Help at the keyboard: misspelt commands, help, wrong numbers, and completion."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
import rich_click as click
from click.shell_completion import CompletionItem
from click.testing import CliRunner

from referee.cli.completion import Bash
from referee.cli.main import COMMANDS, description, main


def told(*arguments: str) -> tuple[int, str]:
    """Run a command in this process; return its exit status and its output on one line."""
    done = CliRunner().invoke(main, arguments)
    return done.exit_code, " ".join(done.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pley",), "there is no command 'pley'; did you mean play or replay? `referee help` lists them all"),
        (("tornament", "x.toml"), "did you mean tournament or"),
        (("helo",), "did you mean help?"),
        (("help", "chekc"), "there is no command 'chekc'; did you mean check?"),
        (("xyzzy",), "there is no command 'xyzzy'; `referee help` lists them all"),
        (("play", "q", "--time", "abc"), "takes a number of seconds from 0.001 to 86400, not abc"),
        (("play", "q", "--time", "nan"), "takes a number of seconds from 0.001 to 86400, not nan"),
        (("serve", "q", "--tries", "x"), "takes a whole number from 1 up, not x"),
        (("play", "q", "--memory", "1e9"), "takes a whole number from 64 to 1048576, not 1e9"),
        (("play", "q", "--memory", "1"), "takes a whole number from 64 to 1048576, not 1"),
        (("play", "q", "--seed", "1e3"), "not 1e3"),
        (("serve", "q", "--min", "two"), "takes a whole number, not two"),
        (("play", "q", "--time", "0"), "takes a number of seconds from 0.001 to 86400, not 0"),
        (("play", "q", "--sandbox", "of"), 'takes required, auto or off, not of; did you mean "off"?'),
        (("rule", ".", "awrd", "x"), 'not awrd; did you mean "award"?'),
        (("check", "house:gredy"), 'did you mean "house:greedy"?'),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(arguments: tuple[str, ...], said: str) -> None:
    """For an unknown command, similar ones are named; a text in place of a number is reported as such."""
    status, text = told(*arguments)
    assert (status, said in text) == (2, True), text


@pytest.mark.parametrize("command", [(), ("play",), ("key", "show")])
def test_help_is_a_command_too(command: tuple[str, ...]) -> None:
    """`help COMMAND` is `COMMAND --help`."""
    assert told("help", *command) == told(*command, "--help")
    assert told("help", *command)[0] == 0


def completed(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """Return the completions that bash is offered for the last of the words, as it cuts them."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COMP_WORDS", "\n".join(("referee", *words)))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    offered = Bash(main, {}, "referee", "_REFEREE_COMPLETE").complete()
    return [line.removeprefix("plain,") for line in offered.splitlines()]


@pytest.mark.forges
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("pl",), ["play"]),
        (("play", "qu"), ["quadominos", "quincala", "quincy"]),
        (("play", "q", "house:"), [f"house:{name}" for name in ("random", "greedy", "search", "dag", "ldasg")]),
        (("play", "q", "house", ":"), ["random", "greedy", "search", "dag", "ldasg"]),
        (("play", "q", "house", ":", "dag", "house", ":", "l"), ["ldasg"]),
        (("play", "quincy", "house", ":", "d"), ["dir,d"]),
        (("play", "q", "my"), ["my_player/"]),
        (("play", "q", "folder/"), ["dir,folder/"]),
        (("check", "house", ":", "r"), ["random"]),
        (("check", "--game", "quinc"), ["quincala", "quincy"]),
        (("compare", "my_player/", "house", ":", "g"), ["greedy"]),
        (("new", "py"), ["python", "python-socket", "python-policy"]),
        (("list", "quad"), ["quadominos"]),
        (("list", "sw"), ["swiss"]),
        (("check", "--only", "byte"), ["bytewise"]),
        (("report", "lo"), ["logs/cup/"]),
        (("rule", "logs/c"), ["logs/cup/"]),
        (("report", "my_"), ["dir,my_"]),
    ],
)
def test_what_is_typed_is_completed(
    words: tuple[str, ...], offered: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games, formats, players, languages, steps and tournaments are completed; bash cuts words at colons."""
    (tmp_path / "logs" / "cup").mkdir(parents=True)
    (tmp_path / "logs" / "cup" / "cup.jsonl").touch()
    (tmp_path / "my_player").mkdir()
    (tmp_path / "my_player" / "player.toml").touch()
    assert sorted(completed(tmp_path, monkeypatch, *words)) == sorted(offered)


def test_other_shells_get_whole_words() -> None:
    """Words are cut only for bash."""
    item = CompletionItem("house:dag")
    assert Bash(main, {}, "referee", "_REFEREE_COMPLETE").format_completion(item) == "plain,house:dag"


@pytest.mark.parametrize(
    ("args", "environment"),
    [(["--help"], {}), ([], {"_REFEREE_COMPLETE": "zsh_complete", "COMP_WORDS": "referee re", "COMP_CWORD": "1"})],
)
def test_no_command_is_imported_to_be_listed(args: list[str], environment: dict[str, str]) -> None:
    """So help and completion are quick, although they show each command's description."""
    script = """
import atexit, sys
atexit.register(lambda: print([name for name in sys.modules if name.startswith("referee.cli.commands.")]))
from referee.cli.main import main
main(prog_name="referee")
"""
    command = [sys.executable, "-c", script, *args]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    assert "replay" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_what_is_listed_is_what_a_command_says_of_itself() -> None:
    """The description is read without importing the command, and is the same."""
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        assert inspect.cleandoc(command.help or "") == description(name), name


def test_no_command_waits_for_games_that_it_does_not_need() -> None:
    """Games and formats are loaded where they are needed, not with the command line itself."""
    script = "import sys, referee.cli.main; sys.exit('referee.plugins' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
