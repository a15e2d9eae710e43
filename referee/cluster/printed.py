"""What programs printed on a host: it goes back with what came of their match, and stands beside the record here."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..net.jobs.job import MatchJob
from ..programs.output import KEPT_BYTES
from ..record.printed import output_path

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
