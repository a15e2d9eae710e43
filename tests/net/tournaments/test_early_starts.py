"""Programs that are started before their match is opened: they play it if it comes, or leave no trace."""

import json
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred

from referee.net.jobs.job import MatchJob
from referee.net.jobs.tables import LocalTables
from referee.net.matches.settings import MatchServices
from referee.net.tournaments import early_starts
from referee.net.tournaments.early_starts import EarlyStarts, count_early
from referee.net.tournaments.play import RunSettings
from referee.programs.player_spec import Launch
from referee.record.folder import output_path
from referee.tournament import events as e
from referee.tournament.match_context import Fixture, MatchContext

from ...tournament.playing import AT, spec_of
from .in_memory import SEALER, InMemoryTournament
from .playing import audit, run, write_toml

ENTRANTS = 6


class WaitingTables:
    """Tables at which programs that were started early say hello, print a line, and play to an end at once."""

    def __init__(self) -> None:
        self.services = MatchServices(sealer=SEALER)
        self.started: list[str] = []
        self.played: list[MatchJob] = []
        self.gone: list[str] = []
        self.trouble: Exception | None = None
        """Exception that a match raises before it is opened, or None."""
        self.are_there = True
        """Whether the programs are connected when the match is opened."""

    async def play_when_opened(
        self, job: MatchJob, occupants: Sequence[Launch], opened: "Deferred[MatchJob]"
    ) -> MatchJob | None:
        """Wait until a match is opened, and return its job."""
        assert [seat.launch for seat in job.seats] == list(occupants)
        self.started.append(job.match)
        if self.trouble is not None:
            raise self.trouble
        try:
            whole = await opened
        except CancelledError:
            self.gone.append(job.match)
            raise
        if not self.are_there:
            return None
        self.played.append(whole)
        return whole


class EarlyTournament:
    """A tournament whose first matches are due, with all tables taken; its players have folders."""

    def __init__(self, folder: Path) -> None:
        self.tournament = InMemoryTournament(folder, spec_of(ENTRANTS, "roundrobin"))
        self.tournament.recorder.take(e.Begun(at=AT))
        self.course = self.tournament.course
        self.settings = RunSettings(folder=folder)
        for entrant in range(ENTRANTS):
            (folder / f"e{entrant}").mkdir()
            self.course.launches[entrant] = Launch(name=f"e{entrant}", argv=("true",), folder=folder / f"e{entrant}")
        self.tables = WaitingTables()
        self.early = EarlyStarts(
            self.tournament.loop, cast("LocalTables", self.tables), self.course, self.settings, most=1
        )
        self.coming = list(self.tournament.tournament.fixtures())

    def look_ahead(self, coming: Sequence[Fixture], playing: Sequence[str] = ()) -> None:
        """Look ahead, and let threads do their work."""
        self.early.look_ahead(coming, playing)
        self.settle()

    def settle(self) -> None:
        """Do the work that was handed to threads."""
        while self.tournament.loop.work:
            self.tournament.loop.work.pop(0)()

    def opened(self, fixture: Fixture) -> list[Any]:
        """Open a match, and return the list of its outcomes, as soon as it has one."""
        context = MatchContext(tournament="cup", fixture=fixture, head="the line that opens it")
        launches = [cast("Launch", self.course.launches[entrant]) for entrant in fixture.entrants]
        job = self.course.make_job(context, launches, SEALER, self.settings)
        outcome: list[Any] = []
        Deferred.fromCoroutine(self.early.play(job, launches)).addBoth(outcome.append)
        self.settle()
        return outcome


@pytest.fixture
def cup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EarlyTournament]:
    """Return a tournament on a machine with memory to spare."""
    monkeypatch.setattr(early_starts, "is_memory_short", lambda: False)
    cup = EarlyTournament(tmp_path)
    yield cup
    cup.tournament.writer.close()


def test_what_comes_next_is_started_and_played(cup: EarlyTournament) -> None:
    """Only one match is started early at a time; it is played with the settings that are known when it is opened."""
    first, second, *_ = cup.coming
    cup.look_ahead(cup.coming)
    cup.look_ahead(cup.coming)
    assert cup.tables.started == [first.match]
    cup.look_ahead([second], [first.match])
    assert cup.tables.gone == []
    (played,) = cup.opened(first)
    assert played.context.head == "the line that opens it"
    assert cup.tables.started == [first.match, second.match]


def _another_launch(cup: EarlyTournament, entrant: int) -> None:
    launch = cast("Launch", cup.course.launches[entrant])
    cup.course.launches[entrant] = replace(launch, argv=("false",))


def _another_file(cup: EarlyTournament, entrant: int) -> None:
    (cup.settings.folder / f"e{entrant}" / "model").write_text("better")
    cup.tournament.loop.advance(2)


def _another_margin(cup: EarlyTournament, _entrant: int) -> None:
    cup.settings = replace(cup.settings, come_back_s=7.0)


@pytest.mark.parametrize("change", [_another_launch, _another_file, _another_margin])
def test_what_has_changed_meanwhile_is_started_again(cup: EarlyTournament, change: Any) -> None:
    """The programs are ended first, and their output is removed."""
    first = cup.coming[0]
    cup.look_ahead(cup.coming)
    printed = output_path(cup.settings.folder, first.match, 1, f"e{first.entrants[1]}")
    printed.write_text("hello")
    change(cup, first.entrants[0])
    assert cup.opened(first) == [None]
    assert cup.tables.gone == [first.match]
    assert not printed.exists()


def test_what_comes_no_more_is_ended(cup: EarlyTournament) -> None:
    """Reasons are a player that has withdrawn, or a tournament that is decided or stopped."""
    first, second, *_ = cup.coming
    cup.look_ahead(cup.coming)
    cup.look_ahead([second])
    assert cup.tables.gone == [first.match]
    Deferred.fromCoroutine(cup.early.close())
    assert cup.tables.gone == [first.match, second.match]


def test_nothing_is_held_against_who_is_not_there(cup: EarlyTournament) -> None:
    """Its match is opened as usual, but the program is not started early again."""
    first = cup.coming[0]
    cup.look_ahead(cup.coming)
    cup.tables.are_there = False
    assert cup.opened(first) == [None]
    cup.look_ahead([first])
    assert cup.tables.started == [first.match]


def test_trouble_before_a_match_is_no_trouble(cup: EarlyTournament) -> None:
    """The trouble comes again when the match is opened, and is reported then."""
    cup.tables.trouble = OSError(28, "No space left on device")
    cup.look_ahead(cup.coming)
    assert cup.opened(cup.coming[0]) == [None]


@pytest.mark.parametrize("why", ["memory", "remote"])
def test_who_is_not_started_early(cup: EarlyTournament, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    """While memory is short, no program is; and remote entrants connect by themselves."""
    if why == "memory":
        monkeypatch.setattr(early_starts, "is_memory_short", lambda: True)
    else:
        cup.course.launches[cup.coming[0].entrants[1]] = None
    cup.look_ahead(cup.coming)
    assert cup.tables.started == []


@pytest.mark.parametrize(("cores", "tables", "most"), [(1, 1, 0), (2, 1, 1), (2, 4, 0), (8, 3, 3), (8, 6, 2)])
def test_a_core_is_left_to_each(monkeypatch: pytest.MonkeyPatch, cores: int, tables: int, most: int) -> None:
    """Each taken table and each early start has a core; there are never more early starts than tables."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    assert count_early(tables) == most


def test_the_next_match_is_there_when_a_table_is_free(tmp_path: Path) -> None:
    """Its programs have started by then; no program is started twice, nobody is expelled, and the records are valid."""
    run(write_toml(tmp_path, 'name = "roundrobin"', tables=1), "--diagnostics", "diagnostics")
    lines = [json.loads(line) for line in (tmp_path / "diagnostics").read_text().splitlines()]
    order = [(line["event"], line["match"]) for line in lines if line["event"] in ("program-started", "match-ended")]
    matches = [match for event, match in order if event == "match-ended"]
    assert len(matches) == len(set(matches)) == 6
    assert [event for event, _ in order].count("program-started") == 12
    is_early = [
        order.index(("program-started", after)) < order.index(("match-ended", before))
        for before, after in pairwise(matches)
    ]
    assert any(is_early) == (count_early(1) > 0)
    folder = tmp_path / "logs" / "cup"
    assert "expel" not in (folder / "cup.jsonl").read_text()
    assert audit(folder) == ""
