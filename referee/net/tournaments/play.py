"""A tournament that is to be played: its settings, its seeds, its record, and the job of each of its matches."""

from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

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
from ...tournament import commands as c
from ...tournament import events as e
from ...tournament.events import SpectatorSight
from ...tournament.machine import Tournament
from ...tournament.match_context import Fixture, MatchContext, MatchEntry
from ...tournament.spec import Participant, TournamentSpec
from ..group_commit import Durability, GroupCommit
from ..jobs.job import JobSeat, MatchJob, MatchTerms, rules_digest
from ..links.reserved_seats import RemotePool
from ..matches.programs import Occupant, Vacancy
from ..run_terms import RunTerms
from .round_pairing import PairingProgram

# --- How a tournament is run
#
# Nothing here depends on results: it may change between two runs of the same tournament.


DEFAULT_MIN_FREE_MIB = 200.0
"""Records of some thousand matches; below that, no match is begun."""


class RunSettings(Struct, frozen=True, kw_only=True):
    """What may change between two runs of the same tournament."""

    folder: Path
    """Of the records; the spec and the report stand there, too."""
    builds: Path | None = None
    """Folder of what is kept of the programs' builds; None: one beside the records."""
    tables: int = 1
    """How many matches are played at the same time."""
    workers: int = 0
    """How many processes play them; 0: the tournament's own does."""
    cluster: str | None = None
    """Address of the Dask scheduler whose hosts play them; None: there is none."""
    cluster_keys: Path | None = None
    """Folder of the certificates for it."""
    spectators: SpectatorSight | None = None
    """What spectators are shown of matches that are played; None: nothing."""
    listen: str = "tcp:7777:interface=127.0.0.1"
    """Twisted endpoint string to which remote entrants connect; not used without any."""
    tokens: Mapping[str, str] = {}
    """Remote entrant -> SHA-256 of its token, in hex."""
    come_back_s: float = 30.0
    """How long a remote entrant whose connection was lost may be away, its clock going on."""
    show_up_s: float = 60.0
    """How long a remote entrant that is not connected is waited for when its match is due."""
    sandbox: str = "auto"
    """`auto`, `required` or `off`, as with `referee play`."""
    pairing_program: PairingProgram | None = None
    """What pairs rounds in place of the built-in library."""
    min_free_mib: float = DEFAULT_MIN_FREE_MIB
    """No match is begun while less is free on the disk of the records."""


def run_terms(spec: TournamentSpec, run_settings: RunSettings) -> RunTerms:
    """Return how the matches of a tournament are played, whichever process plays them.

    Args:
        spec: of the tournament.
        run_settings: how it is run.
    """
    return RunTerms(
        durability=Durability(spec.durability),
        keep_for=spec.keep_for if spec.programs == "kept" else None,
        sandbox=run_settings.sandbox,
        memory_mib=spec.memory_mib,
    )


# --- Seeds
#
# Where the seed of each match of a tournament comes from: its secret, one number, or one deal for a pairing.


class MatchSeeds(Struct, frozen=True, kw_only=True):
    """Where a tournament's deals come from."""

    secret: bytes
    """32 bytes."""
    seed: int | None = None
    """Fixes every deal, for tests."""
    duplicate: bool = False
    """Whether all matches of a pairing have the same deal."""

    def of(self, fixture: Fixture) -> tuple[int | None, bytes | None, bytes | None]:
        """Return the number that fixes a match's seed, its deal, or the seed that is its alone: one of the three."""
        if self.seed is not None:
            return chance.deal_number(self.seed, fixture.number), None, None
        if self.duplicate:
            return None, chance.derive(self.secret, f"deal:{fixture.number}"), None
        return None, None, chance.match_seed(self.secret, fixture.match)

    def bytes_of(self, fixture: Fixture) -> bytes:
        """Return a match's seed: 32 bytes."""
        number, deal, drawn = self.of(fixture)
        return chance.seed_from_number(number) if number is not None else deal or drawn or b""


def salt_of(seed: int) -> str:
    """Return the salt of a tournament whose chance is fixed: 16 bytes in hex."""
    return chance.derive(chance.seed_from_number(seed), "salt")[:16].hex()


# --- The record
#
# A running tournament takes events, which are put on record; observers are notified once the disk has them.


class Recorder:
    """A tournament and its record: every event goes through here.

    Args:
        tournament: as far as it has come.
        writer: of its record.
        observers: are told.
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
        """Syncs the record while matches are played; None: each line is synced on the spot."""
        self.on_refused: Callable[[Failure], None] = lambda failure: failure.raiseException()
        """Called if the disk has refused to sync a line."""
        self._writer = writer
        self._observers = observers
        self._unsynced: deque[c.TakenStep] = deque()
        self._waiting: deque[tuple[int, Deferred[None]]] = deque()
        """Who waits until so many lines are on the disk, and observers have been told."""

    def take(self, event: e.TournamentEvent) -> tuple[c.TournamentCommand, ...]:
        """Let the tournament take an event, and write it; whatever can be seen of it has to wait for `synced`.

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
            self._tell(count)
        else:
            self.commits.sync(self._writer).addCallback(lambda _: self._tell(count)).addErrback(self._refused)
        return commands

    def synced(self) -> "Deferred[None]":
        """Wait until all that was taken by now is on the disk, and observers have been told.

        Returns:
            Fires then; fails with NotWritten.
        """
        if not self._unsynced:
            return succeed(None)
        synced: Deferred[None] = Deferred()
        self._waiting.append((self._writer.count, synced))
        return synced

    def open(self, fixture: Fixture) -> MatchContext:
        """Note that a match begins once that is `synced`, and return what its record has to say it was opened for."""
        self.take(e.MatchOpened(at=self.clock(), fixture=fixture))
        return MatchContext(tournament=self.tournament.spec.name, fixture=fixture, head=self._writer.head)

    def close(self, entry: MatchEntry) -> None:
        """Note what came of a match, whose record is sealed."""
        self.take(e.MatchClosed(at=self.clock(), entry=entry))

    def seal(self) -> None:
        """Sign all that is on record."""
        self._writer.seal()
        self._writer.sync()

    def _tell(self, count: int) -> None:
        """Tell observers of what is among the first so many lines, and then whoever waits for these."""
        while self._unsynced and self._unsynced[0].line < count:
            self._tell_step(self._unsynced.popleft())
        while self._waiting and self._waiting[0][0] <= count:
            self._waiting.popleft()[1].callback(None)

    def _tell_step(self, step: c.TakenStep) -> None:
        notify, event = self._observers.notify, step.event
        notify(Observer.on_tournament_stepped, step)
        for command in step.commands:
            if isinstance(command, c.SuspendEntrant):
                notify(Observer.on_entrant_suspended, command)
            elif isinstance(command, c.DisregardMatch):
                notify(Observer.on_notice, f"{command.match} does not count: {command.why}")
        is_disregarded = any(isinstance(command, c.DisregardMatch) for command in step.commands)
        if isinstance(event, e.MatchClosed) and not is_disregarded:
            notify(Observer.on_match_closed if event.entry.void is None else Observer.on_match_voided, event.entry)

    def _refused(self, failure: Failure) -> None:
        while self._waiting:
            self._waiting.popleft()[1].errback(failure)
        self.on_refused(failure)


# --- The tournament


class TournamentPlay(Struct, frozen=True, kw_only=True):
    """A tournament that is to be run, as far as it has come."""

    recorder: Recorder
    processes: tuple[str, ...] = ("",)
    """What the tournament's record calls those that play its matches: this one first, then workers, each once.

    Empty: it has a name of its own.
    """
    launches: list[Launch | str | None]
    """By entrant; None: remote, a text: why its program can't be started. `join` adds to it."""
    digests: dict[str, str] = {}
    """Entrant -> SHA-256 of its program's folder, in hex, as the record has it last."""
    over: Sequence[MatchEntry] = ()
    """What came of matches that were sealed, and not closed, when their referee died."""
    contexts: dict[str, MatchContext] = {}
    """Match -> what it was opened for, of those that were open when their referee died."""
    broken_off: dict[str, Resumption] = {}
    """Those of them that are played on; of the others, nothing was played yet."""
    seeds: MatchSeeds
    look: Callable[[], Coroutine[Deferred[Any], Any, None]]
    """Takes in what organisers and entrants have asked for meanwhile."""

    def join(self, participant: Participant, launch: Launch | str | None, digest: str | None) -> None:
        """Put on record that an entrant joins, and with which program.

        Args:
            participant: the entrant.
            launch: how its program is started; None: it is remote, a text: why it can't be started.
            digest: SHA-256 of its program's folder, in hex; None: it has none that the referee can read.

        Raises:
            BadRuling: nobody can join now, or nobody of that name.
            ImpossibleEvent: it can't happen now.
            NotWritten: the disk refused.
        """
        self.recorder.take(e.EntrantJoined(at=self.recorder.clock(), participant=participant, digest=digest))
        self.launches.append(launch)
        if digest is not None:
            self.digests[participant.name] = digest

    def has_remote(self, fixture: Fixture) -> bool:
        """Tell whether somebody plays who connects to this process: then it is played here."""
        return any(self.launches[entrant] is None for entrant in fixture.entrants)

    def occupants(
        self, fixture: Fixture, pool: RemotePool, run_settings: RunSettings, *, is_back: bool
    ) -> list[Occupant]:
        """Return who is to sit where.

        Args:
            fixture: the match.
            pool: lends remote players that are there; those that come back into their match it lets in by itself.
            run_settings: how the tournament is run.
            is_back: whether the match is gone on with.
        """
        found: list[Occupant] = []
        for entrant in fixture.entrants:
            name, launch = self.recorder.tournament.spec.entrants[entrant].name, self.launches[entrant]
            if isinstance(launch, Launch):
                found.append(launch)
            elif isinstance(launch, str):
                found.append(Vacancy(name=name, why=launch))
            elif is_back:
                found.append(None)
            elif pool.is_here(name):
                found.append(pool.acquire(name))
            else:
                found.append(Vacancy(name=name, why=f"not connected within {run_settings.show_up_s:g} s"))
        return found

    def job(
        self, context: MatchContext, occupants: Sequence[Occupant], sealer: Sealer, run_settings: RunSettings
    ) -> MatchJob:
        """Return what it takes to play a match.

        Args:
            context: what it was opened for.
            occupants: by seat.
            sealer: the key that will seal its record.
            run_settings: how the tournament is run.
        """
        fixture = context.fixture
        number, deal, drawn = self.seeds.of(fixture)
        seed = self.seeds.bytes_of(fixture)
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

    def _terms(self, run_settings: RunSettings) -> MatchTerms:
        spec = self.recorder.tournament.spec
        return MatchTerms(
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
