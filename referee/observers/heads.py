"""Publishes the head of each running record after every line, so that anybody can keep a copy."""

import contextlib
from pathlib import Path

import msgspec

from ..clock import wall_clock
from ..record.published_heads import PublishedHead, append_heads
from ..tournament.commands import TakenTransition
from ..tournament.spec import TournamentSpec
from .base import MatchTransition, Observer


class HeadLog(Observer):
    """A file of published heads: one line for each event of a match or a tournament, flushed at once.

    Args:
        path: the file; new lines are appended.

    Raises:
        OSError: the file can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self._file = append_heads(path)
        self._tournament = ""

    def __exit__(self, *_exc: object) -> None:
        with contextlib.suppress(OSError):
            self._file.close()

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Write the head of the match's record.

        Raises:
            OSError: the line can't be written.
        """
        self._publish(transition.setup.match, transition.line, transition.hash)

    def on_tournament_founded(self, spec: TournamentSpec, salt: str, key: str) -> None:
        """Remember the name of the tournament, which its transitions do not repeat."""
        self._tournament = spec.name

    def on_tournament_advanced(self, transition: TakenTransition) -> None:
        """Write the head of the tournament's record, except for old transitions of a resumed tournament.

        Raises:
            OSError: the line can't be written.
        """
        if not transition.is_recalled:
            self._publish(self._tournament, transition.line, transition.hash)

    def _publish(self, record: str, line: int, head: str) -> None:
        published = PublishedHead(at=wall_clock(), record=record, line=line, head=head)
        self._file.write(msgspec.json.encode(published) + b"\n")
        self._file.flush()
