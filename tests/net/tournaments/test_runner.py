"""A tournament with its runner: when matches open, what is on record before observers are told, and how it ends."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.defer import CancelledError, Deferred

from referee.errors import RefereeError
from referee.net.jobs import tables
from referee.net.matches.settings import MatchSettings
from referee.net.tournaments import runner
from referee.net.tournaments.runner import MAX_ATTEMPTS
from referee.record.tournament_record import read_tournament
from referee.record.writer import NotWritten
from referee.tournament import events as e
from referee.tournament.pairing.base import BadRuling
from referee.tournament.pairing.dutch import pair_round
from referee.tournament.rulings import Ruling
from referee.tournament.spec import Participant

from ...tournament.playing import AT, spec_of
from .in_memory import (
    Hosts,
    InMemoryTournament,
    events_on_record,
    lines_of,
    match_of,
    no_file_longer_than,
    refolded,
    seats_of,
)

ENTRANTS = 5
Make = Callable[..., InMemoryTournament]


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> Hosts:
    """Return the hosts of all matches; rounds are paired in this process."""
    hosts = Hosts()
    monkeypatch.setattr(tables, "MatchSession", hosts)
    monkeypatch.setattr(runner, "PairingProcess", lambda: SimpleNamespace(pair=pair_round, end=lambda: None))
    return hosts


@pytest.fixture
def make(tmp_path: Path, hosts: Hosts) -> Iterator[Make]:
    """Return a function that starts a tournament in the test's folder, or continues it; no record stays open."""
    assert hosts.opened == []
    made: list[InMemoryTournament] = []

    def started(format_: str = "roundrobin", size: int = ENTRANTS, tables: int = 2, **more: Any) -> InMemoryTournament:
        made.append(InMemoryTournament(tmp_path, spec_of(size, format_, **more), tables=tables))
        made[-1].start()
        return made[-1]

    yield started
    for tournament in made:
        if not tournament.outcome:
            tournament.running.cancel()
        tournament.writer.close()


def stronger_wins(settings: MatchSettings) -> tuple[tuple[int, ...], ...]:
    """Let the entrant with the smaller number win."""
    one, other = seats_of(settings)
    return ((0,), (1,)) if one < other else ((1,), (0,))


def paired(tournament: InMemoryTournament) -> None:
    """Do the work that was handed to threads."""
    while tournament.loop.work:
        tournament.loop.work.pop(0)()


def played_out(tournament: InMemoryTournament, hosts: Hosts) -> Any:
    """Let all matches end, and pair all rounds; return the last commands."""
    while not tournament.outcome:
        paired(tournament)
        hosts.end_all(stronger_wins)
    return tournament.finish()


def result_of(line: dict[str, Any]) -> str | None:
    """Return the match whose result a line of a record has; None if it has none."""
    event = line.get("event", {})
    match: str | None = event["entry"]["fixture"]["match"] if event.get("event") == "match-closed" else None
    return match


@pytest.mark.parametrize("format_", ["roundrobin", "swiss", "knockout"])
def test_a_line_is_on_record_before_anybody_is_told(make: Make, hosts: Hosts, format_: str) -> None:
    """An opening is recorded before the match, a result before its announcement, and each step in its line."""
    before: list[str] = []
    tournament = make(format_)

    def opened(settings: MatchSettings) -> None:
        before.append(events_on_record(tournament.path)[-1])
        assert settings.context == read_tournament(tournament.path).contexts[match_of(settings)]

    hosts.at_opening = opened
    played_out(tournament, hosts)
    assert set(before) == {"match-opened"}
    steps = [(args[0], count) for method, args, count in tournament.told.calls if method == "on_tournament_advanced"]
    assert [step.line for step, _ in steps] == list(range(1, len(steps) + 1))
    assert all(step.line < count for step, count in steps)
    lines = read_tournament(tournament.path).chain.lines
    assert all(lines[step.line].hash == step.hash for step, _ in steps)
    closed = [(args[0].match, count) for method, args, count in tournament.told.calls if method == "on_match_closed"]
    assert len(closed) == len(hosts.opened)
    for match, count in closed:
        (line,) = [line["n"] for line in lines_of(tournament.path) if result_of(line) == match]
        assert line < count


def test_as_many_matches_are_open_as_there_are_tables(make: Make, hosts: Hosts) -> None:
    """Each has its own table, which gets the next match as soon as it is free."""
    tournament = make(tables=2)
    assert len(hosts.playing) == 2
    first = hosts.end()
    assert len(hosts.playing) == 2
    assert first not in hosts.playing
    tables = [args[1] for method, args, _ in tournament.told.calls if method == "on_match_opened"]
    assert tables == [1, 2, 1]


def test_what_plays_is_told_each_second(make: Make, hosts: Hosts) -> None:
    """Observers are told of the tournament's own process, with its open matches."""
    tournament = make(tables=2)
    tournament.loop.run(2.0)
    told = [args[0] for method, args, _ in tournament.told.calls if method == "on_processes_seen"]
    assert len(told) == 2
    assert [(process.tables, set(process.matches)) for process in told[-1]] == [(2, set(hosts.playing))]


def test_a_round_is_paired_in_a_thread(make: Make, hosts: Hosts) -> None:
    """In the meantime, no match is opened and the tournament does not end; then the line says who paired the round."""
    tournament = make("swiss", tables=4)
    assert not hosts.playing
    assert not tournament.outcome
    assert len(tournament.loop.work) == 1
    tournament.loop.run(5)
    assert len(tournament.loop.work) == 1
    paired(tournament)
    assert len(hosts.playing) == ENTRANTS // 2
    (line,) = [line for line in lines_of(tournament.path) if line.get("event", {}).get("event") == "round-paired"]
    assert line["event"]["by"].startswith("py4swiss")


def test_a_ruling_while_a_round_is_paired(make: Make, hosts: Hosts) -> None:
    """An entrant that was withdrawn meanwhile is in no pairing: the round is paired again, in the new state."""
    tournament = make("swiss", tables=4)
    tournament.rule("withdraw", entrant="e1")
    assert not hosts.playing
    assert events_on_record(tournament.path) == ["begun", "ruled"]
    tournament.loop.work.pop(0)()
    assert events_on_record(tournament.path) == ["begun", "ruled"]
    assert len(tournament.loop.work) == 1
    paired(tournament)
    assert len(hosts.playing) == 2
    seats = [entrant for fixture in tournament.tournament.playing.values() for entrant in fixture.entrants]
    assert sorted(seats) == [0, 2, 3, 4]
    played_out(tournament, hosts)
    assert tournament.tournament.table.sums(1).played == 0


def test_what_fails_in_a_thread_stops_the_tournament(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a round can't be paired, the tournament does not wait for ever."""

    def failing(_asked: object) -> None:
        raise RuntimeError("no pairing")

    monkeypatch.setattr(runner, "PairingProcess", lambda: SimpleNamespace(pair=failing, end=lambda: None))
    tournament = make("swiss")
    paired(tournament)
    assert "no pairing" in str(tournament.outcome[0])


def joining(tournament: InMemoryTournament, name: str) -> Deferred[None]:
    """Let an entrant ask to join; its program is built when the returned Deferred fires."""
    built: Deferred[None] = Deferred()

    async def taken() -> None:
        await built
        with suppress(BadRuling):  # as the referee does, which reports it
            tournament.recorder.take(
                e.EntrantJoined(at=AT, participant=Participant(name=name, player="house:dag"), digest=None)
            )
            tournament.course.launches.append("is not started")

    tournament.requests.append(taken)
    tournament.loop.run(1.1)
    return built


def test_matches_go_on_while_somebody_who_joins_is_built(make: Make, hosts: Hosts) -> None:
    """Tables get matches in the meantime, the request is read only once, and then the newcomer plays."""
    tournament = make("ladder", format_options={"matches": 12}, tables=2)
    built = joining(tournament, "late")
    count = len(hosts.opened)
    hosts.end()
    hosts.end()
    tournament.loop.run(3)
    assert len(hosts.opened) == count + 2
    assert "entrant-joined" not in events_on_record(tournament.path)
    built.callback(None)
    assert "entrant-joined" in events_on_record(tournament.path)
    played_out(tournament, hosts)
    assert tournament.tournament.table.sums(ENTRANTS).played > 0


def test_a_tournament_is_not_over_while_somebody_who_joins_is_built(make: Make, hosts: Hosts) -> None:
    """An entrant that asked before the end gets an answer before it: here, that no match is left."""
    tournament = make("ladder", format_options={"matches": 4}, tables=1)
    built = joining(tournament, "late")
    hosts.end_all()
    assert tournament.tournament.is_over
    assert not tournament.outcome
    built.callback(None)
    paired(tournament)
    hosts.end_all()
    assert tournament.outcome == [None]
    assert "entrant-joined" not in events_on_record(tournament.path)


def test_no_match_is_begun_on_a_full_disk(make: Make, hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is checked again until there is room, but not once the tournament is stopped."""
    free = SimpleNamespace(free=-1)  # this tournament asks for no room
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free)
    tournament = make()
    assert hosts.opened == []
    free.free = 1 << 50
    tournament.loop.advance(runner.LOOK_AGAIN_S)
    assert len(hosts.opened) == 2
    free.free = -1
    hosts.end_all()
    tournament.running.cancel()
    assert [call for call in tournament.loop.getDelayedCalls() if call.func.__name__ == "_fill"] == []


def test_a_tournament_that_is_stopped_waits_for_no_build(make: Make, hosts: Hosts) -> None:
    """The request to join stays for the next run; every match is paused."""
    tournament = make("ladder", format_options={"matches": 4}, tables=1)
    built = joining(tournament, "late")
    tournament.running.cancel()
    assert tournament.outcome[0].check(CancelledError)
    assert built.called
    assert not hosts.playing
    assert "entrant-joined" not in events_on_record(tournament.path)
    assert tournament.loop.getDelayedCalls() == []


def test_a_match_that_is_void_again_and_again_stops_the_tournament(make: Make, hosts: Hosts, tmp_path: Path) -> None:
    """The error names the match, its records, and the ruling with which the tournament can go on."""
    tournament = make(tables=1)
    match = next(iter(hosts.playing))
    for attempt in range(MAX_ATTEMPTS):
        hosts.end(f"{match}r{attempt}" if attempt else match, void="the disk is full")
    failure = tournament.outcome[0]
    assert failure.check(RefereeError)
    last = f"{match}r{MAX_ATTEMPTS}"
    assert str(failure.value) == (
        f"{last} was void 5 times, for the reasons in these records: {tmp_path / match}*.jsonl; fix them, "
        f"or rule on it: `referee rule {tmp_path} void {last}`"
    )
    tournament.writer.close()
    again = make(tables=1)
    assert again.outcome[0].check(RefereeError)
    again.writer.close()
    ruled = make(tables=1)
    assert ruled.outcome[0].check(RefereeError)
    ruled.recorder.take(
        e.Ruled(at=AT, ruling=Ruling(id="1", kind="void", match=last, reason="broken", by="the organiser"))
    )
    ruled.writer.close()
    played_out(make(tables=1), hosts)
    assert refolded(tmp_path / "cup.jsonl").played == ENTRANTS * (ENTRANTS - 1) // 2 - 1


def test_what_was_left_open_is_played_first_and_once(make: Make, hosts: Hosts, tmp_path: Path) -> None:
    """After a crash, the matches that were open come before all others, and are not recorded a second time."""
    tournament = make(size=6, tables=2)
    left = list(hosts.playing)
    tournament.writer.close()
    hosts.opened.clear()
    hosts.playing.clear()
    again = make(size=6, tables=3)
    assert hosts.opened[:2] == left
    assert len(hosts.opened) == 3
    played_out(again, hosts)
    events = [line["event"] for line in lines_of(tmp_path / "cup.jsonl") if "event" in line]
    opened = [event["fixture"]["match"] for event in events if event["event"] == "match-opened"]
    assert len(opened) == len(set(opened)) == 15


def test_a_match_that_was_called_off_while_open_is_ended_and_counts_for_nothing(make: Make, hosts: Hosts) -> None:
    """Its player was withdrawn; whatever its result is, the tournament goes on to its end."""
    tournament = make(tables=2)
    match, fixture = next(iter(tournament.tournament.playing.items()))
    tournament.rule("withdraw", entrant=f"e{fixture.entrants[0]}")
    assert match in hosts.playing
    hosts.end(match)
    told = [args[0] for method, args, _ in tournament.told.calls if method == "on_match_closed"]
    assert match not in {entry.match for entry in told}
    assert f"{match} does not count: somebody withdrew before it was over" in tournament.told.texts()
    played_out(tournament, hosts)
    assert tournament.tournament.played == (ENTRANTS - 1) * (ENTRANTS - 2) // 2


def test_a_tournament_is_stopped_for_good(make: Make, hosts: Hosts) -> None:
    """Open matches are played to their end, also resumed ones, and no other match is opened."""
    tournament = make(tables=2)
    left = list(hosts.playing)
    tournament.rule("stop")
    tournament.writer.close()
    hosts.playing.clear()
    again = make(tables=2)
    assert list(hosts.playing) == left
    for match in left:
        assert not again.outcome
        hosts.end(match)
    again.loop.run(1)
    assert (again.tournament.played, set(hosts.opened)) == (2, set(left))
    assert again.finish()


def test_the_end_waits_for_a_match_that_was_called_off(make: Make, hosts: Hosts) -> None:
    """This holds after a crash of the referee, too: the match is resumed, and does not count."""
    tournament = make(size=2)
    (match,) = hosts.playing
    tournament.rule("withdraw", entrant="e0")
    assert tournament.tournament.is_over
    assert not tournament.outcome
    tournament.writer.close()
    hosts.playing.clear()
    again = make(size=2)
    assert list(hosts.playing) == [match]
    assert not again.outcome
    hosts.end(match)
    played_out(again, hosts)
    assert again.tournament.played == 0
    assert [line.entrant for line in again.tournament.standings()] == [1, 0]


@pytest.mark.parametrize("room_bytes", [0, 1, 300, 700, 1500])
@pytest.mark.parametrize("format_", ["roundrobin", "swiss"])
def test_a_full_disk_ends_the_run_and_the_tournament_goes_on_later(
    make: Make, hosts: Hosts, tmp_path: Path, format_: str, room_bytes: int
) -> None:
    """Observers hear only of recorded events, nothing is written after the failure, and the end is as usual."""
    tournament = make(format_, tables=2)
    paired(tournament)
    path = tournament.path
    with no_file_longer_than(path.stat().st_size + room_bytes):
        while not tournament.outcome:
            hosts.end_all(stronger_wins)
            paired(tournament)
    failure = tournament.outcome[0]
    assert failure.check(NotWritten)
    assert f"the record {path} can't be written" in str(failure.value)
    assert not hosts.playing
    told = [args[0].line for method, args, _ in tournament.told.calls if method == "on_tournament_advanced"]
    assert max(told) < len(lines_of(path))
    size = path.stat().st_size
    with pytest.raises(NotWritten):
        tournament.recorder.take(e.Stopped(at=AT, why="the disk is full"))
    assert path.stat().st_size == size
    tournament.writer.close()
    again = make(format_, tables=2)
    played_out(again, hosts)
    (tmp_path / "other").mkdir()
    undisturbed = InMemoryTournament(tmp_path / "other", spec_of(ENTRANTS, format_), tables=2)
    undisturbed.start()
    played_out(undisturbed, hosts)
    assert again.tournament.standings() == undisturbed.tournament.standings()
    assert refolded(path).standings() == undisturbed.tournament.standings()


@pytest.mark.parametrize(("tables", "kept"), [(1, [False, True] * 3), (2, [False] * 6)])
def test_the_last_match_with_a_deal_alone_reveals_it(make: Make, hosts: Hosts, tables: int, kept: list[bool]) -> None:
    """A match keeps the seed while another leg is open or due; legs that are played side by side all do."""
    told: list[bool] = []
    hosts.at_opening = lambda settings: told.append(settings.is_last_of_deal)
    played_out(make(size=3, tables=tables, duplicate=True), hosts)
    assert len(hosts.opened) == 6
    assert told == kept


def test_what_is_played_again_is_the_last_match_with_its_deal(make: Make, hosts: Hosts) -> None:
    """A void match keeps the seed, because it is played again; the match that replaces it reveals the seed."""
    told: list[bool] = []
    hosts.at_opening = lambda settings: told.append(settings.is_last_of_deal)
    tournament = make(size=2, tables=1, duplicate=True)
    hosts.end()
    hosts.end(void="the disk is full")
    played_out(tournament, hosts)
    assert told == [False, True, True]
