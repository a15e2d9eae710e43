"""A tournament that is run on a clock of its own: matches end, rounds are paired and requests come when a test says."""

import json
import resource
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, cast

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from referee.match.commands import Result
from referee.net.event_loop import BEAT_S
from referee.net.group_commit import sync_all
from referee.net.matches.session import MatchReport
from referee.net.matches.settings import MatchServices, MatchSettings
from referee.net.tournaments.play import MatchSeeds, Recorder, RunSettings, TournamentPlay
from referee.net.tournaments.runner import TournamentRunner
from referee.observers import Observer, Observers
from referee.record.key import Sealer
from referee.record.tournament_record import TournamentWriter, read_tournament, refold
from referee.settings import RunTerms
from referee.tournament import events as e
from referee.tournament.machine import Tournament
from referee.tournament.rulings import Kind, Ruling
from referee.tournament.spec import TournamentSpec

from ...tournament.playing import AT, SALT, tournament_of

SEALER = Sealer.new()
Decide = Callable[[MatchSettings], tuple[tuple[int, ...], ...]]
"""The ranking of a match."""


class Loop(Clock):
    """A clock with threads whose work is done when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.syncs_at_once = True
        self.work: list[Callable[[], None]] = []
        """Work that was handed to threads and is not done yet, in order."""

    def getThreadPool(self) -> "Loop":
        """Return the threads."""
        return self

    def callInThreadWithCallback(self, done: Callable[[bool, Any], None], function: Any, *args: Any) -> None:
        """Keep work for later; what is to be synced is at once, unless the test says when."""

        def work() -> None:
            try:
                found = function(*args)
            except Exception:  # noqa: BLE001  # as a thread of Twisted's does
                done(False, Failure())
            else:
                done(True, found)

        if self.syncs_at_once and function is sync_all:
            work()
        else:
            self.work.append(work)

    def callFromThread(self, function: Callable[..., None], *args: Any) -> None:
        """Call a function in the loop."""
        function(*args)

    def run(self, seconds: float) -> None:
        """Let time pass, the loop beating."""
        self.pump([BEAT_S / 2] * round(2 * seconds / BEAT_S))


class Hosts:
    """Match hosts whose matches end when the test says so; has the place of the class MatchSession."""

    def __init__(self) -> None:
        self.playing: dict[str, tuple[MatchSettings, Deferred[MatchReport]]] = {}
        self.opened: list[str] = []
        """Every match that was ever opened, in this order."""
        self.at_opening: Callable[[MatchSettings], None] = lambda _: None
        """Called with each match before it is played."""

    def __call__(self, _reactor: Any, _now: Any, _game: Any, settings: MatchSettings, _services: Any) -> "Host":
        """Make a host."""
        return Host(self, settings)

    def end(self, match: str | None = None, ranking: tuple[tuple[int, ...], ...] = ((0,), (1,)), **more: Any) -> str:
        """Let a match end, the first one that is open if none is named; return its name."""
        match = match or next(iter(self.playing))
        settings, course = self.playing.pop(match)
        seats = seats_of(settings)
        void: str | None = more.get("void")
        result = Result(
            winners=ranking[0],
            ranking=() if void else ranking,
            scores=(0,) * len(seats),
            fouls=(),
            reason=None if void else "q.end",
            void=void,
            turns=7,
            used_ms=(0.0,) * len(seats),
        )
        names = tuple(f"e{entrant}" for entrant in seats)
        head = f"{Random(match).getrandbits(256):064x}"
        course.callback(MatchReport(names=names, result=result, record=Path(), match=cast("Any", None), head=head))
        return match

    def end_all(self, decide: Decide = lambda _: ((0,), (1,))) -> None:
        """Let matches end until none is open."""
        while self.playing:
            match, (settings, _) = next(iter(self.playing.items()))
            self.end(match, decide(settings))


class Host:
    """The host of one match."""

    def __init__(self, hosts: Hosts, settings: MatchSettings) -> None:
        self._hosts = hosts
        self._settings = settings

    def play(self, _occupants: Any, *, vacate_if_missing: bool) -> Deferred[MatchReport]:
        """Play until the test sets the result."""
        assert vacate_if_missing
        self._hosts.at_opening(self._settings)
        return self._begun()

    def play_on(self, _resumed: Any, _occupants: Any, _address: str, *, void_if_missing: bool) -> Deferred[MatchReport]:
        """Play on, likewise."""
        return self.play(_occupants, vacate_if_missing=void_if_missing)

    def _begun(self) -> Deferred[MatchReport]:
        match = match_of(self._settings)
        course: Deferred[MatchReport] = Deferred(lambda _: self._hosts.playing.pop(match) and None)
        self._hosts.playing[match] = self._settings, course
        self._hosts.opened.append(match)
        return course


class Told(Observer):
    """Stores each notification, and how many lines the record had at that time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.calls: list[tuple[str, tuple[Any, ...], int]] = []

    def find_listener(self, method: Callable[..., object]) -> Callable[..., object] | None:
        """Keep every call but those of `refresh` and `note`."""
        name = method.__name__
        return None if name in ("refresh", "note") else lambda *args: self._keep(name, args)

    def _keep(self, method: str, args: tuple[Any, ...]) -> None:
        self.calls.append((method, args, len(lines_of(self.path))))

    def texts(self) -> list[str]:
        """Return what was noted."""
        return [args[0] for method, args, _ in self.calls if method == "on_notice"]


class InMemoryTournament:
    """A tournament with its runner; a tournament on record is continued."""

    def __init__(
        self, folder: Path, spec: TournamentSpec, *, observers: Sequence[Observer] = (), **settings: Any
    ) -> None:
        self.path = folder / f"{spec.name}.jsonl"
        self.loop = Loop()
        self.told = Told(self.path)
        self.observers = Observers(self.told, *observers)
        self.tournament = tournament_of(spec)
        self.writer = self._writer(spec)
        self.recorder = Recorder(self.tournament, self.writer, self.observers, lambda: AT)
        self.requests: list[Callable[[], Awaitable[None]]] = []
        """What is taken in at the next look, one by one."""
        self.course = TournamentPlay(
            recorder=self.recorder,
            launches=["is not started"] * len(spec.entrants),
            contexts=self._contexts(),
            seeds=MatchSeeds(secret=bytes(32), seed=1),
            look=self._look,
        )
        terms = RunTerms(durability=spec.durability, keep_for=spec.keep_for if spec.programs == "kept" else None)
        self.runner = TournamentRunner(
            self.loop,
            self.loop.seconds,
            self.course,
            RunSettings(folder=folder, min_free_mib=0, **settings),
            MatchServices(sealer=SEALER, observers=self.observers, terms=terms),
        )
        self.outcome: list[Any] = []
        """Outcome of the run: None, or a Failure."""

    def start(self) -> None:
        """Begin, or go on."""
        is_new = len(lines_of(self.path)) == 1
        self.recorder.take(e.Begun(at=AT) if is_new else e.TournamentResumed(at=AT, referee="test"))
        self.running = Deferred.fromCoroutine(self.runner.run())
        self.running.addBoth(self.outcome.append)

    def rule(self, kind: Kind, **about: str) -> None:
        """Let the organiser ask for a ruling, which is taken in within a second."""

        async def taken() -> None:
            number = len(self.tournament.rulings)
            ruling = Ruling(id=f"{number}", kind=kind, reason="so", by="the organiser", **about)
            self.recorder.take(e.Ruled(at=AT, ruling=ruling))

        self.requests.append(taken)
        self.loop.run(1.1)

    def finish(self) -> Any:
        """Finish the record of a tournament that is over, close it, and return what it says of the standings."""
        assert self.outcome == [None]
        commands = self.recorder.take(e.Finished(at=AT))
        self.recorder.seal()
        self.writer.close()
        return commands

    async def _look(self) -> None:
        while self.requests:
            await self.requests.pop(0)()

    def _writer(self, spec: TournamentSpec) -> TournamentWriter:
        if not self.path.exists():
            writer = TournamentWriter(self.path, SEALER)
            writer.write_header(spec, SALT, {}, referee="test", opened=AT)
            return writer
        record = read_tournament(self.path)
        for _ in refold(record, self.tournament.handle):
            pass
        return TournamentWriter(self.path, SEALER, record.chain.end)

    def _contexts(self) -> dict[str, Any]:
        contexts = read_tournament(self.path).contexts
        return {match: contexts[match] for match in self.tournament.playing}


def match_of(settings: MatchSettings) -> str:
    """Return the name of a match of a tournament."""
    assert settings.match is not None
    return settings.match


def seats_of(settings: MatchSettings) -> tuple[int, ...]:
    """Return the entrants of a match of a tournament, by seat."""
    assert settings.context is not None
    return settings.context.fixture.entrants


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a record."""
    return [json.loads(line) for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def events_on_record(path: Path) -> list[str]:
    """Return the names of the events on record."""
    return [line["event"]["event"] for line in lines_of(path) if "event" in line]


@contextmanager
def no_file_longer_than(size_bytes: int) -> Iterator[None]:
    """Have the system refuse to let any file of this process grow beyond a size, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def refolded(path: Path) -> Tournament:
    """Return the tournament of a record, computed again from its events."""
    record = read_tournament(path)
    tournament = tournament_of(record.header.spec)
    for _ in refold(record, tournament.handle):
        pass
    return tournament
