"""Runs a tournament: opens matches as long as a table is free, and records their results.

Only the state of the tournament decides what is played. Records come first: a result is reported only once it is on
record.
"""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

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
from ...record.resume import Resumption
from ...tournament import events as e
from ...tournament.match_context import Fixture, MatchEntry, make_entry
from ...tournament.pairing.base import RoundToPair
from ...tournament.pairing.dutch import TrfPlayer
from ..jobs.job import Executor, OpenExecutor
from ..jobs.messages import SharedSettings
from ..jobs.tables import LocalTables
from ..links.addresses import listen, stop_listening
from ..links.lobby import Patience
from ..links.player_protocol import LinkFactory
from ..links.reserved_seats import RemotePool
from ..matches.runner import MatchPaused
from ..matches.settings import MatchServices
from .early_starts import EarlyStarts, count_early
from .play import RunSettings, TournamentPlay
from .round_pairing import PairedRound, PairingProcess, PairingProgramError, RoundByProgram

# Everything that can change the tournament goes the same way: the tournament takes an event, which is written and
# synced; only then are observers notified, and only then may a match begin (Recorder). So a crash at any point leaves a
# record from which the next run goes on, and nobody has seen a result that this record does not show.
#
# The runner itself only fills tables. It does so whenever something may have made room or work: a match has ended, a
# round was paired, a remote player came, a ruling was taken in, the disk has space again. `_fill` may be called at any
# time and any number of times; it looks at the state of the tournament and opens what can be opened, and remembers
# nothing of earlier calls. That is why no caller has to know what became possible.

MAX_ATTEMPTS = 5
"""Number of attempts at a match that is void by the referee's fault each time; after that, the organiser has to look at
it."""
LOOK_AGAIN_S = 10.0
"""Seconds between two looks at a disk with too little free space."""
LOOK_S = 1.0
"""Seconds between two looks for rulings of the organiser and for entrants that want to join."""
REFRESH_S = 0.25
"""Seconds between two calls of Observer.refresh."""


class TournamentRunner:
    """Runs one tournament.

    Args:
        reactor: Twisted's reactor.
        now: returns monotonic seconds.
        play: the tournament.
        run_settings: settings of this run.
        services: services that its matches share.
        open_executor: opens the executor that plays matches in other processes; None: this process plays all.
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
        self._tables = LocalTables(reactor, now, run_settings.folder, services, play.processes[0])
        self._shared = SharedSettings.of(run_settings.folder, services.confinement, services.terms)
        self._open_executor = open_executor
        self._executor: Executor | None = None
        most = (
            0 if services.terms.keep_for is not None or open_executor is not None else count_early(run_settings.tables)
        )
        self._early = EarlyStarts(reactor, self._tables, play, run_settings, most)
        patience = Patience(reactor, self._tables.loop, self._spec.lag_margin_ms)
        self._pool = RemotePool(reactor, run_settings.tokens, self._fill, patience=patience)
        self._pool.note = self._observers.note
        self._tables.services = replace(self._tables.services, remote_pool=self._pool)
        self._playing: dict[str, tuple[int, Deferred[Any]]] = {}
        """Match -> number of its table, from 1, and the Deferred that plays it."""
        self._due_since: dict[str, float] = {}
        """Match -> when it began to wait for a remote player, in monotonic seconds."""
        self._alarm: Timer | None = None
        self._refreshing = LoopingCall(self._observers.notify, Observer.refresh)
        self._looking = LoopingCall(self._look)
        self._refreshing.clock = self._looking.clock = reactor
        self._pairing: PairingProcess | RoundByProgram | None = None
        """The process or program that pairs a round at the moment."""
        self._not_paired: tuple[RoundToPair, PairingProgramError] | None = None
        """The round that the organiser's program failed to pair, and its error."""
        self._is_filling = False
        self._look_now: Deferred[None] | None = None
        """The look at rulings and requests, while it goes on."""
        self._trouble: BaseException | None = None
        self._finished: Deferred[None] = Deferred()

    async def run(self) -> None:
        """Play until the tournament is over.

        Raises:
            CancelledError: it was stopped; every open match is paused and can go on from its record.
            RefereeError: it can't go on.
            EndpointError: the address for remote entrants can't be listened on.
            OSError: a record can't be written.
        """
        port = await self._open_pool()
        if self._open_executor is None or self._run_settings.tokens:
            self._tables.loop.lag.start()  # else no limit runs in this process, or a match starts the beat itself
        if self._open_executor is not None:
            self._executor = self._open_executor(self._reactor, self._shared, self._tables.services, self._fill)
        self._observers.notify(Observer.on_tournament_begun, self._tournament, self._tournament.total)
        self._refreshing.start(REFRESH_S, now=False)
        self._recorder.commits, self._recorder.on_refused = self._tables.commits, self._on_failure
        try:
            for entry in self._tournament_play.over:
                self._recorder.close(entry)
            self._looking.start(LOOK_S).addErrback(self._on_failure)
            await self._finished
            await self._recorder.settle()
            self._observers.notify(Observer.on_tournament_ended, self._tournament)
        except CancelledError as error:
            self.stop(error)
            for _, playing in list(self._playing.values()):
                await playing
            raise
        finally:
            await self._close(port)

    async def _close(self, port: Port | None) -> None:
        """End everything that runs next to the matches, and wait until nothing is left of it."""
        self._recorder.commits = None
        self._tables.loop.lag.stop()
        self._refreshing.stop()
        if self._looking.running:
            self._looking.stop()
        if self._look_now is not None:
            self._look_now.cancel()  # requests stay where they are, for the next run
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
        """Report the processes that play, and take in new rulings and requests."""
        self._observers.notify(Observer.on_processes_seen, tuple(self._processes()))
        self._look_now = look = Deferred.fromCoroutine(self._tournament_play.look())
        return look.addBoth(self._on_look_end)

    def _processes(self) -> Iterator[PlayingProcess]:
        """Yield the processes that play matches, this one first."""
        others = [] if self._executor is None else self._executor.processes()
        away = {match for process in others for match in process.matches}
        tables = None if self._executor else self._run_settings.tables
        here = tuple(match for match in self._playing if match not in away)
        yield PlayingProcess(name=OWN_PROCESS, state="plays", tables=tables, matches=here, silent_s=0.0)
        yield from others

    def _on_look_end(self, failure: Failure | None) -> Failure | None:
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
        """Open matches while tables are free; end the tournament if nothing is left to play."""
        if self._is_filling:
            return  # a match has ended while another one is being opened
        self._is_filling = True
        try:
            self._open_some()
            is_full = self._trouble is None and len(self._playing) >= self._run_settings.tables
            self._early.look_ahead(self._openable() if is_full else (), self._playing)
        except Exception as error:  # noqa: BLE001  # `run` raises it
            self.stop(error)
        finally:
            self._is_filling = False
        self._conclude()

    def _open_some(self) -> None:
        while self._trouble is None:
            self._pair()
            openable = list(self._openable())  # a new list each time: a match that ends at once changes what is due
            if not openable or len(self._playing) >= self._most_open or not self._check_disk():
                return
            self._open(openable[0])

    @property
    def _most_open(self) -> int:
        room = None if self._executor is None else self._executor.room
        return self._run_settings.tables if room is None else min(self._run_settings.tables, room)

    def _pair(self) -> None:
        """Begin to pair a round, if one is due, in a process of its own: a large round takes seconds."""
        request = self._tournament.to_pair
        is_hopeless = self._not_paired is not None and self._not_paired[0] == request
        if request is None or self._pairing is not None or self._trouble is not None or is_hopeless:
            return
        self._not_paired = None
        pairing = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), self._begin_pairing(request))
        pairing.addCallbacks(
            self._take_round, self._on_pairing_failure, callbackArgs=(request,), errbackArgs=(request,)
        )
        pairing.addErrback(self._on_failure)

    def _begin_pairing(self, request: RoundToPair) -> Callable[[], PairedRound]:
        """Return a function that pairs a round in a thread, by the organiser's program if there is one."""
        program = self._run_settings.pairing_program
        if program is None:
            process = self._pairing = PairingProcess()
            return lambda: PairedRound(*process.pair(request))
        people = [TrfPlayer(entrant.name, entrant.rating) for entrant in self._tournament.spec.entrants]
        self._pairing = by_program = RoundByProgram(program, request, self._spec.name, people)
        return by_program.pair

    def _take_round(self, paired: PairedRound, request: RoundToPair) -> None:
        """Record a paired round, unless a ruling has changed the round while it was being paired."""
        self._pairing = None
        if self._trouble is None and request == self._tournament.to_pair:
            at = self._recorder.clock()
            self._recorder.take(e.RoundPaired(at=at, round=request.round, **paired._asdict()))
        self._fill()

    def _on_pairing_failure(self, failure: Failure, request: RoundToPair) -> None:
        """Play the open matches to their end; then the tournament stops, unless a ruling has changed the round."""
        self._pairing = None
        error = failure.value
        if not isinstance(error, PairingProgramError):
            self._on_failure(failure)
            return
        self._not_paired = request, error
        self._fill()

    def _openable(self) -> Iterator[Fixture]:
        """Yield the matches that can begin: their players are there, or were waited for long enough.

        Matches that were open when an earlier run ended come first, whether they still count or not.
        """
        playing = self._tournament.playing
        resumed = [fixture for match, fixture in playing.items() if match not in self._playing]
        for fixture in (
            *resumed,
            *(fixture for fixture in self._tournament.fixtures() if fixture.match not in playing),
        ):
            name = fixture.match
            if name in self._tournament_play.broken_off or not self._find_absent(fixture) or self._end_wait(name):
                yield fixture

    def _find_absent(self, fixture: Fixture) -> list[str]:
        """Return the remote players of a fixture that are not here."""
        remote = [entrant for entrant in fixture.entrants if self._tournament_play.launches[entrant] is None]
        names = [self._spec.entrants[entrant].name for entrant in remote]
        return [name for name in names if not self._pool.is_here(name)]

    def _end_wait(self, name: str) -> bool:
        """Return whether a match has waited long enough for its remote players; if not, schedule the next look."""
        since = self._due_since.setdefault(name, self._now())
        left_s = since + self._run_settings.show_up_s - self._now()
        if left_s <= 0 and self._pool.patience.has_stalled(since, ""):
            self._due_since[name], left_s = self._now(), self._run_settings.show_up_s
        if left_s > 0:
            self._look_again(left_s)
        return left_s <= 0

    def _check_disk(self) -> bool:
        """Return whether the disk has room for another record; if not, notify the organiser and look again later."""
        free_mib = shutil.disk_usage(self._run_settings.folder).free / MIB
        if free_mib >= self._run_settings.min_free_mib:
            return True
        where, least = self._run_settings.folder, self._run_settings.min_free_mib
        text = f"no match is begun: {free_mib:.0f} MiB are free at {where}, fewer than {least:g}"
        self._observers.notify(Observer.on_notice, f"{text}; free some space, and the tournament goes on by itself")
        self._look_again(LOOK_AGAIN_S)
        return False

    def _look_again(self, delay_s: float) -> None:
        """Fill the tables again after a number of seconds at the latest."""
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
            raise RefereeError(
                f"{name} was void {MAX_ATTEMPTS} times, for the reasons in these records: {where}; fix them, "
                f"or rule on it: `referee rule {self._run_settings.folder} void {name}`"
            )
        self._due_since.pop(name, None)
        used = {table for table, _ in self._playing.values()}
        number = next(table for table in range(1, len(used) + 2) if table not in used)
        playing = Deferred.fromCoroutine(self._play(fixture, number, self._tournament_play.broken_off.pop(name, None)))
        self._playing[name] = (number, playing)
        playing.addBoth(self._on_match_end, name)

    async def _play(self, fixture: Fixture, table: int, resumed: Resumption | None) -> MatchEntry:
        """Open a match, unless it was open already; play it to its end, and return its result."""
        play, run_settings = self._tournament_play, self._run_settings
        is_back = resumed is not None
        # First, before anything is waited for: a remote player that is here now may be gone later.
        occupants = play.find_occupants(fixture, self._pool, run_settings, is_back=is_back)
        context = play.contexts.pop(fixture.match, None) or self._recorder.open(fixture)
        await self._recorder.settle()
        self._observers.notify(Observer.on_match_opened, fixture.match, table, fixture)
        job = play.make_job(context, occupants, self._tables.services.sealer, run_settings)
        executor = None if is_back or play.has_remote(fixture) else self._executor
        if executor is not None and executor.takes(job):
            away = await executor.play(job)
            result, head = away.result, away.head
        else:
            early = None if is_back else await self._early.play(job, occupants)
            played = early or await self._tables.play(job, occupants, resumed)
            result, head = played.result, played.head
        return make_entry(fixture, tuple(seat.name for seat in job.seats), result, head)

    def _on_match_end(self, entry: MatchEntry | Failure, name: str) -> None:
        """Record the result, free the table, and open the next match; the disk syncs both lines together."""
        with self._tables.commits.gather():
            try:
                if isinstance(entry, MatchEntry):
                    self._recorder.close(entry)
                elif not entry.check(MatchPaused, CancelledError):
                    self._on_failure(entry)
            except Exception:  # noqa: BLE001  # `run` raises it
                self._on_failure(Failure())
            del self._playing[name]
            self._fill()

    def _on_failure(self, failure: Failure) -> None:
        self.stop(failure.value or RefereeError(str(failure)))

    # --- the end

    def stop(self, trouble: BaseException) -> None:
        """Open no more matches, and pause the open ones."""
        if self._trouble is None:
            self._trouble = trouble
            if self._pairing is not None:
                self._pairing.end()
            for _, playing in list(self._playing.values()):
                playing.cancel()
        self._conclude()

    def _conclude(self) -> None:
        """End `run` once no match is open and none is due."""
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
            self._finished.errback(RefereeError("the pairing format has no match to play, but is not over"))
