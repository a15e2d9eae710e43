"""`referee submit`: hand a program in, and see what came of it and of its matches.

All that the organiser's service answers came over a network, and is shown as text.
"""

import contextlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import rich_click as click
from rich.table import Table as RichTable

from ...record.folder import LAST_LINES
from ...text import printable
from ...web.submissions.store import VersionState
from ..common import FILE, PATH, console, harmless, json_option, out, print_json
from ..errors import FAILED, FINE
from ..submission_client import (
    SubmissionsClient,
    check_here,
    find_match,
    open_service,
    pack_player,
    read_explanation,
    read_rows,
    say_what_plays,
    submit_archive,
)
from .check import check
from .explain import show_explanation

VERSIONS = ("number", "state", "handed_in", "sha256", "failed_steps")
"""Columns of an author's versions."""
MATCHES = ("match", "game", "names", "seat", "version", "rank", "points", "foul")
"""Columns of an author's matches."""
_HASH_CHARS, _INSTANT_CHARS = 64, 19


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
    archive = pack_player(player, _say)
    if not skip_check:
        check_here(archive, player, partial(_passes, as_json=as_json))
    with console.status("waiting for the verdict"):
        version = submit_archive(service, archive, _say)
    if as_json:
        print_json(version)
    else:
        show_verdict(version, say_what_plays(service))
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
        show_explanation(read_explanation(found))
    else:
        show_rows(found, name, VERSIONS if is_status else MATCHES)


def _say(text: str) -> None:
    console.say(printable(text))


def show_verdict(version: dict[str, Any], in_its_place: str) -> None:
    """Show what came of a version.

    Args:
        version: as the service describes it.
        in_its_place: what plays if it failed.
    """
    passed = version.get("state") == VersionState.PASSED
    word = "[green]passed[/]: it plays from now on" if passed else f"[red]failed[/]: {harmless(in_its_place)}"
    out.print(f"version {harmless(str(version.get('number')))} {word}", highlight=False)
    if version.get("trouble"):
        _print(str(version["trouble"]))
    report = version.get("report")
    explained: dict[str, Any] = {}
    for step in read_rows(report, "steps") if isinstance(report, dict) else ():
        if step.get("verdict") == "failed":
            _show_step(step, explained)


def _show_step(step: dict[str, Any], explained: dict[str, Any]) -> None:
    """Show a step that failed; what was explained at an earlier one is not explained again.

    Args:
        step: as the check describes it.
        explained: cause of a failure -> the number of its first step; added to.
    """
    found = step.get("trouble")
    trouble: dict[str, Any] = found if isinstance(found, dict) else {}
    first = explained.setdefault(str(trouble.get("cause", step.get("number"))), step.get("number"))
    if first != step.get("number"):
        _print(f"  {step.get('number')} {step.get('title')} (for the cause of step {first})")
        return
    _print(f"  {step.get('number')} {step.get('title')}")
    for key, title in (("happened", "what happened"), ("expected", "expected"), ("remedy", "how to fix it")):
        if trouble.get(key):
            _print(f"      {title}: {trouble[key]}")
    if trouble.get("printed"):
        _print("      it printed last:")
        for line in str(trouble["printed"]).rstrip().split("\n")[-LAST_LINES:]:
            _print(f"        {line}")


def show_rows(answer: dict[str, Any], name: str, keys: tuple[str, ...]) -> None:
    """Show a list of an answer as a table.

    Args:
        answer: of the service.
        name: of the list.
        keys: of what is shown of each.
    """
    table = RichTable(show_edge=False)
    for key in keys:
        table.add_column(key.replace("_", " "), overflow="fold")
    for row in read_rows(answer, name):
        table.add_row(*(harmless(_word(row.get(key))) for key in keys))
    out.print(table)


def _word(value: Any) -> str:
    """Return a value as a table has it: hashes and instants as far as people look at them."""
    if isinstance(value, str) and len(value) == _HASH_CHARS:
        return value[:12]
    if isinstance(value, str) and value[10:11] == "T":
        return value[:_INSTANT_CHARS]
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _print(text: str) -> None:
    out.say(printable(text))
