"""`referee submit`: hand a program in, and see what came of it and of its matches."""

import contextlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import rich_click as click

from ...app.submit import check_here, explanation_in, find_match, hand_in, in_its_place, open_service, packed
from ...text import printable
from ...web.submissions.client import SubmissionsClient
from ...web.submissions.store import VersionState
from ..common import FILE, PATH, console, json_option, print_json
from ..errors import FAILED, FINE
from ..views.explanation import show_explanation
from ..views.submissions import MATCHES, VERSIONS, show_rows, show_verdict
from .check import check


@click.command(epilog="Example:  referee submit my_player/ --to http://HOST:8080 --token-file token")
@click.argument("player", metavar="[PLAYER]", required=False, type=PATH)
@click.option("--to", "url", metavar="URL", required=True, help="Address of the organiser's service.")
@click.option(
    "--token-file",
    type=FILE,
    help="File with your token, that only you can read. Without it, the token is taken from REFEREE_TOKEN.",
)
@click.option("--ca", type=FILE, help="Certificate of the organiser's, in PEM.")
@click.option("--skip-check", is_flag=True, help="Hand it in without checking it here first.")
@click.option("--status", "is_status", is_flag=True, help="Show your versions.")
@click.option("--matches", "is_matches", is_flag=True, help="Show your matches that are over.")
@click.option("--explain", "match", metavar="MATCH", help="Show what your program was told, answered, took and broke.")
@json_option
def submit(
    player: Path | None,
    url: str,
    token_file: Path | None,
    ca: Path | None,
    skip_check: bool,
    is_status: bool,
    is_matches: bool,
    match: str | None,
    as_json: bool,
) -> None:
    """Hand in the program PLAYER, and wait for the organiser's verdict.

    PLAYER is its folder, or an archive of it: a tar, also with gzip, bzip2 or xz, or a zip. The folder is packed, and
    what was packed is checked here with `referee check`; then it is handed in, and the organiser's referee checks it
    once more. A version that passes takes the place of your last one; one that fails is
    kept, and changes nothing. Caches, version control, virtual environments and what a file .refereeignore names are
    left out.

    Exit status: 0 it passes, 1 it does not or was not taken, 2 usage error.
    """
    if sum((player is not None, is_status, is_matches, match is not None)) != 1:
        raise click.UsageError("give either a PLAYER to hand in, or --status, --matches or --explain MATCH")
    service = open_service(url, token_file, ca)
    if service.shows_token:
        _say(
            "your token goes over the network for everybody on the way to read; ask the organiser for an https address"
        )
    if player is not None:
        sys.exit(_submit(service, player, skip_check=skip_check, as_json=as_json))
    _answer(service, match, is_status=is_status, as_json=as_json)


def _submit(service: SubmissionsClient, player: Path, *, skip_check: bool, as_json: bool) -> int:
    archive = packed(player, _say)
    if not skip_check:
        check_here(archive, player, partial(_passes, as_json=as_json))
    with console.status("waiting for the verdict"):
        version = hand_in(service, archive, _say)
    if as_json:
        print_json(version)
    else:
        show_verdict(version, in_its_place(service))
    return FINE if version.get("state") == VersionState.PASSED else FAILED


def _passes(words: Sequence[str], *, as_json: bool) -> bool:
    """Run `referee check`, and tell whether everything passes; stdout is for the one object alone."""
    with contextlib.redirect_stdout(sys.stderr if as_json else sys.stdout):
        try:
            check.main([*words], prog_name="referee check", standalone_mode=False)
        except SystemExit as end:
            return end.code == FINE
    return True


def _answer(service: SubmissionsClient, match: str | None, *, is_status: bool, as_json: bool) -> None:
    """Show a match, or the author's versions or matches."""
    name = "submissions" if is_status else "matches"
    found = service.get(name) if match is None else find_match(service, match)
    if as_json:
        print_json(found)
    elif match is not None:
        show_explanation(explanation_in(found))
    else:
        show_rows(found, name, VERSIONS if is_status else MATCHES)


def _say(text: str) -> None:
    console.say(printable(text))
