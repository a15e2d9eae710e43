"""Programs on their way to hosts, and their output on its way back.

A program's folder is packed once in a run of a tournament. A host stores it under the SHA-256 of the packed bytes. So
each host is sent a folder only once, and a program that has changed counts as another program.
"""

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..errors import RefereeError
from ..files.scratch import remove
from ..files.tree import walk
from ..files.whole import write_whole
from ..net.jobs.job import JobSeat, MatchJob, encode_job
from ..programs.file_view import PrivateNames, find_private
from ..programs.output import KEPT_BYTES
from ..programs.player_spec import Launch
from ..record.folder import output_path, record_names
from .messages import ShippedJob

_LEFT_OUT = ("__pycache__", ".git")
"""Names of folders that Python and git create. No program needs them."""


class Entry(Struct, frozen=True, array_like=True):
    """A file, folder or link in a packed folder."""

    path: str
    content: bytes | None = None
    """The file's content; None for a folder or a link."""
    target: str | None = None
    """The link's target; None for a file or a folder."""
    is_executable: bool = False


def pack_folder(folder: Path, private_names: PrivateNames, hidden: tuple[Path, ...]) -> bytes:
    """Pack a program's folder into bytes. The same content gives the same bytes.

    Args:
        folder: the program's folder.
        private_names: names of the referee's own files, which are left out wherever they lie.
        hidden: files and folders that are left out, too.

    Raises:
        BadTree: the folder cannot be read, or is too large.
    """
    private = find_private(folder, hidden, private_names)
    entries = []
    for node in walk(folder, left_out=lambda node: node.name in _LEFT_OUT or private(node)):
        if node.is_link:
            entries.append(Entry(node.path, target=node.target()))
        elif node.is_file:
            entries.append(Entry(node.path, b"".join(node.pieces()), is_executable=node.is_executable))
        elif node.is_folder:
            entries.append(Entry(node.path))
    return msgspec.msgpack.encode(entries)


def hash_folder(packed: bytes) -> str:
    """Return the digest under which a packed folder is stored."""
    return hashlib.sha256(packed).hexdigest()


class ProgramStore:
    """The programs that a host has, each unpacked in a folder of its own.

    Args:
        folder: parent of these folders. Folders that a killed host has left there half unpacked are removed.

    Raises:
        OSError: such a half unpacked folder cannot be removed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for rest in folder.glob(".*.new"):
            remove(rest)

    def has(self, digest: str) -> bool:
        """Return whether a program is stored here."""
        return self.path(digest).is_dir()

    def path(self, digest: str) -> Path:
        """Return the folder of a program."""
        return self._folder / digest

    def store(self, digest: str, packed: bytes) -> None:
        """Unpack a program, unless it is stored here already.

        Raises:
            RefereeError: the bytes do not match the digest, or are not a packed folder.
            OSError: the program cannot be written.
        """
        if hash_folder(packed) != digest:
            raise RefereeError(f"the bytes that came for program {digest[:12]} are another program")
        if self.has(digest):
            return
        try:
            entries = msgspec.msgpack.decode(packed, type=list[Entry])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RefereeError(f"program {digest[:12]} is not a packed folder: {error}") from None
        # Unpack next to the final place, then rename: a program is either there as a whole, or it is not there.
        new = self._folder / f".{secrets.token_hex(8)}.new"
        new.mkdir(parents=True)
        try:
            for entry in entries:
                _unpack(new, entry)
            new.rename(self.path(digest))
        except (ValueError, RuntimeError) as error:  # a null character in a path, and links in a circle
            raise RefereeError(f"program {digest[:12]} is not a packed folder: {error}") from None
        finally:
            remove(new)


def _unpack(folder: Path, entry: Entry) -> None:
    """Write an entry to its place. A folder comes before its content.

    Raises:
        RefereeError: the entry's place is outside the folder.
        OSError: the entry cannot be written, or something is at its place already.
    """
    path = Path(entry.path)
    # A link that was unpacked before may lead outside, and the path of a later entry may use that link. `resolve`
    # follows such links: if the result is not the plain path below the folder, a part of the path is a link.
    above = folder / path.parent
    if path.is_absolute() or ".." in path.parts or not path.name or above.resolve() != folder.resolve() / path.parent:
        raise RefereeError(f"{entry.path!a:.100} is not a place in a program's folder")
    place = folder / path
    if entry.target is not None:
        place.symlink_to(entry.target)
    elif entry.content is None:
        place.mkdir()
    else:
        with place.open("xb") as file:
            file.write(entry.content)
        if entry.is_executable:
            place.chmod(0o755)


PACKED = ".programs"
"""Folder next to the records with the packed folders, each under its digest."""


class Shipping:
    """The packed programs of a run. Call the methods in any thread.

    Args:
        folder: folder of the records.
        hidden: paths that no program may read, and no host gets.
    """

    def __init__(self, folder: Path, hidden: tuple[Path, ...]) -> None:
        self._folder = folder / PACKED
        self._hidden = hidden
        self._digests: dict[Path, str] = {}

    def prepare(self, job: MatchJob, run: str) -> ShippedJob:
        """Prepare a job for a host: without any path of this machine, and with the digests of its programs.

        Raises:
            BadTree: a program's folder cannot be read.
            OSError: a packed folder cannot be stored.
        """
        digests = tuple(self._digest(seat.launch) for seat in job.seats)
        sent = replace(job, seats=tuple(_without_path(seat) for seat in job.seats))
        return ShippedJob(run=run, match=job.match, job=encode_job(sent), programs=digests)

    def read_packed(self, digest: str) -> bytes:
        """Return the bytes of a packed folder.

        Raises:
            OSError: the file cannot be read.
        """
        return (self._folder / digest).read_bytes()

    def _digest(self, launch: Launch | None) -> str:
        if launch is None or launch.folder is None:
            return ""
        if launch.folder not in self._digests:
            packed = pack_folder(launch.folder, record_names, self._hidden)
            digest = hash_folder(packed)
            self._folder.mkdir(exist_ok=True)
            write_whole(self._folder / digest, (packed,))
            self._digests[launch.folder] = digest
        return self._digests[launch.folder]


def can_be_shipped(job: MatchJob) -> bool:
    """Return whether a job can be played on another machine. A command can't: it names a file on this machine."""
    launches = [seat.launch for seat in job.seats if seat.launch is not None]
    return all(launch.is_house or launch.folder is not None for launch in launches)


def _without_path(seat: JobSeat) -> JobSeat:
    """Return a seat without the path of its program on this machine."""
    return seat if seat.launch is None else replace(seat, launch=replace(seat.launch, folder=None))


MAX_OUTPUT_BYTES = KEPT_BYTES + 128
"""Largest output of one program: the end of the output, and the line that says how much was cut off."""


def take_output(folder: Path, job: MatchJob) -> dict[int, bytes]:
    """Remove and return what the programs of a match printed on this host.

    Args:
        folder: folder of the host's records.
        job: the match.

    Returns:
        Seat -> the end of its program's output.
    """
    output = {}
    for seat, path in _paths(folder, job):
        with suppress(OSError):  # most programs print nothing, and a match must not fail because of that
            output[seat] = path.read_bytes()
            path.unlink()
    return output


def store_output(folder: Path, job: MatchJob, printed: Mapping[int, bytes]) -> None:
    """Write the output of a match's programs next to its record.

    Args:
        folder: folder of the records.
        job: the match.
        printed: seat -> output, as a host has sent it. Output of seats without a program is dropped.

    Raises:
        OSError: the output cannot be written.
    """
    for seat, path in _paths(folder, job):
        # Hosts cut the output themselves. It is cut again here, because data from a network may not keep the limit.
        if end := printed.get(seat, b"")[-MAX_OUTPUT_BYTES:]:
            path.write_bytes(end)


def _paths(folder: Path, job: MatchJob) -> Iterator[tuple[int, Path]]:
    """Yield each seat whose program is started, and the file for its output."""
    for number, seat in enumerate(job.seats):
        if seat.launch is not None:
            yield number, output_path(folder, job.match, number, seat.launch.name)
