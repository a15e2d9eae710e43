"""Observers that fail: what they observe goes on, the others are told so, and they are called no more."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from referee.cli.views.live_lines import JsonLines
from referee.match.commands import Command
from referee.match.events import Event
from referee.match.machine import Match
from referee.net.telemetry import DiagnosticLog, Several, Silence
from referee.net.tournaments.observers import Observers

from ..in_memory import Sit

FAULTS = (BrokenPipeError(32, "Broken pipe"), OSError(28, "No space left on device"), KeyError("x"), RuntimeError())


class Failing:
    """Raises at the first step, or whenever it is told something; keeps how often that was, and whether it was left."""

    def __init__(self, error: Exception, *, is_deaf: bool = True) -> None:
        self.error = error
        self.is_deaf = is_deaf
        self.calls = 0
        self.was_left = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.was_left = True
        raise self.error

    def note(self, event: str, /, **facts: Any) -> None:
        """Raise, unless it is deaf."""
        if not self.is_deaf:
            self._fail()

    def step(self, event: Event, commands: tuple[Command, ...], match: Match) -> None:
        """Raise."""
        self._fail()

    def _fail(self) -> None:
        self.calls += 1
        raise self.error


class Noted(Silence):
    """Keeps what is noted, and counts steps."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.steps = 0

    def note(self, event: str, /, **facts: Any) -> None:
        """Keep it."""
        self.notes.append((event, facts))

    def step(self, event: Event, commands: tuple[Command, ...], match: Match) -> None:
        """Count it."""
        self.steps += 1


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_match_goes_on_without_an_observer_that_fails(sit: Sit, error: Exception) -> None:
    """The match is played to a result that counts; the observer was called once, and is left at once."""
    failing, noted = Failing(error), Noted()
    sitting = sit(telemetry=Several(failing, noted))
    sitting.ready()
    sitting.answer(0)
    sitting.answer(1)
    assert sitting.end().reason
    assert (failing.calls, failing.was_left) == (1, True)
    assert noted.steps == sitting.path.read_text().count('"kind":"step"')
    ((event, facts),) = noted.notes
    assert (event, facts["observer"]) == ("observer-failed", "Failing")
    assert facts["error"] == f"{type(error).__name__}: {error}"
    assert "in _fail" in facts["traceback"]


def test_observers_that_can_not_even_be_told_of_a_failure() -> None:
    """Each one that fails at hearing that another one failed is dropped, too; who is left hears of all."""
    first, second, noted = Failing(KeyError(1)), Failing(KeyError(2), is_deaf=False), Noted()
    several = Several(Failing(KeyError(0), is_deaf=False), first, second, noted)
    several.note("listening")
    several.note("listening")
    assert [event for event, _ in noted.notes].count("observer-failed") == 2
    assert [event for event, _ in noted.notes].count("listening") == 2
    assert second.calls == 1


def test_the_diagnostics_have_the_whole_traceback(tmp_path: Path) -> None:
    """Who runs the referee finds there where an observer failed."""
    log = DiagnosticLog(tmp_path / "log")
    several = Several(Failing(KeyError("x" * 1000), is_deaf=False), log)
    several.note("listening")
    log.close()
    failed, listening = map(json.loads, (tmp_path / "log").read_text().splitlines())
    assert (failed["event"], listening["event"]) == ("observer-failed", "listening")
    assert "x" * 1000 in failed["traceback"]


def test_diagnostics_that_can_not_be_written_are_dropped() -> None:
    """A disk that is full costs the lines, and nothing else."""
    noted = Noted()
    log = DiagnosticLog(Path("/dev/full"))
    several = Several(log, noted)
    several.note("listening")
    log.close()
    assert [event for event, _ in noted.notes] == ["observer-failed", "listening"]
    assert "No space left" in noted.notes[0][1]["error"]


@pytest.mark.parametrize("moment", [Observers.refresh, lambda watches: watches.noted("low disk")])
def test_a_tournament_goes_on_without_a_watcher_that_fails(moment: Callable[[Observers], None]) -> None:
    """The others are told everything; the one that failed is left, which may fail as well."""

    class Broken(JsonLines):
        """Fails at all there is."""

        def refresh(self) -> None:
            """Fail."""
            raise OSError

        def noted(self, text: str) -> None:
            """Fail."""
            raise OSError

        def __exit__(self, *_exc: object) -> None:
            left.append(self)
            raise OSError

    left: list[Broken] = []
    written: list[Any] = []
    noted = Noted()
    broken = Broken()
    with Observers(broken, JsonLines(written.append), note=noted.note) as watches:
        moment(watches)
        assert left == [broken]
        watches.noted("once more")
    assert left == [broken]
    assert written[-1] == {"event": "noted", "text": "once more"}
    assert [event for event, _ in noted.notes] == ["observer-failed"]
