"""The checks without the fold: ranking and shuffle, each applied to a false record."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import chance as referee_chance
from referee.games.q.game import QGame
from referee.match import events as e
from referee.record import schema
from referee.record.audit import chance
from referee.record.audit import times as time_book
from referee.record.audit.chance import Redealer, check_shuffle
from referee.record.audit.match import audit, check_ranking
from referee.record.audit.times import check_book
from referee.record.reader import Record, RecordError, check_seats, read_record
from referee.record.schema import BadLine

from ..forging import encoded
from ..records import STORIES, record_of

NAMES = tuple(name for name in STORIES if name != "not begun")


def read(folder: Path, name: str) -> Record:
    """Return a story's record."""
    path = folder / "m.jsonl"
    path.write_bytes(record_of(name))
    return read_record(path)


def with_event(record: Record, kind: type[e.Event], nth: int = 0, **changes: Any) -> tuple[Record, int]:
    """Return a record with the n-th event of a kind changed, and its line."""
    index = [index for index, step in enumerate(record.transitions) if isinstance(step.event, kind)][nth]
    step = record.transitions[index]
    event = msgspec.structs.replace(step.event, **changes)
    steps = (*record.transitions[:index], msgspec.structs.replace(step, event=event), *record.transitions[index + 1 :])
    return replace(record, transitions=steps), index + 1


def with_result(record: Record, **changes: Any) -> Record:
    """Return a record with another result."""
    assert record.result is not None
    result = msgspec.structs.replace(record.result.result, **changes)
    return replace(record, result=msgspec.structs.replace(record.result, result=result))


@pytest.mark.parametrize("name", NAMES)
def test_every_true_record_passes(tmp_path: Path, name: str) -> None:
    """Every record also holds without the fold."""
    record = read(tmp_path, name)
    check_book(record)
    check_ranking(record)
    check_shuffle(record, QGame())


# --- ranking


@pytest.mark.parametrize(
    ("name", "changes", "problem"),
    [
        ("clean", {"ranking": ((0,), (1,))}, "one rank for every seat"),
        ("clean", {"ranking": ((0, 1), (1, 2))}, "one rank for every seat"),
        ("clean", {"ranking": ()}, "one rank for every seat"),
        ("clean", {"winners": ()}, "the seats of the best rank"),
        ("clean", {"winners": (1,)}, "the seats of the best rank"),
        ("illegal move", {"ranking": ((1,), (0,), (2,)), "winners": (1,)}, "the expelled seats"),
        ("illegal move", {"ranking": ((0, 1, 2),), "winners": (0, 1, 2)}, "the expelled seats"),
        ("all gone", {"winners": (0, 1, 2)}, "the seats of the best rank"),
        ("void", {"winners": (0,)}, "no ranking of a void match"),
        ("void", {"ranking": ((0, 1, 2),)}, "no ranking of a void match"),
    ],
)
def test_a_ranking_that_contradicts_itself_is_found(
    tmp_path: Path, name: str, changes: dict[str, Any], problem: str
) -> None:
    """Ranks, winners and fouls must fit together."""
    with pytest.raises(RecordError, match=problem):
        check_ranking(with_result(read(tmp_path, name), **changes))


def test_a_winner_that_fails_at_the_end_leaves_none(tmp_path: Path) -> None:
    """A seat that fouls when it is sent its win has not won, and no other seat has. Only the fold can check this."""
    check_ranking(with_result(read(tmp_path, "lost at the end, acknowledged"), winners=()))


# --- the shuffle


@pytest.mark.parametrize("size", [0, 1, 2, 3, 36, 1080])
def test_both_shuffles_agree(size: int) -> None:
    """Two independent implementations give the same order, for the first deal and for a later one."""
    source = Random(size)
    for nonces in ([None, None], ["00" * 16, None], [source.randbytes(16).hex() for _ in range(4)]):
        seed = source.randbytes(32)
        first, second = referee_chance.Dealer(referee_chance.shuffle_key(seed, nonces)), Redealer.of_match(seed, nonces)
        for _ in range(2):
            assert first(range(size)) == second(range(size))
            assert first.later(1)(range(size)) == second.later(1)(range(size))


def _other_seed(record: Record) -> Record:
    assert record.result is not None
    return replace(record, result=msgspec.structs.replace(record.result, seed="00" * 32))


def _other_nonce(record: Record) -> Record:
    return with_event(record, e.NonceReceived, nonce="ff" * 16)[0]


def _other_commitment(record: Record) -> Record:
    return with_event(record, e.ReadyReceived, commitment="ff" * 32)[0]


def _other_nonces(record: Record) -> Record:
    assert record.result is not None
    return replace(record, result=msgspec.structs.replace(record.result, nonces=[None, None]))


def _other_view(record: Record) -> Record:
    index, step = next(
        (index, step)
        for index, step in enumerate(record.transitions)
        if any(command["command"] == "start-seat" for command in step.commands)
    )
    commands = [
        {**command, "view": "0" * 64} if command["command"] == "start-seat" else command for command in step.commands
    ]
    changed = msgspec.structs.replace(step, told=msgspec.Raw(encoded(commands)))
    return replace(record, transitions=(*record.transitions[:index], changed, *record.transitions[index + 1 :]))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_other_seed, "expected commitment"),
        (_other_nonce, "expected a verdict on commitment"),
        (_other_commitment, "expected a verdict on commitment"),
        (_other_nonces, "expected nonces"),
        (_other_view, "expected first view"),
    ],
)
@pytest.mark.parametrize("name", ["dealt", "dealt, acknowledged"])
def test_another_deal_is_found(tmp_path: Path, name: str, change: Callable[[Record], Record], expected: str) -> None:
    """Seed, nonces and first views must fit the commitment and each other."""
    with pytest.raises(RecordError, match=expected):
        check_shuffle(change(read(tmp_path, name)), QGame())


@pytest.mark.parametrize("error", [AttributeError, IndexError, KeyError, OverflowError, TypeError])
@pytest.mark.parametrize("place", [(time_book.TimeBook, "charge"), (schema, "hidden_fields")], ids=["time", "form"])
def test_a_fault_of_the_auditor_accuses_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: tuple[Any, str], error: type[Exception]
) -> None:
    """An exception in the checks themselves is raised as it is."""

    def fail(*_args: object) -> None:
        raise error("a mistake")

    path = tmp_path / "m.jsonl"
    path.write_bytes(record_of("clean"))
    monkeypatch.setattr(*place, fail)
    with pytest.raises(error, match="a mistake"):
        audit(path, lambda _name: QGame())


def test_commands_without_their_fields_are_told(tmp_path: Path) -> None:
    """A command without a required field is an error when its line is read; later code does not check again."""
    record = read(tmp_path, "clean")
    for command in (
        {},
        {"command": "expel-seat"},
        {"command": "expel-seat", "seat": 0},
        {"command": 1, "limit_ms": 1.0},
        {"command": "ask-move", "limit_ms": 1.0},
        {"command": "ask-move", "seat": 99, "limit_ms": 1.0},
        {"command": "ask-move", "seat": -1, "limit_ms": 1.0},
        {"command": "ask-move", "seat": 0, "limit_ms": 10**400},
        {"command": "ask-move", "seat": 0, "limit_ms": "1"},
    ):
        step = msgspec.structs.replace(record.transitions[0], told=msgspec.Raw(encoded([command])))
        with pytest.raises((BadLine, RecordError), match=r"commands: |a seat from 0 to 1"):
            check_seats(record.path, 2, step, 2)


NEARLY_ALL = st.integers(0, 2**64 - 1) | st.integers(2**64 - 8, 2**64 - 1)


@given(st.lists(NEARLY_ALL, min_size=200, max_size=200), st.integers(0, 40))
def test_both_shuffles_throw_the_same_words_away(words: list[int], size: int) -> None:
    """Words beyond the last whole multiple, which no known key gives, lead to the same order in both."""
    stream = referee_chance.Stream(bytes(32))
    stream.words = words[::-1]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chance, "draw_words", lambda key: iter(words))
        assert stream.shuffled(range(size)) == Redealer(bytes(32))(range(size))
