"""The practice matches that authors have requested, stored on the disk, and the order in which they are played."""

#     DIR/AUTHOR/0001/challenge.json    request and outcome
#     DIR/AUTHOR/0001/                  record of the match, after the match has begun

import contextlib
from collections.abc import Iterator, Sequence
from datetime import MAXYEAR, datetime
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from ...errors import RemediableError
from ...files.scratch import remove
from ...files.whole import write_whole
from .store import StoreError

MAX_WAITING = 3
"""Most waiting practice matches of one author."""
MAX_KEPT = 100
"""Most stored practice matches of one author; if there are more, the oldest is removed."""
PERSON = "me:"
"""Prefix to the name of an author who plays in person."""
PRACTICE = "practice"
"""Folder of all practice matches in the folder of records; no tournament may have this name."""
_FILE = "challenge.json"
_DIGITS = 4


class Challenge(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A practice match that an author has requested."""

    author: str
    number: int
    """Number from 1, counted for each author."""
    tournament: str
    """Tournament whose game, options and times apply to the match."""
    version: int | None
    """Author's version that plays; None: the author plays in person."""
    opponent: str
    """Player of all other seats: `house:NAME`, or the number of one of the author's other versions."""
    asked: str
    """Time of the request, ISO 8601 in UTC."""
    begun: str | None = None
    """Time of the last attempt to play the match, in the same form."""
    attempts: int = 0
    """Number of attempts that ended because the server crashed."""
    ended: str | None = None
    """Time of the end, in the same form; None before the end."""
    trouble: str | None = None
    """Reason why the match was not played, in one sentence."""

    def __post_init__(self) -> None:
        for at in (self.asked, self.asked if self.begun is None else self.begun):
            moment = datetime.fromisoformat(at)
            if moment.tzinfo is None or moment.year == MAXYEAR:  # deadlines are computed from it
                raise ValueError(f"{at} is no time of a match")

    @property
    def is_in_person(self) -> bool:
        """True if the author plays in person."""
        return self.version is None

    @property
    def place(self) -> str:
        """Path of the match's folder in the folder of all practice matches."""
        return f"{self.author}/{self.number:0{_DIGITS}}"


class PracticeRules(Struct, frozen=True, kw_only=True):
    """A tournament whose rules may be used in practice."""

    tournament: str
    game: str
    """Title of the game."""
    houses: Sequence[str]
    """House players that can play the game."""


class ChallengeRefused(RemediableError):
    """The refusal of a request for a practice match."""


class Challenges:
    """The practice matches of all authors.

    Args:
        root: folder of all practice matches.

    Raises:
        StoreError: a file in it can't be read.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._known: dict[str, dict[int, Challenge]] = {}
        for path in sorted(self._root.glob(f"*/*/{_FILE}")):
            self._keep(self._read(path))

    def list_own(self, author: str) -> list[Challenge]:
        """Return the matches that an author has requested, the oldest first."""
        return list(self._known.get(author, {}).values())

    def latest(self, challenge: Challenge) -> Challenge:
        """Return the current state of a challenge."""
        return self._known.get(challenge.author, {}).get(challenge.number, challenge)

    def folder(self, challenge: Challenge) -> Path:
        """Return the folder of a match's record."""
        return self._root / challenge.place

    def waiting(self) -> list[Challenge]:
        """Return the matches that have not ended, in the order in which they are to be played.

        Matches that have begun come first. Then authors take turns, beginning with the author who has waited longest.
        So an author who requests many matches at once delays nobody else.
        """
        turns = chain.from_iterable(map(self._turns, self._known))
        return [challenge for _, challenge in sorted(turns, key=lambda turn: turn[0])]

    def add(self, challenge: Challenge) -> Challenge:
        """Store a challenge, and return it with its number.

        Raises:
            ChallengeRefused: the author has too many waiting matches.
            OSError: the disk can't store it.
        """
        challenges = self._known.get(challenge.author, {})
        if sum(other.ended is None for other in challenges.values()) >= MAX_WAITING:
            raise ChallengeRefused(
                f"{MAX_WAITING} of your practice matches are already waiting", "ask again when one of them is over"
            )
        numbered = msgspec.structs.replace(challenge, number=max(challenges, default=0) + 1)
        self.folder(numbered).mkdir(parents=True, exist_ok=True)
        self.save(numbered)
        for number in sorted(challenges)[:-MAX_KEPT]:
            with contextlib.suppress(OSError):
                remove(self.folder(challenges.pop(number)))
        return numbered

    def save(self, challenge: Challenge) -> None:
        """Store the state of a challenge.

        Raises:
            OSError: the disk can't store it.
        """
        write_whole(self.folder(challenge) / _FILE, [msgspec.json.encode(challenge)])
        self._keep(challenge)

    def _read(self, path: Path) -> Challenge:
        try:
            challenge = msgspec.json.decode(path.read_bytes(), type=Challenge)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise StoreError(f"can't read {path}: {error}; move its folder away") from None
        if self.folder(challenge) != path.parent:
            raise StoreError(f"{path} does not fit the author and the number of its folder; move that folder away")
        return challenge

    def _keep(self, challenge: Challenge) -> None:
        self._known.setdefault(challenge.author, {})[challenge.number] = challenge

    def _turns(self, author: str) -> Iterator[tuple[tuple[bool, int, str, str], Challenge]]:
        """Yield an author's matches that have not ended, each with a sort key for its place among all matches."""
        last = max(
            (challenge.begun or "" for challenge in self.list_own(author) if challenge.ended is not None), default=""
        )
        open_ones = (challenge for challenge in self.list_own(author) if challenge.ended is None)
        for turn, challenge in enumerate(open_ones):
            yield (challenge.begun is None, turn, last, challenge.asked), challenge
