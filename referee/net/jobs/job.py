"""What it takes to play one match of a tournament: whoever has the job can play it, and needs no key for that.

An executor plays jobs in other processes than the tournament's own: its workers, or the hosts of a cluster.
"""

import hashlib
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from protocol.messages import TimeControl

from ... import __version__
from ...match.commands import Result
from ...match.setup import MatchSetup
from ...observers import PlayingProcess
from ...plugins import find_game
from ...programs.player_spec import Launch
from ...record.key import Sealer
from ...tournament.match_context import MatchContext
from ..matches.programs import Occupant, Vacancy
from ..matches.settings import MatchServices, MatchSettings, make_seed, make_setup
from .messages import SharedSettings


class JobSeat(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who sits on one seat: a program that is started, or nobody; neither of both: a player that is connected."""

    name: str
    given: str
    """How its program was given."""
    launch: Launch | None = None
    why_not: str | None = None
    """Why its program can't be started, or it can't come."""
    digest: str | None = None
    """SHA-256 of its program's folder, in hex; None: it has none."""
    token: str
    """What it identifies itself with."""

    @property
    def occupant(self) -> Occupant:
        """Who is to be seated; None: who is connected."""
        return self.launch if self.why_not is None else Vacancy(name=self.name, why=self.why_not)


class MatchTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a match needs of its tournament's spec and run settings, the same for all its matches."""

    game: str
    rules: str
    """SHA-256 of the files of the game, in hex."""
    referee: str = __version__
    options: dict[str, Any] = {}
    time: TimeControl
    lag_margin_ms: float
    default_margin: int | None
    acknowledge: bool
    come_back_s: float


class MatchJob(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One match that is to be played: all that its record follows from, but for what its players do."""

    context: MatchContext
    terms: MatchTerms
    number: int | None
    """Fixes the seed, which is no secret then."""
    deal: bytes | None
    """The very seed of a duplicate deal; in both cases the players' nonces stay out of it."""
    drawn: bytes | None
    """The seed of the match alone; one of the three is given."""
    is_last_of_deal: bool
    seats: tuple[JobSeat, ...]
    key: str
    """The public key that will seal the record, in hex."""
    locked_seed: str = ""
    """The seed as it stands in the record, for that key alone."""

    @property
    def match(self) -> str:
        """The match's name."""
        return self.context.fixture.match

    @property
    def occupants(self) -> list[Occupant]:
        """Who is to be seated, by seat."""
        return [seat.occupant for seat in self.seats]

    @property
    def seed(self) -> bytes:
        """The match's seed."""
        return make_seed(self.settings(Path()))

    @property
    def setup(self) -> MatchSetup:
        """The setup that the match has to have."""
        names = [seat.name for seat in self.seats]
        return make_setup(self.settings(Path()), self.terms.game, self.match, names, self.seed)

    def settings(self, folder: Path) -> MatchSettings:
        """Return how a host plays it.

        Args:
            folder: of the records.
        """
        terms = self.terms
        return MatchSettings(
            options=terms.options,
            time=terms.time,
            lag_margin_ms=terms.lag_margin_ms,
            default_margin=terms.default_margin,
            acknowledge=terms.acknowledge,
            come_back_s=terms.come_back_s,
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
    """What stands in for a referee's key where it is not: one job's share of it, which can sign nothing.

    Args:
        job: the only one that it is good for.
    """

    can_sign = False

    def __init__(self, job: MatchJob) -> None:
        self.public = job.key
        self._job = job

    def lock(self, secret: bytes, context: str) -> str:
        """Return the seed as it was locked by who has the key."""
        return self._job.locked_seed

    def token(self, match: str, commitment: str, seat: int) -> str:
        """Return the token of a seat."""
        return self._job.seats[seat].token


def encoded(job: MatchJob) -> bytes:
    """Return a job as bytes: always the same ones for the same job."""
    return msgspec.msgpack.encode(job, enc_hook=str, order="deterministic")


def decoded(data: bytes) -> MatchJob:
    """Return the job of bytes.

    Raises:
        DecodeError: they are none.
    """
    return msgspec.msgpack.decode(data, type=MatchJob, dec_hook=lambda kind, text: kind(text))


@cache
def rules_digest(game: str) -> str:
    """Return the SHA-256 of the files that a game is made of, in hex: where it differs, other rules may be played.

    Args:
        game: its name.
    """
    module = sys.modules[type(find_game(game)).__module__]
    file = Path(str(module.__file__))
    found = file.parent.rglob("*") if module.__package__ else [file]
    digest = hashlib.sha256()
    for path in sorted(path for path in found if path.suffix in (".py", ".toml")):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class SealedMatch(Struct, frozen=True, kw_only=True):
    """A match that an executor has played, sealed here."""

    result: Result
    record: Path
    head: str
    """Hash of the record's result line, over which it is sealed."""


class Executor(Protocol):
    """Plays matches in other processes, each as its job says."""

    @property
    def room(self) -> int | None:
        """How many matches may be open at a time now; None: as many as the tournament has tables."""

    def takes(self, job: MatchJob) -> bool:
        """Tell whether a match can be played there at all."""

    async def play(self, job: MatchJob) -> SealedMatch:
        """Have a match played to its end, and seal its record.

        Raises:
            MatchPaused: it was cancelled; its record is what it goes on from.
            RefereeError: it can't be played there.
            OSError: the record can't be written.
        """

    def processes(self) -> Sequence[PlayingProcess]:
        """Return what plays there, and how it is."""

    async def close(self) -> None:
        """Play no more, and wait until nothing is left of what plays."""


OpenExecutor = Callable[[Any, SharedSettings, MatchServices, Callable[[], None]], Executor]
"""Takes Twisted's reactor, what all matches share, the tournament's services (with `commits`), and what is to be called
when there is more room."""
