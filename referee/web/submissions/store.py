"""The store of all versions that authors have handed in, with the reports of their checks."""

#     DIR/NAME                          link to the player's folder of the present version: the latest that has passed,
#                                       or an older one that its author has chosen
#     DIR/.versions/NAME/0001/          archive.tar.gz (or another ending), as the author handed it in;
#                                       player/ (unpacked from it; builds add files),
#                                       version.json, report.json
#     DIR/.versions/NAME/choice.json    the version that its author has chosen, if any
#
# A version is written to a temporary folder first, which is then renamed. So even after a crash, a version is either
# complete or absent. Afterwards its player never changes; only the link does. So an open match continues with the
# version with which it began.

import contextlib
import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ...errors import RefereeError, RemediableError
from ...files.copies import copy_folder
from ...files.scratch import remove, temporary_folder
from ...files.tree import MIB
from ...files.whole import sync_folder, write_whole
from .archive import find_format, unpack
from .folder import write

T = TypeVar("T")
VERSIONS = ".versions"
MAX_VERSIONS = 200
"""Most versions of one author: ten a day for three weeks."""
MAX_AUTHOR_BYTES = 1024 * MIB
"""Most bytes of one author's versions, packed and unpacked: a hundred authors would be needed to fill a common disk."""
MIN_FREE_BYTES = 512 * MIB
"""Bytes of the disk that must stay free for records: without records no match can continue."""
MAX_ATTEMPTS = 3
"""Most interrupted checks of one version; after that it fails, because the version itself may crash the machine."""
_ARCHIVE, PLAYER, _ENTRY, _REPORT = "archive", "player", "version.json", "report.json"
_CHOICE = "choice.json"
_PARTIAL = ".partial-"
_DIGITS = 4


class VersionState(StrEnum):
    """The state of a version."""

    WAITING = "waiting"
    CHECKING = "checking"
    """State in answers only; until the verdict, the stored state is `waiting`."""
    PASSED = "passed"
    FAILED = "failed"


class HandedInVersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One version of an author's program."""

    number: int
    """Number from 1, counted for each author."""
    sha256: str
    """SHA-256 of the archive, in hex."""
    packed_bytes: int
    unpacked_bytes: int
    handed_in: str
    """Time at which the author handed it in, ISO 8601 in UTC."""
    state: VersionState = VersionState.WAITING
    attempts: int = 0
    """Number of checks that began but were not completed."""
    checked: str | None = None
    """Time of the verdict, ISO 8601 in UTC."""
    trouble: str | None = None
    """Reason for a verdict without a report, in one sentence."""
    failed_steps: tuple[str, ...] = ()
    """Steps of the check that failed, in words."""


class CheckOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of a check."""

    passed: bool
    report: Any = None
    """Report that `referee check --json` printed; None if its output was not usable."""
    trouble: str | None = None
    failed_steps: tuple[str, ...] = ()


class _Choice(Struct, frozen=True, kw_only=True):
    """An author's choice to let an older version play."""

    number: int
    newest: int
    """Newest version that had passed at the time of the choice; when a newer version passes, the choice ends."""


class StoreError(RefereeError):
    """The error that a store can't be used; the text says what to do."""


class VersionRefused(RemediableError):
    """The refusal of a version, or of a choice of a version, for the present."""


class Store:
    """The versions of all authors.

    Args:
        root: folder of the store, made if missing.

    Raises:
        StoreError: another referee uses the folder, or it can't be written.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._versions = self.root / VERSIONS
        try:
            self._versions.mkdir(parents=True, exist_ok=True)
            self._lock = (self._versions / ".lock").open("w")
        except OSError as error:
            raise StoreError(f"can't write {error.filename}: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise StoreError(
                f"another referee accepts submissions into {root}; stop it, or name another folder"
            ) from None

    def close(self) -> None:
        """Release the folder for another referee."""
        self._lock.close()

    def recover(self) -> list[tuple[str, HandedInVersion]]:
        """Remove the unfinished work of a referee that was killed, and set every author's link.

        Returns:
            Author and version of every version that is waiting for a check, the oldest first.

        Raises:
            StoreError: a version can't be read, or another file has the name of a link.
        """
        waiting = []
        for author in self.authors():
            for partial in (self._versions / author).glob(f"{_PARTIAL}*"):
                _clear(partial)
            versions = (version for version in self.versions(author) if version.state is VersionState.WAITING)
            waiting += [(author, version) for version in versions]
            self._set_link(author)
        return sorted(waiting, key=lambda each: (each[1].handed_in, each[0], each[1].number))

    def authors(self) -> list[str]:
        """Return the names of all authors who have handed something in."""
        return sorted(path.name for path in self._versions.iterdir() if path.is_dir())

    def versions(self, author: str) -> list[HandedInVersion]:
        """Return an author's versions, the oldest first.

        Raises:
            StoreError: a version can't be read.
        """
        return [self._read(author, number) for number in self._numbers(author)]

    def version(self, author: str, number: int) -> HandedInVersion | None:
        """Return one version; None if it does not exist.

        Raises:
            StoreError: the version can't be read.
        """
        return self._read(author, number) if number in self._numbers(author) else None

    def player_folder(self, author: str, number: int) -> Path:
        """Return the player's folder of a version."""
        return self._folder(author, number) / PLAYER

    def archive_path(self, author: str, number: int) -> Path:
        """Return the archive of a version, as it was handed in."""
        return next(self._folder(author, number).glob(f"{_ARCHIVE}.*"))

    def present(self, author: str) -> int | None:
        """Return the number of the version that plays; None if no version has passed."""
        passed = self._passing_numbers(author)
        newest, choice = max(passed, default=None), self._choice(author)
        is_chosen = choice is not None and choice.newest == newest and choice.number in passed
        return choice.number if choice is not None and is_chosen else newest

    def choose(self, author: str, number: int) -> None:
        """Let an older version play, until a newer one passes its check.

        Raises:
            VersionRefused: the version has not passed its check.
            StoreError: another file is in the place of the author's link.
            OSError: the disk can't store the choice.
        """
        passed = self._passing_numbers(author)
        if number not in passed:
            raise VersionRefused(f"version {number} has not passed its check", "choose a version that has")
        choice = _Choice(number=number, newest=max(passed))
        write_whole(self._versions / author / _CHOICE, [msgspec.json.encode(choice)])
        self._set_link(author)

    def _passing_numbers(self, author: str) -> list[int]:
        return [version.number for version in self.versions(author) if version.state is VersionState.PASSED]

    def _choice(self, author: str) -> _Choice | None:
        return _read_json(self._versions / author / _CHOICE, _Choice)

    # --- handing in

    def hand_in(self, author: str, data: bytes, now: str, name: str = "") -> tuple[HandedInVersion, bool]:
        """Store an archive as the author's next version.

        Args:
            author: name of the author.
            data: content of the archive.
            now: time of day, ISO 8601 in UTC.
            name: name of the archive's file, for the error message about a lone source file.

        Returns:
            The version, and whether it is new. If the archive equals the archive of the latest version, and this
            version has not failed, nothing is stored and the latest version is returned.

        Raises:
            BadArchive: the archive can't be unpacked.
            VersionRefused: the author's latest version is not checked yet, the author has used all allowed room, or
                the disk is nearly full.
            OSError: the disk can't store the version; no part of it remains.
        """
        versions = self.versions(author)
        sha256 = hashlib.sha256(data).hexdigest()
        if versions and versions[-1].sha256 == sha256 and versions[-1].state is not VersionState.FAILED:
            return versions[-1], False
        self._check_quota(versions, len(data))
        entries = unpack(data, name)
        version = HandedInVersion(
            number=versions[-1].number + 1 if versions else 1,
            sha256=sha256,
            packed_bytes=len(data),
            unpacked_bytes=sum(len(entry.data) for entry in entries),
            handed_in=now,
        )
        with self._partial(author) as partial:
            write(entries, partial / PLAYER)
            write_whole(partial / f"{_ARCHIVE}.{find_format(data)}", [data])
            write_whole(partial / _ENTRY, [msgspec.json.encode(version)])
            partial.chmod(0o755)
            partial.rename(self._folder(author, version.number))
            sync_folder(self._versions / author)
        return version, True

    def _check_quota(self, versions: list[HandedInVersion], size: int) -> None:
        if versions and versions[-1].state is VersionState.WAITING:
            text = f"version {versions[-1].number} is not checked yet"
            raise VersionRefused(
                text, "wait for its verdict, then hand in the next one; `referee submit --status` shows it"
            )
        ask = "ask the organiser to make room"
        if len(versions) >= MAX_VERSIONS:
            raise VersionRefused(f"you have handed in {len(versions)} versions, and more are not allowed", ask)
        if sum(version.packed_bytes + version.unpacked_bytes for version in versions) + size > MAX_AUTHOR_BYTES:
            raise VersionRefused(
                f"your versions take {MAX_AUTHOR_BYTES // MIB} MiB in total, and more is not allowed", ask
            )
        if shutil.disk_usage(self.root).free < MIN_FREE_BYTES:
            raise VersionRefused("the disk of the contest is nearly full, so nothing can be handed in", ask)

    @contextlib.contextmanager
    def _partial(self, author: str) -> Iterator[Path]:
        """Make a temporary folder; at the end, remove it unless it was renamed."""
        (self._versions / author).mkdir(exist_ok=True)
        with temporary_folder(_PARTIAL, self._versions / author) as partial:
            yield partial

    # --- checking

    def begin(self, author: str, number: int, place: Path) -> None:
        """Store that a check begins, and copy the player's folder; the check builds and runs the player in the copy.

        Args:
            author: name of the author.
            number: number of the version.
            place: folder to make for the copy.

        Raises:
            BadTree: the unpacked folder can no longer be copied.
            OSError: the disk can't store the copy.
        """
        version = self._read(author, number)
        self._write(author, replace(version, attempts=version.attempts + 1))
        copy_folder(self.player_folder(author, number), place)

    def put_off(self, author: str, number: int) -> None:
        """Store that the version did not cause the end of its check, and is waiting for another check."""
        version = self._read(author, number)
        self._write(author, replace(version, attempts=max(version.attempts - 1, 0)))

    def conclude(self, author: str, number: int, verdict: CheckOutcome, now: str) -> None:
        """Store the outcome of a check; a version that has passed becomes the present version.

        Args:
            author: name of the author.
            number: number of the version.
            verdict: outcome of the check.
            now: time of day, ISO 8601 in UTC.

        Raises:
            StoreError: another file is in the place of the author's link.
            OSError: the disk can't store the outcome.
        """
        if verdict.report is not None:
            write_whole(self._folder(author, number) / _REPORT, [msgspec.json.encode(verdict.report)])
        done = replace(
            self._read(author, number),
            state=VersionState.PASSED if verdict.passed else VersionState.FAILED,
            checked=now,
            trouble=verdict.trouble,
            failed_steps=verdict.failed_steps,
            attempts=0,
        )
        self._write(author, done)
        self._set_link(author)

    def report(self, author: str, number: int) -> Any:
        """Return the report of a version's check; None if there is no report."""
        return _read_json(self._folder(author, number) / _REPORT, dict[str, Any])

    # --- on the disk

    def _folder(self, author: str, number: int) -> Path:
        return self._versions / author / f"{number:0{_DIGITS}}"

    def _numbers(self, author: str) -> list[int]:
        folder = self._versions / author
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return sorted(int(name) for name in names if name.isdecimal() and self._folder(author, int(name)).name == name)

    def _read(self, author: str, number: int) -> HandedInVersion:
        path = self._folder(author, number) / _ENTRY
        try:
            return msgspec.json.decode(path.read_bytes(), type=HandedInVersion)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            text = f"{path} is damaged: {error}"
            raise StoreError(f"{text}; move its folder away, and ask {author} to hand it in again") from None

    def _write(self, author: str, version: HandedInVersion) -> None:
        path = self._folder(author, version.number) / _ENTRY
        write_whole(path, [msgspec.json.encode(version)])

    def _set_link(self, author: str) -> None:
        """Point the author's link to the present version, atomically.

        The link is absolute, so a copy of it in the folder of one round's entrants leads to the same version.
        """
        number, link = self.present(author), self.root / author
        if number is None:
            return
        if link.exists() and not link.is_symlink():
            text = f"{link} was not made by the referee, and would play instead of the versions of {author}"
            raise StoreError(f"{text}; move it away")
        target = self.player_folder(author, number)
        if link.is_symlink() and link.readlink() == target:
            return
        partial = self._versions / author / f"{_PARTIAL}link"
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
        partial.symlink_to(target)
        partial.rename(link)
        sync_folder(self.root)


def find_author_folder(folder: Path) -> Path | None:
    """Return the folder of all versions of the author of a program; None for a program that was not handed in."""
    versions = folder.parent.parent
    return versions if folder.name == PLAYER and versions.parent.name == VERSIONS else None


def _read_json(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _clear(path: Path) -> None:
    """Remove a folder in which programs have written files; files that can't be removed stay."""
    with contextlib.suppress(OSError):
        remove(path)
