"""Observers that fail, block or are too slow: the match goes on, and the other observers are notified."""

import json
from collections.abc import Callable
from pathlib import Path
from threading import Event as ThreadEvent
from typing import Any

import pytest

from referee.cli.tournament_view import JsonLines
from referee.observers import InThread, MatchTransition, Observer, Observers
from referee.observers.diagnostics import DiagnosticLog

from ...pages.tournaments import new, spec
from ...record.records import tell
from ..in_memory import OpenMatch

FAULTS = (
    BrokenPipeError(32, "Broken pipe"),
    OSError(28, "No space left on device"),
    KeyError("x"),
    RuntimeError(),
    SystemExit(3),
    KeyboardInterrupt(),
)
WAIT_S = 30.0
"""Longest wait for another thread, which needs only milliseconds."""


class Failing(Observer):
    """Raises at every transition, or at every notification; counts its calls, and notes whether it was closed."""

    def __init__(self, error: BaseException, *, is_deaf: bool = True) -> None:
        self.error = error
        self.is_deaf = is_deaf
        self.calls = 0
        self.was_left = ThreadEvent()

    def __exit__(self, *_exc: object) -> None:
        self.was_left.set()
        raise self.error

    def note(self, event: str, /, **facts: Any) -> None:
        """Raise, unless notes are switched off."""
        if not self.is_deaf:
            self._fail()

    def on_match_advanced(self, step: MatchTransition) -> None:
        """Raise."""
        self._fail()

    def _fail(self) -> None:
        self.calls += 1
        raise self.error


class Noted(Observer):
    """Stores the notes, and counts transitions."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.steps = 0

    def note(self, event: str, /, **facts: Any) -> None:
        """Store the note."""
        self.notes.append((event, facts))

    def on_match_advanced(self, step: MatchTransition) -> None:
        """Count the transition."""
        self.steps += 1


class Stuck(Observer):
    """Blocks at its first notification until the test releases it."""

    def __init__(self) -> None:
        self.is_told, self.may_go = ThreadEvent(), ThreadEvent()

    def on_match_advanced(self, step: MatchTransition) -> None:
        """Block."""
        self.is_told.set()
        self.may_go.wait()


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_match_goes_on_without_an_observer_that_fails(open_match: OpenMatch, error: BaseException) -> None:
    """The result of the match counts. The observer was called once, and is dropped at once."""
    failing, noted = Failing(error), Noted()
    running = open_match(observers=Observers(failing, noted))
    running.ready()
    running.answer(0)
    running.answer(1)
    assert running.end().reason
    assert (failing.calls, failing.was_left.is_set()) == (1, True)
    assert noted.steps == running.path.read_text().count('"kind":"step"')
    ((event, facts),) = noted.notes
    assert (event, facts["observer"]) == ("observer-failed", "Failing")
    assert facts["error"] == f"{type(error).__name__}: {error}"
    assert "in _fail" in facts["traceback"]


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_match_goes_on_without_one_that_fails_in_its_thread(open_match: OpenMatch, error: BaseException) -> None:
    """Observers of packages have a thread. Their failure is noted at the next notification, or at the end."""
    failing, noted = Failing(error), Noted()
    with Observers(noted) as observers:
        observers.add(lambda: failing)
        running = open_match(observers=observers)
        assert failing.was_left.wait(WAIT_S)
        running.ready()
        running.answer(0)
        running.answer(1)
        assert running.end().reason
    assert failing.calls == 1
    ((event, facts),) = noted.notes
    assert (event, facts["observer"]) == ("observer-failed", "Failing")
    assert "in _fail" in facts["traceback"] or "__exit__" in facts["traceback"]


def test_an_observer_that_can_not_be_made_is_noted() -> None:
    """Its package is at fault, and no other observer is affected."""

    class Broken(Noted):
        """Can't be made."""

        def __init__(self) -> None:
            raise SystemExit("no")

    noted = Noted()
    with Observers(noted) as observers:
        observers.add(Broken)
        observers.note("listening")
    assert [event for event, _ in noted.notes] == ["observer-failed", "listening"]
    assert noted.notes[0][1]["observer"].endswith("Broken")


def test_a_match_does_not_wait_for_an_observer_that_blocks(open_match: OpenMatch) -> None:
    """An observer that falls too far behind is dropped with a note; at the end, the wait for it is limited."""
    stuck, behind, noted = Stuck(), Stuck(), Noted()
    with Observers(noted, InThread(stuck, most_waiting=3), InThread(behind, linger_s=0.0)) as observers:
        running = open_match(observers=observers)
        assert stuck.is_told.wait(WAIT_S)
        running.ready()
        running.answer(0)
        running.answer(1)
        assert running.end().reason
        assert [event for event, _ in noted.notes] == ["observer-failed"]
    assert [facts["error"] for _, facts in noted.notes] == [
        "ObserverTooSlow: 3 calls wait for it",
        "ObserverTooSlow: it was still handling calls 0.0 s after the end",
    ]
    stuck.may_go.set()
    behind.may_go.set()


def test_an_observer_in_a_thread_is_told_everything_in_order(open_match: OpenMatch) -> None:
    """At the end its last notifications are waited for, and its copy of the tournament does not change any more."""

    class Slow(Noted):
        """An observer that is behind."""

        def __init__(self) -> None:
            super().__init__()
            self.events: list[str] = []
            self.played = -1

        def on_match_advanced(self, step: MatchTransition) -> None:
            """Store the transition once the test goes on."""
            ahead.wait()
            self.events.append(type(step.event).__name__)

        def on_tournament_begun(self, tournament: Any, total: int | None) -> None:
            """Store the number of matches once the test goes on."""
            ahead.wait()
            self.played = tournament.played

    ahead, slow, tournament = ThreadEvent(), Slow(), new(spec(2, "roundrobin"))
    with Observers(InThread(slow)) as observers:
        observers.notify(Observer.on_tournament_begun, tournament, None)
        tournament.played = 7
        running = open_match(observers=observers)
        running.ready()
        running.answer(0)
        running.answer(1)
        ahead.set()
    recorded = [json.loads(line) for line in running.path.read_text().splitlines()]
    assert len(slow.events) == sum(line["kind"] == "step" for line in recorded)
    assert slow.events[:3] == ["MatchOpened", "ReadyReceived", "ReadyReceived"]
    assert slow.played == 0


def test_observers_that_can_not_even_be_told_of_a_failure() -> None:
    """An observer that fails at the note about another one is dropped, too; the remaining ones get all notes."""
    first, second, noted = Failing(KeyError(1)), Failing(KeyError(2), is_deaf=False), Noted()
    observers = Observers(Failing(KeyError(0), is_deaf=False), first, second, noted)
    observers.note("listening")
    observers.note("listening")
    assert [event for event, _ in noted.notes].count("observer-failed") == 2
    assert [event for event, _ in noted.notes].count("listening") == 2
    assert second.calls == 1


def test_the_diagnostics_have_the_whole_traceback(tmp_path: Path) -> None:
    """The organiser finds there where an observer failed."""
    failing = Failing(KeyError("x" * 1000), is_deaf=False)
    with Observers(failing, InThread(DiagnosticLog(tmp_path / "log"))) as observers:
        observers.note("listening")
    failed, listening = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert (failed["event"], listening["event"]) == ("observer-failed", "listening")
    assert "x" * 1000 in failed["traceback"]


def test_diagnostics_that_can_not_be_written_are_dropped() -> None:
    """A full disk costs only the lines."""
    noted = Noted()
    with Observers(DiagnosticLog(Path("/dev/full")), noted) as observers:
        observers.note("listening")
    assert [event for event, _ in noted.notes] == ["observer-failed", "listening"]
    assert "No space left" in noted.notes[0][1]["error"]


@pytest.mark.parametrize(
    "moment",
    [lambda told: told.notify(Observer.refresh), lambda told: told.notify(Observer.on_notice, "low disk")],
    ids=["refresh", "noted"],
)
def test_a_tournament_goes_on_without_a_watcher_that_fails(moment: Callable[[Observers], None]) -> None:
    """The other observers get everything; the failed one may fail at its close, too."""

    class Broken(JsonLines):
        """Fails at every notification."""

        def refresh(self) -> None:
            """Fail."""
            raise OSError

        def on_notice(self, text: str) -> None:
            """Fail."""
            raise OSError

        def __exit__(self, *_exc: object) -> None:
            left.append(self)
            raise OSError

    left: list[Broken] = []
    written: list[Any] = []
    noted = Noted()
    broken = Broken()
    with Observers(broken, JsonLines(written.append), noted) as observers:
        moment(observers)
        assert left == [broken]
        observers.notify(Observer.on_notice, "once more")
    assert left == [broken]
    assert written[-1] == {"event": "noted", "text": "once more"}
    assert [event for event, _ in noted.notes] == ["observer-failed"]


NAMES = {"match": "m", "names": ["a", "b", "c"]}
UNUSUAL: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "clean": [],
    "late for a stall": [("verdict-voided", {"match": "m", "seat": 0, "stalled_ms": 300.0})],
    "late move": [("seat-expelled", {"match": "m", "seat": 1, "cause": "timeout", "detail": "1.0015 s used of 1 s"})],
    "returned": [("seat-returned", NAMES)],
    "resumed": [("match-resumed", NAMES)],
    "void": [("referee-failed", NAMES)],
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual_in_a_match_is_noted(name: str) -> None:
    """Notes tell of the beginning, the end and all trouble; the record has everything else."""
    story, noted = tell(name), Noted()
    with Observers(noted) as observers:
        for line, (event, commands) in enumerate(story.steps, 1):
            observers.notify_transition(MatchTransition.of(event, commands, story.match, (line, "")))
    assert noted.steps == len(story.steps)
    result = story.match.result
    assert result is not None
    end = ("match-ended", {"match": "m", "reason": result.reason, "void": result.void})
    assert noted.notes == [("match-opened", NAMES), *UNUSUAL[name], end]


def test_it_is_known_whether_anybody_would_hear_of_a_step() -> None:
    """This is known of observers in threads, too; diagnostics want only notes."""
    noted, deaf = Noted(), Observer()
    assert not Observers(deaf, InThread(deaf)).has_listener(Observer.on_match_advanced)
    assert Observers(deaf, noted).has_listener(Observer.on_match_advanced)
    assert Observers(InThread(noted)).has_listener(Observer.on_match_advanced)
    with DiagnosticLog(Path("/dev/null")) as log:
        assert not Observers(InThread(log)).has_listener(Observer.on_match_advanced)
