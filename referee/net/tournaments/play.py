"""A tournament to run: its run settings, its seeds, its record, and the jobs of its matches."""

from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct
from twisted.internet.defer import Deferred, succeed
from twisted.python.failure import Failure

from ... import chance
from ...clock import wall_clock
from ...observers import Observer, Observers
from ...programs.player_spec import Launch
from ...record.key import Sealer
from ...record.resume import Resumption
from ...record.tournament_record import TournamentWriter
from ...settings import declare, seconds
from ...tournament import commands as c
from ...tournament import events as e
from ...tournament.events import SpectatorSight
from ...tournament.machine import Tournament
from ...tournament.match_context import Fixture, MatchContext, MatchEntry
from ...tournament.spec import Participant
from ..group_commit import GroupCommit
from ..jobs.job import JobSeat, JobTerms, MatchJob, rules_digest
from ..links.reserved_seats import RemotePool
from ..matches.programs import Occupant, Vacancy
from .round_pairing import PairingProgram

# --- How a tournament is run
#
# Nothing here depends on results: it may change between two runs of the same tournament.


DEFAULT_LISTEN = "tcp:7777:interface=127.0.0.1"


class RunSettings(Struct, frozen=True, kw_only=True):
    """The settings that may change between two runs of the same tournament."""

    folder: Path
    """Folder of the records, the spec and the report."""
    builds: Path | None = None
    """Folder for the results of the programs' builds; None: one next to the records."""
    tables: Annotated[int, declare("Matches at the same time.", option="--tables", key="tables", ge=1, le=1000)] = 1
    workers: Annotated[
        int, declare("Play the matches in this many other processes.", option="--workers", ge=0, le=256)
    ] = 0
    cluster: (
        Annotated[
            str,
            declare(
                "Play the matches on the hosts of a Dask scheduler: tls://HOST:8786.",
                option="--cluster",
                unset="on this machine",
            ),
        ]
        | None
    ) = None
    keys: (
        Annotated[
            Path,
            declare(
                "Folder of the cluster's certificates. See `referee cluster-keys`.",
                option="--keys",
                unset="no encryption",
            ),
        ]
        | None
    ) = None
    spectators: SpectatorSight | None = None
    """The part of running matches that spectators are shown; None: nothing."""
    listen: str = DEFAULT_LISTEN
    """Twisted endpoint string to which remote entrants connect; not used without remote entrants."""
    tokens: Mapping[str, str] = {}
    """Remote entrant -> SHA-256 of its token, in hex."""
    come_back_s: Annotated[
        float,
        seconds(
            "Time for a player to come back after its connection was lost, in seconds; its clock runs.",
            key="remote.come_back",
            ge=0,
        ),
    ] = 30.0
    show_up_s: Annotated[
        float,
        seconds(
            "Time that a due match waits for a remote entrant that is not connected, in seconds.",
            key="remote.show_up",
            ge=0,
        ),
    ] = 60.0
    pairing_program: PairingProgram | None = None
    """Program that pairs rounds in place of the built-in library."""
    min_free_mib: Annotated[
        float,
        declare(
            "Least free space on the disk of the records, in MiB.",
            key="min_free_mib",
            unit="MiB",
            ge=0,
            le=1e12,
        ),
    ] = 200.0  # room for the records of some thousand matches


# --- Seeds
#
# The seed of a match comes from the tournament's secret, from a number, or from the deal of its pairing.


class MatchSeeds(Struct, frozen=True, kw_only=True):
    """Source of a tournament's deals."""

    secret: bytes
    """32 bytes."""
    seed: int | None = None
    """Number that fixes every deal, for tests."""
    duplicate: bool = False
    """True if all matches of a pairing have the same deal."""

    def choose(self, fixture: Fixture) -> tuple[int | None, bytes | None, bytes | None]:
        """Return the number, the deal and the own seed of a match: one of the three, and None for the others."""
        if self.seed is not None:
            return chance.deal_number(self.seed, fixture.number), None, None
        if self.duplicate:
            return None, chance.derive(self.secret, f"deal:{fixture.number}"), None
        return None, None, chance.match_seed(self.secret, fixture.match)

    def make_seed(self, fixture: Fixture) -> bytes:
        """Return a match's seed: 32 bytes."""
        number, deal, drawn = self.choose(fixture)
        return chance.seed_from_number(number) if number is not None else deal or drawn or b""


def make_salt(seed: int) -> str:
    """Return the salt of a tournament whose chance is fixed: 16 bytes in hex."""
    return chance.derive(chance.seed_from_number(seed), "salt")[:16].hex()


# --- The record
#
# A running tournament takes events, which are put on record; observers are notified once the disk has them.


class Recorder:
    """A tournament and its record; every event goes through here.

    Args:
        tournament: the tournament up to now.
        writer: writer of its record.
        observers: observers that are notified of every transition.
        clock: returns the time of day, as wall_clock does.
    """

    def __init__(
        self,
        tournament: Tournament,
        writer: TournamentWriter,
        observers: Observers,
        clock: Callable[[], str] = wall_clock,
    ) -> None:
        self.tournament = tournament
        self.clock = clock
        self.commits: GroupCommit | None = None
        """Syncs the record while matches are played; None: each line is synced at once."""
        self.on_refused: Callable[[Failure], None] = lambda failure: failure.raiseException()
        """Called if the disk has refused to sync a line."""
        self._writer = writer
        self._observers = observers
        self._unsynced: deque[c.TakenTransition] = deque()
        self._waiting: deque[tuple[int, Deferred[None]]] = deque()
        """Number of lines -> Deferred that fires once these are on the disk and observers were notified."""

    def take(self, event: e.TournamentEvent) -> tuple[c.TournamentCommand, ...]:
        """Let the tournament take an event, and write it; its commands must wait for `settle`.

        Raises:
            ImpossibleEvent: it can't happen now.
            BadRuling: it is a ruling that can't be carried out.
            NotWritten: the disk refused.
        """
        commands = self.tournament.handle(event)
        self._unsynced.append(self._writer.write_transition(event, commands))
        count = self._writer.count
        if self.commits is None:
            self._writer.sync()
            self._notify(count)
        else:
            self.commits.sync(self._writer).addCallback(lambda _: self._notify(count)).addErrback(self._on_refusal)
        return commands

    def settle(self) -> "Deferred[None]":
        """Wait until all events up to now are on the disk, and observers have been notified of them.

        Returns:
            Fires then; fails with NotWritten.
        """
        if not self._unsynced:
            return succeed(None)
        synced: Deferred[None] = Deferred()
        self._waiting.append((self._writer.count, synced))
        return synced

    def open(self, fixture: Fixture) -> MatchContext:
        """Record that a match begins; return the context for the header of the match's record.

        The match may begin once `settle` has fired.
        """
        self.take(e.MatchOpened(at=self.clock(), fixture=fixture))
        return MatchContext(tournament=self.tournament.spec.name, fixture=fixture, head=self._writer.head)

    def close(self, entry: MatchEntry) -> None:
        """Record the result of a match whose record is sealed."""
        self.take(e.MatchClosed(at=self.clock(), entry=entry))

    def seal(self) -> None:
        """Sign everything on record."""
        self._writer.seal()
        self._writer.sync()

    def _notify(self, count: int) -> None:
        """Notify observers of the lines up to a number, and then the callers that wait for these lines."""
        while self._unsynced and self._unsynced[0].line < count:
            self._notify_transition(self._unsynced.popleft())
        while self._waiting and self._waiting[0][0] <= count:
            self._waiting.popleft()[1].callback(None)

    def _notify_transition(self, transition: c.TakenTransition) -> None:
        notify, event = self._observers.notify, transition.event
        notify(Observer.on_tournament_advanced, transition)
        for command in transition.commands:
            if isinstance(command, c.SuspendEntrant):
                notify(Observer.on_entrant_suspended, command)
            elif isinstance(command, c.DisregardMatch):
                notify(Observer.on_notice, f"{command.match} does not count: {command.why}")
        is_disregarded = any(isinstance(command, c.DisregardMatch) for command in transition.commands)
        if isinstance(event, e.MatchClosed) and not is_disregarded:
            notify(Observer.on_match_closed if event.entry.void is None else Observer.on_match_voided, event.entry)

    def _on_refusal(self, failure: Failure) -> None:
        while self._waiting:
            self._waiting.popleft()[1].errback(failure)
        self.on_refused(failure)


# --- The tournament


class TournamentPlay(Struct, frozen=True, kw_only=True):
    """A tournament to run, as far as it has come."""

    recorder: Recorder
    processes: tuple[str, ...] = ("",)
    """Names, in the tournament's record, of the processes that play its matches: this one first, then workers.

    An empty name stands for a new one.
    """
    launches: list[Launch | str | None]
    """Program of each entrant; None if it is remote, a text if it can't be started. `join` adds to it."""
    digests: dict[str, str] = {}
    """Entrant -> the latest SHA-256 of its program's folder on record, in hex."""
    over: Sequence[MatchEntry] = ()
    """Results of matches that were sealed but not closed when the referee crashed."""
    contexts: dict[str, MatchContext] = {}
    """Match -> its context, for the matches that were open when the referee crashed."""
    broken_off: dict[str, Resumption] = {}
    """Match -> its state, for those of these matches that are resumed; in the others, nothing was played yet."""
    seeds: MatchSeeds
    look: Callable[[], Coroutine[Deferred[Any], Any, None]]
    """Takes in new rulings of organisers and requests of entrants."""

    def join(self, participant: Participant, launch: Launch | str | None, digest: str | None) -> None:
        """Record that an entrant joins, and with which program.

        Args:
            participant: the entrant.
            launch: its program; None if it is remote, a text if it can't be started.
            digest: SHA-256 of its program's folder, in hex; None: it has none that the referee can read.

        Raises:
            BadRuling: nobody can join now, or the name can't join.
            ImpossibleEvent: it can't happen now.
            NotWritten: the disk refused.
        """
        self.recorder.take(e.EntrantJoined(at=self.recorder.clock(), participant=participant, digest=digest))
        self.launches.append(launch)
        if digest is not None:
            self.digests[participant.name] = digest

    def has_remote(self, fixture: Fixture) -> bool:
        """Return whether a remote player takes part: then this process has to play the match."""
        return any(self.launches[entrant] is None for entrant in fixture.entrants)

    def find_occupants(
        self, fixture: Fixture, pool: RemotePool, run_settings: RunSettings, *, is_back: bool
    ) -> list[Occupant]:
        """Return the occupant of each seat.

        Args:
            fixture: the match.
            pool: lends the connected remote players, and takes returning players back into their match by itself.
            run_settings: settings of this run.
            is_back: whether the match is resumed.
        """
        occupants: list[Occupant] = []
        for entrant in fixture.entrants:
            name, launch = self.recorder.tournament.spec.entrants[entrant].name, self.launches[entrant]
            if isinstance(launch, Launch):
                occupants.append(launch)
            elif isinstance(launch, str):
                occupants.append(Vacancy(name=name, why=launch))
            elif is_back:
                occupants.append(None)
            elif pool.is_here(name):
                occupants.append(pool.acquire(name))
            else:
                occupants.append(Vacancy(name=name, why=f"not connected within {run_settings.show_up_s:g} s"))
        return occupants

    def make_job(
        self, context: MatchContext, occupants: Sequence[Occupant], sealer: Sealer, run_settings: RunSettings
    ) -> MatchJob:
        """Return the job of a match.

        Args:
            context: context of the match.
            occupants: occupants by seat.
            sealer: the key that will seal its record.
            run_settings: settings of this run.
        """
        fixture = context.fixture
        number, deal, drawn = self.seeds.choose(fixture)
        seed = self.seeds.make_seed(fixture)
        commitment = chance.commitment(seed)
        return MatchJob(
            context=context,
            terms=self._terms(run_settings),
            number=number,
            deal=deal,
            drawn=drawn,
            is_last_of_deal=self.recorder.tournament.is_last_leg(fixture),
            seats=tuple(
                self._seat(entrant, occupant, sealer.token(fixture.match, commitment, seat))
                for seat, (entrant, occupant) in enumerate(zip(fixture.entrants, occupants, strict=True))
            ),
            key=sealer.public,
            locked_seed=sealer.lock(seed, commitment),
        )

    def _terms(self, run_settings: RunSettings) -> JobTerms:
        spec = self.recorder.tournament.spec
        return JobTerms(
            game=spec.game,
            rules=rules_digest(spec.game),
            options=spec.options,
            time=spec.time,
            lag_margin_ms=spec.lag_margin_ms,
            default_margin=spec.scoring.default_margin,
            acknowledge=spec.acknowledge,
            come_back_s=run_settings.come_back_s,
        )

    def _seat(self, entrant: int, occupant: Occupant, token: str) -> JobSeat:
        participant = self.recorder.tournament.spec.entrants[entrant]
        return JobSeat(
            name=participant.name,
            given=participant.player,
            launch=occupant if isinstance(occupant, Launch) else None,
            why_not=occupant.why if isinstance(occupant, Vacancy) else None,
            digest=self.digests.get(participant.name),
            token=token,
        )
