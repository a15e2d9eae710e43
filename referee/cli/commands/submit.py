"""`referee submit`: hand a program in, and see what came of it and of its matches. Knows the author's side alone."""

import contextlib
import sys
import time
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
import rich_click as click
from rich.table import Table as RichTable

from ...files.scratch import scratch
from ...launch import no_folder
from ...record.explain import ExplainedFoul, Explanation, Heard, Said
from ...record.printed import LAST_LINES, Printed
from ...submissions.archive import MIB, pack, unpack
from ...submissions.client import ServiceError, SubmissionsClient, find_service, find_token
from ...submissions.folder import gather, write
from ...submissions.store import VersionState
from ...text import counted, printable
from ..common import console, harmless, json_option, out, print_json
from ..errors import FAILED, FINE
from ..views.explanation import show_explanation
from .check import check

FIRST_LOOK_S, LAST_LOOK_S = 0.25, 5.0
"""Between two looks for the verdict: the first ones are near each other, then it may take minutes."""
PATIENCE_S = 1800.0
"""Longest wait for a verdict: a whole class's checks may be first."""
_OVER = (VersionState.PASSED, VersionState.FAILED)
_PENDING = (VersionState.WAITING, VersionState.CHECKING)


class _Head(msgspec.Struct):
    """Of an explanation, what has one form only."""

    match: str
    game: str
    names: list[str]
    seat: int
    result: dict[str, Any]


@click.command(epilog="Example:  referee submit my_player/ --to http://HOST:7780 --token-file token")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--to", "url", metavar="URL", required=True, help="Address of the organiser's service.")
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with your token, that only you can read. Without it, the token is taken from REFEREE_TOKEN.",
)
@click.option("--ca", type=click.Path(dir_okay=False, path_type=Path), help="Certificate of the organiser's, in PEM.")
@click.option("--skip-check", is_flag=True, help="Hand it in without checking it here first.")
@click.option("--status", "is_status", is_flag=True, help="Show your versions.")
@click.option("--matches", "is_matches", is_flag=True, help="Show your matches that are over.")
@click.option("--explain", "match", metavar="MATCH", help="Show what your program was told, answered, took and broke.")
@json_option
def submit(
    folder: Path | None,
    url: str,
    token_file: Path | None,
    ca: Path | None,
    skip_check: bool,
    is_status: bool,
    is_matches: bool,
    match: str | None,
    as_json: bool,
) -> None:
    """Hand in the program in FOLDER, and wait for the organiser's verdict.

    The folder is packed, and what was packed is checked here with `referee check`; then it is handed in, and the
    organiser's referee checks it once more. A version that passes takes the place of your last one; one that fails is
    kept, and changes nothing. Caches, version control, virtual environments and what a file .refereeignore names are
    left out.

    Exit status: 0 it passes, 1 it does not or was not taken, 2 used wrongly.
    """
    if sum((folder is not None, is_status, is_matches, match is not None)) != 1:
        raise click.UsageError("give either a FOLDER to hand in, or --status, --matches or --explain MATCH")
    try:
        service = find_service(url, find_token(token_file), ca)
    except ServiceError as error:
        raise click.UsageError(str(error)) from None
    if service.shows_token:
        _say(
            "your token goes over the network for everybody on the way to read; ask the organiser for an https address"
        )
    try:
        if folder is not None:
            sys.exit(_hand_in(service, folder, skip_check=skip_check, as_json=as_json))
        if is_status:
            _show_versions(service.get("submissions"), as_json=as_json)
        elif is_matches:
            _show_matches(service.get("matches"), as_json=as_json)
        elif match is not None:
            _explain(_match(service, match), as_json=as_json)
    except ServiceError as error:
        _say(str(error))
        sys.exit(FAILED)


def _hand_in(service: SubmissionsClient, folder: Path, *, skip_check: bool, as_json: bool) -> int:
    """Pack, check, hand in, wait; return the exit status."""
    if folder.is_file():
        raise click.UsageError(no_folder(folder))
    gathered = gather(folder)
    archive = pack(gathered.entries)
    left_out = f"; left out: {', '.join(gathered.left_out)}" if gathered.left_out else ""
    what = counted(len(gathered.entries), "file or folder", "files and folders")
    _say(f"packed {what}, {len(archive) / MIB:.2f} MiB{left_out}")
    if not skip_check and not _passes_here(archive, folder, as_json=as_json):
        _say("it does not pass the check here and was not handed in; --skip-check hands it in all the same")
        return FAILED
    version = service.hand_in(archive)
    number = version.get("number")
    if not isinstance(number, int):
        raise ServiceError("the answer names no version; is --to right?")
    _say(f"handed in as version {number}, SHA-256 {version.get('sha256')}")
    try:
        version = _awaited(service, number)
    except ServiceError:
        _say("it was handed in and will be checked; `referee submit --status` shows the verdict later")
        raise
    if as_json:
        print_json(version)
    else:
        _show_verdict(version, _standing(service))
    return FINE if version.get("state") == VersionState.PASSED else FAILED


def _passes_here(archive: bytes, folder: Path, *, as_json: bool) -> bool:
    """Check on this machine what was packed: what is missing in it is missing there, too."""
    with scratch("submit") as place:
        copy = place / "player"
        write(unpack(archive), copy)
        command = [str(copy), "--called", str(folder), "--logs", str(place / "logs")]
        with contextlib.redirect_stdout(sys.stderr if as_json else sys.stdout):  # stdout has the one object alone
            try:
                check.main(command, prog_name="referee check", standalone_mode=False)
            except SystemExit as end:
                return end.code == FINE
        return True


def _awaited(service: SubmissionsClient, number: int, pause: Callable[[float], None] = time.sleep) -> dict[str, Any]:
    """Wait for the verdict on a version, telling what goes on.

    Args:
        service: asked again and again.
        number: of the version.
        pause: waits for so many seconds.

    Raises:
        ServiceError: an answer tells no state of a version, or there is no verdict within PATIENCE_S.
    """
    pause_s, waited_s, last = FIRST_LOOK_S, 0.0, ""
    with console.status("waiting for the verdict"):
        while waited_s < PATIENCE_S:
            found: dict[str, Any] = service.get("submissions", str(number))
            state = found.get("state")
            if state in _OVER:
                return found
            if state not in _PENDING:
                raise ServiceError(f"the answer does not tell how far version {number} is; is --to right?")
            if state != last:
                _say(f"version {number}: {state}")
                last = state
            pause(pause_s)
            waited_s += pause_s
            pause_s = min(pause_s * 1.5, LAST_LOOK_S)
    raise ServiceError(f"there is no verdict after {PATIENCE_S / 60:.0f} minutes; ask the organiser")


# --- what is shown


def _say(text: str) -> None:
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def _standing(service: SubmissionsClient) -> str:
    """Return what plays in the place of a version that failed: the last one that passed, if there is one."""
    try:
        rows = service.get("submissions").get("submissions")
    except ServiceError:
        return "`referee submit --status` shows what plays"
    shown = [row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict)]
    passed = [row.get("number") for row in shown if row.get("state") == VersionState.PASSED]
    return f"version {passed[-1]} plays on" if passed else "none of yours has passed yet"


def _show_verdict(version: dict[str, Any], standing: str) -> None:
    """Show what came of a version.

    Args:
        version: as the service describes it.
        standing: what plays if it failed.
    """
    passed = version.get("state") == VersionState.PASSED
    word = "[green]passed[/]: it plays from now on" if passed else f"[red]failed[/]: {harmless(standing)}"
    out.print(f"version {harmless(str(version.get('number')))} {word}", highlight=False)
    if version.get("trouble"):
        out.print(printable(str(version["trouble"])), markup=False, highlight=False, soft_wrap=True)
    report = version.get("report")
    steps = report.get("steps") if isinstance(report, dict) else None
    explained: dict[str, Any] = {}
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and step.get("verdict") == "failed":
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
    for key, title in (("happened", "what happened"), ("expected", "expected"), ("remedy", "how to mend it")):
        if trouble.get(key):
            _print(f"      {title}: {trouble[key]}")
    if trouble.get("printed"):
        _print("      it printed last:")
        for line in str(trouble["printed"]).rstrip().split("\n")[-LAST_LINES:]:
            _print(f"        {line}")


def _print(text: str) -> None:
    out.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def _show_versions(found: dict[str, Any], *, as_json: bool) -> None:
    keys = ("number", "state", "handed_in", "sha256", "failed_steps")
    _show_list(found, "submissions", keys, as_json=as_json)


def _show_matches(found: dict[str, Any], *, as_json: bool) -> None:
    keys = ("match", "game", "names", "seat", "version", "rank", "points", "foul")
    _show_list(found, "matches", keys, as_json=as_json)


def _show_list(found: dict[str, Any], name: str, keys: tuple[str, ...], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    table = RichTable(show_edge=False)
    for key in keys:
        table.add_column(key.replace("_", " "), overflow="fold")
    rows = found.get(name)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            table.add_row(*(harmless(_word(row.get(key))) for key in keys))
    out.print(table)


def _match(service: SubmissionsClient, name: str) -> dict[str, Any]:
    """Return the explanation of a match that is given by its name, or by the last part of it if that is one match's.

    Raises:
        ServiceError: there is no such match of the author's, or more than one.
    """
    try:
        found: dict[str, Any] = service.get("matches", name)
    except ServiceError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
    else:
        return found
    rows = service.get("matches").get("matches")
    own = {str(row.get("match")) for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict)}
    meant = sorted(one for one in own if one.rpartition("/")[2] == name)
    if len(meant) > 1:
        raise ServiceError(f"{name} is the name of {len(meant)} matches of yours: say which, {' or '.join(meant)}")
    if not meant:
        raise ServiceError(f"you have no match {name} that is over; see --matches")
    only: dict[str, Any] = service.get("matches", meant[0])
    return only


def _explain(found: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    try:
        parts: list[Said | Heard] = [_part(one) for one in found["conversation"]]
        verdict = msgspec.convert(found["verdict"], ExplainedFoul | None)
        head = msgspec.structs.asdict(msgspec.convert(found, _Head))
        printed = msgspec.convert(found.get("printed"), Printed | None)
        show_explanation(Explanation(**head, conversation=parts, verdict=verdict, printed=printed))
    except (ValueError, LookupError, TypeError):
        raise ServiceError("the answer explains no match; is --to right?") from None


def _part(plain: Any) -> Said | Heard:
    return msgspec.convert(plain, Heard) if "event" in plain else msgspec.convert(plain, Said)


def _word(value: Any) -> str:
    """Return a value as a table has it: hashes and instants as far as people look at them."""
    if isinstance(value, str) and (len(value) == 64 or value[10:11] == "T"):
        return value[:12] if len(value) == 64 else value[:19]
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
