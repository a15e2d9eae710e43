"""What goes with a job to a host: the folders of its programs; and what comes back beside the record: their output.

A folder is packed once for a run of a tournament. A host keeps it by the SHA-256 of its bytes.
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
from ..files.removal import remove
from ..files.tree import walk
from ..files.whole import write_whole
from ..net.jobs.job import JobSeat, MatchJob, encoded
from ..programs.file_view import PrivateNames, private_to
from ..programs.output import KEPT_BYTES
from ..programs.player_spec import Launch
from ..record.folder import output_path, record_names
from .messages import ShippedJob

_LEFT_OUT = ("__pycache__", ".git")
"""What running and keeping a program makes, and no program needs."""


class Entry(Struct, frozen=True, array_like=True):
    """One thing in a folder."""

    path: str
    content: bytes | None = None
    """Of a file; None: it is a folder, or a link."""
    target: str | None = None
    """Of a link."""
    is_executable: bool = False


class OtherProgram(RefereeError):
    """Bytes that are not the folder that they are to be."""


def packed_folder(folder: Path, private_names: PrivateNames, hidden: tuple[Path, ...]) -> bytes:
    """Return a program's folder as bytes: the same ones for the same content.

    Args:
        folder: the program's.
        private_names: tells what is none of the program's wherever it lies.
        hidden: files and folders that are none of it, either.

    Raises:
        BadTree: it can't be read, or there is too much of it.
    """
    private = private_to(folder, hidden, private_names)
    entries = []
    for node in walk(folder, left_out=lambda node: node.name in _LEFT_OUT or private(node)):
        if node.is_link:
            entries.append(Entry(node.path, target=node.target()))
        elif node.is_file:
            entries.append(Entry(node.path, b"".join(node.pieces()), is_executable=node.is_executable))
        elif node.is_folder:
            entries.append(Entry(node.path))
    return msgspec.msgpack.encode(entries)


def digest_of(packed: bytes) -> str:
    """Return what a packed folder is kept by."""
    return hashlib.sha256(packed).hexdigest()


class ProgramStore:
    """The programs that a host has.

    Args:
        folder: where each has a folder of its own; what a host that was killed had half unpacked there is removed.

    Raises:
        OSError: that can't be done.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for rest in folder.glob(".*.new"):
            remove(rest)

    def has(self, digest: str) -> bool:
        """Tell whether a program is here."""
        return self.path(digest).is_dir()

    def path(self, digest: str) -> Path:
        """Return the folder of a program."""
        return self._folder / digest

    def keep(self, digest: str, packed: bytes) -> None:
        """Unpack a program, unless it is here.

        Raises:
            OtherProgram: the bytes are not what the digest says, or no folder.
            OSError: the disk can't take it.
        """
        if digest_of(packed) != digest:
            raise OtherProgram(f"what came for program {digest[:12]} is another one")
        if self.has(digest):
            return
        try:
            entries = msgspec.msgpack.decode(packed, type=list[Entry])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise OtherProgram(f"program {digest[:12]} is no folder: {error}") from None
        new = self._folder / f".{secrets.token_hex(8)}.new"
        new.mkdir(parents=True)
        try:
            for entry in entries:
                _put(new, entry)
            new.rename(self.path(digest))
        except (ValueError, RuntimeError) as error:  # a null character in a path, and links in a circle
            raise OtherProgram(f"program {digest[:12]} is no folder: {error}") from None
        finally:
            remove(new)


def _put(folder: Path, entry: Entry) -> None:
    """Put one thing in its place; a folder comes before what is in it.

    Raises:
        OtherProgram: its place is outside, or taken.
        OSError: it can't be written.
    """
    path = Path(entry.path)
    above = folder / path.parent
    if path.is_absolute() or ".." in path.parts or not path.name or above.resolve() != folder.resolve() / path.parent:
        raise OtherProgram(f"{entry.path!a:.100} is no place in a program's folder")
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
"""Folder beside the records: the packed folders, each by its digest."""


class Shipping:
    """The packed programs of a run; its methods may be called in any thread.

    Args:
        folder: of the records.
        hidden: what no program may read, and no host gets.
    """

    def __init__(self, folder: Path, hidden: tuple[Path, ...]) -> None:
        self._folder = folder / PACKED
        self._hidden = hidden
        self._digests: dict[Path, str] = {}

    def shipped(self, job: MatchJob, run: str) -> ShippedJob:
        """Return what a host is sent: the job without any path of this machine, and the digests of its programs.

        Raises:
            BadTree: a program's folder can't be read.
            OSError: a packed folder can't be kept.
        """
        digests = tuple(self._digest(seat.launch) for seat in job.seats)
        sent = replace(job, seats=tuple(_without_path(seat) for seat in job.seats))
        return ShippedJob(run=run, match=job.match, job=encoded(sent), programs=digests)

    def packed(self, digest: str) -> bytes:
        """Return a packed folder.

        Raises:
            OSError: it is not there.
        """
        return (self._folder / digest).read_bytes()

    def _digest(self, launch: Launch | None) -> str:
        if launch is None or launch.folder is None:
            return ""
        if launch.folder not in self._digests:
            packed = packed_folder(launch.folder, record_names, self._hidden)
            digest = digest_of(packed)
            self._folder.mkdir(exist_ok=True)
            write_whole(self._folder / digest, (packed,))
            self._digests[launch.folder] = digest
        return self._digests[launch.folder]


def can_go(job: MatchJob) -> bool:
    """Tell whether a job can be played on another machine: a command names what is on this one."""
    launches = [seat.launch for seat in job.seats if seat.launch is not None]
    return all(launch.is_house or launch.folder is not None for launch in launches)


def _without_path(seat: JobSeat) -> JobSeat:
    """Return a seat without the place where its program lies here."""
    return seat if seat.launch is None else replace(seat, launch=replace(seat.launch, folder=None))


MOST_BYTES = KEPT_BYTES + 128
"""Of one program: what is kept of it, and the line that says how much is not."""


def taken(folder: Path, job: MatchJob) -> dict[int, bytes]:
    """Return what the programs of a match printed, by seat; on the host, where nothing of it stays.

    Args:
        folder: of the records.
        job: the match.
    """
    found = {}
    for seat, path in _paths(folder, job):
        with suppress(OSError):  # most have printed nothing; and no match is broken off for want of it
            found[seat] = path.read_bytes()
            path.unlink()
    return found


def keep(folder: Path, job: MatchJob, printed: Mapping[int, bytes]) -> None:
    """Write what a host says that the programs of a match printed; what no program of it can have printed is dropped.

    Args:
        folder: of the records.
        job: the match.
        printed: by seat; anything at all.

    Raises:
        OSError: it can't be written.
    """
    for seat, path in _paths(folder, job):
        if end := printed.get(seat, b"")[-MOST_BYTES:]:
            path.write_bytes(end)


def _paths(folder: Path, job: MatchJob) -> Iterator[tuple[int, Path]]:
    """Yield the seats for which programs are started, and the files for what they print."""
    for seat, who in enumerate(job.seats):
        if who.launch is not None:
            yield seat, output_path(folder, job.match, seat, who.launch.name)
