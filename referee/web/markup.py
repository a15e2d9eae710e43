"""Markup that can't be broken out of: every text is escaped where it becomes part of an element. Knows no page."""

from collections.abc import Iterable
from html import escape

from .words import printable


class Markup(str):
    """Text that is markup already; only this module makes it."""

    __slots__ = ()


def tag(name: str, *content: str, **attributes: str | float | None) -> Markup:
    """Return an element.

    Args:
        name: of the element.
        content: texts, which are made printable and escaped, and Markup, which is taken as it is.
        attributes: by name, an underscore at the end left off and others as dashes; None leaves one out.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(printable(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{given}>{joined(content)}</{name}>")


def joined(parts: Iterable[str]) -> Markup:
    """Return texts and markup one after the other."""
    return Markup("".join(one if isinstance(one, Markup) else escape(printable(one)) for one in parts))


def cells(parts: Iterable[str], name: str = "td") -> Markup:
    """Return a row whose cells hold these."""
    return tag("tr", *(tag(name, one) for one in parts))
