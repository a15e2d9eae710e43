"""Programs that change during a tournament: which files are compared, and what is recorded."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from referee.app.tournaments.beginning import hash_programs, note_changes
from referee.record.tournament_record import read_start
from referee.tournament.spec import Participant

from ...record.tournaments import Organiser, cup
from ...tournament.playing import AT


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    """Return a program's folder with another folder in it."""
    (tmp_path / "ada" / "src").mkdir(parents=True)
    (tmp_path / "ada" / "src" / "player.js").write_text("1")
    return tmp_path / "ada"


def field(ada: Path) -> tuple[Participant, ...]:
    """Return entrants of all kinds."""
    players = {"ada": str(ada), "bob": "remote", "cid": "house:random", "dot": "cmd:./x", "eve": str(ada / "gone")}
    return tuple(Participant(name=name, player=player) for name, player in players.items())


@pytest.fixture
def organiser(ada: Path) -> Iterator[Organiser]:
    """Run a tournament of these entrants."""
    with Organiser(ada.parent / "logs", replace(cup(), entrants=field(ada)), Random(1)) as running:
        yield running


def test_folders_alone_are_looked_into(ada: Path) -> None:
    """A file or a missing path has no digest, and the files that a run leaves change no digest."""
    before = hash_programs(field(ada))
    (ada / "__pycache__").mkdir()
    (ada / "__pycache__" / "player.pyc").write_text("made")
    assert before.keys() == {"ada"}
    assert hash_programs(field(ada)) == before


def test_a_changed_program_is_put_on_record_once(ada: Path, organiser: Organiser) -> None:
    """Unchanged programs are not recorded; restoring the old program is another change."""
    programs = hash_programs(field(ada))
    first = dict(programs)
    assert note_changes(organiser.recorder, programs) == []
    (ada / "src" / "player.js").write_text("2")
    assert note_changes(organiser.recorder, programs) == ["ada"]
    assert note_changes(organiser.recorder, programs) == []
    begun = read_start(organiser.folder)
    assert begun is not None
    assert (begun.programs, begun.changed) == (programs, {"ada": AT})
    assert programs != first
    (ada / "src" / "player.js").write_text("1")
    assert note_changes(organiser.recorder, programs) == ["ada"]
    assert programs == first


def test_a_program_that_can_not_be_read_has_not_changed(ada: Path, organiser: Organiser) -> None:
    """Its build or start reports that; once it is readable again, it is compared with the last version."""
    programs = hash_programs(field(ada))
    ada.rename(ada.with_name("away"))
    assert note_changes(organiser.recorder, programs) == []
    ada.with_name("away").rename(ada)
    assert note_changes(organiser.recorder, programs) == []
    (ada / "src" / "player.js").write_text("2")
    assert note_changes(organiser.recorder, programs) == ["ada"]
