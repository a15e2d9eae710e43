"""A contest's folder as one archive."""

import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from referee.web.contest.organising import archive_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with files of sizes around a block's, a long name, and links."""
    made = tmp_path / "contest"
    (made / "logs" / ("x" * 150)).mkdir(parents=True)
    for size in (0, 1, 511, 512, 513, 300_000):
        (made / "logs" / f"{size}.txt").write_bytes(bytes(range(256)) * (size // 256) + b"x" * (size % 256))
    (made / "logs" / ("x" * 150) / "\u00e4").write_text("name")
    (made / "ada").symlink_to("logs")
    (made / "away").symlink_to("/nowhere")
    return made


def test_what_is_packed_is_what_there_is(folder: Path) -> None:
    """It has the folder's own name, and links stay links."""
    (folder / "key.pem").write_text("private")
    with tarfile.open(fileobj=BytesIO(b"".join(archive_folder(folder, [folder / "key.pem"])))) as archive:
        packed = {member.name: member for member in archive}
        files = {name: archive.extractfile(member) for name, member in packed.items() if member.isreg()}
        found = {name: file.read() for name, file in files.items() if file is not None}
    there = {f"contest/{path.relative_to(folder)}": path for path in folder.rglob("*") if path.is_file()}
    there.pop("contest/key.pem")
    assert found == {name: path.read_bytes() for name, path in there.items()}
    assert {name: member.linkname for name, member in packed.items() if member.issym()} == {
        "contest/ada": "logs",
        "contest/away": "/nowhere",
    }


def test_what_changes_meanwhile_does_no_harm(folder: Path) -> None:
    """A file that grows is cut off, one that shrinks is filled up, and one that disappears is left out."""
    grows, shrinks = folder / "logs" / "511.txt", folder / "logs" / "300000.txt"
    parts = []
    for part in archive_folder(folder):
        parts.append(part)
        name = part[:100].rstrip(b"\0")
        if name.endswith(b"/511.txt"):
            grows.write_bytes(b"y" * 100_000)
        if name.endswith(b"/300000.txt"):
            shrinks.write_bytes(b"")
            (folder / "logs" / "513.txt").unlink()
    with tarfile.open(fileobj=BytesIO(b"".join(parts))) as archive:
        sizes = {member.name.rpartition("/")[2]: member.size for member in archive if member.isreg()}
    assert (sizes["511.txt"], sizes["300000.txt"], "513.txt" in sizes) == (511, 300_000, False)
