"""Makes texts that come from players fit to be shown. Knows what can't be printed; refuses to know markup."""

import json

from .record.printed import visible

MAX_CHARS = 600
"""Of one text of a player: a few lines of a screen, and more than any move of a game here."""


def printable(text: str) -> str:
    """Return a text with what is not printable (control characters, overrides of direction) as visible escapes, cut."""
    shown = visible(text[:MAX_CHARS])
    return shown if len(text) <= MAX_CHARS else f"{shown}… ({len(text)} characters)"


def printable_lines(text: str) -> str:
    """Return a text of any length with what is not printable as visible escapes; lines stay lines."""
    return "\n".join(map(visible, text.split("\n")))


def printable_json(text: str) -> str:
    """Return JSON that says the same, with what is not printable in it as JSON's own escapes; lines stay lines."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)
