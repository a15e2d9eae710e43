"""What the commands share: errors, JSON, the console, the plugins. Imports little: every command pays for it."""

import errno
import json
import os
import sys
import time
import tomllib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec
import rich_click as click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment

from ..errors import BadRequest
from ..files.small import read_small
from ..text import printable, printable_json, printable_lines

if TYPE_CHECKING:
    from ..games.base import Game
    from ..plugins import Registry


class Terminal(Console):
    """A console that passes on no control characters but its own, whatever text it is given: the last one to look."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield what is to be written; called by rich for whatever is printed."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable_lines(segment.text))

    def say(self, text: str) -> None:
        """Print a text as it stands: no markup, nothing highlighted, lines as long as they are."""
        self.print(text, markup=False, highlight=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Lose what nobody reads, and let the command hear of it if it was called for that; called by rich.

        Raises:
            BrokenPipeError: it was to go to stdout.
        """
        lose(self.file)
        if not self.stderr:
            raise BrokenPipeError(errno.EPIPE, "nobody reads on")


console = Terminal(stderr=True)
"""For people, while something goes on: progress and errors."""
out = Terminal()
"""For people, what a command was called for: boards, tables, reports. With --json, stdout has the JSON alone."""


class Count(click.IntRange):
    """A whole number within a range, called so when it is none."""

    name = "integer"


json_option = click.option("--json", "as_json", is_flag=True, help="Print one machine-readable object last.")
record_argument = click.argument("record", type=click.Path(path_type=Path))


def registry() -> "Registry":
    """Return the plugins, loaded once in each process."""
    from ..plugins import installed  # noqa: PLC0415  # all games: only where they are asked for

    return installed()


def find_game(name: str) -> "Game[Any, Any, Any]":
    """Return the rules of an installed game."""
    return registry().game(name)


def print_json(value: Any) -> None:
    """Print one object on one line of stdout.

    Raises:
        BrokenPipeError: nobody reads on.
    """
    try:
        print(printable_json(json.dumps(msgspec.to_builtins(value), ensure_ascii=False)), flush=True)
    except BrokenPipeError:
        lose(sys.stdout)
        raise


def lose(stream: IO[str]) -> None:
    """Let what is written to a stream that nobody reads be lost, with what waits in it, which would fail at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def parse_options(pairs: Sequence[str], file_options: Collection[str] = ()) -> dict[str, Any]:
    """Turn `NAME=VALUE` pairs into options; a value that is JSON is taken as such, anything else as text.

    Args:
        pairs: from the command line.
        file_options: the names whose value is the path of a TOML file; what stands in the file is the option.

    Raises:
        BadRequest: a pair has no equals sign, or its file can't be read as TOML.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise BadRequest(f"--option takes NAME=VALUE, e.g. --option q_bonus=8, not {pair!r}")
        if name in file_options:
            options[name] = _read_toml(name, Path(text))
            continue
        try:
            options[name] = json.loads(text)
        except ValueError:
            options[name] = text
    return options


def _read_toml(name: str, path: Path) -> dict[str, Any]:
    """Return what stands in the file of an option.

    Raises:
        BadRequest: there is no such file, or it is no TOML.
    """
    try:
        return tomllib.loads(read_small(path).decode())
    except OSError as error:
        raise BadRequest(f"--option {name} takes the path of a TOML file: {path}: {error.strerror}") from None
    except ValueError as error:  # TOML that is none, or no UTF-8
        raise BadRequest(f"--option {name}: {path} is no TOML: {error}") from None


def harmless(text: str) -> str:
    """Return a text of a player's as rich may print it: no markup, no control characters, of bounded length."""
    return escape(printable(text))


def monotonic() -> float:
    """Return monotonic seconds: the clock of all instants."""
    return time.monotonic()


def is_interactive() -> bool:
    """Tell whether a person watches the terminal."""
    return console.is_terminal and sys.stderr.isatty()
