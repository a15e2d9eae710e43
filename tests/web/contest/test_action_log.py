"""The log of actions: it can be read whatever its lines contain."""

from pathlib import Path

import pytest

from referee.web.contest.intake import ACTION_LOG, ActionLog


def test_what_was_done_last_comes_first(tmp_path: Path) -> None:
    """Each action has its reason."""
    log = ActionLog(tmp_path)
    log.add("ada", "pauses", "cup")
    log.add("bob", "awards", "cup", "it hung")
    assert [(action.by, action.what, action.about, action.reason) for action in log.newest()] == [
        ("bob", "awards", "cup", "it hung"),
        ("ada", "pauses", "cup", ""),
    ]


@pytest.mark.parametrize("torn", [b"{", b'{"at": "2', b"\xff", b"{}\n", b"[" * 100_000])
def test_a_line_that_was_cut_off_hides_no_other(tmp_path: Path, torn: bytes) -> None:
    """An earlier line and the line that is appended next are still read."""
    log = ActionLog(tmp_path)
    log.add("ada", "pauses", "cup")
    with (tmp_path / ACTION_LOG).open("ab") as file:
        file.write(torn)
    log.add("bob", "resumes", "cup")
    assert [action.by for action in log.newest()] == ["bob", "ada"]
