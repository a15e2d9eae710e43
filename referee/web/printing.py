"""Makes texts that come from players fit to be shown. Knows what can't be printed; refuses to know markup."""

MAX_CHARS = 600
"""Of one text of a player: a few lines of a screen, and more than any move of a game here."""


def printable(text: str) -> str:
    """Return a text with what is not printable (control characters, overrides of direction) as visible escapes, cut."""
    cut = text[:MAX_CHARS]
    shown = "".join(sign if sign.isprintable() else _escape(sign) for sign in cut)
    return shown if len(text) == len(cut) else f"{shown}… ({len(text)} characters)"


def _escape(sign: str) -> str:
    return sign.encode("unicode_escape").decode()
