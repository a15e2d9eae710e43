"""`referee submit`: hand a program in, and show its verdict, versions and matches.

Answers of the organiser's service come over a network, so control characters in them are removed before they are shown.
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
"""Columns of the table of an author's versions."""
MATCHES = ("match", "game", "names", "seat", "version", "rank", "points", "foul")
"""Columns of the table of an author's matches."""
_HASH_CHARS, _INSTANT_CHARS = 64, 19


@click.command(epilog="Example:  referee submit my_player/ --to http://HOST:8080 --token-file token")
@click.argument("player", metavar="[PLAYER]", required=False, type=PATH)
@click.option("--to", "url", metavar="URL", required=True, help="Address of the organiser's service.")
@click.option(
    "--token-file",
    type=FILE,
    help="File with your token, which only you may be able to read. (Default: the variable REFEREE_TOKEN)",
)
@click.option("--ca", type=FILE, help="The organiser's certificate, in PEM. (Default: those that this system trusts)")
@click.option("--skip-check", is_flag=True, help="Skip the check on this machine.")
@click.option("--status", "is_status", is_flag=True, help="Show your versions.")
@click.option("--matches", "is_matches", is_flag=True, help="Show your finished matches.")
@click.option(
    "--explain", "match", metavar="MATCH", help="Explain a match: messages, answers, times and fouls of your program."
)
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
    """Hand in the program PLAYER, and wait for the result of the organiser's check.

    PLAYER is the program's folder, or an archive of the folder: a tar (also with gzip, bzip2 or xz) or a zip. The
    command packs the folder, checks it with `referee check`, and hands it in. Then the organiser's referee checks it
    again. A version that passes replaces your last version. A version that fails is stored, and changes nothing.

    The command leaves out caches, version control, virtual environments, and the files that .refereeignore names.

    Exit status: 0 the program passes, 1 it fails or was refused, 2 usage error.
    """
    if sum((player is not None, is_status, is_matches, match is not None)) != 1:
        raise click.UsageError("give one of these: a PLAYER to hand in, --status, --matches, or --explain MATCH")
    service = open_service(url, token_file, ca)
    if service.shows_token:
        say_report("your token goes over the network unencrypted; ask the organiser for an https address")
    if player is not None:
        sys.exit(_submit(service, player, skip_check=skip_check, as_json=as_json))
    _answer(service, match, is_status=is_status, as_json=as_json)


def _submit(service: SubmissionsClient, player: Path, *, skip_check: bool, as_json: bool) -> int:
    archive = pack_player(player, say_report)
    if not skip_check:
        check_here(archive, player, partial(_passes, as_json=as_json))
    with console.status("waiting for the verdict"):
        version = submit_archive(service, archive, say_report)
    if as_json:
        print_json(version)
    else:
        show_verdict(version, say_what_plays(service))
    return FINE if version.get("state") == VersionState.PASSED else FAILED


def _passes(words: Sequence[str], *, as_json: bool) -> bool:
    """Run `referee check`, and return whether the player passes. With --json, the check prints to stderr."""
    with contextlib.redirect_stdout(sys.stderr if as_json else sys.stdout):
        try:
            check.main([*words], prog_name="referee check", standalone_mode=False)
        except SystemExit as end:
            return end.code == FINE
    return True


def _answer(service: SubmissionsClient, match: str | None, *, is_status: bool, as_json: bool) -> None:
    """Show a match, or the author's versions or matches."""
    name = "submissions" if is_status else "matches"
    answer = service.get(name) if match is None else find_match(service, match)
    if as_json:
        print_json(answer)
    elif match is not None:
        show_explanation(read_explanation(answer))
    else:
        show_rows(answer, name, VERSIONS if is_status else MATCHES)


def say_report(text: str) -> None:
    """Print a text to stderr, without control characters, because it may come from the service."""
    console.say(printable(text))


def show_verdict(version: dict[str, Any], in_its_place: str) -> None:
    """Show the verdict on a version.

    Args:
        version: the service's description of the version.
        in_its_place: words for what plays if the version failed.
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
    """Show a failed step. A cause that was explained for an earlier step is not explained again.

    Args:
        step: the check's description of the step.
        explained: cause of a failure -> number of its first step; this function adds to it.
    """
    value = step.get("trouble")
    trouble: dict[str, Any] = value if isinstance(value, dict) else {}
    first = explained.setdefault(str(trouble.get("cause", step.get("number"))), step.get("number"))
    if first != step.get("number"):
        _print(f"  {step.get('number')} {step.get('title')} (for the same cause as step {first})")
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
        answer: answer of the service.
        name: name of the list.
        keys: columns of the table.
    """
    table = RichTable(show_edge=False)
    for key in keys:
        table.add_column(key.replace("_", " "), overflow="fold")
    for row in read_rows(answer, name):
        table.add_row(*(harmless(_word(row.get(key))) for key in keys))
    out.print(table)


def _word(value: Any) -> str:
    """Return a value in the form of the table: hashes and times are shortened."""
    if isinstance(value, str) and len(value) == _HASH_CHARS:
        return value[:12]
    if isinstance(value, str) and value[10:11] == "T":
        return value[:_INSTANT_CHARS]
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _print(text: str) -> None:
    out.say(printable(text))
