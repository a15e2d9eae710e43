"""The agenda of the matches: alone or together, each stage of all matches comes before the next stage of any."""

from collections.abc import Callable

import pytest
from twisted.python import log

from referee.net import event_loop as module
from referee.net.event_loop import Agenda, Stages


def stages(name: str, acts: list[str], *, then: Callable[[], None] = lambda: None) -> Stages:
    """Return two stages that note their calls; the second one also calls a function."""

    def _send() -> None:
        acts.append(f"{name} sends")
        then()

    return (lambda: acts.append(f"{name} judges"), _send)


def test_a_step_is_taken_at_once() -> None:
    """A transition is not held for others then."""
    agenda, acts = Agenda(), list[str]()
    agenda.add("a", stages("a", acts))
    assert acts == ["a judges", "a sends"]


def test_what_gathers_is_taken_stage_by_stage() -> None:
    """No stage runs before the agenda is released."""
    agenda, acts = Agenda(), list[str]()
    agenda.hold()
    agenda.add("a", stages("a", acts))
    agenda.add("b", stages("b", acts))
    assert not acts
    agenda.release()
    assert acts == ["a judges", "b judges", "a sends", "b sends"]


def test_what_follows_from_a_step_is_taken_after_all_that_came_with_it() -> None:
    """This holds at any depth; afterwards, transitions are taken at once again."""
    agenda, acts = Agenda(), list[str]()
    agenda.hold()
    last = stages("c", acts)
    second = stages("b", acts, then=lambda: agenda.add("c", last))
    agenda.add("a", stages("a", acts, then=lambda: agenda.add("b", second)))
    agenda.add("z", stages("z", acts))
    agenda.release()
    agenda.add("d", stages("d", acts))
    names = [act.split()[0] for act in acts]
    assert names == ["a", "z", "a", "z", "b", "b", "c", "c", "d", "d"]


def test_a_step_that_follows_waits_for_the_one_that_is_being_taken() -> None:
    """Nothing was held, and still no match is in the middle of two transitions."""
    agenda, acts = Agenda(), list[str]()
    second = stages("b", acts)
    agenda.add("a", (lambda: agenda.add("b", second), *stages("a", acts)))
    assert acts == ["a judges", "a sends", "b judges", "b sends"]


def test_as_many_are_taken_together_as_the_caches_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others wait for the next time, in their order. Consequences of the first ones do not wait."""
    monkeypatch.setattr(module, "AT_ONCE", 2)
    agenda, acts = Agenda(), list[str]()
    agenda.hold()
    again = stages("again", acts)
    agenda.add("a", stages("a", acts, then=lambda: agenda.add("again", again)))
    for name in "bcd":
        agenda.add(name, stages(name, acts))
    agenda.release()
    assert [act.split()[0] for act in acts] == ["a", "b", "a", "b", "again", "again"]
    assert len(agenda.due) == 2
    del acts[:]
    agenda.release()
    assert [act.split()[0] for act in acts] == ["c", "d", "c", "d"]
    assert len(agenda.due) == 0


def test_who_has_something_of_its_own_does_not_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """An example is a deadline while others still wait. If the match itself waited, its work is done then, once."""
    monkeypatch.setattr(module, "AT_ONCE", 1)
    agenda, acts = Agenda(), list[str]()
    agenda.hold()
    for name in "abcd":
        agenda.add(name, stages(name, acts))
    agenda.release()
    third = stages("c", acts)
    agenda.add("d", stages("d", acts, then=lambda: agenda.add("c", third)))
    assert acts == [f"{name} {act}" for name in "adc" for act in ("judges", "sends")]
    agenda.release()
    assert (acts[6:], len(agenda.due)) == (["b judges", "b sends"], 0)


def test_a_fault_of_one_match_keeps_no_other_from_its_steps() -> None:
    """The fault is logged as Twisted does, and the agenda goes on, then and later."""
    agenda, acts, noted = Agenda(), list[str](), list[str]()

    def _fail() -> None:
        raise RuntimeError("broken")

    def _note(event: log.EventDict) -> None:
        if event.get("failure") is not None:
            noted.append(event["failure"].getErrorMessage())

    log.addObserver(_note)
    try:
        agenda.hold()
        agenda.add("f", (_fail, _fail))
        agenda.add("a", stages("a", acts))
        agenda.release()
        agenda.add("b", stages("b", acts))
    finally:
        log.removeObserver(_note)
    assert (noted, acts) == (["broken", "broken"], ["a judges", "a sends", "b judges", "b sends"])


def test_what_a_match_adds_twice_is_taken_once() -> None:
    """As long as it has not been taken, the agenda says that the match has something to take."""
    agenda, acts = Agenda(), list[str]()
    agenda.hold()
    for _ in range(2):
        agenda.add("a", stages("a", acts))
    assert ("a" in agenda.due, "b" in agenda.due) == (True, False)
    agenda.release()
    assert (acts, "a" in agenda.due) == (["a judges", "a sends"], False)
