"""Hands a program in to an organiser's service, and asks what came of it and of its matches."""

import time
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec

from ..errors import BadRequest, RefereeError
from ..files.scratch import scratch
from ..files.small import read_small
from ..files.tree import MIB
from ..programs.player_spec import RUNNERS, no_folder
from ..record.explain import Explanation
from ..text import counted
from ..web.submissions.archive import MAX_PACKED_BYTES, pack, unpack
from ..web.submissions.client import ServiceError, SubmissionsClient, find_service, find_token
from ..web.submissions.entries import MANIFEST, SMALLER, ArchiveEntry, BadArchive
from ..web.submissions.folder import gather, write
from ..web.submissions.store import VersionState

FIRST_LOOK_S, LAST_LOOK_S = 0.25, 5.0
"""Between two looks for the verdict: the first ones are near each other, then it may take minutes."""
PATIENCE_S = 1800.0
"""Longest wait for a verdict: a whole class's checks may be first."""
Say = Callable[[str], None]
_OVER = (VersionState.PASSED, VersionState.FAILED)
_PENDING = (VersionState.WAITING, VersionState.CHECKING)


def open_service(url: str, token_file: Path | None, ca: Path | None) -> SubmissionsClient:
    """Return the service at an address, and who asks it.

    Args:
        url: `http://HOST:PORT` or `https://HOST:PORT`.
        token_file: of the author's token; None: the token is in the environment.
        ca: file of a certificate to believe.

    Raises:
        BadRequest: it is no such address, or there is no token that could be used.
    """
    try:
        return find_service(url, find_token(token_file), ca)
    except ServiceError as error:
        raise BadRequest(str(error)) from None


def packed(player: Path, say: Say) -> bytes:
    """Return the archive of a player.

    Args:
        player: its folder, or an archive of it.
        say: told what was packed and what was left out.

    Raises:
        BadRequest: it is no player's folder and no archive of one, or can't be handed in.
    """
    if player.is_file():
        entries, left_out = _unpack_file(player), ""
    else:
        gathered = gather(player)
        entries = gathered.entries
        left_out = f"; left out: {', '.join(gathered.left_out)}" if gathered.left_out else ""
    archive = pack(entries)
    what = counted(len(entries), "file or folder", "files and folders")
    say(f"packed {what}, {len(archive) / MIB:.2f} MiB{left_out}")
    return archive


def _unpack_file(path: Path) -> Sequence[ArchiveEntry]:
    """Return what is in an archive of the disk.

    Raises:
        BadRequest: it is none, or can't be handed in.
    """
    if (path.parent / MANIFEST).is_file() and path.suffix in RUNNERS:  # the folder was meant
        raise BadRequest(no_folder(path))
    if path.stat().st_size > MAX_PACKED_BYTES:
        raise BadArchive(f"{path} is over {MAX_PACKED_BYTES // MIB} MiB", f"compress it, or {SMALLER}")
    try:
        return unpack(read_small(path, MAX_PACKED_BYTES), str(path))
    except OSError as error:
        raise BadRequest(f"can't read {path}: {error.strerror}") from None


def check_here(archive: bytes, folder: Path, passes: Callable[[Sequence[str]], bool]) -> None:
    """Check on this machine what was packed: what is missing in it is missing there, too.

    Args:
        archive: of the folder.
        folder: as it is called in what the check says.
        passes: runs `referee check` with arguments, and tells whether everything passes.

    Raises:
        RefereeError: it does not pass.
    """
    with scratch("submit") as place:
        copy = place / "player"
        write(unpack(archive), copy)
        if not passes([str(copy), "--called", str(folder), "--logs", str(place / "logs"), "--no-strength"]):
            text = "it does not pass the check here and was not handed in; --skip-check hands it in all the same"
            raise RefereeError(text)


def hand_in(service: SubmissionsClient, archive: bytes, say: Say) -> dict[str, Any]:
    """Hand an archive in, and wait for the verdict.

    Args:
        service: of the organiser.
        archive: of the folder.
        say: told what goes on.

    Returns:
        The version, as the service describes it.

    Raises:
        ServiceError: it was not taken, or there is no verdict.
    """
    version = service.hand_in(archive)
    number = version.get("number")
    if not isinstance(number, int):
        raise ServiceError("the answer names no version; is --to right?")
    say(f"handed in as version {number}, SHA-256 {version.get('sha256')}")
    try:
        return awaited(service, number, say)
    except ServiceError:
        say("it was handed in and will be checked; `referee submit --status` shows the verdict later")
        raise


def awaited(
    service: SubmissionsClient, number: int, say: Say, pause: Callable[[float], None] = time.sleep
) -> dict[str, Any]:
    """Wait for the verdict on a version.

    Args:
        service: asked again and again.
        number: of the version.
        say: told what goes on.
        pause: waits for so many seconds.

    Raises:
        ServiceError: an answer tells no state of a version, or there is no verdict within PATIENCE_S.
    """
    pause_s, waited_s, last = FIRST_LOOK_S, 0.0, ""
    while waited_s < PATIENCE_S:
        found: dict[str, Any] = service.get("submissions", str(number))
        state = found.get("state")
        if state in _OVER:
            return found
        if state not in _PENDING:
            raise ServiceError(f"the answer does not tell how far version {number} is; is --to right?")
        if state != last:
            say(f"version {number}: {state}")
            last = state
        pause(pause_s)
        waited_s += pause_s
        pause_s = min(pause_s * 1.5, LAST_LOOK_S)
    raise ServiceError(f"there is no verdict after {PATIENCE_S / 60:.0f} minutes; ask the organiser")


def in_its_place(service: SubmissionsClient) -> str:
    """Return what plays in the place of a version that failed: the last one that passed, if there is one."""
    try:
        found = service.get("submissions")
    except ServiceError:
        return "`referee submit --status` shows what plays"
    present = found.get("present")
    return "none of yours has passed yet" if present is None else f"version {present} plays on"


def rows_of(answer: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list in an answer; what is none is passed over."""
    rows = answer.get(name)
    yield from (row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict))


def find_match(service: SubmissionsClient, name: str) -> dict[str, Any]:
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
    own = {str(row.get("match")) for row in rows_of(service.get("matches"), "matches")}
    meant = sorted(match for match in own if match.rpartition("/")[2] == name)
    if len(meant) > 1:
        raise ServiceError(f"{name} is the name of {len(meant)} matches of yours: say which, {' or '.join(meant)}")
    if not meant:
        raise ServiceError(f"you have no match {name} that is over; see --matches")
    only: dict[str, Any] = service.get("matches", meant[0])
    return only


def explanation_in(answer: dict[str, Any]) -> Explanation:
    """Return the explanation that a service's answer is.

    Raises:
        ServiceError: it is none.
    """
    try:
        found = msgspec.convert(answer, Explanation)
    except msgspec.ValidationError:
        found = None
    if found is None or not 0 <= found.seat < len(found.names) == len(found.result.scores):
        raise ServiceError("the answer explains no match; is --to right?")
    return found
