"""Finds entrants and matches of a contest by their names, among what everybody may have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from .published import find_published, verifier_of

T = TypeVar("T")
MOST = 50
"""Entrants, and matches, that are shown."""
MOST_CHARACTERS = 100
"""Of what is looked for; a name has at most twenty."""


class FoundEntrant(Struct, frozen=True, kw_only=True):
    """An entrant of a tournament."""

    tournament: str
    name: str
    address: str
    """Of its page, seen from the first page."""


class FoundMatch(Struct, frozen=True, kw_only=True):
    """A match that is over."""

    tournament: str
    match: str
    names: Sequence[str]
    """By seat."""
    address: str
    """Of its replay, seen from the first page."""


class Found(Struct, frozen=True, kw_only=True):
    """What a search found."""

    entrants: Sequence[FoundEntrant]
    matches: Sequence[FoundMatch]
    is_all: bool
    """Whether there is no more of either."""
    heads: Mapping[str, str]
    """Tournament -> head of its record, up to which it was searched; those in which something was found."""
    verifiers: Mapping[str, str]
    """Those that are over -> address of what verifies that record, seen from the first page."""


class Searched(Struct, frozen=True, kw_only=True):
    """A tournament as its report tells it."""

    name: str
    folder: Path
    head: str
    """Of the tournament's record that its report was made from."""
    is_over: bool
    """Whether the tournament is, as that report tells."""
    entrants: Sequence[tuple[str, str]]
    """Name, and the name of its page."""
    matches: Sequence[tuple[str, Sequence[str]]]
    """Match, and names by seat."""

    @property
    def verifier(self) -> str:
        """Address of what verifies that record, seen from the first page; empty if nothing does."""
        verifier = verifier_of(self.folder, self.head, is_over=self.is_over)
        return verifier and _address(self, verifier)

    def has(self, path: str) -> bool:
        """Tell whether everybody may have a file."""
        return find_published(self.folder, path, is_over=False) is not None


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
