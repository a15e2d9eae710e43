"""Zips as programs of all systems make them, and hostile ones."""

import bz2
import gzip
import io
import lzma
import stat
import struct
import zipfile
from collections.abc import Callable

import pytest

from referee.web.submissions import archive
from referee.web.submissions.archive import ArchiveEntry, BadArchive, EntryKind, unpack

from .packers import PLAYER, TOML, make_tar, make_zip, taken, with_entry


def test_zips_without_modes_have_programs() -> None:
    """Windows packs no modes, so files that the system would run are executable. Modes decide if there are any."""
    files = {"player.toml": TOML, "run.sh": b"#!/bin/sh\n", "main.py": b"print()"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name, data in files.items():
            info = zipfile.ZipInfo(f"mine\\{name}")
            info.create_system, info.external_attr = 0, 0x20  # "to be archived", a mark of DOS
            out.writestr(info, data)
    assert {path: bit for path, (_, bit) in taken(buffer.getvalue()).items()} == {
        "player.toml": False,
        "run.sh": True,
        "main.py": False,
    }
    assert taken(with_entry("run.sh", b"#!/bin/sh\n", stat.S_IFREG | 0o644))["run.sh"] == (b"#!/bin/sh\n", False)
    assert taken(with_entry("run", b"", stat.S_IFREG | 0o755))["run"] == (b"", True)


def test_names_of_old_zips_are_read() -> None:
    """A name is in UTF-8 whether the zip says so or not, or else in the code page of DOS."""

    def _without_flag(data: bytes, old: bytes, new: bytes) -> bytes:
        data = data.replace(old, new)
        for magic, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
            start = data.index(new) - 30 if magic == b"PK\3\4" else data.rindex(new) - 46
            assert data[start:].startswith(magic)
            flags = struct.unpack_from("<H", data, start + place)[0] & ~0x800
            data = data[: start + place] + struct.pack("<H", flags) + data[start + place + 2 :]
        return data

    data = with_entry("né.py")
    assert set(taken(data)) == {"player.toml", "né.py"}
    assert set(taken(_without_flag(data, "né.py".encode(), "né.py".encode()))) == {"player.toml", "né.py"}
    assert set(taken(_without_flag(data, "né.py".encode(), b"n\x82e.py"))) == {"player.toml", "née.py"}


def test_streamed_and_large_forms_of_zips_are_taken() -> None:
    """A zip written to a pipe has its sizes after each file; one in the form of zip64 has them elsewhere."""

    class _Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as out:
        for entry in PLAYER:
            out.writestr(entry.path, entry.data)
    assert {path: data for path, (data, _) in taken(pipe.getvalue()).items()} == {e.path: e.data for e in PLAYER}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out, out.open("player.toml", "w", force_zip64=True) as file:
        file.write(TOML)
    assert taken(buffer.getvalue()) == {"player.toml": (TOML, False)}


def test_links_of_zips_are_links() -> None:
    """A link has to keep the rules for links in a tar; an archive in an archive is a plain file."""
    entries = unpack(with_entry("latest", b"player.toml", stat.S_IFLNK | 0o777))
    assert entries[1] == ArchiveEntry(path="latest", kind=EntryKind.LINK, target="player.toml")
    nested = with_entry("inner.zip", with_entry("deep"))
    assert set(taken(nested)) == {"player.toml", "inner.zip"}
    assert set(taken(make_tar({"player.toml": TOML, "inner.tar.gz": gzip.compress(make_tar({}))}))) == {
        "player.toml",
        "inner.tar.gz",
    }


GOOD = with_entry("main.py", b"print()" * 9, stat.S_IFREG | 0o644)
LINK = stat.S_IFLNK | 0o777


def patched(place: int, new: bytes, magic: bytes, data: bytes = GOOD) -> bytes:
    """Return a zip with changed bytes in the last record of a kind."""
    start = data.rindex(magic) + place
    return data[:start] + new + data[start + len(new) :]


def overlapping() -> bytes:
    """Return a zip whose second entry is the first one's file again."""
    data = make_zip({"player.toml": TOML, "player.tomk": TOML})
    return patched(42, struct.pack("<I", 0), b"PK\1\2", data)


def bomb() -> bytes:
    """Return a zip in which many small files claim to be large."""
    return make_zip({"player.toml": TOML, **{f"zeros{number}": bytes(1 << 22) for number in range(17)}})


LOCAL, DIRECTORY, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
TOO_MUCH = archive.MAX_UNPACKED_BYTES + 3_000_000
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut": (lambda: GOOD[:-30], "cut off: its directory is missing"),
    "begun": (lambda: b"PK\3\4 a zip", "cut off: its directory is missing"),
    "end alone, cut": (lambda: b"PK\5\6", "cut off"),
    "nothing in it": (lambda: make_zip({}), "no file player.toml at the top"),
    "bytes behind": (lambda: GOOD + b"more", "other bytes follow the zip"),
    "bytes before": (lambda: LOCAL + bytes(30) + GOOD, "other bytes precede the zip"),
    "two zips": (lambda: GOOD + GOOD, "other bytes precede the zip"),
    "wrong checksum": (lambda: patched(14, b"abcd", LOCAL, patched(16, b"abcd", DIRECTORY)), "main.py is damaged"),
    "checksum that is another in the header": (lambda: patched(14, b"abcd", LOCAL), "differs in its header"),
    "name that is another in the header": (lambda: patched(30, b"evil.py", LOCAL), "differs in its header"),
    "method that is another in the header": (lambda: patched(8, b"\x08", LOCAL), "differs in its header"),
    "size that is another in the header": (lambda: patched(22, b"\1\0\0\0", LOCAL), "differs in its header"),
    "size that is another in the directory": (
        lambda: patched(24, b"\1\0\0\0", DIRECTORY),
        "differs in its header|damaged",
    ),
    "size past the end": (
        lambda: patched(18, b"\xff\xff\0\0" * 2, LOCAL, patched(20, b"\xff\xff\0\0" * 2, DIRECTORY)),
        "main.py: the zip is cut off in it",
    ),
    "place past the end": (lambda: patched(42, b"\xff\xff\0\0", DIRECTORY), "not where the zip's directory says"),
    "overlapping": (overlapping, "overlaps with another file"),
    "encrypted": (lambda: patched(6, b"\1", LOCAL, patched(8, b"\1", DIRECTORY)), "main.py is encrypted"),
    "bzip2": (lambda: make_zip({"player.toml": TOML}, zipfile.ZIP_BZIP2), "compressed by bzip2, which can't be read"),
    "lzma": (lambda: make_zip({"player.toml": TOML}, zipfile.ZIP_LZMA), "compressed by LZMA, which can't be read"),
    "unknown method": (lambda: patched(10, b"\x63", DIRECTORY), "compressed by method 99"),
    "deflated in vain": (lambda: patched(8, b"\x08", LOCAL, patched(10, b"\x08", DIRECTORY)), "main.py is damaged"),
    "broken directory": (lambda: patched(0, b"XXXX", DIRECTORY), "directory can't be read"),
    "directory elsewhere": (lambda: patched(16, b"\xff\xff\xff\x7f", END), "can't be read|precede the zip"),
    "directory larger than all": (lambda: patched(12, b"\xff\xff\xff\x7f", END), "can't be read"),
    "name that is no UTF-8": (
        lambda: with_entry("né").replace("né".encode(), b"n\xff\xff"),
        "not in UTF-8, though the zip says so",
    ),
    "bomb": (bomb, "unpacked, it is over 64 MiB; the largest: zeros"),
    "bomb that lies": (
        lambda: patched(
            22,
            struct.pack("<I", 10),
            LOCAL,
            patched(24, struct.pack("<I", 10), DIRECTORY, make_zip({"z": bytes(1 << 20)})),
        ),
        "z is damaged",
    ),
    "many entries": (lambda: make_zip({f"f{number}": b"" for number in range(2001)}), "more than 2000"),
    "very many entries": (lambda: make_zip({f"f{number}": b"" for number in range(20_001)}), "more than 2000"),
    "twice": (lambda: with_entry("player.tomk").replace(b"tomk", b"toml"), "player.toml is in the archive twice"),
    "in capitals": (lambda: with_entry("Player.toml"), "are the same name on some systems"),
    "parent": (lambda: with_entry("../evil"), "leads out"),
    "parent of Windows": (lambda: with_entry("..\\evil"), "leads out"),
    "absolute": (lambda: with_entry("/etc/evil"), "leads out"),
    "null character": (lambda: with_entry("evilX").replace(b"evilX", b"evil\0"), "a name that can't be shown"),
    "link out": (lambda: with_entry("a", b"../../etc/passwd", LINK), "a link out of"),
    "absolute link": (lambda: with_entry("a", b"/etc/passwd", LINK), "a link to an absolute path"),
    "link to no name": (lambda: with_entry("a", b"\xff\0", LINK), "a link to"),
    "device": (lambda: with_entry("a", b"", stat.S_IFCHR | 0o666), "a is a device"),
    "pipe": (lambda: with_entry("a", b"", stat.S_IFIFO | 0o666), "a is a pipe"),
    "socket": (lambda: with_entry("a", b"", stat.S_IFSOCK | 0o666), "a is a socket"),
    "folder with content": (lambda: with_entry("a/", b"x", stat.S_IFDIR | 0o755), "a/ has content and is no file"),
    "file in a file": (lambda: with_entry("player.toml/x"), "which is no folder"),
    "bomb of bzip2": (
        lambda: bz2.compress(bytes(TOO_MUCH)),
        "the archive is over 64 MiB",
    ),
    "bomb of xz": (lambda: lzma.compress(bytes(TOO_MUCH), preset=0), "the archive is over 64 MiB"),
    "cut bzip2": (lambda: bz2.compress(make_tar({"player.toml": TOML}))[:-5], "cut off"),
    "cut xz": (lambda: lzma.compress(make_tar({"player.toml": TOML}))[:-5], "cut off"),
    "damaged bzip2": (lambda: b"BZh9" + bytes(40), "not a complete bzip2"),
    "damaged xz": (lambda: b"\xfd7zXZ\0" + bytes(40), "not a complete xz"),
    "bytes behind bzip2": (lambda: bz2.compress(make_tar({"player.toml": TOML})) + b"more", "4 bytes follow"),
    "zip in gzip": (lambda: gzip.compress(GOOD), "not a valid tar at byte 0"),
    "program in gzip": (lambda: gzip.compress(b"print()\n"), "not a valid tar at byte 0"),
    "7-Zip": (
        lambda: b"7z\xbc\xaf\x27\x1c" + bytes(40),
        "is 7-Zip, a format that can't be read here; pack its folder again",
    ),
    "RAR": (lambda: b"Rar!\x1a\x07\x01\x00" + bytes(40), "is RAR, a format that can't be read here"),
    "picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(40), "this is not an archive"),
}


@pytest.mark.parametrize(("make", "error"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives_are_refused(make: Callable[[], bytes], error: str) -> None:
    """An archive that is no plain one of a player is refused, with the reason in one line."""
    with pytest.raises(BadArchive, match=error) as told:
        unpack(make())
    assert str(told.value).isprintable()
