"""Archives: the same folder gives the same bytes, and nothing hostile leaves its folder or fills the memory."""

import gzip
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.web.submissions import archive
from referee.web.submissions.archive import ArchiveEntry, BadArchive, EntryKind, check, pack, unpack
from referee.web.submissions.folder import gather, write

RECORD = Path(__file__).parents[2] / "golden" / "clean.jsonl"

TOML = b'name = "mine"\nrun = "python3 main.py"\n'
MANIFEST = ArchiveEntry(path="player.toml", data=TOML)
PLAYER = (
    MANIFEST,
    ArchiveEntry(path="main.py", data=b"print()\n", is_executable=True),
    ArchiveEntry(path="data", kind=EntryKind.FOLDER),
    ArchiveEntry(path="data/book.bin", data=bytes(range(256)) * 9),
    ArchiveEntry(path="data/latest", kind=EntryKind.LINK, target="book.bin"),
    ArchiveEntry(path="run", kind=EntryKind.LINK, target="main.py"),
)


def info(
    name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0, mode: int = 0o644
) -> tarfile.TarInfo:
    """Return a header."""
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size, made.mode = kind, target, size, mode
    return made


def tar(*heads: tarfile.TarInfo, form: int = tarfile.USTAR_FORMAT, manifest: bool = True) -> bytes:
    """Return a gzipped tar of headers, each with as many bytes as it says."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as out:
        if manifest:
            out.addfile(info("player.toml", size=len(TOML)), io.BytesIO(TOML))
        for head in heads:
            out.addfile(head, io.BytesIO(bytes(head.size)))
    return gzip.compress(buffer.getvalue(), 1)


def pax(fields: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    """Return a gzipped tar whose one file, apart from the manifest, has a pax header before it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as out:
        out.addfile(info("player.toml", size=len(TOML)), io.BytesIO(TOML))
        out.addfile(info("pax", kind, size=len(fields)), io.BytesIO(fields))
        out.addfile(info("file", size=3), io.BytesIO(b"abc"))
    return gzip.compress(buffer.getvalue(), 1)


def raw(change: Callable[[bytearray], None]) -> bytes:
    """Return the gzipped tar of a good player with something changed in its bytes."""
    plain = bytearray(gzip.decompress(pack(PLAYER)))
    change(plain)
    return gzip.compress(bytes(plain))


def with_size(field: bytes) -> bytes:
    """Return an archive whose first header claims another size, with a right sum."""

    def _change(plain: bytearray) -> None:
        plain[124:136] = field.ljust(12, b"\0")
        plain[148:156] = b" " * 8
        plain[148:156] = b"%06o\0 " % sum(plain[:512])

    return raw(_change)


HOSTILE: dict[str, tuple[bytes, str]] = {
    "no archive": (b"\xff\xfe\0 neither", "not an archive: neither a tar"),
    "gzip of an unknown method": (b"\x1f\x8b\xff" + bytes(20), "not a complete gzip"),
    "nothing": (b"", "cut off"),
    "cut gzip": (pack(PLAYER)[:-9], "cut off"),
    "wrong sum of the gzip": (pack(PLAYER)[:-8] + bytes(8), "not a complete gzip"),
    "bytes behind": (pack(PLAYER) + b"more", "4 bytes follow"),
    "second gzip behind": (pack(PLAYER) * 2, "follow the archive"),
    "no tar": (gzip.compress(b"x" * 2048), "not a valid tar at byte 0"),
    "no end": (gzip.compress(gzip.decompress(pack(PLAYER))[:-1024]), "no proper end"),
    "more behind the end": (raw(lambda plain: plain.extend(b"x" * 512)), "no proper end"),
    "wrong sum of a header": (raw(lambda plain: plain.__setitem__(0, 1)), "not a valid tar at byte 0"),
    "size past the end": (with_size(b"00077777777"), "cut off in it"),
    "negative size": (with_size(b"\xff" * 12), "cut off in it"),
    "size that is no number": (with_size(b"many"), "not a valid tar at byte 0"),
    "too large": (b"\0" * (archive.MAX_PACKED_BYTES + 1), "over 16 MiB"),
    "bomb": (gzip.compress(bytes(archive.MAX_UNPACKED_BYTES + 3_000_000), 1), "unpacked, the archive is over 64 MiB"),
    "bomb of one file": (tar(info("zeros", size=archive.MAX_UNPACKED_BYTES)), r"over 64 MiB; the largest: zeros"),
    "many entries": (tar(*(info(f"f{number}") for number in range(2001))), "more than 2000"),
    "parent": (tar(info("../evil")), r"\.\./evil leads out"),
    "parent within": (tar(info("a/../../evil")), "leads out"),
    "absolute": (tar(info("/etc/evil")), "leads out"),
    "empty part": (tar(info("a//b")), "no plain path"),
    "point": (tar(info("a/./b")), "no plain path"),
    "control character": (tar(info("a\x1b[2Jb")), "a name that can't be shown"),
    "wrong sum of a name": (raw(lambda plain: plain.__setitem__(slice(0, 2), b"\xff\xfe")), "not a valid tar"),
    "no UTF-8": (tar(info("caf\udce9.py")), "with the byte 0xe9, which is not UTF-8; in Latin-1 it is café.py"),
    "deep": (tar(info("/".join("a" * 40))), "more than 32 folders deep"),
    "twice": (tar(info("a"), info("a")), "a is in the archive twice"),
    "the manifest twice": (tar(info("player.toml")), "player.toml is in the archive twice"),
    "in capitals": (tar(info("Main.py"), info("main.PY")), "are the same name on some systems"),
    "folder in capitals": (tar(info("A/x"), info("a/y")), "are the same name on some systems"),
    "composed and decomposed": (tar(info("\xe9"), info("e\u0301")), "are the same name on some systems"),
    "file in a file": (tar(info("a"), info("a/b")), "lies in a, which is no folder"),
    "file in a link": (
        tar(info("d", tarfile.DIRTYPE), info("a", tarfile.SYMTYPE, "d"), info("a/b")),
        "lies in a, which is no folder",
    ),
    "folder over a link": (
        tar(info("d", tarfile.DIRTYPE), info("a", tarfile.SYMTYPE, "d"), info("a", tarfile.DIRTYPE)),
        "twice",
    ),
    "link out": (tar(info("a", tarfile.SYMTYPE, "../../etc/passwd")), "a link out of"),
    "absolute link": (tar(info("a", tarfile.SYMTYPE, "/etc/passwd")), "a link to an absolute path"),
    "link to nothing": (tar(info("a", tarfile.SYMTYPE, "b")), "no file or folder in here"),
    "link to itself": (tar(info("a", tarfile.SYMTYPE, "a")), "no file or folder in here"),
    "link to a link": (
        tar(info("a", tarfile.SYMTYPE, "player.toml"), info("b", tarfile.SYMTYPE, "a")),
        "no file or folder in here",
    ),
    "link through a link": (
        tar(info("x/y/d", tarfile.DIRTYPE), info("l", tarfile.SYMTYPE, "x/y"), info("e", tarfile.SYMTYPE, "l/../..")),
        "no file or folder in here",
    ),
    "hard link": (tar(info("a", tarfile.LNKTYPE, "player.toml")), "a is a hard link"),
    "hard link out": (tar(info("a", tarfile.LNKTYPE, "../../etc/passwd")), "a is a hard link"),
    "character device": (tar(info("null", tarfile.CHRTYPE)), "null is a device"),
    "block device": (tar(info("sda", tarfile.BLKTYPE)), "sda is a device"),
    "pipe": (tar(info("pipe", tarfile.FIFOTYPE)), "pipe is a pipe"),
    "sparse file": (tar(info("a", tarfile.GNUTYPE_SPARSE)), "a sparse file"),
    "unknown type": (tar(info("a", b"Z")), "of the unknown type Z"),
    "name of GNU that no disk takes": (tar(info("a" * 256), form=tarfile.GNU_FORMAT), "is too long: a name may have"),
    "path of pax that no disk takes": (tar(info("b/" + "a/b" * 400), form=tarfile.PAX_FORMAT), "folders deep|too long"),
    "path of pax that leads out": (tar(info("../" + "a" * 150), form=tarfile.PAX_FORMAT), "leads out"),
    "sparse file of pax": (pax(b"22 GNU.sparse.major=1\n"), "a sparse file"),
    "broken pax header": (pax(b"99 path=a\n"), "broken pax header"),
    "very large pax header": (pax(b"6 a=b\n" * 800_000), "pax headers are over 4 MiB"),
    "pax header with a length of nothing": (pax(b"0 path=a\n"), "broken pax header"),
    "pax header without a line": (pax(b"9999999"), "broken pax header"),
    "size of pax past the end": (pax(b"20 size=99999999999\n"), "cut off in it"),
    "size of pax that is no number": (pax(b"11 size=-1\n"), "broken size"),
    "global pax header that renames": (pax(b"10 path=a\n", tarfile.XGLTYPE), "global pax header that names"),
    "folder with content": (tar(info("a", tarfile.DIRTYPE, size=5)), "no tar|a has content"),
    "no manifest": (tar(info("main.py"), manifest=False), "no file player.toml at the top"),
    "manifest in one folder of two": (
        tar(info("a/player.toml"), info("b/main.py"), manifest=False),
        "top; it is at a/player.toml: hand in only the folder",
    ),
    "manifest in each of two folders": (
        tar(info("a/player.toml"), info("b/player.toml"), manifest=False),
        "it is at a/player.toml, b/player.toml",
    ),
    "manifest in a folder outside": (tar(info("../player.toml"), manifest=False), "leads out"),
    "manifest in a folder that is a link": (
        tar(info("mine", tarfile.SYMTYPE, "."), info("mine/player.toml"), manifest=False),
        "no file player.toml at the top|no folder",
    ),
    "manifest that is a link": (
        tar(info("a"), info("player.toml", tarfile.SYMTYPE, "a"), manifest=False),
        "no file player.toml at the top",
    ),
}


@pytest.mark.parametrize(("data", "error"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives_are_refused(data: bytes, error: str) -> None:
    """An archive that is no plain one of a player is refused, with the reason."""
    with pytest.raises(BadArchive, match=error) as told:
        unpack(data)
    assert str(told.value).isprintable()


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_plain_archives_of_others_are_taken(form: int, tmp_path: Path) -> None:
    """An archive of another tar is accepted; its owners, times and setuid bits are ignored."""
    head = info("./bin/run", mode=0o6755)
    head.uid, head.uname, head.mtime = 0, "root", 12345
    data = tar(info("./", tarfile.DIRTYPE), head, form=form)
    assert unpack(data) == (MANIFEST, ArchiveEntry(path="bin/run", is_executable=True))
    write(unpack(data), tmp_path / "player")
    assert (tmp_path / "player/bin/run").stat().st_mode & 0o7777 == 0o755


# --- the same folder, the same bytes


def test_the_same_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    """Times, owners, the order of making and other mode bits do not change an archive; the content does."""
    write(PLAYER, tmp_path / "one")
    write(tuple(reversed(PLAYER)), tmp_path / "two")
    os.utime(tmp_path / "two" / "main.py", (1, 1))
    (tmp_path / "two" / "player.toml").chmod(0o600)
    (tmp_path / "two" / "data").chmod(0o700)
    first, second = (pack(gather(tmp_path / name).entries) for name in ("one", "two"))
    assert first == second
    assert sorted(unpack(first), key=repr) == sorted(PLAYER, key=repr)
    (tmp_path / "two" / "main.py").chmod(0o644)
    assert pack(gather(tmp_path / "two").entries) != first


def test_any_tar_program_can_read_it() -> None:
    """An archive is a plain ustar: the standard library reads the original files from it."""
    with tarfile.open(fileobj=io.BytesIO(pack(PLAYER))) as found:
        assert [member.name for member in found] == sorted(entry.path for entry in PLAYER)
        assert {member.mtime for member in found} == {0}
        book = found.extractfile("data/book.bin")
        assert book is not None
        assert book.read() == PLAYER[3].data


FILES = st.builds(ArchiveEntry, path=st.text("aA.é/ \n", min_size=1, max_size=8), data=st.binary(max_size=1100))


@settings(max_examples=60)
@given(st.lists(FILES, max_size=5))
def test_what_is_packed_is_unpacked(files: list[ArchiveEntry]) -> None:
    """A valid folder comes out as it went in; an invalid one is refused alike by packing and unpacking."""
    entries = (MANIFEST, *files)
    try:
        data = pack(entries)
    except BadArchive:
        return
    assert sorted(unpack(data), key=repr) == sorted(entries, key=repr)


CHANGES = st.lists(st.tuples(st.integers(0, 6143), st.binary(min_size=1, max_size=16)), min_size=1, max_size=4)


@settings(max_examples=80)
@given(changes=CHANGES, is_summed=st.booleans(), cut=st.integers(0, 8192))
def test_mutated_archives_do_no_harm(changes: list[tuple[int, bytes]], *, is_summed: bool, cut: int) -> None:
    """With any bytes changed, an archive is refused, or its files stay in its folder."""
    plain = bytearray(gzip.decompress(pack(PLAYER)))
    for place, data in changes:
        plain[place : place + len(data)] = data
        start = place // 512 * 512
        if is_summed and len(plain) >= start + 512:  # so that the changed header has a right sum
            plain[start + 148 : start + 156] = b" " * 8
            plain[start + 148 : start + 156] = b"%06o\0 " % sum(plain[start : start + 512])
    try:
        entries = unpack(gzip.compress(bytes(plain[:cut] if cut < 1024 else plain), 1))
    except BadArchive:
        return
    check(entries)
    with tempfile.TemporaryDirectory() as place_:
        root = Path(place_).resolve() / "a" / "player"
        root.parent.mkdir()
        write(entries, root)
        assert [path.name for path in Path(place_).iterdir()] == ["a"]
        assert [path.name for path in root.parent.iterdir()] == ["player"]
        assert all(path.resolve().is_relative_to(root) for path in root.rglob("*"))


# --- a folder of the disk


@pytest.fixture
def player(tmp_path: Path) -> Path:
    """Return a good player's folder."""
    write(PLAYER, tmp_path / "mine")
    return tmp_path / "mine"


def test_what_belongs_to_one_machine_is_left_out(player: Path) -> None:
    """Caches, version control, virtual environments and the names in .refereeignore stay at home, with a message."""
    (player / ".refereeignore").write_text("# big\n*.log\ndata/book.bin\ntarget/\n")
    for name in ("__pycache__/a.pyc", ".git/HEAD", "env/pyvenv.cfg", "target/debug/x", "data/old.log", "lib/keep.py"):
        (player / name).parent.mkdir(parents=True, exist_ok=True)
        (player / name).touch()
    (player / "data/latest").unlink()
    found = gather(player)
    assert found.left_out == (".git", "__pycache__", "data/book.bin", "data/old.log", "env", "target")
    kept = {entry.path for entry in found.entries}
    assert kept == {".refereeignore", "data", "lib", "lib/keep.py", "main.py", "player.toml", "run"}
    unpack(pack(found.entries))


def test_records_are_left_out_and_what_lies_beside_them_is_not(player: Path) -> None:
    """A folder with nothing but records is no part of the program; one with other files may be."""
    for folder in ("my games", "book"):
        (player / folder / ".builds").mkdir(parents=True)
        shutil.copy(RECORD, player / folder / "m.jsonl")
        (player / folder / "m.seat0.ada.stderr").write_text("hello")
    (player / "book" / "openings.json").touch()
    (player / "other").mkdir()
    (player / "other" / "data.jsonl").write_text('{"n": 1}')
    found = gather(player)
    assert found.left_out == ("my games",)
    assert {"book/m.jsonl", "book/openings.json", "other/data.jsonl"} <= {entry.path for entry in found.entries}
    (player / "other" / "data.jsonl").unlink()  # every record of a test is audited, and this file is not a record


def big(player: Path) -> None:
    """Put a sparse file into a folder that makes it too large."""
    with (player / "data" / "table.bin").open("wb") as file:
        file.truncate(archive.MAX_UNPACKED_BYTES)


def crowd(player: Path) -> None:
    """Put too many files into a folder."""
    for number in range(archive.MAX_ENTRIES + 1):
        (player / f"f{number}").touch()


BAD_FOLDERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe": (lambda player: os.mkfifo(player / "pipe"), "pipe is neither a file nor a folder"),
    "link out": (lambda player: (player / "l").symlink_to("/etc/passwd"), "l is a link to an absolute path"),
    "dangling link": (lambda player: (player / "main.py").unlink(), "run is a link to main.py, which is no file"),
    "too large": (big, r"over 64 MiB; the largest: data/table.bin \(64.0 MiB\)"),
    "too many": (crowd, "more than 2000 files"),
    "no manifest": (lambda player: (player / "player.toml").unlink(), "no file player.toml"),
    "name that is no UTF-8": (lambda player: Path(os.fsdecode(bytes(player) + b"/\xff")).write_text(""), "rename it"),
    "long path": (lambda player: player.joinpath(*["a" * 250] * 5).mkdir(parents=True), "is too long: a name may have"),
    "incompressible": (
        lambda player: (player / "noise").write_bytes(os.urandom(archive.MAX_PACKED_BYTES + 1)),
        "packed, it is over 16 MiB; the largest: noise",
    ),
    "too deep": (lambda player: player.joinpath(*["a"] * 65).mkdir(parents=True), "folders more than 64 deep: a/a/a"),
    "closed": (lambda player: (player / "run").chmod(0), "main.py can't be read: its mode is 000"),
    "patterns in a pipe": (lambda player: os.mkfifo(player / ".refereeignore"), ".refereeignore is neither a file"),
    "patterns that are no text": (lambda player: (player / ".refereeignore").write_bytes(b"\xff"), "0xff is no UTF-8"),
}


@pytest.mark.parametrize(("spoil", "error"), BAD_FOLDERS.values(), ids=BAD_FOLDERS)
def test_bad_folders_are_refused(player: Path, spoil: Callable[[Path], object], error: str) -> None:
    """The error comes before anything is sent, with the remedy."""
    spoil(player)
    with pytest.raises(BadArchive, match=error):
        pack(gather(player).entries)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """The error names it."""
    with pytest.raises(BadArchive, match="there is no folder"):
        gather(tmp_path / "nobody")
