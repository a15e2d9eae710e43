"""Events that go through a recorder: first onto the record, then to observers."""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.net.jobs import tables
from referee.record.tournament_record import read_tournament
from referee.record.writer import NotWritten
from referee.tournament import events as e
from referee.tournament.machine import ImpossibleEvent
from referee.tournament.match_context import FoulEntry, MatchContext
from referee.tournament.rulings import Ruling

from ...tournament.playing import AT, closed, spec_of
from .in_memory import Hosts, InMemoryTournament, events_on_record, lines_of


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[InMemoryTournament]:
    """Return a round robin of four that has begun, without a runner."""
    tournament = InMemoryTournament(tmp_path, spec_of(4, suspend_after=1))
    tournament.recorder.take(e.Begun(at=AT))
    yield tournament
    tournament.writer.close()


def opened(tournament: InMemoryTournament) -> MatchContext:
    """Open the next match."""
    playing = tournament.tournament.playing
    fixture = next(fixture for fixture in tournament.tournament.fixtures() if fixture.match not in playing)
    return tournament.recorder.open(fixture)


def told_of(tournament: InMemoryTournament, match: str, **changes: Any) -> list[str]:
    """Close a match, and return the observers' notifications in order; each must be on record before."""
    entry = closed(tournament.tournament, match, Random(1), **changes).entry
    before = len(tournament.told.calls)
    tournament.recorder.close(entry)
    calls = tournament.told.calls[before:]
    assert {count for _, _, count in calls} == {len(lines_of(tournament.path))}
    return [method for method, _, _ in calls]


def test_a_match_is_opened_for_the_line_that_says_so(begun: InMemoryTournament) -> None:
    """The head that its record will have is the hash of that line."""
    context = opened(begun)
    record = read_tournament(begun.path)
    assert record.chain.head == context.head
    assert record.contexts == {context.fixture.match: context}


CRASH = FoulEntry(seat=0, cause="crashed", turn=0, detail="exit status 1")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"ranking": ((0,), (1,))}, ["on_tournament_advanced", "on_match_closed"]),
        ({"void": "the disk is full", "ranking": ()}, ["on_tournament_advanced", "on_match_voided"]),
        (
            {"ranking": ((1,), (0,)), "fouls": (CRASH,)},
            ["on_tournament_advanced", "on_entrant_suspended", "on_match_closed"],
        ),
    ],
    ids=["counted", "void", "suspended"],
)
def test_a_result_is_told_once_it_is_on_record(
    begun: InMemoryTournament, changes: dict[str, Any], told: list[str]
) -> None:
    """Observers first get the transition, then its consequences, then the result."""
    assert told_of(begun, opened(begun).fixture.match, **changes) == told


def test_a_result_that_does_not_count_is_no_news(begun: InMemoryTournament) -> None:
    """For a match that was called off, observers are told only that it does not count, and why."""
    match = opened(begun).fixture.match
    name = f"e{begun.tournament.playing[match].entrants[0]}"
    ruling = Ruling(id="1", kind="withdraw", entrant=name, reason="so", by="the organiser")
    begun.recorder.take(e.Ruled(at=AT, ruling=ruling))
    assert told_of(begun, match) == ["on_tournament_advanced", "on_notice"]
    assert begun.told.texts()[-1] == f"{match} does not count: somebody withdrew before it was over"


def test_what_can_not_happen_is_neither_recorded_nor_told(begun: InMemoryTournament) -> None:
    """A second opening and an early end leave the record and the observers as they were."""
    fixture = opened(begun).fixture
    before = begun.path.read_bytes(), list(begun.told.calls)
    with pytest.raises(ImpossibleEvent):
        begun.recorder.open(fixture)
    with pytest.raises(ImpossibleEvent):
        begun.recorder.take(e.Finished(at=AT))
    assert (begun.path.read_bytes(), begun.told.calls) == before


def test_what_is_on_record_is_signed(begun: InMemoryTournament) -> None:
    """A seal covers all lines before it, and more may follow."""
    begun.recorder.seal()
    assert read_tournament(begun.path).is_sealed
    opened(begun)
    assert not read_tournament(begun.path).is_sealed
    begun.recorder.seal()
    assert read_tournament(begun.path).is_sealed


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> Hosts:
    """Return the hosts of all matches."""
    hosts = Hosts()
    monkeypatch.setattr(tables, "MatchSession", hosts)
    return hosts


def slow(folder: Path) -> InMemoryTournament:
    """Return a round robin of four on a disk that syncs when the test wants it."""
    tournament = InMemoryTournament(folder, spec_of(4), tables=2)
    tournament.loop.syncs_at_once = False
    tournament.start()
    return tournament


def test_no_match_is_played_before_the_disk_has_its_opening(tmp_path: Path, hosts: Hosts) -> None:
    """Observers are not told of it before, either; both openings are synced while the first one waits."""
    tournament = slow(tmp_path)
    assert events_on_record(tournament.path) == ["begun", "match-opened", "match-opened"]
    assert hosts.opened == []
    assert {method for method, _, _ in tournament.told.calls}.isdisjoint({"on_match_opened", "on_match_advanced"})
    tournament.loop.work.pop(0)()
    assert len(hosts.opened) == 1
    tournament.loop.work.pop(0)()
    assert len(hosts.opened) == 2
    tournament.loop.syncs_at_once = True
    hosts.end_all()
    tournament.finish()


def test_a_tournament_is_over_once_the_disk_has_its_results(tmp_path: Path, hosts: Hosts) -> None:
    """The next match opens before a result is synced; only the last result is waited for."""
    tournament = slow(tmp_path)
    while not tournament.tournament.is_over:
        while tournament.loop.work:
            tournament.loop.work.pop(0)()
        hosts.end()
    assert not tournament.outcome
    while tournament.loop.work:
        tournament.loop.work.pop(0)()
    told = [method for method, _, _ in tournament.told.calls]
    assert told.count("on_match_closed") == 6
    assert told[-1] == "on_tournament_ended"
    tournament.finish()


def test_a_disk_that_refuses_stops_the_tournament(
    tmp_path: Path, hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No match whose opening it refused is played, and nobody is told of it."""
    tournament = slow(tmp_path)

    def refuse(_number: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", refuse)
    while tournament.loop.work:
        tournament.loop.work.pop(0)()
    (failure,) = tournament.outcome
    assert isinstance(failure.value, NotWritten)
    assert hosts.opened == []
    assert "on_match_opened" not in [method for method, _, _ in tournament.told.calls]
    tournament.writer.close()
