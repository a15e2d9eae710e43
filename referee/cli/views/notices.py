"""Tells on stderr what no record has: which observers failed, and who was turned away."""

from typing import Any

from ...observers import Observer
from ...text import printable
from ..common import console

MAX_TOLD = 100
"""Lines of those who were turned away."""


class FailedObservers(Observer):
    """Tells of an observer that failed."""

    def note(self, event: str, /, **facts: Any) -> None:
        """Tell of it."""
        if event == "observer-failed":
            text = f"{facts['observer']} failed, and shows nothing more: {facts['error']}; what is played goes on"
            console.say(printable(text))


class WhereToConnect(Observer):
    """Tells where players connect, where nothing else of the match is shown."""

    def note(self, event: str, /, **facts: Any) -> None:
        """Tell the address."""
        if event == "listening":
            console.say(f"the referee listens on {facts['address']}")


class TurnedAway(Observer):
    """Tells whose connection was refused, and why.

    The same is told once, and after MAX_TOLD lines nothing more: who connects again and again fills no screen.
    """

    def __init__(self) -> None:
        self._told: set[str] = set()

    def note(self, event: str, /, **facts: Any) -> None:
        """Tell of a refusal."""
        if event not in ("connection-refused", "connection-pushed-out") or len(self._told) > MAX_TOLD:
            return
        who = " ".join(filter(None, (facts["address"], facts.get("name"))))
        sent = f"; it sent {facts['sent']}" if facts.get("sent") else ""
        text = printable(f"turned away: {who}: {facts.get('reason', 'too many connections that say no hello')}{sent}")
        if text not in self._told:
            self._told.add(text)
            console.say("turned away: more than can be told" if len(self._told) > MAX_TOLD else text)
