"""Texts for people: counts with their nouns, and strangers' texts made safe to show."""

import json
import re
import unicodedata
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

import msgspec

_LISTED = 20
"""Most names in a sentence."""
_ALIKE = 0.6
"""Least similarity of a suggested name; difflib's own default."""
_PLACE = re.compile(r"(?:file://|(?<![\w./~-]))(?:/[^\s/:;,'\"()<>\[\]]+){2,}")
"""An absolute path of the organiser's machine, which readers should not see."""
MAX_CHARS = 600
"""Longest text of a player that is shown whole: a few lines of a screen, and more than any move of a game here."""


def visible(text: str) -> str:
    """Replace all unprintable characters of a text by visible escapes, even line feeds and tabs.

    A terminal obeys or hides such characters: controls (C0, DEL, C1), marks that change the direction of writing, line
    separators, characters without width, surrogates, private use, and code points that are no character.
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def printable(text: str) -> str:
    """Replace all unprintable characters of a text by visible escapes, and cut it to MAX_CHARS."""
    shown = visible(text[:MAX_CHARS])
    return shown if len(text) <= MAX_CHARS else f"{shown}… ({len(text)} characters)"


def printable_lines(text: str) -> str:
    """Replace all unprintable characters except line feeds by visible escapes, in a text of any length."""
    return "\n".join(map(visible, text.split("\n")))


def printable_json(text: str) -> str:
    """Replace all unprintable characters of a JSON text, except line feeds, by JSON's own escapes."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text)


def show_json(value: object, most: int = 300) -> str:
    """Encode a value as JSON, as in a record, and cut it.

    Args:
        value: a value that a record can hold.
        most: largest number of characters.
    """
    text = msgspec.json.encode(value, enc_hook=str).decode()
    return text if len(text) <= most else text[:most] + "..."


def plain_text(value: Any) -> str:
    """Return a plain value, such as a move, as one line: its action first, if it has one."""
    try:
        if isinstance(value, dict) and isinstance(value.get("action"), str):
            rest = (f"{key} {_plain(part)}" for key, part in value.items() if key != "action")
            return printable(" ".join((value["action"], *rest)))
        return printable(_plain(value))
    except RecursionError:
        return "(too deep to show)"


def _plain(value: Any) -> str:
    """Return a plain value as JSON with spaces, with words unquoted."""
    if isinstance(value, str) and value.replace("-", "").isalnum():
        return value
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_plain, value))}]"
    return json.dumps(value, ensure_ascii=False, default=str)


def is_blank(text: str) -> bool:
    """Return whether a text has neither a visible letter nor a visible digit."""
    return not any(sign.isalnum() and "FILLER" not in unicodedata.name(sign, "") for sign in text)


def counted(count: float, noun: str, nouns: str = "") -> str:
    """Return a count with its noun: `1 match`, `2 matches`.

    Args:
        count: the number.
        noun: the noun in the singular.
        nouns: the noun in the plural; by default the singular with an `s`.
    """
    return f"{count} {noun if count == 1 else nouns or f'{noun}s'}"


def near(name: str, known: Collection[str], before: str = "") -> str:
    """Suggest the name that was probably meant, as a question; return "" if none is similar.

    Args:
        name: the unknown name.
        known: all known names.
        before: text that a user types before each name.
    """
    by_lower = {
        known_name.lower().rpartition(":")[2]: known_name for known_name in known
    }  # `chess` of `openspiel:chess`
    by_lower |= {known_name.lower(): known_name for known_name in known}
    matches = get_close_matches(name.lower(), by_lower, 1, _ALIKE)
    return f'; did you mean "{before}{by_lower[matches[0]]}"?' if matches else ""


def nearest(name: str, known: Iterable[str], before: str = "") -> str:
    """Suggest the name that was probably meant, or else list the names, at most twenty of them.

    Args:
        name: the unknown name.
        known: all known names.
        before: text that a user types before each name.
    """
    known = list(known)
    typed = ", ".join(f"{before}{known_name}" for known_name in known[:_LISTED])
    listed = f"{len(known)}, such as {typed}" if len(known) > _LISTED else typed
    if not known:
        return "; there are none"
    return near(name, known, before) or f"; there are: {listed}"


# The detail of a foul may name files of the organiser's machine, as a traceback does. Reports are public, so only the
# last part of a path is shown. A program that wants to reveal its path can still print it in pieces.


def placeless(text: str) -> str:
    """Return a text in which absolute paths are cut down to their last part."""
    return _PLACE.sub(lambda path: path[0].rpartition("/")[2], text)
