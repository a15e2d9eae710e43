"""Tables on a terminal of 60 columns: names, options and numbers are whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.cli.common import out
from referee.plugins import load

from .calling import referee

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(autouse=True)
def _narrow() -> Iterator[None]:
    width, height = out.size
    out.size = (60, height)
    yield
    out.size = (width, height)


def shown(*arguments: str) -> str:
    """Return what a command prints."""
    text = referee(*arguments, cwd=GOLDEN).stdout
    assert max(map(len, text.splitlines())) <= 60, text
    return text


def test_names_and_options_are_whole() -> None:
    """Every name in `list` can be typed as it is printed."""
    text = shown("list")
    known = load()
    for name in (
        *known.games,
        *known.players,
        *known.formats,
        "third_place=False",
        "certainty=None",
        "chain_bonus=False",
    ):
        assert name in text
    assert "…" not in text
    for rule in known.game("quadominos").rules:
        assert rule in shown("list", "quadominos")


def test_times_are_whole() -> None:
    """Only the answer itself is cut."""
    head, first = shown("explain", "clean.jsonl", "0").partition("answers and their times in ms")[2].split("\n")[1:3]
    assert head.split() == ["line", "turn", "referee", "program", "wire", "used", "limit", "answer"]
    assert "…" not in " ".join(first.split()[:6])


def test_a_record_is_named_beside_its_figures() -> None:
    """Some columns are left out, but not the record."""
    assert "illegal-mo" in shown("fairness", "illegal-move.jsonl")
