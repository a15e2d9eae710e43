"""The options of `referee serve --submissions`, and which other options make no sense with them."""

from pathlib import Path

import rich_click as click
from click.core import ParameterSource
from msgspec import Struct

from ...app.receiving import LISTEN, SubmissionService
from ...app.serving import SignUpOptions
from ...submissions.check_queue import CHECK_S
from ...submissions.store import MAX_VERSIONS
from ..common import Count
from .grouping import grouped
from .match import seconds_option

_OWN = ("submissions", "check_s", "max_versions", "remote_by_name", "sandbox", "memory_mib")
_SHARED = ("players_file", "listen", "logs", "key", "diagnostics", "metrics", "as_json")


class SubmissionsOptions(Struct, frozen=True, kw_only=True):
    """How programs are taken in, if they are."""

    submissions: Path | None
    check_s: float
    max_versions: int
    remote_by_name: bool

    def service(self, context: click.Context, sign_ups: SignUpOptions, logs: Path) -> SubmissionService:
        """Return the service that is asked for.

        Args:
            context: of the command, which asks for one.
            sign_ups: has the address, if one was given, and the file of the tokens.
            logs: folder of the records.
        """
        is_own_address = context.get_parameter_source("listen") is ParameterSource.COMMANDLINE
        assert self.submissions is not None, "it is asked for"
        assert sign_ups.players_file is not None, "asks_for_submissions has seen to it"
        return SubmissionService(
            folder=self.submissions,
            players=sign_ups.players_file,
            logs=logs,
            address=sign_ups.listen if is_own_address else LISTEN,
            check_s=self.check_s,
            max_versions=self.max_versions,
            remote_by_name=self.remote_by_name,
        )


submissions_options = grouped(
    "submissions",
    SubmissionsOptions,
    click.option(
        "--submissions",
        type=click.Path(file_okay=False, path_type=Path),
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
