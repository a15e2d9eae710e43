"""Which files of a tournament everybody may have: its report, and records that are over; and how they are searched."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from ..pages.verifying import PAGE, verifying_link

_REPORT = re.compile(r"report\.html|(entrants|replays)/[\w.-]+\.html|(standings|crosstable)\.csv")
_RECORD = re.compile(r"([\w.-]+)\.jsonl")
_OVER = re.compile(r"tournament\.(json|trf)|matches\.(csv|pgn|txt)|fouls\.csv")
"""They tell of all matches, also of those whose deal is still to be played from other seats."""
_MOST_OF_PATH = 200
"""Bytes of a path in a tournament's folder; the system refuses to look for a file with a name of 256."""
HEADS = "heads"
"""Address of the heads of a tournament's records, those of running matches, too."""
T = TypeVar("T")
MOST = 50
"""Entrants, and matches, that are shown."""
MOST_CHARACTERS = 100
"""Most characters of a query; a name has at most twenty."""


def heads_path(folder: Path) -> Path:
    """Return the file with the heads of a tournament's records, which lies beside the folder of the records."""
    return folder.with_name(f"{folder.name}.heads")


def find_public_file(folder: Path, path: str, *, is_over: bool) -> Path | None:
    """Return a file of a tournament that everybody may have; None if there is none, or not for everybody.

    Args:
        folder: of the tournament's records.
        path: seen from there, as an address names it.
        is_over: whether the tournament is.
    """
    if len(path.encode()) > _MOST_OF_PATH:
        return None
    found, may_have = folder / path, path == HEADS
    if path == HEADS:
        found = heads_path(folder)
    elif record := _RECORD.fullmatch(path):
        may_have = is_over if record[1] == folder.name else (folder / "replays" / f"{record[1]}.html").is_file()
    else:
        may_have = _REPORT.fullmatch(path) is not None or (is_over and _OVER.fullmatch(path) is not None)
    return found if may_have and ".." not in path and found.is_file() and not found.is_symlink() else None


def has_replay(folder: Path, match: str) -> bool:
    """Tell whether everybody may see the replay of a match."""
    return find_public_file(folder, f"replays/{match}.html", is_over=False) is not None


def find_verifier(folder: Path, head: str, *, is_over: bool) -> str:
    """Return the address of what verifies a tournament's record, seen from its folder; empty if nothing does.

    Args:
        folder: of the tournament's records.
        head: of its record.
        is_over: whether the tournament is; its record is for nobody before.
    """
    is_there = is_over and find_public_file(folder, f"replays/{PAGE}", is_over=True) is not None
    return f"replays/{verifying_link(f'{folder.name}.jsonl', head)}" if is_there else ""


class FoundEntrant(Struct, frozen=True, kw_only=True):
    """An entrant of a tournament."""

    tournament: str
    name: str
    address: str
    """Address of the entrant's page from the site's first page."""


class FoundMatch(Struct, frozen=True, kw_only=True):
    """A match that is over."""

    tournament: str
    match: str
    names: Sequence[str]
    """Names of the players, by seat."""
    address: str
    """Address of the replay from the site's first page."""


class Found(Struct, frozen=True, kw_only=True):
    """What a search found."""

    entrants: Sequence[FoundEntrant]
    matches: Sequence[FoundMatch]
    is_all: bool
    """True if the search found nothing beyond these."""
    heads: Mapping[str, str]
    """Tournament -> head of its record, up to which it was searched; those in which something was found."""
    verifiers: Mapping[str, str]
    """Those that are over -> address of what verifies that record, seen from the first page."""


class Searched(Struct, frozen=True, kw_only=True):
    """A tournament as its report tells it."""

    name: str
    folder: Path
    head: str
    """Head of the tournament's record from which the report was made."""
    is_over: bool
    """True if the tournament was over when the report was made."""
    entrants: Sequence[tuple[str, str]]
    """Name, and the name of its page."""
    matches: Sequence[tuple[str, Sequence[str]]]
    """Match, and names by seat."""

    @property
    def verifier(self) -> str:
        """Address of what verifies that record, seen from the first page; empty if nothing does."""
        verifier = find_verifier(self.folder, self.head, is_over=self.is_over)
        return verifier and _address(self, verifier)

    def has(self, path: str) -> bool:
        """Tell whether everybody may have a file."""
        return find_public_file(self.folder, path, is_over=False) is not None


def search(query: str, tournaments: Iterable[Searched]) -> Found:
    """Return the entrants and matches in whose names all words of a query stand; a match has those of its players, too.

    Args:
        query: words, in any case; without one nothing is found.
        tournaments: of the contest.
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
    found = {entrant.tournament for entrant in entrants} | {match.tournament for match in matches}
    return Found(
        entrants=entrants[:MOST],
        matches=matches[:MOST],
        is_all=is_all,
        heads={name: head for name, head in heads.items() if name in found},
        verifiers={name: verifier for name, verifier in verifiers.items() if name in found and verifier},
    )


def _first(found: Iterator[T], count: int) -> Iterator[T]:
    """Yield what there is room for, and one more, which tells that there is more."""
    return islice(found, max(MOST + 1 - count, 0))


def _entrants(words: Sequence[str], tournament: Searched) -> Iterator[FoundEntrant]:
    for name, page in tournament.entrants:
        path = f"entrants/{page}.html"
        if _fits(words, name) and tournament.has(path):
            yield FoundEntrant(tournament=tournament.name, name=name, address=_address(tournament, path))


def _matches(words: Sequence[str], tournament: Searched) -> Iterator[FoundMatch]:
    for match, names in tournament.matches:
        path = f"replays/{match}.html"
        if _fits(words, " ".join((match, *names))) and tournament.has(path):
            address = _address(tournament, path)
            yield FoundMatch(tournament=tournament.name, match=match, names=names, address=address)


def _fits(words: Sequence[str], text: str) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _address(tournament: Searched, path: str) -> str:
    return f"tournaments/{tournament.name}/{path}"
