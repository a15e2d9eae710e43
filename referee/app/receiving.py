"""Takes in what authors hand in, and has it checked, until somebody stops it."""

import sys
from pathlib import Path
from typing import Any

from msgspec import Struct
from twisted.internet.defer import CancelledError

from ..clock import wall_clock
from ..launch.confining import SandboxMode
from ..net.http_server import HttpServer
from ..net.links.addresses import address_of, listen, stopped
from ..observers import Note
from ..plugins import find_game
from ..submissions.api import LIMITS, AuthorApi, Authors
from ..submissions.check_queue import CHECK_S, CheckQueue
from ..submissions.matches import Matches
from ..submissions.store import MAX_VERSIONS, Store
from ..text import printable
from .running import run_reactor
from .services import Monitoring, RefereeOptions, Say, find_confinement, monitoring, monotonic

CHECK = (sys.executable, "-m", "referee.check")
"""Command line of a check, but for its options and the player's folder."""
LISTEN = "tcp:7780:interface=127.0.0.1"


class SubmissionService(Struct, frozen=True, kw_only=True):
    """How programs are taken in."""

    folder: Path
    players: Path
    """File of the tokens."""
    logs: Path
    address: str = LISTEN
    check: tuple[str, ...] | None = None
    """Command line of a check, but for the folder; None: the referee's own command, held to its options."""
    check_s: float = CHECK_S
    """How long a check may take."""
    max_versions: int = MAX_VERSIONS
    remote_by_name: bool = False
    """Whether remote entrants are shown their matches, being called as in the file of the tokens."""


def receive(service: SubmissionService, options: RefereeOptions) -> None:
    """Take programs in until it is interrupted or told to end.

    Args:
        service: how.
        options: how the referee runs.

    Raises:
        BadRequest: the authors' file or the address can't be used, or a required sandbox is not to be had.
        StoreError: the folder can't be used.
        OSError: it can't be written.
    """
    find_confinement(options, service.logs)  # now, and said to the organiser; a check would find out too late
    authors = Authors(service.players)
    store = Store(service.folder, service.max_versions)
    check = service.check or _check_command(options)
    try:
        with monitoring(options) as watching:
            run_reactor(lambda reactor: _serve(reactor, service, authors, store, check, watching, options.say))
    finally:
        store.close()


def _check_command(options: RefereeOptions) -> tuple[str, ...]:
    sandbox = () if options.sandbox == SandboxMode.AUTO else ("--sandbox", options.sandbox)
    return (*CHECK, *sandbox, "--memory", str(options.memory_mib))


async def _serve(
    reactor: Any,
    service: SubmissionService,
    authors: Authors,
    store: Store,
    check: tuple[str, ...],
    watching: Monitoring,
    say: Say,
) -> None:
    note = _telling(watching.observers.note, say)
    matches = Matches(service.logs, service.folder, find_game, remote_by_name=service.remote_by_name)
    checks = CheckQueue(reactor, store, wall_clock, note, check, service.check_s)
    api = AuthorApi(authors, store, checks, matches, monotonic, wall_clock, note)
    await checks.recover()
    async with watching.opened(reactor):
        port = await listen(reactor, service.address, HttpServer(api, LIMITS, note, reactor))
        where = address_of(port, service.address).replace("tcp:", "http://").replace("tls:", "https://")
        say(f"the referee takes submissions on {where} into {service.folder}")
        try:
            await checks.run()
        except CancelledError:
            say("stopped; what was not checked yet is checked when the same command is given again")
        finally:
            await stopped(port)


def _telling(note: Note, say: Say) -> Note:
    """Return what takes note and tells the organiser, too."""

    def _take(event: str, /, **facts: Any) -> None:
        note(event, **facts)
        told = ", ".join(f"{key} {value}" for key, value in facts.items() if value is not None)
        say(f"{event.replace('-', ' ')}: {printable(told)}")

    return _take
