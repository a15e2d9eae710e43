"""A tournament for who wants to see no result before asking for it: its matches round by round, and their replays."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from ..pages.contest_page import matches_page
from ..pages.summary import page_names
from .published import has_replay, verifier_of
from .reported import ReportedMatch, TournamentReport

_PAGE = re.compile(r"report\.html|replays/.*|entrants/(?P<entrant>[\w.-]+)\.html")
_LINK, _HIDING_LINK = b'href="../report.html"', b'href="../report.html?spoilers=no"'
_BODY, _HIDING_BODY = b"<body>", b'<body class="no-spoilers">'


def shows_results(path: str) -> bool:
    """Tell whether a file of a tournament is a page with results."""
    return _PAGE.fullmatch(path) is not None


def page_without_results(title: str, report: TournamentReport | None, folder: Path, path: str) -> bytes | None:
    """Return what stands for a page that everybody may have and that shows results; None: there is no such page yet.

    Args:
        folder: of the tournament's records.
        path: of the page, seen from there.
    """
    if path.startswith("replays/"):
        return (folder / path).read_bytes().replace(_BODY, _HIDING_BODY, 1).replace(_LINK, _HIDING_LINK, 1)
    found = _PAGE.fullmatch(path)
    if report is None or found is None:
        return None
    entrant, pages = found["entrant"], page_names([entrant.name for entrant in report.spec.entrants])
    if entrant is not None and entrant not in pages:
        return None
    index = None if entrant is None else pages.index(entrant)
    top = "../" * (path.count("/") + 2)
    verifier = verifier_of(folder, report.head, is_over=report.state == "over")
    address = verifier and f"{top}tournaments/{folder.name}/{verifier}"
    return matches_page(title, report, index, _rounds(report, folder, index), top, address).encode()


def _rounds(
    report: TournamentReport, folder: Path, entrant: int | None
) -> Mapping[int, Sequence[tuple[ReportedMatch, bool]]]:
    """Return round -> its matches, each with whether its replay is to be had."""
    chosen = (match for match in report.entries if entrant is None or entrant in match.fixture.entrants)
    ordered = sorted(chosen, key=lambda match: (match.fixture.round, match.fixture.match))
    return {
        number: [(match, has_replay(folder, match.fixture.match)) for match in matches]
        for number, matches in groupby(ordered, key=lambda match: match.fixture.round)
    }
