"""What the commands share: errors, JSON, the console, the plugins. Imports little: every command pays for it."""

import codecs
import contextlib
import errno
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import msgspec
import rich_click as click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Column

from ..errors import BadRequest
from ..text import near, printable, printable_json, printable_lines


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

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; called by click."""
        try:
            number = int(value)
        except ValueError:
            number = None
        least, most = -math.inf if self.min is None else self.min, math.inf if self.max is None else self.max
        if number is None or not least <= number <= most:
            self.fail(f"takes {self._name_range()}, not {printable(str(value))}", param, ctx)
        return number

    def _name_range(self) -> str:
        if self.min is None or self.max is None:
            return "a whole number" if self.min is None else f"a whole number from {self.min} up"
        return f"a whole number from {self.min} to {self.max}"


class Word(click.Choice[str]):
    """One of some words; where it is none, the text has the one that was probably meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word; called by click."""
        choices = [*map(str, self.choices)]
        if str(value) not in choices:
            *most, last = choices
            known = f"{', '.join(most)} or {last}" if most else last
            self.fail(f"takes {known}, not {printable(str(value))}{near(str(value), choices)}", param, ctx)
        return super().convert(value, param, ctx)


class Existing(click.Path):
    """A path of what is there already; where nothing is, the text has the path that was probably meant.

    Args:
        what: is there: `folder`.
        kinds: that it may be of, as click.Path takes them.
    """

    def __init__(self, what: str, **kinds: Any) -> None:
        super().__init__(path_type=Path, **kinds)
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; called by click.

        Raises:
            BadRequest: nothing is there.
        """
        path = Path(value)
        with contextlib.suppress(OSError, ValueError):  # whoever reads it tells why it can't be looked at
            if not path.exists():
                raise BadRequest(f"there is no {self._what} {path}{_near(path)}")
        return super().convert(value, param, ctx)


def _near(path: Path) -> str:
    """Return the path beside another one that was probably meant by it, as a question; empty: there is none like it."""
    beside = {name: inner for inner in sorted(path.parent.glob("*")) for name in (inner.name, inner.stem)}
    return "".join(f"; did you mean {beside[name]}?" for name in get_close_matches(path.name, beside, n=1))


FILE, FOLDER = click.Path(dir_okay=False, path_type=Path), click.Path(file_okay=False, path_type=Path)
PATH = click.Path(path_type=Path)
EXISTING_FILE, EXISTING_FOLDER = Existing("file", dir_okay=False), Existing("folder", file_okay=False)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one machine-readable object last.")
record_argument = click.argument("record", type=Existing("record"))
paths_argument = click.argument("paths", nargs=-1, required=True, type=Existing("file or folder"))


def numbers(*titles: str) -> Iterator[Column]:
    """Yield the columns of a table that have numbers."""
    return (Column(title, justify="right") for title in titles)


def print_json(value: Any) -> None:
    """Print one object on one line of stdout.

    Raises:
        BrokenPipeError: nobody reads on.
    """
    try:
        print(printable_json(json.dumps(msgspec.to_builtins(value), ensure_ascii=not _is_utf_8())), flush=True)
    except BrokenPipeError:
        lose(sys.stdout)
        raise


def _is_utf_8() -> bool:
    """Tell whether stdout takes any sign as it stands, and as whoever reads JSON expects it."""
    return codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"


def lose(stream: IO[str]) -> None:
    """Let what is written to a stream that nobody reads be lost, with what waits in it, which would fail at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def lose_unwritten() -> None:
    """Lose what could not be written: it was told already, and Python would tell it again and exit with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            lose(stream)


def harmless(text: str) -> str:
    """Return a text of a player's as rich may print it: no markup, no control characters, of bounded length."""
    return escape(printable(text))


def is_interactive() -> bool:
    """Tell whether a person watches the terminal."""
    return console.is_terminal and sys.stderr.isatty()


F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """Adds something to a command, whatever the command is called with."""

    def __call__(self, function: F, /) -> F:
        """Return the function with it."""


def group_options(keyword: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, which is called with one value made of theirs.

    Args:
        keyword: by which the command takes it.
        make: called with the options' values, by their names.
        options: click's own decorators, in the order of the help text.
    """

    def _decorate(function: F) -> F:
        @wraps(function)
        def _call(*args: Any, **values: Any) -> Any:
            group = make(**{name: values.pop(name) for name in names})
            return function(*args, **{keyword: group}, **values)

        wrapped: Any = _call
        for option in reversed(options):
            wrapped = option(wrapped)
        names = [parameter.name for parameter in wrapped.__click_params__[-len(options) :]]
        decorated: F = wrapped
        return decorated

    return _decorate
