"""The processes in which the matches of a tournament ran: those that its record names, run by run of the referee."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from referee.record.audit.processes import check_runs
from referee.record.audit.times import Presence, presences
from referee.record.reader import RecordError, read_record
from referee.record.tournament_record import TournamentRecord, TournamentTransition, read_tournament
from referee.tournament import events as e
from referee.tournament.hosts import Calibration

from ..tournaments import play_cup

Ran = dict[str, tuple[Presence, ...]]
Played = tuple[TournamentRecord, Ran]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Return the record of a tournament that was stopped after two matches, and when each ran, as they closed."""
    folder = tmp_path_factory.mktemp("played")
    play_cup(folder, 1)
    record = read_tournament(folder / "cup.jsonl")
    closed = [step.event.entry.match for step in record.transitions if isinstance(step.event, e.MatchClosed)]
    return record, {name: tuple(presences(read_record(folder / f"{name}.jsonl"))) for name in closed}


def with_runs(record: TournamentRecord, *names: str) -> TournamentRecord:
    """Let a tournament be stopped and gone on with before the first match closes, by a run of each of these names."""
    steps = list(record.transitions)
    place = next(index for index, step in enumerate(steps) if isinstance(step.event, e.MatchClosed))
    runs = [e.TournamentResumed(at=steps[0].event.at, referee="0.0", processes=(name,)) for name in names]
    steps[place:place] = [replace(steps[place], event=event) for event in runs]
    return replace(record, transitions=tuple(steps))


def begun_by(record: TournamentRecord, *processes: str) -> TournamentRecord:
    """Let the first run of a tournament name these processes."""

    def _named(step: TournamentTransition) -> TournamentTransition:
        is_first = isinstance(step.event, e.Begun)
        return replace(step, event=replace(step.event, processes=processes)) if is_first else step

    return replace(record, transitions=tuple(map(_named, record.transitions)))


def in_process(shown: tuple[Presence, ...], *processes: str) -> tuple[Presence, ...]:
    """Return a match's only presence once for each process."""
    return tuple(replace(shown[0], process=process) for process in processes)


def open_still(record: TournamentRecord, name: str) -> TournamentRecord:
    """Leave out that a match was closed."""
    steps = (s for s in record.transitions if not (isinstance(s.event, e.MatchClosed) and s.event.entry.match == name))
    return replace(record, transitions=tuple(steps))


def test_an_honest_tournament_holds(played: Played) -> None:
    """With all its matches, and with some of them."""
    record, ran = played
    check_runs(record, ran)
    check_runs(record, {name: ran[name] for name in list(ran)[1::2]})


BROKEN_OFF: dict[str, tuple[str, ...]] = {
    "played on in each run": ("process 0", "second", "third"),
    "played on in the last one": ("process 0", "third"),
    "begun in the second": ("second", "third"),
    "over when the second began": ("process 0",),
    "begun in the last": ("third",),
}


@pytest.mark.parametrize("processes", BROKEN_OFF.values(), ids=BROKEN_OFF)
def test_a_match_that_was_broken_off_may_go_on_in_each_run(played: Played, processes: tuple[str, ...]) -> None:
    """A referee may have died before it began, or after it was over."""
    record, ran = played
    name = next(iter(ran))
    check_runs(with_runs(record, "second", "third"), {name: in_process(ran[name], *processes)})


def test_a_run_may_have_several_processes(played: Played) -> None:
    """Each has a clock of its own."""
    record, ran = played
    one, other = list(ran)[:2]
    of_other = tuple(replace(presence, process="b", clock_ms=0.0) for presence in ran[other])
    check_runs(begun_by(record, "process 0", "b"), {one: ran[one], other: of_other})


LIES: dict[str, tuple[int, dict[str, object], str]] = {
    "no process": (1, {"process": ""}, "played matches of its run.*found none"),
    "another process": (1, {"process": "another"}, "found another"),
    "the process of the run before": (2, {"process": "process 0"}, "found process 0"),
    "the process of a later run": (0, {"process": "process 6"}, "found process"),
    "a clock that is a minute behind": (-1, {"clock_ms": -60_000.0}, "a begin from"),
    "a clock that is a minute ahead": (3, {"clock_ms": 60_000.0}, "a begin from"),
}


@pytest.mark.forges
@pytest.mark.parametrize(("place", "change", "expected"), LIES.values(), ids=LIES)
def test_a_lie_about_processes_is_named(played: Played, place: int, change: dict[str, object], expected: str) -> None:
    """No match can leave the comparison of its referee's standstills."""
    record, ran = played
    name = list(ran)[place]
    with pytest.raises(RecordError, match=expected):
        check_runs(record, {**ran, name: tuple(replace(presence, **change) for presence in ran[name])})


INVENTED: dict[str, tuple[str, ...]] = {
    "in the same process": ("process 0", "process 0"),
    "without a process": ("process 0", ""),
    "in a process of nobody": ("process 0", "another", "second"),
    "back in the run before": ("second", "process 0"),
    "twice in one run": ("process 0", "second", "second"),
    "in a run after it was closed": ("process 0", "third"),
}


@pytest.mark.forges
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("processes", INVENTED.values(), ids=INVENTED)
def test_a_resumption_that_the_tournament_does_not_tell_of_is_named(
    played: Played, processes: tuple[str, ...], *, is_open: bool
) -> None:
    """A referee that died takes its tournament along, whose record tells when it was gone on with."""
    record, ran = played
    name = next(iter(ran))
    told = with_runs(record, "second")
    with pytest.raises(RecordError, match=rf"{name}.jsonl: expected a process"):
        check_runs(open_still(told, name) if is_open else told, {name: in_process(ran[name], *processes)})


def with_hosts(record: TournamentRecord, *processes: str) -> TournamentRecord:
    """Let a host come at the end, in each of these processes."""
    last = record.transitions[-1]
    calibration = Calibration(tables=1, wall_ms=10.0, processor_ms=9.0)
    came = (e.HostCame(at=last.event.at, host="h", process=name, calibration=calibration) for name in processes)
    return replace(record, transitions=(*record.transitions, *(replace(last, event=event) for event in came)))


@pytest.mark.forges
@pytest.mark.parametrize("processes", [("another",), ("process 0",), ("own", "own")])
def test_hosts_have_processes_of_their_run(played: Played, processes: tuple[str, ...]) -> None:
    """Each one of its own."""
    record, ran = played
    run = next(step.event for step in reversed(record.transitions) if isinstance(step.event, e.TournamentResumed))
    (own,) = run.processes
    check_runs(with_hosts(record, own), ran)
    with pytest.raises(RecordError, match="a process of this run, and of no other host"):
        check_runs(with_hosts(record, *(own if name == "own" else name for name in processes)), ran)


NAMES: dict[str, Callable[[TournamentRecord], TournamentRecord]] = {
    "of the run before": lambda record: with_runs(record, "process 0"),
    "none": lambda record: with_runs(record, ""),
    "of two runs": lambda record: with_runs(record, "second", "second"),
}


@pytest.mark.forges
@pytest.mark.parametrize("change", NAMES.values(), ids=NAMES)
def test_processes_have_names_of_their_own(
    played: Played, change: Callable[[TournamentRecord], TournamentRecord]
) -> None:
    """No two runs have one process."""
    record, _ = played
    with pytest.raises(RecordError, match=r"cup.jsonl, line \d+: expected processes with names of their own"):
        check_runs(change(record), {})
