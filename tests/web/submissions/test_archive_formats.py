"""Archives of other programs: every common format is accepted, and a damaged one is refused in a sentence."""

import importlib
import io
import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.web.submissions.archive import ArchiveEntry, BadArchive, EntryKind, check, pack, unpack
from referee.web.submissions.folder import gather, write

from .packers import CONTENT, PLAYER, TOML, make_tar, make_zip, taken, with_entry


@pytest.fixture
def player(tmp_path: Path) -> Path:
    """Return a player's folder, alone in its folder."""
    (tmp_path / "above").mkdir()
    write(PLAYER, tmp_path / "above" / "mine")
    return tmp_path / "above" / "mine"


@pytest.mark.parametrize("is_inside", [True, False], ids=["files", "folder"])
@pytest.mark.parametrize("form", ["tar", "gztar", "bztar", "xztar", "zip"])
def test_what_the_standard_library_packs_is_taken(player: Path, tmp_path: Path, form: str, *, is_inside: bool) -> None:
    """`shutil.make_archive` packs the files, or the folder with them, which is entered."""
    root, base = (player, None) if is_inside else (player.parent, "mine")
    path = Path(shutil.make_archive(str(tmp_path / "made"), form, root, base))
    assert taken(path.read_bytes()) == CONTENT


@pytest.mark.parametrize("form", ["gnu", "pax", "posix"])
@pytest.mark.parametrize(
    "packer",
    ["-z", pytest.param("-j", marks=pytest.mark.needs("bzip2")), pytest.param("-J", marks=pytest.mark.needs("xz")), ""],
)
def test_what_tar_packs_is_taken(player: Path, form: str, packer: str) -> None:
    """Each format with room for a long name is accepted, with each compression."""
    options = [packer] if packer else []
    command = ["tar", f"--format={form}", *options, "-cf", "-", "mine"]
    assert taken(subprocess.run(command, cwd=player.parent, check=True, stdout=subprocess.PIPE).stdout) == CONTENT


def test_what_git_packs_is_taken() -> None:
    """`git archive`, and so GitHub, begins with a global pax header that holds the commit."""
    buffer = io.BytesIO()
    comment = {"comment": "0123456789abcdef0123456789abcdef01234567"}
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers=comment) as out:
        for entry in PLAYER:
            info = tarfile.TarInfo(f"repository-0123456/{entry.path}")
            info.size, info.mode = len(entry.data), 0o775 if entry.is_executable else 0o664
            out.addfile(info, io.BytesIO(entry.data))
    assert taken(buffer.getvalue()) == CONTENT


def test_links_are_taken_as_they_are_written(tmp_path: Path) -> None:
    """Relative to the link's folder, with or without `./`: programs write both."""
    player = tmp_path / "player"
    (player / "lib").mkdir(parents=True)
    (player / "player.toml").write_text('name = "ada"\nrun = "./run"\n')
    for place, target in {"run": "./player.toml", "here": "././lib/.", "lib/up": "./../player.toml"}.items():
        (player / place).symlink_to(target)
    entries = unpack(pack(gather(player).entries))
    write(entries, tmp_path / "copy")
    assert {entry.target for entry in entries} == {"", "./player.toml", "././lib/.", "./../player.toml"}
    assert (tmp_path / "copy" / "lib" / "up").read_text() == (player / "player.toml").read_text()


@pytest.mark.parametrize("target", [".", "./..", "lib/../player.toml", "./../../x", "./run", "player.toml/./x"])
def test_links_that_lead_elsewhere_are_refused(target: str) -> None:
    """They are refused whatever steps are in between."""
    files = [ArchiveEntry(path=path, data=b"x") for path in ("player.toml", "lib/a")]
    with pytest.raises(BadArchive, match="run is a link"):
        check([*files, ArchiveEntry(path="run", kind=EntryKind.LINK, target=target)])


def test_metadata_is_nobodys() -> None:
    """Owners that are not in UTF-8, fractional times, extended attributes and labels are ignored."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape") as out:
        label = tarfile.TarInfo("my volume")
        label.type = b"V"
        out.addfile(label)
        info = tarfile.TarInfo("player.toml")
        info.size, info.mtime, info.uname, info.uid, info.mode = len(TOML), 1.5, "caf\udce9", 1 << 40, 0o4600
        info.pax_headers = {"SCHILY.xattr.user.x": "\udcff\0=\n", "LIBARCHIVE.creationtime": "1", "atime": "2.5"}
        out.addfile(info, io.BytesIO(TOML))
    assert taken(buffer.getvalue()) == {"player.toml": (TOML, False)}


def test_what_macos_adds_is_skipped() -> None:
    """Its zips have a second tree, its tars a second file for each, and both have the views of folders."""
    apple = b"\0\5\x16\7\0\2\0\0Mac OS X"
    added = {"__MACOSX/mine/._player.toml": apple, "mine/.DS_Store": b"\0\0\0\1Bud1", "mine/._main.py": apple}
    kept = {"mine/player.toml": TOML, "mine/._notes": b"the author's"}
    assert set(taken(make_zip({**added, **kept}))) == {"player.toml", "._notes"}
    assert set(taken(make_tar({**added, **kept}))) == {"player.toml", "._notes"}


def test_what_is_left_out_of_a_folder_is_left_out_of_an_archive() -> None:
    """Examples are caches, the history, and a virtual environment with links to outside."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as out:
        for name in ("mine/player.toml", "mine/__pycache__/a.pyc", *(f"mine/.git/objects/{n}" for n in range(2500))):
            out.addfile(tarfile.TarInfo(name))
        link = tarfile.TarInfo("mine/.venv/bin/python")
        link.type, link.linkname = tarfile.SYMTYPE, "/usr/bin/python3"
        out.addfile(link)
    assert set(taken(buffer.getvalue())) == {"player.toml"}
    names = ("player.toml", ".git/HEAD", "lib/.svn/x", "node_modules/a.js", ".github/b.yml", ".gitignore")
    kept = taken(make_zip(dict.fromkeys(names, b"")))
    assert set(kept) == {"player.toml", "node_modules/a.js", ".github/b.yml", ".gitignore"}


def test_a_folder_is_stepped_into_however_deep() -> None:
    """`tar -cz /home/ada/mine` has the folders above; files next to them are not left out."""
    deep = {"home/ada/mine/player.toml": TOML, "home/ada/mine/lib/player.toml": b""}
    assert set(taken(make_tar(deep))) == {"player.toml", "lib/player.toml"}
    with pytest.raises(BadArchive, match=r"top; it is at home/ada/mine/player\.toml, home/ada/mine/lib/player\.toml"):
        unpack(make_tar({**deep, "home/README": b""}))


def test_zstandard_is_taken_where_python_reads_it() -> None:
    """Python reads it from 3.14 on; an older one says so."""
    try:
        compress = importlib.import_module("compression.zstd").compress
    except ModuleNotFoundError:
        with pytest.raises(BadArchive, match=r"in Zstandard, which the referee reads only with Python 3\.14"):
            unpack(b"\x28\xb5\x2f\xfd" + bytes(20))
    else:
        assert taken(compress(make_tar({"player.toml": TOML}))) == {"player.toml": (TOML, False)}


# # --- damaged archives


GOOD = with_entry("main.py", b"print()" * 9, stat.S_IFREG | 0o644)
BASES = (GOOD, make_zip({e.path: e.data for e in PLAYER}), make_tar({e.path: e.data for e in PLAYER}))
CHANGES = st.lists(st.tuples(st.integers(0, 8000), st.binary(min_size=1, max_size=8)), max_size=4)


@settings(max_examples=150)
@given(base=st.sampled_from(BASES), changes=CHANGES, cut=st.integers(0, 9000), behind=st.binary(max_size=30))
def test_whatever_is_changed_an_archive_is_refused_or_harmless(
    base: bytes, changes: list[tuple[int, bytes]], cut: int, behind: bytes
) -> None:
    """There is no other error, and the unpacked files keep all rules and can be packed again."""
    data = bytearray(base)
    for place, new in changes:
        data[place % len(data) : place % len(data) + len(new)] = new
    try:
        entries = unpack(bytes(data[:cut] if cut < len(data) else data) + behind)
    except BadArchive as error:
        assert str(error).replace("\n", "").isprintable()  # noqa: PT017  # there may be none
        return
    check(entries)
    assert sorted(unpack(pack(entries)), key=repr) == sorted(entries, key=repr)


NAMES = st.lists(st.text("aBé. ~\\", min_size=1, max_size=120), min_size=1, max_size=4).map("/".join)


@settings(max_examples=60)
@given(files=st.dictionaries(NAMES, st.binary(max_size=700), max_size=4), form=st.sampled_from(["gnu", "pax", "zip"]))
def test_what_is_taken_is_what_was_packed(files: dict[str, bytes], form: str) -> None:
    """Names of any length come out of every format as they went in, or the archive is refused."""
    files = {"player.toml": TOML, **files}
    if form == "zip":
        data = make_zip(files)
        files = {path.replace("\\", "/"): content for path, content in files.items()}
        files = {path: content for path, content in files.items() if not path.endswith("/")}
    else:
        buffer = io.BytesIO()
        kind = tarfile.GNU_FORMAT if form == "gnu" else tarfile.PAX_FORMAT
        with tarfile.open(fileobj=buffer, mode="w", format=kind) as out:
            for path, content in files.items():
                info = tarfile.TarInfo(path)
                info.size = len(content)
                out.addfile(info, io.BytesIO(content))
        data = buffer.getvalue()
    try:
        found = {path: content for path, (content, _) in taken(data).items()}
    except BadArchive:
        return
    assert found == {path.removeprefix("./"): content for path, content in files.items()}
