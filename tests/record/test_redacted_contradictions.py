"""Open lines of a redacted record that contradict each other, although somebody with the key sealed it."""

from pathlib import Path
from typing import Any

import pytest

from .test_redacted_checks import Forge, Lines, both, commands, events, refused, shown

pytestmark = pytest.mark.forges


def with_teams(offer: dict[str, Any]) -> None:
    """Offer a match of two teams."""
    offer["teams"] = [[0], [1]]


def fixture(lines: Lines) -> dict[str, Any]:
    """Return the fixture in the header."""
    found: dict[str, Any] = lines[0]["context"]["fixture"]
    return found


def another_nonce(lines: Lines) -> None:
    """Let the result have a nonce that nobody sent."""
    lines[-2]["nonces"][1] = "ff" * 16


def other_detail(lines: Lines) -> None:
    """Let the result describe the seat's own foul in other words than its expulsion."""
    for path, entry in lines[-2]["open"].items():
        if path.endswith("detail"):
            entry[1] = "it was not so"


CONTRADICTIONS: dict[str, tuple[str, Forge, str]] = {
    "a nonce that nobody opened": ("dealt", another_nonce, "nonces"),
    "no nonces": ("dealt", lambda lines: lines[-2].update(nonces=[None, None]), "nonces"),
    "nonces exchanged": ("dealt", lambda lines: lines[-2]["nonces"].reverse(), "nonces"),
    "a nonce that was not committed to": (
        "dealt",
        lambda lines: events(lines, "nonce-received")[1].update(nonce="ff" * 16),
        "a verdict on commitment",
    ),
    "a default win of several": ("dealt", lambda lines: both(lines, "reason", "default"), "a rule of q as the reason"),
    "a rule that there is not": ("dealt", lambda lines: both(lines, "reason", "q.end"), "a rule of q as the reason"),
    "a rule of another game": ("dealt", lambda lines: both(lines, "reason", "quincy.end.lines"), "a rule of q"),
    "no reason": ("dealt", lambda lines: both(lines, "reason", None), "a rule of q as the reason"),
    "a reason of a void match": ("void", lambda lines: both(lines, "reason", "q.end.finished"), "no reason"),
    "another play for one seat": (
        "dealt",
        lambda lines: commands(lines, "tell-seat")[1]["what"].update(count=5),
        "the same news for all seats",
    ),
    "an expulsion that was none": (
        "dealt",
        lambda lines: commands(lines, "tell-seat")[0].update(what={"kind": "expelled"}),
        "an expulsion that happened",
    ),
    "teams that are none": ("dealt", lambda lines: with_teams(commands(lines, "offer-match")[0]), "teams []"),
    "a foul of another turn": (
        "illegal move",
        lambda lines: commands(lines, "expel-seat")[0]["foul"].update(turn=7),
        "expel-seat of turn",
    ),
    "a play of another turn": ("dealt", lambda lines: commands(lines, "tell-seat")[0].update(turn=2), "tell-seat of"),
    "another detail in the end": ("quadominos", other_detail, "the detail of that foul"),
    "another end, confirmed": (
        "dealt, acknowledged",
        lambda lines: commands(lines, "end-seat")[0].update(scores=[9, 0]),
        "the result's scores",
    ),
    "a fixed seed with nonces": ("dealt", lambda lines: lines[0].update(seed={"hidden": "0" * 64}), "no nonces"),
    "a leg that is none": (
        "dealt",
        lambda lines: lines[0]["setup"].update(seed_opens="after-last-leg"),
        "seed_opens at-end",
    ),
    "a leg of another match": ("duplicate deal", lambda lines: fixture(lines).update(leg=2), "the name cup-00001.3"),
    "an entrant twice": ("duplicate deal", lambda lines: fixture(lines).update(entrants=[0, 1, 2, 2]), "4 entrants"),
    "starts outside of a tournament": (
        "dealt",
        lambda lines: events(lines, "match-opened")[0].update(starts=[1, 2]),
        "no starts",
    ),
}


@pytest.mark.parametrize(("name", "forge", "expected"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_open_lines_agree(tmp_path: Path, name: str, forge: Forge, expected: str) -> None:
    """The contradiction is found without a seed."""
    lines = shown(name)
    forge(lines)
    error = refused(tmp_path / "m", lines)
    assert expected in error.expected
