"""All files below a folder are listed, even while it changes; an unreadable one is an error."""

import os
from pathlib import Path

import pytest

from referee.files.reading import everything_below, files_below


def _made(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


def test_files_are_found_at_every_depth_by_path(tmp_path: Path) -> None:
    """Folders with names like files are not listed."""
    _made(tmp_path, "b.txt", "a/c.txt", "a/b/d.txt", "a/no.json", "z.txt/e.txt")
    found = [path.relative_to(tmp_path).as_posix() for path in files_below(tmp_path, "*.txt")]
    assert found == ["a/b/d.txt", "a/c.txt", "b.txt", "z.txt/e.txt"]


def test_links_are_named_and_not_followed(tmp_path: Path) -> None:
    """A link to a folder around it leads nowhere."""
    _made(tmp_path, "inner/a")
    (tmp_path / "inner" / "around").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    found = [path.relative_to(tmp_path).as_posix() for path in everything_below(tmp_path)]
    assert found == ["inner", "inner/a", "inner/around", "nowhere"]


def test_what_is_removed_meanwhile_is_left_out(tmp_path: Path) -> None:
    """Other processes write and remove files during the listing."""
    _made(tmp_path, "a/x", "b/x", "c")
    found = []
    for path in everything_below(tmp_path):
        found.append(path.relative_to(tmp_path).as_posix())
        if path.name == "a":
            (path / "x").unlink()
            path.rmdir()
    assert found == ["a", "b", "b/x", "c"]
    assert list(everything_below(tmp_path / "gone")) == []


def test_what_can_not_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the list would look complete without being so."""
    _made(tmp_path, "a/x")
    scandir = os.scandir

    def _refused(folder: Path) -> object:
        if folder.name == "a":
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", _refused)
    with pytest.raises(PermissionError):
        files_below(tmp_path, "*")
