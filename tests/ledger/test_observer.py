"""The ledger as an observer: its thread keeps every result once and in order, and if it fails nothing else does."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from referee.ledger.ledger import FILE, Ledger, LedgerError, url_of
from referee.ledger.observer import LedgerObserver
from referee.net.tournaments.recorder import Recorder
from referee.observers import InThread, Observer, Observers
from referee.tournament.machine import Tournament
from referee.tournament.match_context import MatchEntry

from ..pages.tournaments import SALT, Cast, Stage, new, spec

CAST = Cast(dead=frozenset({4}), void=frozenset({1, 3}))
"""Of five entrants one never starts, and is suspended; two matches are void."""


class Noted(Observer):
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.notes: list[dict[str, Any]] = []

    def note(self, event: str, /, **facts: Any) -> None:
        """Keep it."""
        self.notes.append(facts)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """Return a tournament that was played."""
    return Stage(spec(5, "roundrobin"), tmp_path, CAST).play()


@pytest.fixture
def ledger(tmp_path: Path, stage: Stage) -> Iterator[Ledger]:
    """Return a ledger that knows the tournament, and nothing of its matches."""
    with closing(Ledger(url_of(tmp_path / FILE))) as ledger:
        ledger.found(stage.spec, SALT)
        yield ledger


def hand_in(ledger: Ledger, tournament: Tournament, entries: Sequence[MatchEntry]) -> list[dict[str, Any]]:
    """Let a tournament take results as its runner does, the ledger watching; return what was noted."""
    noted = Noted()
    with Observers(noted, InThread(LedgerObserver(ledger), most_waiting=0, linger_s=None)) as observers:
        recorder = Recorder(tournament, observers)
        for entry in entries:
            observers.tell(Observer.record_opened, entry.match, entry.context)
            recorder.take(entry)
    return noted.notes


def test_every_result_is_kept_once_and_in_order(stage: Stage, ledger: Ledger) -> None:
    """With all that follows from it; when the observers are left, everything is in the database."""
    tournament = new(stage.spec)
    assert hand_in(ledger, tournament, stage.entries) == []
    assert [entry.match for entry in ledger.entries(stage.spec.name)] == [entry.match for entry in stage.entries]
    kept = ledger.dump(stage.spec.name)
    assert [row[0] for row in kept].count("suspensions") == len(tournament.suspended) == 1
    assert [row[0] for row in kept].count("supersessions") >= tournament.voided > 0


def test_a_database_that_fails_ends_nothing(
    stage: Stage, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tournament takes everything, the failure is noted once, and the next run finds what is missing."""
    take, taken = ledger.take, [entry.match for entry in stage.entries[:3]]

    def _full(entry: MatchEntry, at: str) -> int:
        if entry.match not in taken:
            raise LedgerError("the disk is full")
        return take(entry, at)

    tournament = new(stage.spec)
    with monkeypatch.context() as patched:
        patched.setattr(ledger, "take", _full)
        (failure,) = hand_in(ledger, tournament, stage.entries)
    assert (failure["observer"], failure["error"]) == ("the ledger", "LedgerError: the disk is full")
    assert tournament.is_over
    kept = list(ledger.entries(stage.spec.name))
    assert [entry.match for entry in kept] == taken
    again = new(stage.spec)
    for entry in kept:
        again.take(entry)
    assert hand_in(ledger, again, stage.entries[3:]) == []
    with closing(Ledger(url_of(tmp_path / "undisturbed"))) as undisturbed:
        undisturbed.found(stage.spec, SALT)
        hand_in(undisturbed, new(stage.spec), stage.entries)
        assert ledger.dump(stage.spec.name) == undisturbed.dump(stage.spec.name)
