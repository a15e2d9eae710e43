"""Programs that change while a tournament goes on: who is told of, when, and what is looked at."""

from pathlib import Path

import pytest

from referee.app.program_changes import at_end, at_start, digests_of
from referee.record.programs import FILE, read_programs
from referee.tournament.spec import Participant

FIRST, SECOND, THIRD = (f"2026-11-2{day}T08:00:00.000+00:00" for day in (1, 2, 3))
WHAT = "ada has changed since the tournament was begun: its matches from"


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    """Return a program's folder, inside of which there is another one."""
    (tmp_path / "ada" / "src").mkdir(parents=True)
    (tmp_path / "ada" / "src" / "player.js").write_text("1")
    (tmp_path / "logs").mkdir()
    return tmp_path / "ada"


def field(ada: Path) -> list[Participant]:
    """Return entrants of all kinds."""
    players = {"ada": str(ada), "bob": "remote", "cid": "house:random", "dot": "cmd:./x", "eve": str(ada / "gone")}
    return [Participant(name=name, player=player) for name, player in players.items()]


def test_folders_alone_are_looked_into(ada: Path) -> None:
    """Whatever is no folder, or not there, has no digest; what running a program leaves in it changes none."""
    before = digests_of(field(ada))
    (ada / "__pycache__").mkdir()
    (ada / "__pycache__" / "player.pyc").write_text("made")
    assert before.keys() == {"ada"}
    assert digests_of(field(ada)) == before


def test_a_change_between_two_runs_is_told_from_then_on(ada: Path) -> None:
    """It is told when it is found, and again whenever the tournament is gone on with, with the time of day."""
    logs, who = ada.parent / "logs", field(ada)
    assert at_start(logs, who, FIRST) == []
    assert at_end(logs, who, FIRST, is_over=False) == []
    assert at_start(logs, who, SECOND) == []
    (ada / "src" / "player.js").write_text("2")
    assert at_start(logs, who, SECOND) == [f"{WHAT} here on are another program's"]
    assert at_end(logs, who, SECOND, is_over=False) == []
    assert at_start(logs, who, THIRD) == [f"{WHAT} {SECOND} on are another program's"]


def test_a_change_while_it_is_played_is_told_at_the_end(ada: Path) -> None:
    """A program is read anew for each match, so that its last ones may be another's; the note says when it was over."""
    logs, who = ada.parent / "logs", field(ada)
    at_start(logs, who, FIRST)
    (ada / "src" / "player.js").write_text("2")
    (warning,) = at_end(logs, who, SECOND, is_over=True)
    assert warning == "ada changed while matches were played: the last of them may be another program's"
    programs = read_programs(logs)
    assert programs is not None
    assert (programs.changed, programs.over_at) == ({"ada": SECOND}, SECOND)


def test_who_puts_the_old_program_back_has_changed_twice(ada: Path) -> None:
    """Matches between were another program's."""
    logs, who = ada.parent / "logs", field(ada)
    at_start(logs, who, FIRST)
    for text, at in (("2", SECOND), ("1", THIRD)):
        (ada / "src" / "player.js").write_text(text)
        assert len(at_start(logs, who, at)) == 1
    programs = read_programs(logs)
    assert programs is not None
    assert [item.since for item in programs.entrants["ada"]] == [FIRST, SECOND, THIRD]
    assert programs.differing(digests_of(who)) == ["ada"]


def test_what_has_not_changed_is_not_written_again(ada: Path) -> None:
    """The file of an old run stays as it was."""
    logs, who = ada.parent / "logs", field(ada)
    at_start(logs, who, FIRST)
    before = (logs / FILE).stat().st_mtime_ns, (logs / FILE).stat().st_ino
    at_start(logs, who, SECOND)
    assert ((logs / FILE).stat().st_mtime_ns, (logs / FILE).stat().st_ino) == before
