"""The ledger as an observer: its thread keeps every step once and in order, and if it fails nothing else does."""

from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any

import pytest
from msgspec.structs import replace

from referee.ledger.ledger import Ledger, LedgerError
from referee.ledger.observer import LedgerObserver
from referee.observers import InThread, Observer, Observers
from referee.tournament.commands import TakenStep

from ..tournament.courses import SALT
from .ledgers import KEY, SPEC, course, rows, taken


class Noted(Observer):
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.notes: list[dict[str, Any]] = []

    def note(self, event: str, /, **facts: Any) -> None:
        """Keep it."""
        self.notes.append(facts)


def told(ledger: Ledger, steps: Sequence[TakenStep]) -> list[dict[str, Any]]:
    """Tell a ledger of steps as a referee does, and return what was noted."""
    noted = Noted()
    with Observers(noted, InThread(LedgerObserver(ledger), most_waiting=0, linger_s=None)) as observers:
        observers.tell(Observer.tournament_founded, SPEC, SALT, KEY)
        for step in steps:
            observers.tell(Observer.tournament_stepped, step)
    return noted.notes


def _with_another_hash(step: TakenStep) -> TakenStep:
    return replace(step, hash="0" * 64)


def test_every_step_is_kept_once_and_in_order(url: str, ledger: Ledger) -> None:
    """Whoever goes on with a tournament tells all of its steps again."""
    assert told(ledger, course()[:9]) == []
    with closing(Ledger(url)) as again:
        assert told(again, course()) == []
    assert [row[0] for row in rows(ledger, "steps")] == [step.line for step in course()]


def test_a_database_that_fails_ends_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure is noted once, and the next run brings what is missing."""
    take = ledger.take

    def _full(tournament: str, step: TakenStep) -> None:
        if step.line > 4:
            raise LedgerError("the disk is full")
        take(tournament, step)

    with monkeypatch.context() as patched:
        patched.setattr(ledger, "take", _full)
        (failure,) = told(ledger, course())
    assert (failure["observer"], failure["error"]) == ("the ledger", "the disk is full")
    assert len(rows(ledger, "steps")) in range(5)  # those that came with the one that failed are not kept either
    assert told(ledger, course()) == []
    assert len(rows(ledger, "steps")) == len(course())


def test_what_comes_together_is_kept_together(ledger: Ledger) -> None:
    """Or nothing of it: a transaction for each step takes longer than the step."""
    observer = LedgerObserver(ledger)
    with observer.at_once():
        observer.tournament_founded(SPEC, SALT, KEY)
        observer.tournament_stepped(course()[0])
    with suppress(LedgerError), observer.at_once():
        observer.tournament_stepped(course()[1])
        observer.tournament_stepped(_with_another_hash(course()[0]))
    assert len(rows(ledger, "steps")) == 1
    with observer.at_once():
        observer.tournament_stepped(course()[1])
    assert len(rows(ledger, "steps")) == 2


def test_another_course_is_noted(ledger: Ledger) -> None:
    """The tournament goes on; its organiser reads what to do."""
    taken(ledger, course()[:3])
    (failure,) = told(ledger, [_with_another_hash(course()[0])])
    assert failure["error"].startswith("the ledger ")
    assert failure["error"].endswith(
        "has another course of cup from line 1 on, and is left as it is; "
        "when this referee has ended, make it again from the record: referee rebuild FOLDER"
    )
