"""The output of a program: its end is found next to its record, and nothing anywhere else."""

from pathlib import Path

import pytest

from referee.record.folder import LAST_LINES, LINE_CHARS, Printed, output_path, read_last_output, read_output


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"one\n", ("one",)),
        (b"one\r\n\n\ttwo\n\n", ("one", "", "    two")),
        (b"\x1b[2J\xff\xe2\x80\xae\n", ("\\x1b[2J\\xff\\u202e",)),
        (b"x" * 1000, ("x" * (LINE_CHARS - 3) + "...",)),
        (b"\n".join(b"%d" % number for number in range(50)), tuple(map(str, range(50 - LAST_LINES, 50)))),
        (b"x" * 1_000_000 + b"\nend\n", ("x" * (LINE_CHARS - 3) + "...", "end")),
    ],
)
def test_the_last_lines_are_printable_and_bounded(tmp_path: Path, data: bytes, lines: tuple[str, ...]) -> None:
    """The author is shown a few lines, without any control character."""
    path = output_path(tmp_path, "m-1", 0, "ada")
    path.write_bytes(data)
    assert read_last_output(tmp_path / "m-1.jsonl", 0, "ada") == Printed(path=str(path), lines=lines)


def test_all_that_is_kept_is_printable_and_bounded(tmp_path: Path) -> None:
    """These are whole lines, more than the end that is shown, and as many as the referee stores."""
    path = output_path(tmp_path, "m-1", 0, "ada")
    path.write_bytes(b"x" * 1000 + b"\r\n\tone\x1b[2J\xff\xe2\x80\xae\0\n" + b"\n" * 50)
    text = "x" * 1000 + "\n    one\\x1b[2J\\xff\\u202e\\x00\n" + "\n" * 50
    assert read_output(tmp_path / "m-1.jsonl", 0, "ada") == text
    path.write_bytes(b"x" * 1_000_000)
    assert read_output(tmp_path / "m-1.jsonl", 0, "ada") == "x" * 65_536


@pytest.mark.parametrize("name", ["bob", "x/../../m.seat0.ada", "\0", "a" * 5000, ""])
def test_a_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    """A record may name its players as it likes: only a file next to it is read."""
    (tmp_path / "logs" / "m.seat0.x").mkdir(parents=True)
    (tmp_path / "m.seat0.ada.stderr").write_text("secret")
    assert read_last_output(tmp_path / "logs" / "m.jsonl", 0, name) is None
    assert read_output(tmp_path / "logs" / "m.jsonl", 0, name) is None
