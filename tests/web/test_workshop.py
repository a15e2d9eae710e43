"""The workshop: turns by address, limits on cost, and answers that are kept for the next visitor."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from referee.web import workshop
from referee.web.rate_limit import TooOften
from referee.web.workshop import SECONDS_A_MINUTE, UNREAD_OF_ADDRESS, Workshop


class Request:
    """A request whose answer is sent until it is finished."""

    def __init__(self) -> None:
        self.is_cut = False
        self.channel = self
        self.finished: Deferred[None] = Deferred()

    def notifyFinish(self) -> "Deferred[None]":
        """Return a Deferred that fires at its end."""
        return self.finished

    def abortConnection(self) -> None:
        """Note that the connection is cut."""
        self.is_cut = True


class Bench:
    """A workshop whose thread works when the test wants it, and for how long.

    Args:
        patch: undone after the test.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        self.workshop = Workshop(self.clock.seconds)
        self.made = list[str]()
        self._cpu_s = 0.0
        self._working: list[tuple[Deferred[Any], Callable[[], Any]]] = []
        patch.setattr(workshop, "defer_to_workshop", self._defer)
        patch.setattr(time, "thread_time", lambda: self._cpu_s)

    def _defer(self, function: Callable[..., Any], *args: Any) -> "Deferred[Any]":
        done: Deferred[Any] = Deferred()
        self._working.append((done, lambda: function(*args)))
        return done

    def ask(self, who: str, what: str, cost_s: float = 1.0, **named: Any) -> "Deferred[Any]":
        """Ask for something."""
        return Deferred.fromCoroutine(self.workshop.make(Request(), who, self._make, what, cost_s, **named))

    def _make(self, what: str, cost_s: float) -> str:
        self._cpu_s += cost_s
        self.made.append(what)
        return what

    def work(self) -> None:
        """Work until nothing is left."""
        while self._working:
            assert len(self._working) == 1, "there is one thread"
            done, function = self._working.pop()
            done.callback(function())


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Return a workshop."""
    return Bench(monkeypatch)


def test_one_address_delays_others_by_one_answer(bench: Bench) -> None:
    """However many requests it has sent, an address with less cost comes first each time."""
    for number in range(250):
        bench.ask("hasty", f"hasty {number}", 0.01)
    bench.ask("other", "other 1", 0.01)
    bench.ask("other", "other 2", 0.01)
    bench.work()
    assert bench.made[:4] == ["hasty 0", "other 1", "hasty 1", "other 2"]
    assert len(bench.made) == 252


def test_turns_go_by_what_was_made_and_not_by_number(bench: Bench) -> None:
    """One large answer counts as much as many small ones."""
    for number in range(3):
        bench.ask("large", f"large {number}", 4.0)
    for number in range(6):
        bench.ask("small", f"small {number}", 1.0)
    bench.work()
    assert bench.made.index("large 1") > bench.made.index("small 3")
    assert bench.made.index("large 2") == len(bench.made) - 1


def test_who_comes_late_has_no_lead(bench: Bench) -> None:
    """An address without earlier requests does not push others aside for as long as they have worked."""
    for number in range(8):
        bench.ask("early", f"early {number}")
    for _ in range(4):
        done, function = bench._working.pop()  # the test's own
        done.callback(function())
    for number in range(4):
        bench.ask("late", f"late {number}")
    bench.work()
    assert bench.made[4:] != [f"early {number}" for number in range(4, 8)] + [f"late {number}" for number in range(4)]
    assert bench.made.index("early 6") < bench.made.index("late 3")


def test_what_somebody_costs_is_limited(bench: Bench) -> None:
    """The limit is on time, for one address; it may ask again as time passes."""
    bench.ask("hasty", "one", SECONDS_A_MINUTE + 1.0)
    bench.work()
    with pytest.raises(TooOften, match="more than 20 seconds of work for your pages a minute"):
        bench.workshop.make(Request(), "hasty", bench._make, "two", 1.0).send(None)
    bench.ask("other", "three")
    bench.clock.advance(4)
    bench.ask("hasty", "four")
    bench.work()
    assert bench.made == ["one", "three", "four"]


@pytest.mark.parametrize("is_being_made", [False, True])
def test_who_leaves_has_cost_as_much(bench: Bench, *, is_being_made: bool) -> None:
    """The work is finished first, so that leaving starts no second one, and it is charged."""
    gone = [] if is_being_made else [bench.ask("first", "first")]
    gone.append(bench.ask("gone", "gone", SECONDS_A_MINUTE + 1.0))
    gone[-1].addErrback(lambda failure: failure.trap(CancelledError) and None)
    gone[-1].cancel()
    bench.ask("next", "next")
    bench.work()
    assert bench.made == (["gone", "next"] if is_being_made else ["first", "next"])
    again = bench.ask("gone", "again")
    bench.work()
    failed = list[Any]()
    again.addErrback(failed.append)
    assert bool(failed) == is_being_made


def test_what_fails_gives_the_thread_back(bench: Bench) -> None:
    """Others go on."""
    failed = Deferred.fromCoroutine(bench.workshop.make(Request(), "ada", int, "x"))
    bench.ask("bob", "bob")
    done, function = bench._working.pop()  # the test's own
    with pytest.raises(ValueError, match="invalid literal") as caught:
        function()
    done.errback(caught.value)
    failed.addErrback(lambda failure: failure.trap(ValueError) and None)
    bench.work()
    assert bench.made == ["bob"]


def test_the_same_is_made_once(bench: Bench) -> None:
    """All that ask at that time and later get the same answer; a missing answer is looked for again."""
    answers = [bench.ask(who, "page", key="page") for who in ("ada", "bob", "ada")]
    bench.work()
    answers.append(bench.ask("cyd", "page", key="page"))
    assert (bench.made, [answer.result for answer in answers]) == (["page"], ["page"] * 4)
    for number in range(20):
        bench.ask("ada", f"other {number}", 0.01, key=number)
        bench.work()
    bench.ask("ada", "page", key="page")
    bench.work()
    assert bench.made.count("page") == 2
    for _ in range(2):
        Deferred.fromCoroutine(bench.workshop.make(Request(), "ada", bench.made.append, "none", key="none"))
        bench.work()
    assert bench.made.count("none") == 2


def test_who_does_not_read_is_cut(bench: Bench) -> None:
    """The oldest answer of the address with most of them makes way; those that were read do not count."""
    requests = [Request() for _ in range(UNREAD_OF_ADDRESS + 1)]
    requests[1].finished.callback(None)
    for number, request in enumerate([*requests, Request()]):
        Deferred.fromCoroutine(bench.workshop.make(request, "slow", bench._make, str(number), 0.01))
        bench.work()
    assert [number for number, request in enumerate(requests) if request.is_cut] == [0]
