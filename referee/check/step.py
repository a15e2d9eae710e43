"""What a step of the check is."""

from collections.abc import Callable

from msgspec import Struct

from .context import CheckContext

Run = Callable[[CheckContext], str | None]
"""Raises Failed or Skipped, or returns what is worth a note, if anything is."""


class CheckStep(Struct, frozen=True):
    """One step of the table."""

    key: str
    title: str
    """What a program does that passes."""
    run: Run
    is_basic: bool = False
    """Whether nothing behind it makes sense if it fails."""
