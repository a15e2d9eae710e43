"""Files that are kept in memory: read whole, in a thread, and again when they may have left."""

import os
from pathlib import Path
from queue import SimpleQueue

import pytest

from referee.files.resident import AGAIN_S, PIECE_BYTES, ResidentFiles

WAIT_S = 60


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> "SimpleQueue[tuple[str, int, int]]":
    """Return what the kernel is asked to read: the file, from where on, and how much."""
    asked: SimpleQueue[tuple[str, int, int]] = SimpleQueue()

    def _advise(descriptor: int, start: int, length: int, advice: int) -> None:
        assert advice == os.POSIX_FADV_WILLNEED
        asked.put((Path(f"/proc/self/fd/{descriptor}").readlink().name, start, length))

    monkeypatch.setattr(os, "posix_fadvise", _advise)
    return asked


def test_the_whole_of_a_file_is_read(tmp_path: Path, pieces: "SimpleQueue[tuple[str, int, int]]") -> None:
    """In pieces, without a gap, to the last byte; a file that can't be opened does not stop those behind it."""
    piece = PIECE_BYTES
    (tmp_path / "large").write_bytes(bytes(2 * piece + 1))
    (tmp_path / "small").write_bytes(b"x")
    files = ResidentFiles(lambda: [tmp_path / "missing", tmp_path / "large", tmp_path / "small"])
    files.keep()
    found = [pieces.get(timeout=WAIT_S) for _ in range(4)]
    files.close()
    assert found == [*(("large", number * piece, piece) for number in range(3)), ("small", 0, piece)]
    assert pieces.empty()


def test_files_are_looked_at_again_after_a_while() -> None:
    """Each name for itself, however often it is asked for in between; what fails once is tried again."""
    found: SimpleQueue[str] = SimpleQueue()
    now_s = [100.0]

    def _find(name: str) -> list[Path]:
        found.put(name)
        raise OSError(name)

    files = ResidentFiles(_find, lambda: now_s[0])
    steps: list[tuple[float, str, list[str]]] = [
        (0.0, "a", ["a"]),
        (AGAIN_S / 2, "a", []),
        (0.0, "b", ["b"]),
        (AGAIN_S / 2, "a", ["a"]),
        (0.0, "b", []),
        (AGAIN_S / 2, "b", ["b"]),
    ]
    for after_s, name, expected in steps:
        now_s[0] += after_s
        files.keep(name)
        assert [found.get(timeout=WAIT_S) for _ in expected] == expected
    files.close()
    assert found.empty()
