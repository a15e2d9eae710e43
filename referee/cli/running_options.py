"""Options for how the referee itself runs: its key, its folder, the sandbox, and its logs."""

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
    """Reports an observer that failed."""

    def note(self, event: str, /, **facts: Any) -> None:
        """Report it."""
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
        help="Run programs in a sandbox: always, if this machine can (see `referee doctor`), or never.",
    )


_SANDBOX = sandbox_option(SandboxMode.AUTO)
_KEY = click.option("--key", type=FILE, help="Key that seals records; made if missing. See `referee key`.")
_MEMORY = click.option(
    "--memory",
    "memory_mib",
    type=Count(*MEMORY_MIB),
    metavar="MIB",
    default=ProgramLimits().memory_mib,
    show_default=True,
    help="Memory of each program in MiB, with all its processes and its /tmp.",
)
_DIAGNOSTICS = click.option(
    "--diagnostics",
    type=FILE,
    help="Append connections, stalls and expulsions to FILE, as lines of JSON.",
)
_DURABILITY = click.option(
    "--durability",
    type=Word([durability.value for durability in Durability]),
    default=Durability.MATCH.value,
    show_default=True,
    help="What survives a power failure: finished matches, or every turn before players hear of it.",
)
_HEADS = click.option(
    "--heads",
    type=FILE,
    help="Append the hash of each record line to FILE as soon as it is written, as lines of JSON.",
)
metrics_option = click.option(
    "--metrics",
    metavar="ENDPOINT",
    help="Serve /metrics for Prometheus and /health at this address, e.g. tcp:9100:interface=127.0.0.1",
)


def _options(**values: Any) -> RefereeOptions:
    return RefereeOptions(say=console.say, observers=(FailedObservers(),), **values)


confinement_options = group_options("running", _options, _SANDBOX, _MEMORY)
"""Options of commands that start programs and seal nothing."""
key_options = group_options("running", _options, _KEY)
"""Options of commands that only seal records."""
hosting_options = group_options("running", _options, _KEY, _SANDBOX, _MEMORY, metrics_option)
"""Options for a contest; its sandbox and memory limit are those of checks of handed-in programs."""
sealing_options = group_options("running", _options, _KEY, _DIAGNOSTICS, _HEADS, metrics_option)
"""Options of commands whose programs are confined as a file says."""
referee_options = group_options(
    "running", _options, _KEY, _SANDBOX, _MEMORY, _DURABILITY, _DIAGNOSTICS, _HEADS, metrics_option
)
"""Options of commands that start programs and seal records."""


def logs_option(what: str) -> Decorator:
    """Return the option for the folder of records.

    Args:
        what: purpose of the folder, for the help text.
    """
    return click.option("--logs", type=FOLDER, default=Path("logs"), show_default=True, help=f"Folder {what}.")
