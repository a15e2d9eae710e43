"""What goes with a job to a host: the folders of its programs, packed once for a run of a tournament."""

from pathlib import Path

from msgspec.structs import replace

from ..files.whole import write_whole
from ..net.jobs.job import JobSeat, MatchJob, encoded
from ..programs.player_spec import Launch
from ..record.record_files import record_names
from .messages import ShippedJob
from .programs import digest_of, packed_folder

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
