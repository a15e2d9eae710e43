"""The processes in which the matches of a tournament ran: one for each run of the referee, in its order."""

import pytest
from msgspec.structs import replace

from referee.record.audit.runs import check_runs
from referee.record.audit.standstills import Presence, presences
from referee.record.reader import RecordError, read_record
from referee.record.tournament_record import TournamentRecord, read_tournament
from referee.tournament import events as e

from ..tournaments import play_cup

Ran = dict[str, tuple[Presence, ...]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[TournamentRecord, Ran]:
    """Return the record of a tournament that was stopped after two matches, and when each ran, as they closed."""
    folder = tmp_path_factory.mktemp("played")
    play_cup(folder, 1)
    record = read_tournament(folder / "cup.jsonl")
    closed = [step.event.entry.match for step in record.steps if isinstance(step.event, e.MatchClosed)]
    return record, {name: tuple(presences(read_record(folder / f"{name}.jsonl"))) for name in closed}


def test_an_honest_tournament_holds(played: tuple[TournamentRecord, Ran]) -> None:
    """With all its matches, and with some of them."""
    record, ran = played
    check_runs(record, ran)
    check_runs(record, {name: ran[name] for name in list(ran)[1::2]})


def test_a_match_that_outlived_its_run_may_have_any_process(played: tuple[TournamentRecord, Ran]) -> None:
    """It was closed in another run than it was opened in, so more than one process may have run it."""
    record, ran = played
    name, shown = next(iter(ran.items()))
    steps = list(record.steps)
    resumed = e.TournamentResumed(at=steps[0].event.at, referee="0.0")
    place = next(i for i, step in enumerate(steps) if isinstance(step.event, e.MatchClosed))
    steps.insert(place, replace(steps[place], event=resumed))
    check_runs(replace(record, steps=tuple(steps)), {name: (*shown, *shown)})


LIES: dict[str, tuple[int, dict[str, object], str]] = {
    "no process": (1, {"process": ""}, "expected process process 0"),
    "none in the first match": (0, {"process": ""}, "the name of a process"),
    "another process": (1, {"process": "another"}, "expected process process 0"),
    "the process of the run before": (2, {"process": "process 0"}, "another process than"),
    "a clock that is a minute behind": (-1, {"clock_ms": -60_000.0}, "a begin from"),
    "a clock that is a minute ahead": (3, {"clock_ms": 60_000.0}, "a begin from"),
}


@pytest.mark.forges
@pytest.mark.parametrize(("place", "change", "expected"), LIES.values(), ids=LIES)
def test_a_lie_about_processes_is_named(
    played: tuple[TournamentRecord, Ran], place: int, change: dict[str, object], expected: str
) -> None:
    """Matches that were opened and closed by one referee can't leave the comparison of its standstills."""
    record, ran = played
    name = list(ran)[place]
    with pytest.raises(RecordError, match=expected):
        check_runs(record, {**ran, name: tuple(replace(presence, **change) for presence in ran[name])})


@pytest.mark.forges
def test_a_match_that_went_on_without_its_tournament_is_named(played: tuple[TournamentRecord, Ran]) -> None:
    """A referee that died takes its tournament along."""
    record, ran = played
    name = list(ran)[3]
    with pytest.raises(RecordError, match=rf"{name}.jsonl, line 2: expected one process"):
        check_runs(record, {**ran, name: (*ran[name], *ran[name])})
