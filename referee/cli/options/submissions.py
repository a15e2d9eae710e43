"""The options of `referee serve --submissions`, and which other options make no sense with them."""

from pathlib import Path
from typing import Any

import rich_click as click
from click.core import ParameterSource

from ...app.receiving import SubmissionService
from ...web.submissions.check_queue import CHECK_S
from ...web.submissions.store import MAX_VERSIONS
from ..common import FOLDER, Count
from .grouping import grouped
from .match import seconds_option

_OWN = ("submissions", "check_s", "max_versions", "remote_by_name", "sandbox", "memory_mib")
_SHARED = ("players_file", "listen", "logs", "key", "diagnostics", "metrics", "as_json")


def _service(submissions: Path | None, **values: Any) -> SubmissionService | None:
    return None if submissions is None else SubmissionService(folder=submissions, **values)


submissions_options = grouped(
    "service",
    _service,
    click.option(
        "--submissions",
        type=FOLDER,
        help="Take programs in, into DIR, from the authors of --players, instead of playing; over HTTP.",
    ),
    seconds_option(
        "--check-time",
        "check_s",
        least=1,
        default=CHECK_S,
        what="With --submissions: how long the check of a program may take, in seconds.",
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
)


def check_submissions(context: click.Context) -> None:
    """Refuse options that make no sense where programs are taken in, or where none are.

    Raises:
        click.UsageError: there is one.
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


def _shown(param: click.Parameter) -> str:
    return param.opts[0] if param.param_type_name == "option" else (param.name or "").upper()
