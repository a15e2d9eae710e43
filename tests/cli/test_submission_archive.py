"""Requests of a client to an organiser's service: a match by its name, and the verdict on a version."""

from typing import Any

import pytest

from referee.cli.submission_client import PATIENCE_S, ServiceError, await_verdict, find_match


class Shelf:
    """A service that has some matches, and keeps the requests."""

    def __init__(self, *names: Any) -> None:
        self.rows = [name if name is None else {"match": name} for name in names]

    def get(self, *parts: str) -> Any:
        """Answer as a service does."""
        if len(parts) == 1:
            return {"matches": self.rows}
        if {"match": parts[1]} not in self.rows:
            raise ServiceError("not here", 404)
        return {"name": parts[1]}


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("lab/lab-1", "cup/cup-1"), "lab/lab-1"),
        (("x/lab-1", "lab-1"), "lab-1"),
    ],
)
def test_the_last_part_of_a_name_is_enough(names: tuple[str, ...], found: str) -> None:
    """A match is found by the name of its file; the whole name has priority."""
    service: Any = Shelf(*names)
    assert find_match(service, "lab-1") == {"name": found}


@pytest.mark.parametrize(
    ("names", "error"),
    [
        (("x/lab-1", "y/lab-1"), "2 of your matches are called lab-1; give the whole name: x/lab-1 or y/lab-1"),
        (("lab/lab-11", "lab-1/x", None, 7), "you have no finished match lab-1; --matches lists them"),
    ],
)
def test_a_name_that_is_not_one_match_is_told(names: tuple[Any, ...], error: str) -> None:
    """If a name means several matches or none, the error says what to write instead."""
    service: Any = Shelf(*names)
    with pytest.raises(ServiceError, match=error):
        find_match(service, "lab-1")


class Clerk:
    """A service that answers with some states, and then always with the last of them.

    Args:
        states: answers to one request after the other.
    """

    def __init__(self, *states: Any) -> None:
        self._states = list(states)

    def get(self, *_parts: str) -> Any:
        """Answer as a service does."""
        return {"number": 7, "state": self._states.pop(0) if len(self._states) > 1 else self._states[0]}


def test_the_verdict_is_waited_for_and_not_for_ever() -> None:
    """The client asks less and less often, and stops after half an hour."""
    pauses: list[float] = []
    service: Any = Clerk("waiting", "checking", "passed")
    assert await_verdict(service, 7, print, pauses.append)["state"] == "passed"
    assert pauses == [0.25, 0.375]
    endless: Any = Clerk("waiting")
    with pytest.raises(ServiceError, match="no verdict after 30 minutes; ask the organiser"):
        await_verdict(endless, 7, print, pauses.append)
    assert PATIENCE_S <= sum(pauses) < PATIENCE_S + 10


@pytest.mark.parametrize("state", [None, "", "passing", 7, ["passed"], {}])
def test_an_answer_without_a_state_is_none_of_a_service(state: Any) -> None:
    """The error comes at once, without waiting."""
    service: Any = Clerk(state)
    with pytest.raises(ServiceError, match="lacks the state of version 7; is --to right"):
        await_verdict(service, 7, print)
