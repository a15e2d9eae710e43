"""Texts for people: counts with their nouns, and what others wrote made fit to be shown."""

import json
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

import msgspec

_ALIKE = 0.6
"""Similarity from which on a name is suggested for another; difflib's own default."""
MAX_CHARS = 600
"""Longest text of a player that is shown whole: a few lines of a screen, and more than any move of a game here."""


def visible(text: str) -> str:
    """Return a text with what is not printable as visible escapes, line feeds and tabs as well.

    Not printable is what a terminal obeys or hides: controls (ESC and the other C0, DEL, C1), marks that turn the
    direction of writing, separators of lines, what has no width, surrogates, private use, and what is no character.
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


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


def show_json(value: object, most: int = 300) -> str:
    """Return a value as the JSON that it is in a record, cut.

    Args:
        value: anything that can stand in a record.
        most: characters that are shown at most.
    """
    text = msgspec.json.encode(value, enc_hook=str).decode()
    return text if len(text) <= most else text[:most] + "..."


def is_blank(text: str) -> bool:
    """Tell whether a text shows nothing that could be read: it has neither a letter nor a digit that is drawn."""
    return not any(sign.isalnum() and "FILLER" not in unicodedata.name(sign, "") for sign in text)


def counted(count: float, noun: str, nouns: str = "") -> str:
    """Return a count with its noun: `1 match`, `2 matches`.

    Args:
        count: of what the noun says.
        noun: for one of it.
        nouns: for any other number; by default the noun with an `s`.
    """
    return f"{count} {noun if count == 1 else nouns or f'{noun}s'}"


def near(name: str, known: Iterable[str], before: str = "") -> str:
    """Return the name that was probably meant, as a question; nothing if there is none like it.

    Args:
        name: that there is not.
        known: those that there are.
        before: stands before each name where it is typed.
    """
    by_lower = {known_name.lower(): known_name for known_name in known}
    matches = get_close_matches(name.lower(), by_lower, 1, _ALIKE)
    return f'; did you mean "{before}{by_lower[matches[0]]}"?' if matches else ""


def nearest(name: str, known: Iterable[str], before: str = "") -> str:
    """Return a remedy for a name that there is not: the one that was probably meant, else all that there are.

    Args:
        name: that there is not.
        known: those that there are.
        before: stands before each name where it is typed.
    """
    known = list(known)
    typed = ", ".join(f"{before}{known_name}" for known_name in known)
    return near(name, known, before) or (f"; there are: {typed}" if known else "; there are none")
