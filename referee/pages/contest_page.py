"""Makes the pages of a contest's site that are not a tournament's."""

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
        card: state of the contest: `title`, and `tournaments` in short.
        about: the organiser's words, in Markdown; HTML in it is shown as text.
        visitor: the signed-in person who asks; None for everybody else.
        is_still: whether it stands in an archive, without a server that it could ask.
    """
    words = _markdown.render(printable_lines(about))
    may = not is_still
    shown = {"card": card, "about": words, "is_still": is_still, "visitor": visitor}
    return page("contest", {"is_still": is_still}, scripts=("following",), may_ask=may, may_send=may, **shown)


def standings_page(card: Any, visitor: Any = None) -> str:
    """Return the page of the standings of all tournaments.

    Args:
        card: state of the contest, with as many lines of the standings as are shown.
        visitor: the signed-in person who asks; None for everybody else.
    """
    return page("standings", {"is_still": True}, looks="contest", may_send=True, card=card, visitor=visitor)


def search_page(title: str, query: str, found: Any, visitor: Any = None) -> str:
    """Return the page of a search.

    Args:
        title: title of the contest.
        query: text that the visitor looks for.
        found: `entrants`, `matches`, and whether that `is_all`.
        visitor: the signed-in person who asks; None for everybody else.
    """
    shown = {"contest": title, "query": query, "found": found, "visitor": visitor}
    return page("search", {"is_still": True}, looks="contest", may_send=True, **shown)


def live_page(title: str, live: Any, now: float, visitor: Any = None) -> str:
    """Return the page of the tables at which is played.

    Args:
        title: title of the contest.
        live: state of the tables: `spectators`, `tables`.
        now: seconds of the Unix epoch; clocks on the page run from there.
        visitor: the signed-in person who asks; None for everybody else.
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
    """Return the drawing of a table's board, its parts put together."""
    if table.board is None:
        return None
    root, _, rest = table.board.partition("\n")
    return f"{root}\n{table.symbols}\n{rest}"


_SEEN = {
    "after": "While a match is played, spectators see who plays; when it is over, its replay shows all.",
    "board": "You see what all players of a match may know, and no hands; when it is over, its replay shows all.",
    "delay": "You see what all players of a match may know, and no hands, some time later; its replay shows all.",
}
"""First word of `spectators` in contest.toml -> the sentence for spectators."""
_NO_BOARD = {
    "after": "The board is shown when the match is over.",
    "board": "No board is shown yet; that of a duplicate deal is not before the match is over.",
    "delay": "No board is shown yet; that of a duplicate deal is not before the match is over.",
}


def refusal_page(code: HTTPStatus, text: str, top: str) -> str:
    """Return the page for an address that answers nothing else.

    Args:
        code: status of the answer.
        text: says more; without one, what the code means.
        top: the first page, as the address of this one sees it.
    """
    words = text or _WORDS.get(code, code.description)
    return page("refusal", {"is_still": True}, looks="contest", site=top, title=code.phrase, text=words)


_WORDS = {HTTPStatus.NOT_FOUND: "There is nothing at this address, or it is not for everybody."}
