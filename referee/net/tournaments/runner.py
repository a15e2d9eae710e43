"""Runs a tournament: opens what is to be played, as many tables at a time as there are, and hands in the results.

What is played, the tournament's fold alone decides. The records come first: a result is told only once it is on record.
"""

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThreadPool
from twisted.python.failure import Failure

from ...clock import Port, Timer
from ...errors import RefereeError
from ...files.tree import MIB
from ...observers import Observer, PlayingProcess
from ...observers.base import OWN_PROCESS
from ...programs.player_spec import Launch
from ...record.folder import output_path
from ...record.resume import Resumption
from ...record.tournament_record import make_entry
from ...tournament import events as e
from ...tournament.match_context import Fixture, MatchContext
from ...tournament.pairing.base import RoundToPair
from ...tournament.pairing.dutch import TrfPlayer
from ..jobs.job import Executor, MatchJob, OpenExecutor
from ..jobs.messages import SharedSettings
from ..jobs.tables import LocalTables
from ..links.addresses import listen, stop_listening
from ..links.lobby import Patience
from ..links.player_protocol import LinkFactory
from ..links.reserved_seats import RemotePool
from ..matches.program_pool import FolderStamps, is_memory_short
from ..matches.programs import Occupant
from ..matches.runner import MatchPaused
from ..matches.session import MatchReport
from ..matches.settings import MatchServices
from ..waiting import outlast
from .play import RunSettings, TournamentPlay, run_terms
from .round_pairing import PairedRound, PairingProcess, PairingProgramError, RoundByProgram

# --- Programs that are started early
#
# Starts the programs of the matches that come next, while all tables are taken: starting takes longer than playing.
#
# They take up a core that the tables leave, are stopped as soon as they have said hello, and are judged for nothing:
# whatever is wrong with them then, they are ended without a word, and started again when their match is opened.


def most_early(tables: int) -> int:
    """Return of how many matches the programs may be started early: of one for each core that the tables leave."""
    return max(min(tables, len(os.sched_getaffinity(0)) - tables), 0)


class _EarlyStart(Struct, kw_only=True, eq=False):
    """The programs of a match that is not opened yet."""

    job: MatchJob
    """But for what is known only once the match is opened."""
    launches: Sequence[Launch]
    opened: "Deferred[MatchJob]"
    stamps: Sequence[int] = ()
    """Of their folders, when they were started."""
    is_opened: bool = False
    played: "Deferred[MatchReport | None]"


class EarlyStarts:
    """The programs of a tournament that are started early.

    Args:
        reactor: Twisted's.
        tables: where their matches are played.
        play: the tournament's.
        run_settings: how it is run.
        most: of how many matches.
    """

    def __init__(
        self, reactor: Any, tables: LocalTables, play: TournamentPlay, run_settings: RunSettings, most: int
    ) -> None:
        self._tables = tables
        self._tournament_play = play
        self._run_settings = run_settings
        self._most = most
        self._stamps = FolderStamps(reactor)
        self._early: dict[str, _EarlyStart] = {}
        """By match."""
        self._unfit: set[str] = set()
        """Players whose programs were not there when their match came: they are not started early again."""
        self._ending: set[Deferred[None]] = set()

    def look_ahead(self, coming: Iterable[Fixture], playing: Collection[str]) -> None:
        """Start what comes next, and end what does not come any more.

        Args:
            coming: what can be opened next; the first is, if nothing else can by then.
            playing: the matches that are open.
        """
        due = {fixture.match: fixture for fixture in coming} if self._most else {}
        for match in self._early.keys() - due.keys() - set(playing):
            self._ending.add(Deferred.fromCoroutine(self._end(self._early.pop(match))))
        self._ending = {ending for ending in self._ending if not ending.called}
        waiting = self._early.keys() - set(playing)
        free = max(self._most - len(waiting), 0)
        new = [fixture for match, fixture in due.items() if match not in waiting][:free]
        if new and not is_memory_short():
            for fixture in new:
                self._start(fixture)

    def _start(self, fixture: Fixture) -> None:
        found = [self._tournament_play.launches[entrant] for entrant in fixture.entrants]
        launches = [launch for launch in found if isinstance(launch, Launch) and launch.name not in self._unfit]
        if len(launches) < len(found):
            return
        context = MatchContext(tournament=self._tournament_play.recorder.tournament.spec.name, fixture=fixture, head="")
        job = self._tournament_play.job(context, launches, self._tables.services.sealer, self._run_settings)
        early = _EarlyStart(job=job, launches=launches, opened=Deferred(), played=Deferred())
        self._early[fixture.match] = early
        early.played = Deferred.fromCoroutine(self._play(early))

    async def _play(self, early: _EarlyStart) -> MatchReport | None:
        try:
            early.stamps = await self._stamped(early.launches)
            return await self._tables.play_when_opened(early.job, early.launches, early.opened)
        except Exception:
            if early.is_opened:
                raise
            return None  # whatever it was: it comes up again when the match is opened, or nobody needs to know

    async def play(self, job: MatchJob, occupants: Sequence[Occupant]) -> MatchReport | None:
        """Play a match that is open now, if its programs were started early.

        Args:
            job: the match.
            occupants: by seat.

        Returns:
            What came of it; None: nothing was begun.

        Raises:
            MatchPaused: as LocalTables.play.
            OSError: as LocalTables.play.
        """
        early = self._early.get(job.match)
        if early is None:
            return None
        is_same = await self._stamped(early.launches) == early.stamps and _is_same(job, early.job)
        del self._early[job.match]
        if not is_same or early.launches != occupants:
            await self._end(early)
            return None
        early.is_opened = True
        early.opened.callback(job)
        report = await early.played
        if report is None:
            self._unfit |= {launch.name for launch in early.launches}
            self._forget(early)
        return report

    async def _stamped(self, launches: Sequence[Launch]) -> list[int]:
        return [await self._stamps.of(launch) for launch in launches]

    async def _end(self, early: _EarlyStart) -> None:
        """End programs whose match does not come, and wait until nothing is left of them."""
        early.played.cancel()
        await outlast(early.played)
        self._forget(early)

    def _forget(self, early: _EarlyStart) -> None:
        """Remove what programs have printed that have not played."""
        for seat, launch in enumerate(early.launches):
            output_path(self._run_settings.folder, early.job.match, seat, launch.name).unlink(missing_ok=True)

    async def close(self) -> None:
        """End all that have not come to play, and wait until nothing is left of them."""
        self.look_ahead((), ())
        for ending in list(self._ending):
            await outlast(ending)


def _is_same(job: MatchJob, early: MatchJob) -> bool:
    """Tell whether programs that were started for a job can play another: nothing that they know is different."""
    return early == replace(
        job, context=early.context, is_last_of_deal=early.is_last_of_deal, locked_seed=early.locked_seed
    )


# --- The runner


MAX_ATTEMPTS = 5
"""A match that is void so often for the referee's fault is void for ever: somebody has to look."""
LOOK_AGAIN_S = 10.0
"""How often the disk is looked at while too little is free on it."""
LOOK_S = 1.0
"""How often it is looked whether an organiser has ruled on something, or somebody wants to join."""
REFRESH_S = 0.25
"""How often observers may show what has changed."""


class TournamentStopped(RefereeError):
    """The tournament can't go on; what was played is kept, and the text says what to do."""


class TournamentRunner:
    """Runs one tournament.

    Args:
        reactor: Twisted's reactor.
        now: monotonic seconds.
        play: what is to be run.
        run_settings: where and how.
        services: what its matches share.
        open_executor: opens what plays matches in other processes; None: all are played in it.
    """

    def __init__(
        self,
        reactor: Any,
        now: Callable[[], float],
        play: TournamentPlay,
        run_settings: RunSettings,
        services: MatchServices,
        open_executor: OpenExecutor | None = None,
    ) -> None:
        self._reactor = reactor
        self._now = now
        self._tournament_play = play
        self._recorder = play.recorder
        self._tournament = play.recorder.tournament
        self._spec = self._tournament.spec
        self._run_settings = run_settings
        self._observers = services.observers
        terms = run_terms(self._spec, run_settings)
        services = replace(services, terms=terms)
        self._tables = LocalTables(reactor, now, run_settings.folder, services, play.processes[0])
        self._shared = SharedSettings.of(run_settings.folder, services.confinement, terms)
        self._open_executor = open_executor
        self._executor: Executor | None = None
        most = 0 if terms.keep_for is not None or open_executor is not None else most_early(run_settings.tables)
        self._early = EarlyStarts(reactor, self._tables, play, run_settings, most)
        patience = Patience(reactor, self._tables.loop, self._spec.lag_margin_ms)
        self._pool = RemotePool(reactor, run_settings.tokens, self._fill, patience=patience)
        self._pool.note = self._observers.note
        self._tables.services = replace(self._tables.services, remote_pool=self._pool)
        self._playing: dict[str, tuple[int, Deferred[None]]] = {}
        """Match -> its table, from 1, and the Deferred that plays it."""
        self._due_since: dict[str, float] = {}
        """Match -> since when it waits for somebody remote."""
        self._alarm: Timer | None = None
        self._refreshing = LoopingCall(self._observers.notify, Observer.refresh)
        self._looking = LoopingCall(self._look)
        self._refreshing.clock = self._looking.clock = reactor
        self._pairing: PairingProcess | RoundByProgram | None = None
        """What pairs a round, while it does."""
        self._not_paired: tuple[RoundToPair, PairingProgramError] | None = None
        """The round that the organiser's program could not pair, and why."""
        self._is_filling = False
        self._look_now: Deferred[None] | None = None
        """Of the look at what was asked for, while it goes on."""
        self._trouble: BaseException | None = None
        self._finished: Deferred[None] = Deferred()

    async def run(self) -> None:
        """Play until the tournament is over.

        Raises:
            CancelledError: it was stopped; every open match is paused, and its record is what it goes on from.
            TournamentStopped: it can't go on.
            AddressError: the address for remote entrants can't be listened on.
            OSError: a record can't be written.
        """
        port = await self._open_pool()
        if self._open_executor is None or self._run_settings.tokens:
            self._tables.loop.lag.start()  # else nobody here has a limit, unless a match is played here all the same
        if self._open_executor is not None:
            self._executor = self._open_executor(self._reactor, self._shared, self._tables.services, self._fill)
        self._observers.notify(Observer.on_tournament_begun, self._tournament, self._tournament.total)
        self._refreshing.start(REFRESH_S, now=False)
        self._recorder.commits, self._recorder.on_refused = self._tables.commits, self._failed
        try:
            for entry in self._tournament_play.over:
                self._recorder.close(entry)
            self._looking.start(LOOK_S).addErrback(self._failed)
            await self._finished
            await self._recorder.synced()
            self._observers.notify(Observer.on_tournament_ended, self._tournament)
        except CancelledError as error:
            self._stop(error)
            for _, playing in list(self._playing.values()):
                await playing
            raise
        finally:
            await self._close(port)

    async def _close(self, port: Port | None) -> None:
        """End all that runs beside the matches, and wait until nothing is left of it."""
        self._recorder.commits = None
        self._tables.loop.lag.stop()
        self._refreshing.stop()
        if self._looking.running:
            self._looking.stop()
        if self._look_now is not None:
            self._look_now.cancel()  # whatever it was at is still asked for, and the next referee looks
        self._call_off()
        if self._pairing is not None:
            self._pairing.end()
        self._pool.close()
        await self._early.close()
        await self._tables.close()
        if self._executor is not None:
            await self._executor.close()
        if port is not None:
            await stop_listening(port)

    def _look(self) -> Deferred[None]:
        """Tell what plays; take in what was asked for meanwhile, and go on by it."""
        self._observers.notify(Observer.on_processes_seen, tuple(self._processes()))
        self._look_now = look = Deferred.fromCoroutine(self._tournament_play.look())
        return look.addBoth(self._looked)

    def _processes(self) -> Iterator[PlayingProcess]:
        """Yield what plays matches, this process first."""
        others = [] if self._executor is None else self._executor.processes()
        away = {match for process in others for match in process.matches}
        tables = None if self._executor else self._run_settings.tables
        own = tuple(match for match in self._playing if match not in away)
        yield PlayingProcess(name=OWN_PROCESS, state="plays", tables=tables, matches=own, silent_s=0.0)
        yield from others

    def _looked(self, failure: Failure | None) -> Failure | None:
        self._look_now = None
        self._spec = self._tournament.spec
        if failure is None:
            self._fill()
        return failure

    async def _open_pool(self) -> Port | None:
        if not self._run_settings.tokens:
            return None
        port = await listen(self._reactor, self._run_settings.listen, LinkFactory(self._pool, self._reactor, self._now))
        self._observers.note("listening", address=self._run_settings.listen)
        self._observers.notify(Observer.on_notice, f"remote entrants may connect to {self._run_settings.listen}")
        return port

    # --- what to open

    def _fill(self) -> None:
        """Open matches while there are tables; see whether all is over."""
        if self._is_filling:
            return  # a match that ends while another is being opened
        self._is_filling = True
        try:
            self._open_some()
            is_full = self._trouble is None and len(self._playing) >= self._run_settings.tables
            self._early.look_ahead(self._openable() if is_full else (), self._playing)
        except Exception as error:  # noqa: BLE001  # whoever waits for the tournament is told
            self._stop(error)
        finally:
            self._is_filling = False
        self._conclude()

    def _open_some(self) -> None:
        while self._trouble is None:
            self._pair()
            openable = list(self._openable())  # anew each time: a match that ends at once changes what is due
            if not openable or len(self._playing) >= self._most_open or not self._check_disk():
                return
            self._open(openable[0])

    @property
    def _most_open(self) -> int:
        room = None if self._executor is None else self._executor.room
        return self._run_settings.tables if room is None else min(self._run_settings.tables, room)

    def _pair(self) -> None:
        """Let a round be paired, if one is to be; a large one takes seconds."""
        asked = self._tournament.to_pair
        is_hopeless = self._not_paired is not None and self._not_paired[0] == asked
        if asked is None or self._pairing is not None or self._trouble is not None or is_hopeless:
            return
        self._not_paired = None
        pairing = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), self._begin_pairing(asked))
        pairing.addCallbacks(self._paired, self._not_paired_by_program, callbackArgs=(asked,), errbackArgs=(asked,))
        pairing.addErrback(self._failed)

    def _begin_pairing(self, asked: RoundToPair) -> Callable[[], PairedRound]:
        """Return what pairs a round when it is called in a thread: the organiser's program, if there is one."""
        program = self._run_settings.pairing_program
        if program is None:
            process = self._pairing = PairingProcess()
            return lambda: PairedRound(*process.pair(asked))
        people = [TrfPlayer(entrant.name, entrant.rating) for entrant in self._tournament.spec.entrants]
        self._pairing = by_program = RoundByProgram(program, asked, self._spec.name, people)
        return by_program.pair

    def _paired(self, found: PairedRound, asked: RoundToPair) -> None:
        self._pairing = None
        if self._trouble is None and asked == self._tournament.to_pair:  # no ruling has changed it meanwhile
            at = self._recorder.clock()
            self._recorder.take(e.RoundPaired(at=at, round=asked.round, **found._asdict()))
        self._fill()

    def _not_paired_by_program(self, failure: Failure, asked: RoundToPair) -> None:
        """Let what is open be played to its end; the tournament stops then, unless a ruling has changed the round."""
        self._pairing = None
        error = failure.value
        if not isinstance(error, PairingProgramError):
            self._failed(failure)
            return
        self._not_paired = asked, error
        self._fill()

    def _openable(self) -> Iterator[Fixture]:
        """Yield the matches that nobody plays yet and all of whose players are there, or waited for in vain.

        What was open when a referee died comes first, whether it still counts or not.
        """
        playing = self._tournament.playing
        left = [fixture for match, fixture in playing.items() if match not in self._playing]
        for fixture in (*left, *(fixture for fixture in self._tournament.fixtures() if fixture.match not in playing)):
            name = fixture.match
            if name in self._tournament_play.broken_off or not self._awaited(fixture) or self._end_wait(name):
                yield fixture

    def _awaited(self, fixture: Fixture) -> list[str]:
        """Return the remote players of a fixture that are not here."""
        remote = [entrant for entrant in fixture.entrants if self._tournament_play.launches[entrant] is None]
        names = [self._spec.entrants[entrant].name for entrant in remote]
        return [name for name in names if not self._pool.is_here(name)]

    def _end_wait(self, name: str) -> bool:
        """Return whether a match has waited long enough for its remote players; if not, look again when it has."""
        since = self._due_since.setdefault(name, self._now())
        left_s = since + self._run_settings.show_up_s - self._now()
        if left_s <= 0 and self._pool.patience.stood_still(since, ""):
            self._due_since[name], left_s = self._now(), self._run_settings.show_up_s
        if left_s > 0:
            self._look_again(left_s)
        return left_s <= 0

    def _check_disk(self) -> bool:
        """Return whether the disk has room for another record; if not, tell the organiser and look again later."""
        free_mib = shutil.disk_usage(self._run_settings.folder).free / MIB
        if free_mib >= self._run_settings.min_free_mib:
            return True
        where, least = self._run_settings.folder, self._run_settings.min_free_mib
        text = f"no match is begun: {free_mib:.0f} MiB are free at {where}, fewer than {least:g}"
        self._observers.notify(Observer.on_notice, f"{text}; free some, and the tournament goes on by itself")
        self._look_again(LOOK_AGAIN_S)
        return False

    def _look_again(self, delay_s: float) -> None:
        """See to it that tables are filled again at the latest after so many seconds."""
        due = self._reactor.seconds() + delay_s
        if self._alarm is not None and self._alarm.active():
            if self._alarm.getTime() <= due:
                return
            self._alarm.cancel()
        self._alarm = self._reactor.callLater(delay_s, self._fill)

    def _call_off(self) -> None:
        if self._alarm is not None and self._alarm.active():
            self._alarm.cancel()

    # --- a match

    def _open(self, fixture: Fixture) -> None:
        name = fixture.match
        if fixture.attempt >= MAX_ATTEMPTS:
            where = self._run_settings.folder / f"{name[: name.rindex('r')]}*.jsonl"
            raise TournamentStopped(
                f"{name} was void {MAX_ATTEMPTS} times, and the records say why: {where}; "
                f"or rule on it: `referee rule {self._run_settings.folder} void {name}`"
            )
        self._due_since.pop(name, None)
        used = {table for table, _ in self._playing.values()}
        number = next(table for table in range(1, len(used) + 2) if table not in used)
        playing = Deferred.fromCoroutine(self._play(fixture, number, self._tournament_play.broken_off.pop(name, None)))
        self._playing[name] = (number, playing)
        playing.addBoth(self._closed, name)

    async def _play(self, fixture: Fixture, table: int, resumed: Resumption | None) -> None:
        """Open a match, unless it was open already; play it to its end, and hand in what came of it."""
        play, run_settings = self._tournament_play, self._run_settings
        is_back = resumed is not None
        occupants = play.occupants(fixture, self._pool, run_settings, is_back=is_back)  # now: they are here
        context = play.contexts.pop(fixture.match, None) or self._recorder.open(fixture)
        await self._recorder.synced()
        self._observers.notify(Observer.on_match_opened, fixture.match, table, fixture)
        job = play.job(context, occupants, self._tables.services.sealer, run_settings)
        executor = None if is_back or play.has_remote(fixture) else self._executor
        if executor is not None and executor.takes(job):
            away = await executor.play(job)
            result, head = away.result, away.head
        else:
            early = None if is_back else await self._early.play(job, occupants)
            played = early or await self._tables.play(job, occupants, resumed)
            result, head = played.result, played.head
        self._recorder.close(make_entry(fixture, tuple(seat.name for seat in job.seats), result, head))

    def _closed(self, failure: Failure | None, name: str) -> None:
        """Clear a table, and lay it anew."""
        del self._playing[name]
        if failure is not None and not failure.check(MatchPaused, CancelledError):
            self._failed(failure)
        self._fill()

    def _failed(self, failure: Failure) -> None:
        self._stop(failure.value or TournamentStopped(str(failure)))

    # --- the end

    def _stop(self, trouble: BaseException) -> None:
        """Open nothing more, and pause what is open."""
        if self._trouble is None:
            self._trouble = trouble
            if self._pairing is not None:
                self._pairing.end()
            for _, playing in list(self._playing.values()):
                playing.cancel()
        self._conclude()

    def _conclude(self) -> None:
        """Say so once nothing is open any more and nothing is to be opened."""
        if self._playing or self._is_filling or self._finished.called:
            return
        if self._trouble is not None:
            self._finished.errback(self._trouble)
        elif self._pairing is not None or self._look_now is not None or not self._most_open:
            return
        elif self._tournament.is_over:
            self._finished.callback(None)
        elif self._not_paired is not None:
            self._finished.errback(self._not_paired[1])
        elif self._alarm is None or not self._alarm.active():
            self._finished.errback(TournamentStopped("the pairing format gives nothing to play, and is not over"))
