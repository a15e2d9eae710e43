"""Decides which files of a tournament are public, and searches in the public ones."""

# The site and the archive of a contest both use these rules, so neither publishes what the other hides. A file is
# public only if a line here says so.

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from ..pages.links import REPLAYS
from ..pages.replays import NOTES, read_names
from ..pages.summary import page_names
from ..pages.verifying import PAGE, verifying_link

_REPORT = re.compile(
    r"(report|crosstable|matches)\.html|(entrants|replays)/[\w.-]+\.html|replays/replay\.(css|js)|(standings|crosstable)\.csv"
)
_RECORD = re.compile(r"([\w.-]+)\.jsonl")
_OVER = re.compile(r"tournament\.(json|trf)|matches\.(csv|pgn|txt)|fouls\.csv")
"""Files that list all matches. A later match may use the same deal, so these files are public only at the end."""
_MOST_OF_PATH = 200
"""Most bytes of a path in a tournament's folder; the system refuses names of more than 255 bytes."""
HEADS = "heads"
"""Address of the heads of a tournament's records, with those of open matches."""
T = TypeVar("T")
MOST = 50
"""Most entrants, and most matches, that a search shows."""
MOST_CHARACTERS = 100
"""Most characters of a query; a name has at most twenty."""


def heads_path(folder: Path) -> Path:
    """Return the file with the heads of a tournament's records, next to the folder of the records."""
    return folder.with_name(f"{folder.name}.heads")


def find_public_file(folder: Path, path: str, *, is_over: bool) -> Path | None:
    """Return a public file of a tournament; None if it does not exist or is not public.

    Args:
        folder: folder of the tournament's records.
        path: path in that folder, from the address of a request.
        is_over: true if the tournament is over.
    """
    if len(path.encode()) > _MOST_OF_PATH:
        return None
    file, is_public = folder / path, path == HEADS
    if path == HEADS:
        file = heads_path(folder)
    elif record := _RECORD.fullmatch(path):
        is_public = is_over if record[1] == folder.name else has_replay(folder, record[1])
    else:
        is_public = _REPORT.fullmatch(path) is not None or (is_over and _OVER.fullmatch(path) is not None)
    return file if is_public and ".." not in path and file.is_file() and not file.is_symlink() else None


def has_replay(folder: Path, match: str) -> bool:
    """Return whether the replay of a match is public: its page exists, or is made when somebody requests it."""
    page = find_public_file(folder, f"replays/{match}.html", is_over=False)
    return page is not None or is_on_request(folder, match)


def is_on_request(folder: Path, match: str) -> bool:
    """Return whether the page of a match is made when somebody requests it."""
    try:
        written_ns = (folder / REPLAYS / NOTES).stat().st_mtime_ns
    except OSError:
        return False
    return match in _read_names(folder, written_ns)


@lru_cache(maxsize=64)
def _read_names(folder: Path, _written_ns: int) -> frozenset[str]:
    return read_names(folder)


def find_entrants(folder: Path, entrants: Sequence[str], names: Iterable[str]) -> list[str | None]:
    """Return the address of each entrant's page, relative to the site's first page; None if there is no page yet.

    Args:
        folder: folder of the tournament's records.
        entrants: names of all entrants of the tournament, in their order.
        names: names of the entrants to find.
    """
    paths = {name: f"entrants/{page}.html" for name, page in zip(entrants, page_names(entrants), strict=True)}
    return [
        f"tournaments/{folder.name}/{paths[name]}" if name in paths and (folder / paths[name]).is_file() else None
        for name in names
    ]


def find_verifier(folder: Path, head: str, *, is_over: bool) -> str:
    """Return the address, in the tournament's folder, of the page that verifies its record; empty if there is none.

    Args:
        folder: folder of the tournament's records.
        head: head of the tournament's record.
        is_over: true if the tournament is over; before its end, its record is not public.
    """
    is_there = is_over and find_public_file(folder, f"replays/{PAGE}", is_over=True) is not None
    return f"replays/{verifying_link(f'{folder.name}.jsonl', head)}" if is_there else ""


class FoundEntrant(Struct, frozen=True, kw_only=True):
    """An entrant of a tournament."""

    tournament: str
    name: str
    address: str
    """Address of the entrant's page, relative to the site's first page."""


class FoundMatch(Struct, frozen=True, kw_only=True):
    """A match that is over."""

    tournament: str
    match: str
    names: Sequence[str]
    """Names of the players, by seat."""
    address: str
    """Address of the replay, relative to the site's first page."""


class Found(Struct, frozen=True, kw_only=True):
    """The result of a search."""

    entrants: Sequence[FoundEntrant]
    matches: Sequence[FoundMatch]
    is_all: bool
    """True if the lists contain everything that the search found."""
    heads: Mapping[str, str]
    """Tournament with a result -> head of its record at the time of the report in which the search looked."""
    verifiers: Mapping[str, str]
    """Tournament that is over -> address of the page that verifies its record, relative to the site's first page."""


class Searched(Struct, frozen=True, kw_only=True):
    """The names in a tournament's report, for the search."""

    name: str
    folder: Path
    head: str
    """Head of the tournament's record from which the report was made."""
    is_over: bool
    """True if the tournament was over when the report was made."""
    entrants: Sequence[tuple[str, str]]
    """Name of each entrant, and name of its page."""
    matches: Sequence[tuple[str, Sequence[str]]]
    """Name of each match, and names of its players by seat."""

    @property
    def addresses(self) -> dict[str, str]:
        """Name of each entrant -> address of its page, relative to the site's first page."""
        return {name: _address(self, f"entrants/{page}.html") for name, page in self.entrants}

    @property
    def verifier(self) -> str:
        """Address of the page that verifies the record, relative to the site's first page; empty if there is none."""
        verifier = find_verifier(self.folder, self.head, is_over=self.is_over)
        return verifier and _address(self, verifier)

    def has(self, path: str) -> bool:
        """Return whether a file is public."""
        return find_public_file(self.folder, path, is_over=False) is not None


def search(query: str, tournaments: Iterable[Searched]) -> Found:
    """Return the entrants and matches whose names contain all words of a query; a match includes its players' names.

    Args:
        query: words in any case; an empty query has no results.
        tournaments: tournaments of the contest.
    """
    words = query[:MOST_CHARACTERS].casefold().split()
    searched = tournaments if words else ()
    entrants, matches, heads, verifiers = list[FoundEntrant](), list[FoundMatch](), dict[str, str](), dict[str, str]()
    for tournament in searched:
        heads[tournament.name] = tournament.head
        verifiers[tournament.name] = tournament.verifier
        entrants += _first(_entrants(words, tournament), len(entrants))
        matches += _first(_matches(words, tournament), len(matches))
    is_all = max(len(entrants), len(matches)) <= MOST
    with_results = {entrant.tournament for entrant in entrants} | {match.tournament for match in matches}
    return Found(
        entrants=entrants[:MOST],
        matches=matches[:MOST],
        is_all=is_all,
        heads={name: head for name, head in heads.items() if name in with_results},
        verifiers={name: verifier for name, verifier in verifiers.items() if name in with_results and verifier},
    )


def _first(results: Iterator[T], count: int) -> Iterator[T]:
    """Yield as many results as there is room for, and one more if there are others, as a sign of them."""
    return islice(results, max(MOST + 1 - count, 0))


def _entrants(words: Sequence[str], tournament: Searched) -> Iterator[FoundEntrant]:
    for name, page in tournament.entrants:
        path = f"entrants/{page}.html"
        if _fits(words, name) and tournament.has(path):
            yield FoundEntrant(tournament=tournament.name, name=name, address=_address(tournament, path))


def _matches(words: Sequence[str], tournament: Searched) -> Iterator[FoundMatch]:
    for match, names in tournament.matches:
        if _fits(words, " ".join((match, *names))) and has_replay(tournament.folder, match):
            address = _address(tournament, f"replays/{match}.html")
            yield FoundMatch(tournament=tournament.name, match=match, names=names, address=address)


def _fits(words: Sequence[str], text: str) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _address(tournament: Searched, path: str) -> str:
    return f"tournaments/{tournament.name}/{path}"
