"""What all commands share: the console, JSON, kinds of arguments, groups of options.

Every command waits for the imports of this module, so it imports little.
"""

import codecs
import contextlib
import errno
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import msgspec
import rich_click as click
from rich.console import Console, ConsoleDimensions, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Column
from rich.text import TextType

from ..errors import BadRequest
from ..text import near, printable, printable_json, printable_lines

# Names, moves, output and error texts of strangers' programs reach the terminal. Escape sequences in them could clear
# the screen, change its title, or hide a line that an organiser should read. Each place that prints such a text removes
# its control characters. This console removes them once more, in case one of these places forgets to.


UNBOUNDED = 10_000
"""Width of the output, in characters, if it goes to a file or a pipe."""
_NO_ROWS = 25
_PADDING = re.compile(r" +$", re.MULTILINE)


class Terminal(Console):
    """A console that removes control characters from every text that it prints."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield the segments to write; called by rich."""
        for segment in super().render(renderable, options):
            # Control segments come from rich itself: they move the cursor, for a progress bar.
            yield segment if segment.control else segment._replace(text=printable_lines(segment.text))

    @property
    def size(self) -> ConsoleDimensions:
        """Width and height. In a file or a pipe, lines may have any length, unless COLUMNS limits it."""
        if self._width is None and not self.is_terminal and not os.environ.get("COLUMNS"):
            return ConsoleDimensions(UNBOUNDED, _NO_ROWS)
        return super().size

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size

    def rule(self, title: TextType = "", **more: Any) -> None:
        """Print a line with a title; a file and a pipe get the title alone."""
        if self.is_terminal:
            super().rule(title, **more)
        else:
            self.print(title)

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        # rich pads the lines of tables with blanks: invisible in a terminal, but unwanted in a file
        text = super()._render_buffer(buffer)
        return text if self.is_terminal else _PADDING.sub("", text)

    def say(self, text: str) -> None:
        """Print a text unchanged: without markup, highlighting or wrapping."""
        self.print(text, markup=False, highlight=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Discard further output, because nobody reads it; called by rich.

        Raises:
            BrokenPipeError: this console writes the command's results, to stdout.
        """
        lose(self.file)
        if not self.stderr:
            raise BrokenPipeError(errno.EPIPE, "the reader has closed the pipe")


console = Terminal(stderr=True)
"""Console on stderr, for progress and errors."""
out = Terminal()
"""Console on stdout, for results: boards, tables, reports. With --json, only the JSON goes to stdout."""


class Count(click.IntRange):
    """A whole number within a range."""

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

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()

    def _name_range(self) -> str:
        if self.min is None or self.max is None:
            return "a whole number" if self.min is None else f"a whole number from {self.min} up"
        return f"a whole number from {self.min} to {self.max}"


class Word(click.Choice[str]):
    """One word of a list; the error suggests the most similar word."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word; called by click."""
        choices = [*map(str, self.choices)]
        if str(value) not in choices:
            *most, last = choices
            choices_text = f"{', '.join(most)} or {last}" if most else last
            self.fail(f"takes {choices_text}, not {printable(str(value))}{near(str(value), choices)}", param, ctx)
        return super().convert(value, param, ctx)


class Existing(click.Path):
    """A path that exists; the error suggests the most similar path.

    Args:
        what: kind of the path in words: `folder`.
        kinds: arguments of click.Path.
    """

    def __init__(self, what: str, **kinds: Any) -> None:
        super().__init__(path_type=Path, **kinds)
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; called by click.

        Raises:
            BadRequest: the path does not exist.
        """
        path = Path(value)
        with contextlib.suppress(OSError, ValueError):  # the command fails when it reads the path, and says why
            if not path.exists():
                raise BadRequest(f"there is no {self._what} {path}{_near(path)}")
        return super().convert(value, param, ctx)


def _near(path: Path) -> str:
    """Return a question that names the most similar path in the same folder; empty if there is none."""
    neighbours = {name: inner for inner in sorted(path.parent.glob("*")) for name in (inner.name, inner.stem)}
    return "".join(f"; did you mean {neighbours[name]}?" for name in get_close_matches(path.name, neighbours, n=1))


FILE, FOLDER = click.Path(dir_okay=False, path_type=Path), click.Path(file_okay=False, path_type=Path)
PATH = click.Path(path_type=Path)
EXISTING_FILE, EXISTING_FOLDER = Existing("file", dir_okay=False), Existing("folder", file_okay=False)


def count_processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


def jobs_option(what: str) -> "Decorator":
    """Return the option for the number of processes that share the work.

    Args:
        what: beginning of the help text: `Read this many records`.
    """
    return click.option(
        "--jobs",
        type=Count(min=1),
        default=count_processors,
        help=f"{what} at the same time. (Default: the number of processors)",
    )


KEY_UNSET = "(Default: the variable REFEREE_KEY, or ~/.config/referee/key.pem)"
"""The default of the option of a key, in words."""
json_option = click.option("--json", "as_json", is_flag=True, help="Print one machine-readable object last.")
record_argument = click.argument("record", type=Existing("record"))
paths_argument = click.argument("paths", nargs=-1, required=True, type=Existing("file or folder"))


def numbers(*titles: str) -> Iterator[Column]:
    """Yield columns for numbers."""
    return (Column(title, justify="right") for title in titles)


def print_json(value: Any) -> None:
    """Print one object on one line of stdout. An object with neither `version` nor `event` gets a version.

    Raises:
        BrokenPipeError: nobody reads stdout any more.
    """
    plain = msgspec.to_builtins(value)
    if isinstance(plain, dict) and not plain.keys() & {"version", "event"}:
        plain = {"version": 1, **plain}
    try:
        # Flush at once. Otherwise a broken pipe would raise only while Python exits, when nothing can catch the error.
        print(printable_json(json.dumps(plain, ensure_ascii=not _is_utf_8())), flush=True)
    except BrokenPipeError:
        lose(sys.stdout)
        raise


def _is_utf_8() -> bool:
    """Return whether stdout is UTF-8, which has every character and which readers of JSON expect."""
    return codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"


def lose(stream: IO[str]) -> None:
    """Discard everything that is in the buffer of a stream, or is written to it later, because nobody reads it."""
    # Replace the descriptor, do not close it. The next file to be opened would get the number of a closed descriptor,
    # and a late print would go into that file.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def lose_unwritten() -> None:
    """Discard output that can't be written, or Python would report the error once more at exit, with status 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            lose(stream)


def harmless(text: str) -> str:
    """Return a player's text so that rich can print it: without markup or control characters, and not too long."""
    return escape(printable(text))


def is_interactive() -> bool:
    """Return whether a person watches the terminal."""
    return console.is_terminal and sys.stderr.isatty()


@contextlib.contextmanager
def progress(doing: str, is_quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar: the number of items done, the time so far, and the estimated time left.

    Args:
        doing: the activity: `auditing`.
        is_quiet: whether to show nothing.

    Yields:
        A function to call after each item, with the total number of items.
    """
    from rich.progress import (  # noqa: PLC0415  # few commands need it, and all commands would wait for this import
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        *(TextColumn(f"{doing}"), BarColumn(), MofNCompleteColumn()),
        *(TextColumn("for"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn()),
    )
    with Progress(*columns, console=console, transient=True, disable=is_quiet or not is_interactive()) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda total: bar.update(task, advance=1, total=total)


F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """A decorator of a command, such as an option."""

    def __call__(self, function: F, /) -> F:
        """Return the changed function."""


def group_options(keyword: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, and passes their values to the command as one value.

    Args:
        keyword: name of the command's parameter that gets the value.
        make: called with the values of the options, by their names.
        options: decorators of click, in the order of the help text.
    """

    def _decorate(function: F) -> F:
        @wraps(function)
        def _call(*args: Any, **values: Any) -> Any:
            group = make(**{name: values.pop(name) for name in names})
            return function(*args, **{keyword: group}, **values)

        wrapped: Any = _call
        for option in reversed(options):
            wrapped = option(wrapped)
        # click derives the name of an option from its spelling, so the names are known only after the decorators ran.
        names = [parameter.name for parameter in wrapped.__click_params__[-len(options) :]]
        decorated: F = wrapped
        return decorated

    return _decorate
