"""The command `referee`: its groups of subcommands, its signals, and its output on terminals without Unicode."""

import ast
import codecs
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import rich_click as click
from click.exceptions import Exit
from click.shell_completion import CompletionItem, add_completion_class

from .. import __version__
from ..app.interrupts import SIGNALLED, interruptible, take_signals
from .common import UNBOUNDED, console, lose_unwritten, out
from .completion import Bash
from .errors import word_errors

# This module adds three things that click lacks.
# - A quick start: the group knows its commands by name only. It imports the command that is called, and reads the help
#   texts of the others from their sources.
# - Output on every terminal: without Unicode, as in many containers, a board is drawn with similar characters.
# - A clean end: at Ctrl-C, at a second Ctrl-C, and when `head` has closed the pipe.
_RESEMBLING = "referee-resembling"
"""Name of the error handler in the registry of codecs."""
_IN_ASCII = dict(zip("·╲★✶■●♣◆…±½", (*".\\*8#O&^", "...", "+-", ".5"), strict=True))
"""Character of boards, tables and texts -> its replacement. On a board, each replacement is unique."""


def _resemble(error: UnicodeError) -> tuple[str, int]:
    """Return a replacement for unencodable characters, and the position to continue at; called by codecs."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_IN_ASCII.get(sign) or _escape(sign) for sign in signs), error.end


def _escape(sign: str) -> str:
    return sign.encode("ascii", "backslashreplace").decode()


# The error handler belongs to the stream, so no print has to care. Python's own handler `backslashreplace` would show a
# board as rows of escape sequences.
codecs.register_error(_RESEMBLING, _resemble)


def write_any_sign() -> None:
    """Make printing never fail, whatever the encoding of stdout and stderr, and even if they are closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # it was closed before this process began
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # to the end
        elif isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_RESEMBLING)


add_completion_class(Bash)
GROUPS = {
    "Play": {
        "play": "play:play",
        "replay": "replay:replay",
        "join": "join:join_command",
        "list": "list:list_command",
    },
    "Write a player": {
        "new": "new:new",
        "check": "check:check",
        "compare": "compare:compare",
        "submit": "submit:submit",
    },
    "Run a tournament": {
        "tournament": "tournament:tournament",
        "rule": "rule:rule_command",
        "join-tournament": "rule:join_command",
        "report": "report:report_command",
        "host": "host:host_command",
        "serve": "serve:serve",
    },
    "Verify": {
        "audit": "audit:audit_command",
        "explain": "explain:explain_command",
        "fairness": "fairness:fairness_command",
        "manifest": "audit:manifest",
    },
    "Keys and machines": {
        "key": "key:key",
        "token": "key:token_command",
        "doctor": "doctor:doctor",
        "worker": "worker:worker",
        "cluster-keys": "key:cluster_keys",
    },
    "The course CS4500": {
        "xserver": "course:xserver",
        "xclients": "course:xclients",
    },
}
"""Heading in `referee --help` -> command -> its module and its name there, in the order of the help."""
COMMANDS = {command: where for group in GROUPS.values() for command, where in group.items()}

_NARROW, _MOST_HELP = 60, 110
"""Smallest width, in columns, at which help texts have boxes, and their largest width on a terminal."""
_BRIEF_KEY = "referee.commands-in-short"
"""Key in click's context; if it is set, commands are described without being imported."""

click.rich_click.GROUP_ARGUMENTS_OPTIONS = True
click.rich_click.DEFAULT_STRING = "(Default: {})"
click.rich_click.COMMAND_GROUPS = {
    "*": [{"name": name, "commands": [*commands]} for name, commands in GROUPS.items()],
}


class _Formatter(click.RichHelpFormatter):
    """Lays out help texts and errors: in boxes on a terminal, and in plain lines in a file or a pipe."""

    def write_error(self, e: click.ClickException) -> None:
        """Write an error; called by click."""
        context = getattr(e, "ctx", None)
        if console.is_terminal:
            super().write_error(e)
            return
        name = context.command_path if context else "referee"
        lines = [f"{name}: {e.format_message()}", *([f"Try '{name} --help'"] if context else [])]
        # users copy paths and commands from errors, so no line is wrapped
        self.console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)

    def getvalue(self) -> str:
        """Return the text that was written; called by click."""
        text = super().getvalue()
        return text if self.console.width < UNBOUNDED else "\n".join(line.rstrip(" ═") for line in text.split("\n"))


click.RichContext.formatter_class = _Formatter


class Commands(click.RichGroup):
    """The subcommands. Each is imported only when it is called, so none waits for the imports of others."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Entry point: install signal handlers, then run click."""
        take_signals()
        write_any_sign()
        try:
            return super().__call__(*args, **kwargs)
        except BrokenPipeError:  # nobody reads what click printed before it found a command
            sys.exit(SIGNALLED + signal.SIGPIPE)
        finally:
            lose_unwritten()

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line, with a layout of help texts that fits the terminal, the file or the pipe."""
        click.rich_click.WIDTH = click.rich_click.MAX_WIDTH = out.width
        has_boxes = _NARROW <= out.width < UNBOUNDED
        click.rich_click.THEME = "default-box" if has_boxes else "default-nu"
        self.context_settings["max_content_width"] = min(out.width, _MOST_HELP) if out.is_terminal else out.width
        return super().main(*args, **kwargs)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help text; called by click."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; called by click."""
        if cmd_name not in COMMANDS:
            return None
        if ctx.meta.get(_BRIEF_KEY):
            return click.RichCommand(name=cmd_name, help=description(cmd_name))
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(f"{__package__}.commands.{module}"), name)
        if not gc.isenabled():  # disabled at the start of this process; imported objects need no collection
            gc.freeze()
            gc.enable()
        return command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text without importing a command; called by click."""
        ctx.meta[_BRIEF_KEY] = True
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin with a text, without importing one; called by click."""
        ctx.meta[_BRIEF_KEY] = True
        return super().shell_complete(ctx, incomplete)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Treat `help COMMAND` as `COMMAND --help`; called by click."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; called by click.

        Raises:
            click.UsageError: there is no such command; the text names similar ones.
        """
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            near = " or ".join(get_close_matches(args[0], (*COMMANDS, "help")))
            meant = f"did you mean {near}? " if near else ""
            raise click.UsageError(f"there is no command {args[0]!r}; {meant}`referee help` lists them all", ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> click.Context:
        """Read the arguments, which may print the help text; called by click.

        Raises:
            SystemExit: nobody reads the help text; click would exit with status 1.
        """
        try:
            with _printing_help():
                return super().make_context(info_name, args, *more, **extra)
        except BrokenPipeError:
            sys.exit(SIGNALLED + signal.SIGPIPE)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and report its errors; called by click."""
        words = (*ctx._protected_args, *ctx.args)  # noqa: SLF001  # click has no public name for these arguments
        # The order matters: `interruptible` raises the exception that `word_errors` reports.
        with word_errors(as_json="--json" in words), interruptible(), _printing_help():
            return super().invoke(ctx)


@contextmanager
def _printing_help() -> Iterator[None]:
    """Flush the help text that click prints before it exits, because only a flush shows that the pipe is closed.

    Raises:
        BrokenPipeError: nobody reads stdout any more.
    """
    try:
        yield
    except Exit:
        sys.stdout.flush()
        raise


def description(command: str) -> str:
    """Return a command's docstring, read from its source, because importing all commands would take a second."""
    module, _, name = COMMANDS[command].partition(":")
    source = (Path(__file__).with_name("commands") / f"{module}.py").read_text("utf-8")
    functions = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return next(ast.get_docstring(function) or "" for function in functions if function.name == name)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="referee")
def main() -> None:
    """Run matches of board and tile games between programs, and verify their records.

    Try it:  referee play q house:dag house:greedy
    """


if __name__ == "__main__":
    main()
