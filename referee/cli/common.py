"""What the commands share: errors, JSON, the console, players on the command line, and running the reactor.

Exit status: 0 fine, 1 what was checked does not hold, 2 the command was used wrongly.
"""

import contextlib
import gc
import json
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import rich_click as click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ReactorNotRunning
from twisted.python.failure import Failure

from ..games.base import BadSetup, Game
from ..match.commands import Result
from ..net.addresses import AddressError
from ..net.launch import Launch, PlayerError, command_launch, house_launch, read_folder
from ..net.match_runner import MatchPaused
from ..plugins import PluginError, Registry, load
from ..web.words import printable

T = TypeVar("T")
FINE, FAILED, USAGE = 0, 1, 2
MAX_NAME_CHARS = 20

console = Console(stderr=True)
"""For people, while something goes on: progress and errors."""
out = Console()
"""For people, what a command was called for: boards, tables, reports. With --json, stdout has the JSON alone."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one machine-readable object last.")
record_argument = click.argument("record", type=click.Path(path_type=Path))


@cache
def registry() -> Registry:
    """Load the plugins, once in each process, or end with a clear error."""
    try:
        return load()
    except PluginError as error:
        raise click.ClickException(str(error)) from None


def find_game(name: str) -> Game[Any, Any, Any]:
    """Return a game's rules, or end with the list of those there are."""
    try:
        return registry().game(name)
    except PluginError as error:
        raise click.UsageError(str(error)) from None


def print_json(value: Any) -> None:
    """Print one object on one line of stdout."""
    print(json.dumps(msgspec.to_builtins(value), ensure_ascii=False), flush=True)


def parse_options(pairs: Sequence[str], file_options: Collection[str] = ()) -> dict[str, Any]:
    """Turn `NAME=VALUE` pairs into options; a value that is JSON is taken as such, anything else as text.

    Args:
        pairs: from the command line.
        file_options: the names whose value is the path of a TOML file; what stands in the file is the option.

    Raises:
        click.UsageError: a pair has no equals sign, or its file can't be read as TOML.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise click.UsageError(f"--option takes NAME=VALUE, e.g. --option q_bonus=8, not {pair!r}")
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
        click.UsageError: there is no such file, or it is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.UsageError(f"--option {name} takes the path of a TOML file: {path}: {error.strerror}") from None
    except ValueError as error:  # TOML that is none, or no UTF-8
        raise click.UsageError(f"--option {name}: {path} is no TOML: {error}") from None


def find_launches(game: str, players: Sequence[str], known: Registry) -> list[Launch]:
    """Turn the players of a command line into programs to start, with names that differ.

    Args:
        game: name of the game.
        players: `house:NAME`, `cmd:COMMAND` or a folder, by seat.
        known: the plugins.

    Raises:
        click.UsageError: one of them can't be started or does not play the game.
    """
    try:
        launches = [find_launch(game, player, seat, known) for seat, player in enumerate(players)]
        for launch in launches:
            _check_name(launch)
    except (PlayerError, PluginError) as error:
        raise click.UsageError(str(error)) from None
    counts = Counter(launch.name for launch in launches)
    seen: Counter[str] = Counter()
    named = []
    for launch in launches:
        seen[launch.name] += 1
        is_one_of_many = counts[launch.name] > 1
        name = f"{launch.name[: MAX_NAME_CHARS - 2]}{seen[launch.name]}" if is_one_of_many else launch.name
        named.append(msgspec.structs.replace(launch, name=name))
    return named


def find_launch(game: str, player: str, seat: int, known: Registry) -> Launch:
    """Turn one player of a command line into a program to start, by whatever name.

    Args:
        game: name of the game.
        player: `house:NAME`, `cmd:COMMAND` or a folder.
        seat: its seat; a command is called after it.
        known: the plugins.

    Raises:
        PlayerError: it can't be started or does not play the game.
        PluginError: there is no such house player.
    """
    kind, sign, rest = player.partition(":")
    if sign and kind == "house":
        games = known.player(rest).games
        if game not in games:
            raise PlayerError(f"house:{rest} plays {', '.join(games)}, not {game}")
        return house_launch(rest)
    if sign and kind == "cmd":
        return command_launch(rest, f"player{seat + 1}")
    folder = Path(player)
    if not folder.exists():
        hint = f"a player is house:NAME ({', '.join(sorted(known.players))}), cmd:COMMAND or a folder with player.toml"
        raise PlayerError(f"there is no folder {player!r}; {hint}")
    launch = read_folder(folder)
    if launch.games and game not in launch.games:
        raise PlayerError(f"{folder / 'player.toml'}: {launch.name} plays {', '.join(launch.games)}, not {game}")
    return launch


def _check_name(launch: Launch) -> None:
    """Refuse what no player may be called.

    Raises:
        PlayerError: the name of a folder's player.toml is none; other players have names of the referee's.
    """
    if launch.folder and not (launch.name.isascii() and launch.name.isalnum() and len(launch.name) <= MAX_NAME_CHARS):
        detail = f"name {launch.name!r} must be 1 to {MAX_NAME_CHARS} letters or digits"
        raise PlayerError(f"{launch.folder / 'player.toml'}: {detail}")


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Turn what can go wrong at a table into errors that say what to do.

    Raises:
        click.UsageError: the user asked for what is not to be had.
        click.ClickException: the machine failed.
        SystemExit: the referee was stopped in the middle of a match; that is told, too.
    """
    try:
        yield
    except (BadSetup, PlayerError, AddressError) as error:
        raise click.UsageError(str(error)) from None
    except MatchPaused as error:
        text = f"stopped; nobody is blamed, and the match goes on from its record with --resume {error}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAILED)
    except OSError as error:
        raise click.ClickException(f"the record can't be written: {error}; the match was not finished") from None


def run_reactor(main: Callable[[Any], Coroutine[Deferred[Any], Any, T]]) -> T:
    """Run a coroutine on Twisted's reactor until it is done or the user interrupts.

    Args:
        main: called with the reactor once it runs.

    Returns:
        What the coroutine returned.

    Raises:
        click.Abort: the user interrupted and the coroutine was cancelled.
        BaseException: what the coroutine raised.
    """
    from twisted.internet import reactor  # noqa: PLC0415  # importing it installs it: only where it is run

    running: Any = reactor
    outcome: list[Any] = []
    finished: Deferred[None] = Deferred()
    tasks: list[Deferred[T]] = []

    def _begin() -> None:
        tasks.append(Deferred.fromCoroutine(main(running)))
        tasks[0].addBoth(_done)

    def _done(value: Any) -> None:
        outcome.append(value)
        running.callLater(0, _stop_once, running)
        finished.callback(None)

    def _stop() -> Deferred[None]:
        if tasks and not outcome:
            tasks[0].cancel()  # the user interrupted: what the coroutine cleans up is waited for
        return finished

    gc.collect()
    gc.freeze()  # what was imported stays: to look through it again and again would stall the loop
    running.addSystemEventTrigger("before", "shutdown", _stop)
    running.callWhenRunning(_begin)
    running.run()
    value: T = _unwrapped(outcome)
    return value


def _stop_once(running: Any) -> None:
    """Stop the reactor, unless an interrupt has begun to."""
    with contextlib.suppress(ReactorNotRunning):
        running.stop()


def _unwrapped(outcome: list[Any]) -> Any:
    if not outcome:
        raise click.Abort
    value = outcome[0]
    if isinstance(value, Failure):
        if value.check(CancelledError):
            raise click.Abort
        value.raiseException()
    return value


def harmless(text: str) -> str:
    """Return a text of a player's as rich may print it: no markup, no control characters, of bounded length."""
    return escape(printable(text))


def result_table(names: Sequence[str], result: Result) -> RichTable:
    """Return the ranking of a match as a table."""
    table = RichTable(title=harmless("Void: " + result.void) if result.void else None, show_edge=False)
    for title, justify in (("rank", "right"), ("seat", "right"), ("player", "left"), ("points", "right")):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]  # rich's literal type
    table.add_column("time used", justify="right")
    table.add_column("")
    fouls = {foul.seat: foul for foul in result.fouls}
    rank = 1
    for level in result.ranking or (tuple(range(len(names))),):
        for seat in level:
            foul = fouls.get(seat)
            note = "winner" if seat in result.winners else ""
            if foul is not None:
                note = f"[red]expelled: {foul.cause}[/] {harmless(f'{foul.rule or foul.code or str()} {foul.detail}')}"
            place = "-" if result.void else str(rank)
            seconds = f"{result.used_ms[seat] / 1000:.2f} s"
            table.add_row(place, str(seat), harmless(names[seat]), str(result.scores[seat]), seconds, note)
        rank += len(level)
    return table


def monotonic() -> float:
    """Return monotonic seconds: the clock of all instants."""
    return time.monotonic()


def is_interactive() -> bool:
    """Tell whether a person watches the terminal."""
    return console.is_terminal and sys.stderr.isatty()
