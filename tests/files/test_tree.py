"""Walks through folders, and the targets of links in them."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from referee.files import links, tree
from referee.files.copies import copy_folder
from referee.files.links import SymbolicLinks, TangledLinksError
from referee.files.scratch import temporary_folder
from referee.files.tree import BadTree, walk


def test_a_walk_is_in_order_and_follows_no_link(tmp_path: Path) -> None:
    """The entries of a folder come by name, and the content of its folders after them."""
    (tmp_path / "b" / "d").mkdir(parents=True)
    (tmp_path / "b" / "c").write_text("c")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "f").write_text("f")
    assert [node.path for node in walk(tmp_path)] == ["a", "b", "e", "b/c", "b/d", "e/f"]
    assert [node.path for node in walk(tmp_path, left_out=lambda node: node.name == "b")] == ["a", "e", "e/f"]


BAD = {
    "levels": ("MAX_LEVELS", 2, "folders more than 2 deep: b/c"),
    "entries": ("MAX_ENTRIES", 3, "more than 3 files and folders"),
    "bytes": ("MAX_BYTES", tree.MIB, "more than 1 MiB together"),
}


@pytest.mark.parametrize(("bound", "most", "complaint"), BAD.values(), ids=BAD)
def test_a_walk_has_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, most: int, complaint: str
) -> None:
    """A larger folder is refused. A file counts by its announced size, and is not read."""
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("a", "d"):
        with (tmp_path / name).open("w") as file:
            file.truncate(tree.MIB - 1)
    for name, fine in (("MAX_LEVELS", 3), ("MAX_ENTRIES", 4), ("MAX_BYTES", 2 * tree.MIB)):
        monkeypatch.setattr(tree, name, fine)
    assert len(list(walk(tmp_path, max_bytes=tree.MAX_BYTES))) == 4
    monkeypatch.setattr(tree, bound, most)
    with pytest.raises(BadTree, match=complaint):
        list(walk(tmp_path, max_bytes=tree.MAX_BYTES))


def test_a_walk_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file is open at its end, or when it is given up."""
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    before = sorted(Path("/proc/self/fd").iterdir())
    list(walk(tmp_path))
    next(walk(tmp_path))
    monkeypatch.setattr(tree, "MAX_LEVELS", 2)
    with pytest.raises(BadTree):
        list(walk(tmp_path))
    assert sorted(Path("/proc/self/fd").iterdir()) == before


def test_a_file_is_read_as_long_as_it_was(tmp_path: Path) -> None:
    """A file that grows while it is read ends where it ended at first, and one that shrinks ends earlier."""
    (tmp_path / "a").write_text("as it was")
    for node in walk(tmp_path):
        (tmp_path / "a").write_text("as it was, and more")
        assert b"".join(node.pieces(4)) == b"as it was"
        (tmp_path / "a").write_text("less")
        assert b"".join(node.pieces()) == b"less"
        (tmp_path / "a").unlink()
        (tmp_path / "a").symlink_to("/etc/passwd")
        with pytest.raises(BadTree, match="a can't be read"):
            list(node.pieces())


LINKS: dict[str, tuple[Mapping[str, str], str | None]] = {
    "inside": ({"a": "b", "b/c": "../a", "d": "/p/x", "e": "/p", "f": "./b//c/."}, None),
    "above": ({"a/b": "../../c"}, "a/b"),
    "absolute": ({"a": "/etc/passwd"}, "a"),
    "beside": ({"a": "/please"}, "a"),
    "out and in again": ({"a": "../p/b"}, "a"),
    "by another one": ({"a": "b/../../c", "b": "c/d/e"}, None),
    "by another one, out": ({"a": "b/../../c", "b": "c"}, "a"),
    "in a circle": ({"a": "b", "b": "a", "c": "c"}, None),
    "nowhere": ({"a": "x/y/z"}, None),
}


@pytest.mark.parametrize(("targets", "found"), LINKS.values(), ids=LINKS)
def test_where_links_lead(targets: Mapping[str, str], found: str | None) -> None:
    """A link that leads out of the folder is named, even through other links; the test needs no disk."""
    assert SymbolicLinks(targets, ("/p",)).escaping() == found


def test_links_are_followed_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many links are followed as the kernel follows; an endless chain is given up."""
    chain = {f"l{number}": f"l{number + 1}" for number in range(2000)}
    assert SymbolicLinks(chain, ()).escaping() is None
    monkeypatch.setattr(links, "MAX_STEPS", 10_000)
    with pytest.raises(TangledLinksError):
        SymbolicLinks(chain, ()).escaping()


def test_a_copy_has_plain_things_alone(tmp_path: Path) -> None:
    """The copy has files, folders and links, with their times, but no pipes and no setuid bits."""
    (tmp_path / "from" / "folder").mkdir(parents=True)
    (tmp_path / "from" / "folder" / "run").write_text("run")
    (tmp_path / "from" / "folder" / "run").chmod(0o6777)
    os.utime(tmp_path / "from" / "folder" / "run", ns=(1, 2))
    (tmp_path / "from" / "link").symlink_to("folder")
    os.mkfifo(tmp_path / "from" / "pipe")
    copy_folder(tmp_path / "from", tmp_path / "to")
    assert {node.path for node in walk(tmp_path / "to")} == {"folder", "folder/run", "link"}
    status = (tmp_path / "to" / "folder" / "run").stat()
    assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (0o755, 2)


def test_a_temporary_folder_is_private_and_gone(tmp_path: Path) -> None:
    """It is removed whatever was put into it."""
    with temporary_folder("t-", tmp_path) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a").chmod(0)
    assert list(tmp_path.iterdir()) == []


def test_nothing_else_walks_through_folders_of_others() -> None:
    """The referee uses no function that recurses or trusts paths."""
    sources = Path(tree.__file__).parents[1].rglob("*.py")
    banned = ("shutil.rmtree", "shutil.copytree", "os.walk")
    assert [path.name for path in sources if any(word in path.read_text() for word in banned)] == []
