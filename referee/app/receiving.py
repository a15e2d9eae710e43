"""Takes in what authors hand in, and has it checked, until somebody stops it."""

import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from msgspec import Struct
from twisted.internet.defer import CancelledError

from ..clock import wall_clock
from ..net.http_server import HttpServer
from ..net.links.addresses import listen, stopped, url_of
from ..observers import Note
from ..plugins import find_game
from ..programs.confining import SandboxMode
from ..text import printable
from ..web.submissions.api import LIMITS, AuthorApi
from ..web.submissions.authors import Authors
from ..web.submissions.check_queue import CHECK_S, CheckQueue
from ..web.submissions.matches import AuthorsMatches
from ..web.submissions.store import MAX_VERSIONS, Store
from .running import run_reactor
from .services import RefereeOptions, Say, find_confinement, monitoring, monotonic

CHECK = (sys.executable, "-m", "referee.check")
"""Command line of a check, but for its options and the player's folder."""
_YES_NO = {True: "yes", False: "no"}
LISTEN = "tcp:7780:interface=127.0.0.1"


class SubmissionService(Struct, frozen=True, kw_only=True):
    """How programs are taken in."""

    folder: Path
    check_s: float = CHECK_S
    """How long a check may take."""
    max_versions: int = MAX_VERSIONS
    remote_by_name: bool = False
    """Whether remote entrants are shown their matches, being called as in the file of the tokens."""


def receive(
    service: SubmissionService,
    options: RefereeOptions,
    players: Path,
    logs: Path,
    address: str = LISTEN,
    check: Sequence[str] = (),
) -> None:
    """Take programs in until it is interrupted or told to end.

    Args:
        service: how.
        options: how the referee runs.
        players: file of the authors' tokens.
        logs: folder of the records.
        address: Twisted endpoint string to listen on.
        check: command line of a check, but for the folder; empty: the referee's own command, held to its options.

    Raises:
        BadRequest: the authors' file or the address can't be used, or a required sandbox is not to be had.
        StoreError: the folder can't be used.
        OSError: it can't be written.
    """
    find_confinement(options, logs)  # now, and said to the organiser; a check would find out too late
    authors = Authors(players)
    matches = AuthorsMatches(logs, service.folder, find_game, remote_by_name=service.remote_by_name)
    command = check or check_command(options)
    with closing(Store(service.folder, service.max_versions)) as store, monitoring(options) as watching:
        note = telling(watching.observers.note, options.say)

        async def _main(reactor: Any) -> None:
            checks = CheckQueue(reactor, store, wall_clock, note, command, service.check_s)
            await checks.recover()
            async with watching.opened(reactor):
                api = AuthorApi(authors, store, checks, matches, monotonic, wall_clock, note)
                port = await listen(reactor, address, HttpServer(api, LIMITS, note, reactor))
                options.say(f"the referee takes submissions on {url_of(port, address)} into {service.folder}")
                try:
                    await checks.run()
                except CancelledError:
                    options.say("stopped; what was not checked yet is checked when the same command is given again")
                finally:
                    await stopped(port)

        run_reactor(_main)


def check_command(options: RefereeOptions) -> Sequence[str]:
    """Return the command line of a check, but for the folder."""
    sandbox = () if options.sandbox == SandboxMode.AUTO else ("--sandbox", options.sandbox)
    return *CHECK, *sandbox, "--memory", str(options.memory_mib)


def telling(note: Note, say: Say) -> Note:
    """Return what takes note and tells the organiser, too."""

    def _take(event: str, /, **facts: Any) -> None:
        note(event, **facts)
        words = {key: _YES_NO[value] if isinstance(value, bool) else value for key, value in facts.items()}
        told = ", ".join(f"{key} {value}" for key, value in words.items() if value is not None)
        say(f"{event.replace('-', ' ')}: {printable(told)}")

    return _take
