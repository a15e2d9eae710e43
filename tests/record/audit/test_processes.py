"""Audits of processes: the runs of a tournament, and the starts of its programs."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from referee.record.audit.processes import check_runs, check_starts
from referee.record.audit.times import Presence, presences
from referee.record.reader import RecordError, read_record
from referee.record.tournament_record import TournamentRecord, TournamentTransition, read_tournament
from referee.tournament import events as e
from referee.tournament.hosts import Calibration
from referee.tournament.match_context import Fixture
from referee.tournament.spec import Participant, TournamentSpec

from ...tournament.playing import spec_of
from ..tournaments import play_cup

Ran = dict[str, tuple[Presence, ...]]
Played = tuple[TournamentRecord, Ran]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Return the record of a tournament that was stopped after two matches, and the time of each."""
    folder = tmp_path_factory.mktemp("played")
    play_cup(folder, 1)
    record = read_tournament(folder / "cup.jsonl")
    closed = [step.event.entry.match for step in record.transitions if isinstance(step.event, e.MatchClosed)]
    return record, {name: tuple(presences(read_record(folder / f"{name}.jsonl"))) for name in closed}


def with_runs(record: TournamentRecord, *names: str) -> TournamentRecord:
    """Stop and resume a tournament before the first match closes, with a run of each of these names."""
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
    """Remove the event that closes a match."""
    steps = (s for s in record.transitions if not (isinstance(s.event, e.MatchClosed) and s.event.entry.match == name))
    return replace(record, transitions=tuple(steps))


def test_an_honest_tournament_holds(played: Played) -> None:
    """It holds with all its matches, and with some of them."""
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
    """A referee may have crashed before the match began, or after it was over."""
    record, ran = played
    name = next(iter(ran))
    check_runs(with_runs(record, "second", "third"), {name: in_process(ran[name], *processes)})


def test_a_run_may_have_several_processes(played: Played) -> None:
    """Each process has a clock of its own."""
    record, ran = played
    one, other = list(ran)[:2]
    of_other = tuple(replace(presence, process="b", clock_ms=0.0) for presence in ran[other])
    check_runs(begun_by(record, "process 0", "b"), {one: ran[one], other: of_other})


LIES: dict[str, tuple[int, dict[str, object], str]] = {
    "no process": (1, {"process": ""}, "played matches of its run.*found none"),
    "another process": (1, {"process": "another"}, "found another"),
    "the process of the run before": (2, {"process": "process 0"}, "found process 0"),
    "the process of a later run": (0, {"process": "process 6"}, "found process"),
    "a clock that is a minute behind": (-1, {"clock_ms": -60_000.0}, "a beginning at"),
    "a clock that is a minute ahead": (3, {"clock_ms": 60_000.0}, "a beginning at"),
}


@pytest.mark.forges
@pytest.mark.parametrize(("place", "change", "expected"), LIES.values(), ids=LIES)
def test_a_lie_about_processes_is_named(played: Played, place: int, change: dict[str, object], expected: str) -> None:
    """No match can escape the comparison of its referee's standstills."""
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
    """The tournament's record has each resumption of its referee."""
    record, ran = played
    name = next(iter(ran))
    told = with_runs(record, "second")
    with pytest.raises(RecordError, match=rf"{name}.jsonl: expected (a|another) process"):
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
    record, ran = played
    run = next(step.event for step in reversed(record.transitions) if isinstance(step.event, e.TournamentResumed))
    (own,) = run.processes
    check_runs(with_hosts(record, own), ran)
    with pytest.raises(RecordError, match="a process of this run that no other host has"):
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
    """No two runs share a process."""
    record, _ = played
    with pytest.raises(RecordError, match=r"cup.jsonl, line \d+: expected a process name that no earlier run used"):
        check_runs(change(record), {})


SPEC = spec_of(3, programs="kept", keep_for=3)
PAIRS = {"a": (1, (0, 1)), "b": (2, (1, 2)), "c": (3, (2, 0)), "d": (3, (0, 2))}
"""Match -> number of its pairing, and its entrants; the last two are legs of one pairing."""


def honest() -> Ran:
    """Return matches that were played one after the other; new starts of both programs play the last leg."""
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
    """Return a function that changes a match's data."""
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
    """A number belongs to one process. A seat without a program has none, and a resumed match has new ones."""
    check(change(honest()), replace(SPEC, **more))


def test_a_deal_of_its_own_is_no_repetition() -> None:
    """Without duplicate deals, a pairing that is played again has another deal."""
    check(told("d", starts=(1, 3))(honest()))


LIES_ABOUT_STARTS: dict[str, tuple[Callable[[Ran], Ran], dict[str, Any], str]] = {
    "anew": (lambda ran: ran, {"programs": "anew"}, "a.jsonl: expected no starts, because programs do not stay"),
    "too few": (told("b", starts=(2,)), {}, "b.jsonl: expected a start for each seat"),
    "negative": (told("b", starts=(2, -3)), {}, "b.jsonl: expected starts from 1"),
    "another's": (told("b", starts=(1, 3)), {}, "b.jsonl: expected another start than 1, which is one of"),
    "deal": (told("d", starts=(1, 5)), {"duplicate": True}, "d.jsonl: expected another start than 1, .* in c; found 1"),
    "fixed deal": (told("d", starts=(4, 3)), {"seed": 1}, "d.jsonl: expected another start than 3, .* in c; found 3"),
    "too often": (told("c", starts=(3, 1)), {"keep_for": 1}, "b.jsonl: expected a start that has played fewer than 1"),
    "at once": (told("b", clock_ms=50.0), {}, "b.jsonl: expected another start than 2, which played a then"),
    "nearly one after the other": (told("b", clock_ms=89.98), {}, "b.jsonl: expected another start than 2, which"),
    "who answered had none": (told("c", starts=(3, 0), heard=frozenset({0, 1})), {}, "c.jsonl: .* answered on seat 1"),
    "nobody told, who answered": (told("b", starts=(), heard=frozenset({0})), {}, "b.jsonl: .* answered on seat 0"),
    "remote": (lambda ran: ran, {"entrants": "remote"}, "a.jsonl: expected starts from 1"),
}


@pytest.mark.forges
@pytest.mark.parametrize(("change", "more", "expected"), LIES_ABOUT_STARTS.values(), ids=LIES_ABOUT_STARTS)
def test_a_lie_about_starts_is_named(change: Callable[[Ran], Ran], more: dict[str, Any], expected: str) -> None:
    """No running program has played a deal twice."""
    if "entrants" in more:
        more = {"entrants": tuple(Participant(name=entrant.name, player="remote") for entrant in SPEC.entrants)}
    with pytest.raises(RecordError, match=expected):
        check(change(honest()), replace(SPEC, **more))
