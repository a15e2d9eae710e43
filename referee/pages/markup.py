"""Markup that can't be broken out of: every text is escaped where it becomes part of an element. Knows no page."""

from collections.abc import Iterable
from html import escape

from ..text import printable


class Markup(str):
    """Text that is markup already, or as an attribute needs no escape: never made of what a player says."""

    __slots__ = ()


def tag(name: str, *content: str, **attributes: str | float | None) -> Markup:
    """Return an element.

    Args:
        name: of the element.
        content: texts, which are made printable and escaped, and Markup, which is taken as it is.
        attributes: by name, an underscore at the end left off and others as dashes; None leaves one out.

    Texts are cut like all texts of players; Markup, as a long path of a drawing is, never.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{joined(content)}</{name}>")


def _attribute(value: str | float) -> str:
    return value if isinstance(value, Markup) else escape(printable(str(value)))


def joined(parts: Iterable[str]) -> Markup:
    """Return texts and markup one after the other."""
    return Markup("".join(one if isinstance(one, Markup) else escape(printable(one)) for one in parts))
