"""Makes the pages of a contest's site that do not belong to one tournament."""

from http import HTTPStatus
from typing import Any

import msgspec
from markdown_it import MarkdownIt

from ..text import printable_lines
from .rendering import page

_markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


def contest_page(card: Any, about: str, visitor: Any = None, *, is_still: bool = False) -> str:
    """Return the first page of a contest.

    Args:
        card: state of the contest: its `title`, and a summary of each of its `tournaments`.
        about: the organiser's text in Markdown; HTML in it is shown as text.
        visitor: the visitor, if signed in; None for everybody else.
        is_still: whether the page is part of an archive, and so has no server to ask for news.
    """
    words = _markdown.render(printable_lines(about))
    may = not is_still
    shown = {"card": card, "about": words, "is_still": is_still, "visitor": visitor}
    return page("contest", {"is_still": is_still}, scripts=("following",), may_ask=may, may_send=may, **shown)


def standings_page(card: Any, visitor: Any = None) -> str:
    """Return the page of the standings of all tournaments.

    Args:
        card: state of the contest, with the lines of the standings to show.
        visitor: the visitor, if signed in; None for everybody else.
    """
    return page("standings", {"is_still": True}, looks="contest", may_send=True, card=card, visitor=visitor)


def search_page(title: str, query: str, found: Any, visitor: Any = None) -> str:
    """Return the page of a search.

    Args:
        title: title of the contest.
        query: text that the visitor searches for.
        found: the `entrants` and `matches` that fit; `is_all` says whether these are all that fit.
        visitor: the visitor, if signed in; None for everybody else.
    """
    shown = {"contest": title, "query": query, "found": found, "visitor": visitor}
    return page("search", {"is_still": True}, looks="contest", may_send=True, **shown)


def live_page(title: str, live: Any, now: float, visitor: Any = None) -> str:
    """Return the page of the open matches.

    Args:
        title: title of the contest.
        live: the open matches: `spectators` (what spectators may see) and `tables`.
        now: present time in seconds of the Unix epoch, at which the clocks on the page start.
        visitor: the visitor, if signed in; None for everybody else.
    """
    mode = live.spectators.partition(" ")[0]
    tables = [{**msgspec.structs.asdict(table), "drawing": _drawing(table)} for table in live.tables]
    data = {"now": now, "no_board": _NO_BOARD[mode]}
    shown: dict[str, Any] = {
        "contest": title,
        "tables": tables,
        "seen": _SEEN[mode],
        "no_board": _NO_BOARD[mode],
        "visitor": visitor,
    }
    return page("live", data, scripts=("following",), may_ask=True, may_send=True, **shown)


def _drawing(table: Any) -> str | None:
    """Return the drawing of a table's board: its first line, the symbols that it uses, and the rest."""
    if table.board is None:
        return None
    root, _, rest = table.board.partition("\n")
    return f"{root}\n{table.symbols}\n{rest}"


_SEEN = {
    "after": "While a match is played, you only see who plays. When it is over, its replay shows everything.",
    "board": "You see the board, but no hands. When a match is over, its replay shows everything.",
    "delay": "You see the board with a delay, but no hands. When a match is over, its replay shows everything.",
}
"""First word of `spectators` in contest.toml -> the sentence for spectators."""
_NO_BOARD = {
    "after": "The board is shown when the match is over.",
    "board": "No board is shown yet. If the deal is played from several seats, it is shown when the match is over.",
    "delay": "No board is shown yet. If the deal is played from several seats, it is shown when the match is over.",
}


def refusal_page(code: HTTPStatus, text: str, top: str) -> str:
    """Return the page that says why a request failed.

    Args:
        code: HTTP status of the answer.
        text: explanation; empty: a standard sentence about the status.
        top: address of the contest's first page, relative to this page.
    """
    words = text or _WORDS.get(code, code.description)
    return page("refusal", {"is_still": True}, looks="contest", site=top, title=code.phrase, text=words)


_WORDS = {HTTPStatus.NOT_FOUND: "There is no page at this address, or it is not public."}
