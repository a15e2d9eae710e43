"""Packs players as other programs do."""

import io
import tarfile
import zipfile
from collections.abc import Callable

from referee.web.submissions.archive import ArchiveEntry, EntryKind, unpack

TOML = b'name = "mine"\nrun = "python3 main.py"\n'
PLAYER = (
    ArchiveEntry(path="player.toml", data=TOML),
    ArchiveEntry(path="main.py", data=b"print()\n", is_executable=True),
    ArchiveEntry(path=f"data/{'long' * 40}/é.bin", data=bytes(range(256)) * 9),
)
CONTENT = {entry.path: (entry.data, entry.is_executable) for entry in PLAYER}


def taken(data: bytes) -> dict[str, tuple[bytes, bool]]:
    """Unpack an archive, and return its files: content, and whether it is executable."""
    entries = unpack(data)
    return {entry.path: (entry.data, entry.is_executable) for entry in entries if entry.kind is EntryKind.FILE}


def make_zip(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as out:
        for path, data in files.items():
            out.writestr(path, data)
    return buffer.getvalue()


def make_tar(files: dict[str, bytes]) -> bytes:
    """Return a plain tar of files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as out:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def with_entry(
    name: str, data: bytes = b"", mode: int = 0, system: int = 3, change: Callable[[zipfile.ZipInfo], object] = id
) -> bytes:
    """Return a zip of a player with one more entry."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        out.writestr("player.toml", TOML)
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = system, mode << 16
        out.writestr(info, data)
        change(info)
    return buffer.getvalue()
