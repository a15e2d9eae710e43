"""A header that contradicts itself is refused, even if the forger has chained and sealed everything."""

from pathlib import Path
from typing import Any

import pytest

from ..forging import Keys, changed, lines_of, refused, sealed
from ..records import record_of

LIES: dict[str, tuple[str, int, Keys, Any, str]] = {
    "a fixed seed with nonces": ("dealt", 0, ("seed",), "5e" * 32, "no nonces"),
    "three programs for two seats": ("dealt", 0, ("programs",), ["x", "y", "z"], "programs of 2 seats"),
    "one program for two seats": ("dealt", 0, ("programs",), ["x"], "programs of 2 seats"),
    "a leg without a tournament": ("duplicate deal", 0, ("context",), None, ""),
    "a leg that tells its seed": ("duplicate deal", 0, ("setup", "seed_opens"), "at-end", "a seed that is revealed"),
    "a leg with nonces": ("duplicate deal", 0, ("setup", "nonces"), True, "seed_opens at-end"),
    "a last leg by itself": ("fixed deal", 0, ("setup", "seed_opens"), "at-end-unless-void", "seed_opens at-end"),
    "another leg": ("duplicate deal", 0, ("context", "fixture", "leg"), 1, "the name cup-00001.2"),
    "a replay": ("duplicate deal", 0, ("context", "fixture", "attempt"), 1, "the name cup-00001r1"),
    "another pairing": ("duplicate deal", 0, ("context", "fixture", "number"), 2, "the name cup-00002"),
    "another tournament": ("duplicate deal", 0, ("context", "tournament"), "mug", "the name mug-00001"),
    "another match": ("duplicate deal", 0, ("context", "fixture", "match"), "cup-00002", "the name cup-00001"),
    "too few entrants": ("duplicate deal", 0, ("context", "fixture", "entrants"), [0, 1, 2], "4 entrants"),
    "an entrant twice": ("duplicate deal", 0, ("context", "fixture", "entrants"), [0, 1, 1, 2], "4 entrants"),
    "an entrant that is none": ("duplicate deal", 0, ("context", "fixture", "entrants"), [-1, 0, 1, 2], "a match that"),
    "an opening that is no hash": ("duplicate deal", 0, ("context", "head"), "cup", "a match that a tournament opened"),
    "starts outside of a tournament": ("dealt", 1, ("event", "starts"), [1, 2], "no starts"),
    "too few starts": ("duplicate deal", 1, ("event", "starts"), [1], "a start for each seat"),
    "a negative start": ("duplicate deal", 1, ("event", "starts"), [1, 2, 3, -1], "a start for each seat"),
}


@pytest.mark.forges
@pytest.mark.parametrize(("name", "number", "keys", "value", "expected"), LIES.values(), ids=LIES)
def test_a_header_contradicts_nothing(
    tmp_path: Path, name: str, number: int, keys: Keys, value: Any, expected: str
) -> None:
    """The contradicting line is named, also without seal and result."""
    lines = changed(lines_of(record_of(name)), number, keys, value)
    error = refused(tmp_path / "m", sealed(lines))
    assert (error.line, error.expected[: len(expected)]) == (number, expected)
    refused(tmp_path / "m", sealed(lines[:-2]), is_strict=False)
