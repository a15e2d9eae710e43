"""A tournament that is to be run, and the job of each of its matches."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from msgspec import Struct
from twisted.internet.defer import Deferred

from ... import chance
from ...programs.player_spec import Launch
from ...record.resume import Resumption
from ...record.seal import Sealer
from ...tournament import events as e
from ...tournament.match_context import Fixture, MatchContext, MatchEntry
from ...tournament.spec import Participant
from ..jobs.job import JobSeat, MatchJob, MatchTerms, rules_digest
from ..links.reserved_seats import RemotePool
from ..matches.programs import Occupant, Vacancy
from .recorder import Recorder
from .run_settings import RunSettings
from .seeds import MatchSeeds


class TournamentCourse(Struct, frozen=True, kw_only=True):
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
