"""The job of one match of a tournament: a process that has the job can play the match, and needs no key for that.

An executor plays jobs in other processes than the tournament's own: in its workers, or on the hosts of a cluster.
"""

import hashlib
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from ... import __version__
from ...match.commands import Result
from ...match.setup import MatchSetup
from ...observers import PlayingProcess
from ...plugins import find_game
from ...programs.player_spec import Launch
from ...record.key import Sealer
from ...tournament.match_context import MatchContext
from ..matches.programs import Occupant, Vacancy
from ..matches.settings import MatchServices, MatchSettings, MatchTerms, make_seed, make_setup
from .messages import SharedSettings


class JobSeat(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One seat: a program to start (`launch`), nobody (`why_not`), or, if both are None, a connected player."""

    name: str
    given: str
    """The player's program as the organiser wrote it."""
    launch: Launch | None = None
    why_not: str | None = None
    """Why nobody sits here: the program can't be started, or the player can't come."""
    digest: str | None = None
    """SHA-256 of its program's folder, in hex; None if there is no folder."""
    token: str
    """Token of the seat."""

    @property
    def occupant(self) -> Occupant:
        """The occupant for the match session; None: a connected player."""
        return self.launch if self.why_not is None else Vacancy(name=self.name, why=self.why_not)


class JobTerms(MatchTerms, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The part of a tournament's spec and run settings that its matches need; the same for all of them."""

    game: str
    rules: str
    """SHA-256 of the files of the game, in hex."""
    referee: str = __version__


class MatchJob(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One match to play: everything that decides its record, except what its players do."""

    context: MatchContext
    terms: JobTerms
    number: int | None
    """Number that the seed is made from; such a seed is no secret."""
    deal: bytes | None
    """Seed of a duplicate deal. Here and with `number`, the players' nonces do not enter the shuffle."""
    drawn: bytes | None
    """Seed of this match alone. Exactly one of `number`, `deal` and `drawn` is given."""
    is_last_of_deal: bool
    seats: tuple[JobSeat, ...]
    key: str
    """The public key that will seal the record, in hex."""
    locked_seed: str = ""
    """The seed as it stands in the record, encrypted for `key`."""

    @property
    def match(self) -> str:
        """The match's name."""
        return self.context.fixture.match

    @property
    def occupants(self) -> list[Occupant]:
        """The occupants by seat."""
        return [seat.occupant for seat in self.seats]

    @property
    def seed(self) -> bytes:
        """The match's seed."""
        return make_seed(self.settings(Path()))

    @property
    def setup(self) -> MatchSetup:
        """The setup that the match must have."""
        names = [seat.name for seat in self.seats]
        return make_setup(self.settings(Path()), self.terms.game, self.match, names, self.seed)

    def settings(self, folder: Path) -> MatchSettings:
        """Return the settings of the match.

        Args:
            folder: folder for the record.
        """
        return MatchSettings(
            **{name: getattr(self.terms, name) for name in MatchTerms.__struct_fields__},
            seed=self.number,
            deal=self.deal,
            drawn=self.drawn,
            is_last_of_deal=self.is_last_of_deal,
            folder=folder,
            match=self.match,
            context=self.context,
            programs=tuple(seat.given for seat in self.seats),
        )


class KeylessSealer(Sealer):
    """Replaces the referee's key in other processes: it has the values that one job needs, and can't sign.

    Args:
        job: the only job that it serves.
    """

    can_sign = False

    def __init__(self, job: MatchJob) -> None:
        self.public = job.key
        self._job = job

    def lock(self, secret: bytes, context: str) -> str:
        """Return the seed as the process with the key has encrypted it."""
        return self._job.locked_seed

    def token(self, match: str, commitment: str, seat: int) -> str:
        """Return the token of a seat."""
        return self._job.seats[seat].token


def encode_job(job: MatchJob) -> bytes:
    """Return a job as bytes; equal jobs give equal bytes."""
    return msgspec.msgpack.encode(job, enc_hook=str, order="deterministic")


def decode_job(data: bytes) -> MatchJob:
    """Return the job that encode_job has encoded.

    Raises:
        DecodeError: the bytes are no job.
    """
    return msgspec.msgpack.decode(data, type=MatchJob, dec_hook=lambda kind, text: kind(text))


@cache
def rules_digest(game: str) -> str:
    """Return the SHA-256 of a game's files, in hex: a process with a different digest may play by different rules.

    Args:
        game: name of the game.
    """
    module = sys.modules[type(find_game(game)).__module__]
    file = Path(str(module.__file__))
    files = file.parent.rglob("*") if module.__package__ else [file]
    digest = hashlib.sha256()
    for path in sorted(path for path in files if path.suffix in (".py", ".toml")):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class SealedMatch(Struct, frozen=True, kw_only=True):
    """A match that an executor has played; its record is sealed in this process."""

    result: Result
    record: Path
    head: str
    """Hash of the record's result line, over which it is sealed."""


class Executor(Protocol):
    """Has matches played in other processes, each as its job says.

    The tournament's workers implement it, and so does the coordinator of a cluster.
    """

    @property
    def room(self) -> int | None:
        """Number of matches that may be open at a time now; None: as many as the tournament has tables."""

    def takes(self, job: MatchJob) -> bool:
        """Return whether the executor can play a match at all."""

    async def play(self, job: MatchJob) -> SealedMatch:
        """Have a match played to its end, and seal its record.

        Raises:
            MatchPaused: the call was cancelled; the match can go on from its record.
            RefereeError: the match can't be played there.
            OSError: the record can't be written.
        """

    def processes(self) -> Sequence[PlayingProcess]:
        """Return the state of the processes that play."""

    async def close(self) -> None:
        """End all processes that play, and wait until nothing is left of them."""


OpenExecutor = Callable[[Any, SharedSettings, MatchServices, Callable[[], None]], Executor]
"""Opens an executor. Arguments: Twisted's reactor, the settings that all matches share, the tournament's services (with
`commits`), and a function to call when there is more room."""
