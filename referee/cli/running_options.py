"""The options for how the referee itself runs: its key, its folder, the sandbox, where it tells of itself."""

from pathlib import Path
from typing import Any

import rich_click as click

from ..app.services import RefereeOptions
from ..net.group_commit import Durability
from ..observers import Observer
from ..programs.confining import SandboxMode
from ..programs.limits import MEMORY_MIB, ProgramLimits
from ..text import printable
from .common import FILE, FOLDER, Count, Decorator, Word, console, group_options


class FailedObservers(Observer):
    """Tells of an observer that failed."""

    def note(self, event: str, /, **facts: Any) -> None:
        """Tell of it."""
        if event == "observer-failed":
            text = f"{facts['observer']} failed, and shows nothing more: {facts['error']}; what is played goes on"
            console.say(printable(text))


def sandbox_option(default: SandboxMode) -> Decorator:
    """Return the option for whether programs are confined."""
    return click.option(
        "--sandbox",
        type=Word([mode.value for mode in SandboxMode]),
        default=default.value,
        show_default=True,
        help="Run programs in a sandbox: always, where this machine can (see `referee doctor`), or never.",
    )


_SANDBOX = sandbox_option(SandboxMode.AUTO)
_KEY = click.option("--key", type=FILE, help="File of the key that seals records; made if missing. See `referee key`.")
_MEMORY = click.option(
    "--memory",
    "memory_mib",
    type=Count(*MEMORY_MIB),
    metavar="MIB",
    default=ProgramLimits().memory_mib,
    show_default=True,
    help="Memory of each program, in MiB, all its processes and its /tmp included.",
)
_DIAGNOSTICS = click.option(
    "--diagnostics",
    type=FILE,
    help="Add what happens at the edges (connections, stalls, expulsions) to FILE, as lines of JSON.",
)
_DURABILITY = click.option(
    "--durability",
    type=Word([durability.value for durability in Durability]),
    default=Durability.MATCH.value,
    show_default=True,
    help="What outlives a machine that loses its power: a match once it is over, or every turn before it is told.",
)
_HEADS = click.option(
    "--heads",
    type=FILE,
    help="Add the hash of each line of a record to FILE as it is written, for whoever wants to keep it: lines of JSON.",
)
metrics_option = click.option(
    "--metrics",
    metavar="ENDPOINT",
    help="Serve /metrics for Prometheus and /health there, e.g. tcp:9100:interface=127.0.0.1",
)


def _options(**values: Any) -> RefereeOptions:
    return RefereeOptions(say=console.say, observers=(FailedObservers(),), **values)


confinement_options = group_options("running", _options, _SANDBOX, _MEMORY)
"""For commands that start programs and seal nothing."""
key_options = group_options("running", _options, _KEY)
"""For commands that seal records, and do nothing else of these."""
hosting_options = group_options("running", _options, _KEY, _SANDBOX, _MEMORY, metrics_option)
"""For hosting a contest: the sandbox and the memory are those of checks of what is handed in."""
sealing_options = group_options("running", _options, _KEY, _DIAGNOSTICS, _HEADS, metrics_option)
"""For commands whose programs are held to what a file says."""
referee_options = group_options(
    "running", _options, _KEY, _SANDBOX, _MEMORY, _DURABILITY, _DIAGNOSTICS, _HEADS, metrics_option
)
"""For commands that start programs and seal records."""


def logs_option(what: str) -> Decorator:
    """Return the option for the folder of records.

    Args:
        what: is in it, for the help text.
    """
    return click.option("--logs", type=FOLDER, default=Path("logs"), show_default=True, help=f"Folder {what}.")
