"""Makes texts that come from players fit to be shown. Knows what can't be printed; refuses to know markup."""

from ..record.printed import visible

MAX_CHARS = 600
"""Of one text of a player: a few lines of a screen, and more than any move of a game here."""


def printable(text: str) -> str:
    """Return a text with what is not printable (control characters, overrides of direction) as visible escapes, cut."""
    shown = visible(text[:MAX_CHARS])
    return shown if len(text) <= MAX_CHARS else f"{shown}… ({len(text)} characters)"
