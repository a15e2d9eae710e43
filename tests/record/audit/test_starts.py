"""What the matches of a tournament may tell of the starts of its programs."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from referee.record.audit.processes import check_starts
from referee.record.audit.times import Presence
from referee.record.reader import RecordError
from referee.tournament.match_context import Fixture
from referee.tournament.spec import Participant, TournamentSpec

from ...tournament.courses import spec_of

Ran = dict[str, tuple[Presence, ...]]
SPEC = spec_of(3, programs="kept", keep_for=3)
PAIRS = {"a": (1, (0, 1)), "b": (2, (1, 2)), "c": (3, (2, 0)), "d": (3, (0, 2))}
"""Match -> the number of its pairing, and its entrants; the last two are legs of one pairing."""


def honest() -> Ran:
    """Return matches that were played one after the other; the last leg by another start of both of its programs."""
    starts = {"a": (1, 2), "b": (2, 3), "c": (3, 1), "d": (4, 5)}
    return {
        name: (Presence(name, "p", 100.0 * place, 0.0, 90.0, (), given),)
        for place, (name, given) in enumerate(starts.items())
    }


def check(ran: Ran, spec: TournamentSpec = SPEC) -> None:
    """Check matches of a tournament that has no other record."""
    contexts = {
        name: SimpleNamespace(
            fixture=Fixture(match=name, number=number, round=1, table="", leg=0, attempt=0, entrants=entrants)
        )
        for name, (number, entrants) in PAIRS.items()
    }
    record: Any = SimpleNamespace(path=Path("cup.jsonl"), contexts=contexts)
    check_starts(record, spec, ran)


def told(name: str, **change: Any) -> Callable[[Ran], Ran]:
    """Return what lets a match tell something else."""
    return lambda ran: {**ran, name: (replace(ran[name][0], **change),)}


@pytest.mark.parametrize(
    "change",
    [
        lambda ran: ran,
        lambda ran: {},
        told("c", starts=(0, 0)),
        told("c", starts=(3, 0), heard=frozenset({0})),
        told("c", starts=()),
        told("d", starts=(1, 3), process="another"),
        told("b", clock_ms=90.0),
        told("b", clock_ms=89.99 + 1e-6),
        lambda ran: {**ran, "d": (replace(ran["d"][0], starts=(4, 0)), replace(ran["d"][0], process="q"))},
    ],
)
@pytest.mark.parametrize("more", [{"duplicate": True}, {"seed": 1}, {}])
def test_honest_starts_hold(change: Callable[[Ran], Ran], more: dict[str, Any]) -> None:
    """A number is that of one process; a seat without a program has none; a match that is resumed has others."""
    check(change(honest()), replace(SPEC, **more))


def test_a_deal_of_its_own_is_no_repetition() -> None:
    """Without duplicate deals, a pairing that is played again has another one."""
    check(told("d", starts=(1, 3))(honest()))


LIES: dict[str, tuple[Callable[[Ran], Ran], dict[str, Any], str]] = {
    "anew": (lambda ran: ran, {"programs": "anew"}, "a.jsonl: expected no starts, as programs do not stay"),
    "too few": (told("b", starts=(2,)), {}, "b.jsonl: expected a start for each seat"),
    "negative": (told("b", starts=(2, -3)), {}, "b.jsonl: expected starts of programs .* from 1"),
    "another's": (told("b", starts=(1, 3)), {}, "b.jsonl: expected another start than 1, which is one of"),
    "deal": (told("d", starts=(1, 5)), {"duplicate": True}, "d.jsonl: expected another start than 1, .* in c; found 1"),
    "fixed deal": (told("d", starts=(4, 3)), {"seed": 1}, "d.jsonl: expected another start than 3, .* in c; found 3"),
    "too often": (told("c", starts=(3, 1)), {"keep_for": 1}, "b.jsonl: expected a start that has played fewer than 1"),
    "at once": (told("b", clock_ms=50.0), {}, "b.jsonl: expected another start than 2, which played a then"),
    "nearly one after the other": (told("b", clock_ms=89.98), {}, "b.jsonl: expected another start than 2, which"),
    "who answered had none": (told("c", starts=(3, 0), heard=frozenset({0, 1})), {}, "c.jsonl: .* answered on seat 1"),
    "nobody told, who answered": (told("b", starts=(), heard=frozenset({0})), {}, "b.jsonl: .* answered on seat 0"),
    "remote": (lambda ran: ran, {"entrants": "remote"}, "a.jsonl: expected starts of programs .* from 1"),
}


@pytest.mark.forges
@pytest.mark.parametrize(("change", "more", "expected"), LIES.values(), ids=LIES)
def test_a_lie_about_starts_is_named(change: Callable[[Ran], Ran], more: dict[str, Any], expected: str) -> None:
    """No running program has played what it should have known."""
    if "entrants" in more:
        more = {"entrants": tuple(Participant(name=entrant.name, player="remote") for entrant in SPEC.entrants)}
    with pytest.raises(RecordError, match=expected):
        check(change(honest()), replace(SPEC, **more))
