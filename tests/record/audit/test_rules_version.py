"""A record names the version of the rules that another package has, and an audit with another version says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.games.base import IllegalMove
from referee.games.q.game import QGame
from referee.record.audit.match import audit
from referee.record.reader import RecordError
from referee.record.redacted_record import check_redacted_record, redact
from referee.record.resume import reopen

from ..records import SEALER, Story, cut, story


class Later(QGame):
    """The same rules, of another version."""

    rules_version = "Q 2"


class Changed(Later):
    """A version that forbids what was allowed."""

    def play(self, state: Any, move: Any) -> Any:
        """Refuse every move."""
        raise IllegalMove("q.place.some", "not by these rules")


class Failing(Later):
    """A version that raises an exception."""

    def view(self, state: Any, seat: int) -> Any:
        """Fail."""
        raise OSError("no such table")


def find(game: type[QGame]) -> Callable[[str], QGame]:
    """Return a function that finds this game for every name."""
    return lambda _name: game()


@pytest.fixture
def whole() -> Story:
    """Return a match that was played by the first version."""
    return Story(story().match, story().steps, header={"rules_version": "Q 1"})


def test_equal_rules_of_another_version_confirm_a_record(whole: Story, tmp_path: Path) -> None:
    """The header names the version; without one, it has no such key."""
    path = whole.write(tmp_path / "m1.jsonl")
    assert audit(path, find(Later)).header.rules_version == "Q 1"
    assert b'"rules_version":"Q 1"' in path.read_bytes()
    assert b"rules_version" not in story().write(tmp_path / "plain.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("game", "trouble"), [(Changed, "line 5 does not follow from them"), (Failing, "OSError: no such table")]
)
def test_other_rules_are_named(whole: Story, tmp_path: Path, game: type[QGame], trouble: str) -> None:
    """A newer version of the rules does not make the referee a liar, in whole and in redacted records."""
    path = whole.write(tmp_path / "m1.jsonl")
    with pytest.raises(RecordError) as raised:
        audit(path, find(game))
    assert raised.value.expected.startswith("the rules of Q 1, by which the match was played: install them")
    assert raised.value.found == f"those of Q 2: {trouble}"


def test_the_same_version_blames_the_line(whole: Story, tmp_path: Path) -> None:
    """If the versions are equal, the record is wrong."""
    path = Story(whole.match, whole.steps, header={"rules_version": "Q 2"}).write(tmp_path / "m1.jsonl")
    with pytest.raises(RecordError, match=r"line 5: expected command 1"):
        audit(path, find(Changed))


def test_a_redacted_record_keeps_the_version(whole: Story, tmp_path: Path) -> None:
    """It is checked by the installed rules."""
    path = whole.write(tmp_path / "m1.jsonl")
    lines = redact(path, find(Later), 0)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    assert check_redacted_record(path, find(Later)).header.rules_version == "Q 1"


def test_a_match_goes_on_by_its_own_rules_only(whole: Story, tmp_path: Path) -> None:
    """A record that began with one version and went on with another would follow from neither."""
    begun = cut(whole, 8)
    path = Story(begun.match, begun.steps, header={"rules_version": "Q 1"}).write(tmp_path / "m1.jsonl")
    with pytest.raises(
        RecordError, match="expected a match by the rules of Q 2, which are installed; found one by Q 1"
    ):
        reopen(path, find(Later), SEALER)
