"""`referee serve --submissions`: take in what authors hand in, and check it. Knows the options, and no HTTP."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import rich_click as click
from click.core import ParameterSource
from msgspec import Struct
from twisted.internet.defer import CancelledError, Deferred, gatherResults

from ...app.running import run_reactor
from ...net.links.addresses import EndpointError, address_of, stopped
from ...net.links.tokens import BadTokens
from ...net.telemetry import Note
from ...submissions.api import AuthorApi, Authors
from ...submissions.check_queue import CHECK_S, COMMAND, Checker
from ...submissions.http import open_service
from ...submissions.matches import Matches
from ...submissions.store import MAX_VERSIONS, Store, StoreError
from ...text import printable
from ..common import Count, console, find_game, monotonic
from .match import Seconds
from .monitoring import Monitoring, watched
from .sandbox import AUTO, confinement_options, find_confinement

F = TypeVar("F", bound=Callable[..., Any])

LISTEN = "tcp:7780:interface=127.0.0.1"
_OPTIONS = (
    click.option(
        "--submissions",
        type=click.Path(file_okay=False, path_type=Path),
        help="Take programs in, into DIR, from the authors of --players, instead of playing; over HTTP.",
    ),
    click.option(
        "--check-time",
        "check_s",
        type=Seconds(min=1, max=86_400),
        default=CHECK_S,
        show_default=True,
        help="With --submissions: how long the check of a program may take, in seconds.",
    ),
    click.option(
        "--versions",
        "max_versions",
        type=Count(min=1),
        default=MAX_VERSIONS,
        show_default=True,
        help="With --submissions: how many versions an author may hand in.",
    ),
    click.option(
        "--remote-by-name",
        is_flag=True,
        help="With --submissions: show remote entrants their tournament matches; entrants are called as in --players.",
    ),
    confinement_options,
)
_OWN = ("submissions", "check_s", "max_versions", "remote_by_name", "sandbox_mode", "memory_mib")
_SHARED = ("players_file", "listen", "logs", "key", "diagnostics", "metrics", "as_json")


class SubmissionsOptions(Struct, frozen=True, kw_only=True):
    """How programs are taken in."""

    folder: Path
    players: Path
    """File of the tokens."""
    logs: Path
    address: str = LISTEN
    check: tuple[str, ...] = COMMAND
    """Command line of a check, but for the folder."""
    check_s: float = CHECK_S
    max_versions: int = MAX_VERSIONS
    remote_by_name: bool = False


def submissions_options(function: F) -> F:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def asks_for_submissions(context: click.Context) -> bool:
    """Tell whether programs are to be taken in.

    Raises:
        click.UsageError: options are given that make no sense together.
    """
    given = [
        param
        for param in context.command.params
        if param.name and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    ]
    asks = context.params["submissions"] is not None
    for param in given:
        if not asks and param.name in _OWN:
            raise click.UsageError(f"{_shown(param)} is for taking programs in: give --submissions DIR as well")
        if asks and param.name not in (*_OWN, *_SHARED):
            raise click.UsageError(f"with --submissions nothing is played: leave {_shown(param)} out")
    if asks and context.params["players_file"] is None:
        remedy = "`referee token ada bob --file players.toml` makes their tokens; then add --players players.toml"
        raise click.UsageError(f"--submissions takes programs of known authors only: {remedy}")
    return asks


def _shown(param: click.Parameter) -> str:
    return param.opts[0] if param.param_type_name == "option" else (param.name or "").upper()


def receive(context: click.Context) -> None:
    """Take programs in until somebody stops it.

    Args:
        context: of a command that asks for it.

    Raises:
        click.UsageError: the authors' file or the address can't be used.
        click.ClickException: the folder can't be used.
    """
    values = context.params
    is_own_address = context.get_parameter_source("listen") is ParameterSource.COMMANDLINE
    mode = values["sandbox_mode"]
    memory_mib = values["memory_mib"]
    # now, and said to the organiser; a check would find out too late
    find_confinement(mode, values["key"], values["logs"], memory_mib=memory_mib)
    reception = SubmissionsOptions(
        folder=values["submissions"],
        players=values["players_file"],
        logs=values["logs"],
        address=values["listen"] if is_own_address else LISTEN,
        check=(*COMMAND, *(() if mode == AUTO else ("--sandbox", mode)), "--memory", str(memory_mib)),
        check_s=values["check_s"],
        max_versions=values["max_versions"],
        remote_by_name=values["remote_by_name"],
    )
    with watched(values["diagnostics"], values["metrics"]) as telling:
        run_submissions(reception, telling)


def run_submissions(reception: SubmissionsOptions, telling: Monitoring) -> None:
    """Run the service until it is interrupted or told to end.

    Args:
        reception: how.
        telling: where it tells of itself.

    Raises:
        click.UsageError: the authors' file or the address can't be used.
        click.ClickException: the folder can't be used.
    """
    try:
        authors = Authors(reception.players)
        store = Store(reception.folder, reception.max_versions)
    except BadTokens as error:
        raise click.UsageError(str(error)) from None
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    try:
        run_reactor(lambda reactor: _serve(reactor, reception, authors, store, telling))
    except EndpointError as error:
        raise click.UsageError(str(error)) from None
    except (StoreError, OSError) as error:
        raise click.ClickException(str(error)) from None
    finally:
        store.close()


async def _serve(
    reactor: Any, reception: SubmissionsOptions, authors: Authors, store: Store, telling: Monitoring
) -> None:
    note = _told(telling.telemetry.note)
    matches = Matches(reception.logs, reception.folder, find_game, remote_by_name=reception.remote_by_name)
    checker = Checker(reactor, store, _now, note, reception.check, reception.check_s)
    api = AuthorApi(store, checker, matches, monotonic, _now, note)
    await checker.take_up()
    monitor = await telling.open(reactor)
    port = await open_service(reactor, reception.address, api, authors, note)
    where = address_of(port, reception.address).replace("tcp:", "http://").replace("tls:", "https://")
    _say(f"the referee takes submissions on {where} into {reception.folder}")
    try:
        await checker.run()
    except CancelledError:
        _say("stopped; what was not checked yet is checked when the same command is given again")
    finally:
        await gatherResults([Deferred.fromCoroutine(stopped(one)) for one in (port, monitor) if one is not None])


def _told(note: Note) -> Note:
    """Return what takes note and tells the organiser, too."""

    def _take(event: str, /, **facts: Any) -> None:
        note(event, **facts)
        told = ", ".join(f"{key} {value}" for key, value in facts.items() if value is not None)
        _say(f"{event.replace('-', ' ')}: {printable(told)}")

    return _take


def _say(text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    sys.stderr.flush()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
