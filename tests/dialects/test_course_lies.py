"""Records sealed with the referee's key that name the course's protocol, with events that are impossible in it."""

from pathlib import Path

import pytest

from referee.match import events as e
from referee.plugins import installed
from referee.record.audit.match import audit
from referee.record.reader import RecordError
from referee.record.resume import reopen

from ..match.folding import (
    PASS,
    START,
    B,
    G,
    acked,
    moved,
    new_match,
    opened,
    overdue,
    ready,
    resumed,
    returned,
    revealed,
)
from ..record.records import SEALER, Story
from .course_records import ACCEPTED, COURSE, NOBODYS, STARTED, told


def audited(path: Path) -> None:
    """Audit a record, as `referee audit --public-key` does."""
    audit(path, installed().game, keys=[SEALER.public], find_wire=installed().wire)


LIES: dict[str, tuple[e.Event, ...]] = {
    "the true choice, of another turn": (*STARTED, moved(0, 2, PASS, 5.0, frame=b'"pass"'.hex())),
    "the true void, of another number": (*ACCEPTED, *STARTED[3:5], acked(0, 8, 3.0, frame=b'"void"'.hex())),
    "a late ready": (opened(), ready(0, START + 9.0, commitment=NOBODYS[0], frame="c1")),
    "an offer that nobody accepted": (opened(), overdue(0, START + 9.0, sent=0.0)),
    "a nonce that nobody opened": (*ACCEPTED, overdue(0, 2000.0, sent=1.0)),
    "a nonce of the player's own": (opened(), ready(0), ready(1), revealed(0), revealed(1), acked(0, 1, 3.0)),
    "a commitment of the player's own": (opened(), ready(0)),
    "a player that came back": (*STARTED, returned(0, 5.0, 0.5)),
    "a referee that came back": (*STARTED, resumed(4.0)),
}


@pytest.mark.forges
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_what_the_wire_has_not_is_named(tmp_path: Path, lie: tuple[e.Event, ...]) -> None:
    """The rest of the record follows from the lie, and the seal is the referee's own."""
    with pytest.raises(RecordError, match=r"with players of cs4500|all bytes of the answer"):
        audited(told(tmp_path, *lie))


@pytest.mark.forges
def test_only_what_is_played_on_the_wire_names_it(tmp_path: Path) -> None:
    """The course's players confirm every message, so a match without confirmations was not theirs."""
    with pytest.raises(RecordError, match=r"line 0: .*without confirmations"):
        audited(told(tmp_path, *STARTED[:5], acknowledge=False))


def test_what_happens_on_the_wire_holds(tmp_path: Path) -> None:
    """An event that is possible is accepted, such as the timeout of a called player."""
    audited(told(tmp_path, *STARTED, overdue(0, 1500.0, sent=5.0)))


def test_a_match_of_the_course_is_not_taken_up(tmp_path: Path) -> None:
    """Its players have no token to return with."""
    match = new_match([G, B], [G], acknowledge=True, nonces=True)
    steps = tuple((event, match.handle(event)) for event in STARTED)
    path = Story(match, steps, is_fixed=False, header=COURSE).write(tmp_path / "m.jsonl")
    with pytest.raises(RecordError, match="players can't come back"):
        reopen(path, installed().game, SEALER)
