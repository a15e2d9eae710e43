"""Makes the pages of a contest's site that are not a tournament's."""

from http import HTTPStatus
from typing import Any

from markdown_it import MarkdownIt

from ..text import printable_lines
from .rendering import page

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def contest_page(card: Any, about: str) -> str:
    """Return the first page of a contest.

    Args:
        card: how the contest stands: `title`, and `tournaments` in short.
        about: the organiser's words, in Markdown; HTML in it is shown as text.
    """
    return page("contest", None, may_ask=True, card=card, about=_markdown.render(printable_lines(about)))


def refusal_page(code: HTTPStatus) -> str:
    """Return the page for an address that answers nothing else."""
    return page("refusal", None, looks="contest", title=code.phrase, text=_WORDS.get(code, code.description))


_WORDS = {HTTPStatus.NOT_FOUND: "There is nothing at this address, or it is not for everybody."}
