"""Whose the hidden fields of a line are, where the line may be of a redacted record and anything may stand in it."""

import pytest

from referee.record import schema
from referee.record.redaction import HASH_KEY
from referee.record.schema import BadLine, owners

from .forging import Line

STEP: Line = {"kind": "step", "event": {"event": "move-received", "seat": 0, "move": {}}, "commands": []}
MALFORMED: tuple[tuple[str, Line], ...] = (
    ("no setup", {"kind": "header"}),
    ("a setup that is no object", {"kind": "header", "setup": [1]}),
    ("no event", {"kind": "step", "commands": []}),
    ("an event without a name", {**STEP, "event": {"seat": 0}}),
    ("an event whose name is a list", {**STEP, "event": {"event": []}}),
    ("no commands", {"kind": "step", "event": STEP["event"]}),
    ("a command that is no object", {**STEP, "commands": ["end-seat"]}),
    ("a command without a name", {**STEP, "commands": [{"seat": 0}]}),
    ("an expulsion without a foul", {**STEP, "commands": [{"command": "expel-seat", "seat": 0}]}),
    ("a foul of nobody", {**STEP, "commands": [{"command": "close-match", "result": {"fouls": [{}]}}]}),
    ("no result", {"kind": "result"}),
    ("fouls that are none", {"kind": "result", "result": {"fouls": [1]}}),
)


@pytest.mark.parametrize("fields", [row[1] for row in MALFORMED], ids=[row[0] for row in MALFORMED])
def test_a_malformed_line_has_no_owners(fields: Line) -> None:
    """What is missing in a line of a redacted record is a fault of that line."""
    with pytest.raises(BadLine):
        owners(fields)


def test_owners_need_no_more_than_they_tell() -> None:
    """Hidden fields, unknown ones and lines of other kinds are no obstacle."""
    assert owners({**STEP, "n": {HASH_KEY: ""}}) == {"event.move": 0}
    assert owners({"kind": "seal"}) == owners({"kind": []}) == owners({}) == {}


def test_a_mistake_of_our_own_is_no_bad_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails for a line of the right form is told as what it is."""
    monkeypatch.setattr(schema, "hidden_fields", lambda _fields: [None.path])  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        owners(STEP)
