"""`referee worker`: play matches for tournaments of other machines."""

from pathlib import Path
from typing import Any

import rich_click as click

from ...app.cluster_worker import WorkerOptions, work
from ...programs.confining import SandboxMode
from ..common import FOLDER, Count, console
from ..options.running import metrics_option, sandbox_option


@click.command(epilog="Example:  referee worker tls://10.0.0.1:8786 --tables 4 --folder worker --keys keys")
@click.argument("scheduler")
@click.option("--tables", type=Count(1, 256), default=1, show_default=True, help="Play so many matches at a time.")
@click.option("--folder", type=FOLDER, default=Path("worker"), show_default=True, help="For programs and records.")
@click.option("--keys", type=FOLDER, help="Folder of the certificates. See `referee cluster-keys`.")
@sandbox_option(SandboxMode.REQUIRED)
@metrics_option
def worker(scheduler: str, **chosen: Any) -> None:
    """Play matches for tournaments that are run with `--cluster`, through the Dask scheduler at SCHEDULER.

    A host holds no key: each record is checked, and sealed, where the tournament is run.

    Ctrl-C or SIGTERM lets it take no more matches, and end once those that it plays are over; a second one ends it at
    once. When the scheduler is lost, it connects again.
    """
    work(WorkerOptions(address=scheduler, say=console.say, **chosen))
