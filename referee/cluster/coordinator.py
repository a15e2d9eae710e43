"""Plays a tournament's matches on the hosts of a cluster: who is there, who plays what, and what becomes of that.

The coordinator chooses the host of each match, not Dask: legs of one pairing are played on one host, a host that has
lied gets nothing more, and what waits at a host that is lost waits elsewhere. It judges each record, and seals it here.
"""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.threads import deferToThreadPool

from ..net.jobs.job import MatchJob, SealedMatch
from ..net.jobs.messages import SharedSettings
from ..net.matches.runner import MatchPaused
from ..net.matches.settings import MatchServices
from ..net.waiting import outlasting
from ..observers import Observer, PlayingProcess
from ..observers.unusual import tell_step
from ..record.reader import RecordError
from ..tournament.hosts import Calibration, void_for
from .cluster_host import GONE_LOOKS, Attempt, ClusterHost, HostChoice, Lost, Outcome, unstarted
from .dispatch import Dispatch, nothing
from .followed import Accepted, Followed, HandedOut
from .host import versions
from .messages import (
    RETURNED,
    BrokenOff,
    Connect,
    HostAnswer,
    KeptFolder,
    KnownHosts,
    Needs,
    NotBegun,
    PlayedMatch,
    Returned,
    RunAnswer,
    RunOffer,
    SeenHost,
    ShippedJob,
    StopMatch,
    ToldByHost,
)
from .programs import Shipping, can_go, keep

MOST_FAILURES = 3
"""So often a host may fail to play something, and it is put aside."""


Admit = Callable[[str, str, Calibration], str | None]


class ClusterPlan(Struct, frozen=True, kw_only=True):
    """What a tournament wants of a cluster."""

    address: str
    """Of the scheduler."""
    keys: Path | None
    """Folder of the certificates."""
    tournament: str
    game: str


class Hosts:
    """The hosts of a cluster, and the dispatcher through which they are reached.

    Args:
        reactor: Twisted's reactor.
        plan: what the tournament wants.
        settings: what its matches share.
        services: of the tournament; the key stays here.
        processes: what records call hosts, each once.
        has_room: called when more matches may be open.
        admit: takes name, process and calibration of a host that comes on record; returns why not, if so.
    """

    def __init__(
        self,
        reactor: Any,
        plan: ClusterPlan,
        settings: SharedSettings,
        services: MatchServices,
        processes: Sequence[str],
        has_room: Callable[[], None],
        admit: Admit,
    ) -> None:
        self.reactor = reactor
        self.settings = settings
        self.services = services
        self.run = secrets.token_hex(8)
        """Names this run of the tournament."""
        self.choice = HostChoice()
        self.shipping = Shipping(settings.folder, settings.hidden)
        self._plan = plan
        self._processes = list(processes)
        self._has_room = has_room
        self._admit = admit
        self._note = services.observers.note
        self._versions = versions(plan.game)
        self._hosts: dict[str, ClusterHost] = {}
        self.everybody = self._hosts.values()
        self._looks = 0
        """So often it was told who is there."""
        self._said: set[str] = set()
        """What is to be said once."""
        self._waiting: list[Deferred[None]] = []
        """Who waits for a host with room."""
        connect = Connect(address=plan.address, keys=plan.keys, topic=self.run)
        self._dispatch = Dispatch(reactor, connect, settings.folder, self._take, self._disconnected, self.say)

    # --- for the coordinator

    async def free(self, preferred: str | None, programs: Iterable[str]) -> ClusterHost:
        """Wait for a host that can be given a match.

        Args:
            preferred: as HostChoice.pick has it; if it may still come, or come back, that is waited for.
            programs: of the match.
        """
        while self._is_awaited(preferred) or (host := self.choice.pick(preferred, programs)) is None:
            waiting: Deferred[None] = Deferred()
            self._waiting.append(waiting)
            await waiting
        return host

    def _is_awaited(self, name: str | None) -> bool:
        """Tell whether a host is not there, and had no time yet to come."""
        if name is None:
            return False
        host = self._hosts.get(name)
        return self._looks < GONE_LOOKS if host is None else host.may_come

    def handed_out(self, host: ClusterHost) -> HandedOut:
        """Return how a host is given a match now."""
        return HandedOut(
            process=host.process,
            terms=self.settings.terms,
            since_ms=host.over_ms,
        )

    def give(self, host: ClusterHost, attempt: Attempt) -> None:
        """Give a match to a host."""
        host.attempts[attempt.shipped.match] = attempt
        self._play(host, attempt)

    def stop(self, host: ClusterHost, match: str) -> None:
        """Have a match stopped in the middle, and forget it."""
        attempt = host.attempts.get(match)
        if attempt is not None and not attempt.followed.is_begun:
            self._dispatch.drop(attempt.asked)
        self._forget(host, match)
        if host.address:
            self._dispatch.ask(host.address, "stop", StopMatch(run=self.run, match=match), nothing)

    def put_aside(self, host: ClusterHost, why: str) -> None:
        """Give a host nothing more; what it has is given up."""
        host.aside = why
        self.say(f"host {host.name} plays nothing more in this tournament: {why}", host=host.name)
        self._lose(host, f"was put aside: {why}")

    def failed(self, host: ClusterHost, why: str) -> None:
        """Note that a host could not play something."""
        host.failures += 1
        self._note("host-failed", host=host.name, why=why)
        if host.failures >= MOST_FAILURES and not host.aside:
            self.put_aside(host, why)

    def say(self, text: str, **facts: Any) -> None:
        """Tell the organiser something, and put it into the diagnostics."""
        self._note("cluster", text=text, **facts)
        self.services.observers.tell(Observer.noted, text)

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self.say(text)

    async def close(self) -> None:
        """Let all hosts go, and wait for the dispatcher's end."""
        for host in self._hosts.values():
            if host.address:
                self._dispatch.ask(host.address, "stop", StopMatch(run=self.run, match=None), nothing)
        await self._dispatch.close()

    # --- what is told

    def _take(self, report: KnownHosts | ToldByHost) -> None:
        if isinstance(report, KnownHosts):
            self._see(report.hosts)
        elif report.host in self._hosts:
            attempt = self._hosts[report.host].attempts.get(report.match)
            if attempt is not None:
                attempt.followed.told(report.offset, report.lines)

    def _disconnected(self) -> None:
        """Forget where hosts were; they are let in again by the next dispatcher."""
        for host in self._hosts.values():
            host.address = host.entering = ""
            host.pushing.clear()
        self.choice.look(self._hosts.values())

    # --- who is there

    def _see(self, seen: tuple[SeenHost, ...]) -> None:
        self._looks += 1
        known = {host.name: host for host in seen}
        for found in seen:
            host = self._hosts.get(found.name)
            if host is not None and found.address == host.address and found.tables != host.tables:
                host.tables = found.tables
                takes = f"{host.tables} matches" if host.tables else "no more matches for now"
                self.say(f"host {host.name} takes {takes}")
        self.choice.look(self._hosts.values())
        for host in list(self._hosts.values()):
            host.outside_looks = 0 if host.address else host.outside_looks + 1
            if host.name in known:
                host.absent_looks = 0
                self._check_answers(host, known[host.name])
            elif host.attempts or host.address:
                host.absent_looks += 1
                if host.absent_looks >= GONE_LOOKS:
                    self.say(f"host {host.name} is gone", host=host.name)
                    self._lose(host, "is gone")
        if not self._hosts and not seen:
            self._say_once(f"no host is there: `referee worker {self._plan.address}` makes a machine one")
        for found in seen:
            self._meet(found)
        self._tell_room()

    def _meet(self, found: SeenHost) -> None:
        """Let a host in that is new, or has come back."""
        host = self._hosts.get(found.name)
        if host is None:
            if not self._processes:
                self._say_once(
                    f"host {found.name} is given nothing, nor is any that comes after it: as many hosts have played as "
                    "one run can have; stop the tournament, and go on with it"
                )
                return
            host = self._hosts[found.name] = ClusterHost(found.name, self._processes.pop(0))
        if found.address not in (host.address, host.entering) and not host.aside:
            host.entering = found.address
            self._enter(host, found)

    def _enter(self, host: ClusterHost, found: SeenHost) -> None:
        hello = RunOffer(
            run=self.run,
            tournament=f"{self._plan.tournament} {self.services.sealer.public}",
            process=host.process,
            game=self._plan.game,
            versions=self._versions,
            terms=self.settings.terms,
            wanted=tuple(host.attempts),
        )
        self._dispatch.ask(found.address, "enter", hello, partial(self._entered, host, found))

    def _entered(self, host: ClusterHost, found: SeenHost, answer: HostAnswer) -> None:
        host.entering = ""
        welcome = answer.read(RunAnswer)
        if welcome is None:
            return  # it is asked again when it is seen again
        why_not = welcome.refused or self._why_not_admitted(host, welcome.calibration)
        if why_not is not None:
            self.put_aside(host, why_not)
            return
        host.address, host.tables = found.address, found.tables
        text = f"host {host.name} plays, {host.tables} matches at a time; records call it {host.process}"
        self.say(text, host=host.name, address=host.address)
        for attempt in list(host.attempts.values()):
            if host.tables or attempt.followed.is_begun:
                self._play(host, attempt)
        self._tell_room()

    def _why_not_admitted(self, host: ClusterHost, calibration: Calibration | None) -> str | None:
        """Put a host on record, unless it is; return why it can't play, if so."""
        if calibration is None:
            return "it does not say how fast it is"
        why_not = None if host.is_on_record else self._admit(host.name, host.process, calibration)
        host.is_on_record = why_not is None
        return why_not

    def _check_answers(self, host: ClusterHost, found: SeenHost) -> None:
        """Give up what a host that is there did not answer, and what does not go on there.

        What waits at one that takes no more matches goes elsewhere.
        """
        has_table = sum(attempt.followed.is_begun for attempt in host.attempts.values()) < host.tables
        for attempt in list(host.attempts.values()):
            if attempt.unanswered and host.address == found.address:
                self._end(host, attempt, Lost(why=f"gave no answer: {attempt.unanswered}"))
                self.failed(host, attempt.unanswered)
            elif not found.tables and not attempt.followed.is_begun:
                self.stop(host, attempt.shipped.match)
                attempt.end(NotBegun(why="takes no more matches"))
            elif host.address == found.address and attempt.stands_still(
                is_its_turn=attempt.followed.is_begun or has_table
            ):
                self._give_up(host, attempt)

    def _give_up(self, host: ClusterHost, attempt: Attempt) -> None:
        """Have a match played elsewhere that does not go on, though its host is there."""
        why = "did not go on with it"
        self.stop(host, attempt.shipped.match)
        attempt.end(Lost(why=why) if attempt.followed.is_begun else NotBegun(why=why))
        self.failed(host, f"it did not go on with {attempt.shipped.match}")

    def _lose(self, host: ClusterHost, why: str) -> None:
        """Give up what a host was given: what it has begun is void."""
        host.address = ""
        self.choice.look(self._hosts.values())
        self._note("host-lost", host=host.name, why=why)
        for attempt in list(host.attempts.values()):
            self._end(host, attempt, Lost(why=why) if attempt.followed.is_begun else NotBegun(why=why))

    def _tell_room(self) -> None:
        self.choice.look(self._hosts.values())
        if self.choice.room:
            waiting, self._waiting = self._waiting, []
            for waiter in waiting:
                if not waiter.called:
                    waiter.callback(None)
            self._has_room()

    # --- a match

    def _play(self, host: ClusterHost, attempt: Attempt) -> None:
        if host.address:
            attempt.unanswered = ""
            call = "play" if host.tables else "fetch"
            answered = partial(self._answered, host, attempt)
            attempt.asked = self._dispatch.ask(host.address, call, attempt.shipped, answered)

    def _answered(self, host: ClusterHost, attempt: Attempt, answer: HostAnswer) -> None:
        returned: Returned | None = answer.read(RETURNED)
        if attempt.is_over:
            if isinstance(returned, PlayedMatch) and not attempt.has_come(returned):
                self._come_again(host, attempt, returned)
        elif returned is None:
            attempt.unanswered = answer.why or "what it answered makes no sense"
        elif isinstance(returned, Needs):
            self._push(host, attempt, returned)
        elif isinstance(returned, PlayedMatch):
            self._end(host, attempt, returned)
        elif isinstance(returned, BrokenOff):
            self._end(host, attempt, Lost(why=f"broke it off: {returned.why}", printed=returned.printed))
            self.failed(host, returned.why)
        else:
            self._end(host, attempt, returned)
            self.failed(host, returned.why)

    def _come_again(self, host: ClusterHost, attempt: Attempt, played: PlayedMatch) -> None:
        """Tell of a record that came after its attempt was over, and is not the one that counts."""
        name = attempt.shipped.match
        path = attempt.followed.keep_aside(played.record, host.name)
        self.say(
            f"host {host.name} has sent a record of {name} that is not counted: what became of {name} there was known; "
            f"it is kept in {path}",
            match=name,
            host=host.name,
        )

    def _end(self, host: ClusterHost, attempt: Attempt, outcome: Outcome) -> None:
        facts = {"outcome": type(outcome).__struct_config__.tag, "lag_s": attempt.lag_ms(outcome) / 1000}
        self._note("host-match", host=host.name, match=attempt.shipped.match, **facts)
        if host.attempts.get(attempt.shipped.match) is attempt:
            self._forget(host, attempt.shipped.match)
        attempt.end(outcome)

    def _forget(self, host: ClusterHost, match: str) -> None:
        host.attempts.pop(match, None)
        self.choice.eased(host)

    def _push(self, host: ClusterHost, attempt: Attempt, needs: Needs) -> None:
        """Send a host the programs that it lacks, then ask it again."""
        attempt.pushes += 1
        attempt.needs = set(needs.digests) & set(attempt.shipped.programs)
        if attempt.pushes > MOST_FAILURES or not attempt.needs:
            self._end(host, attempt, NotBegun(why="asks for programs again and again"))
            self.failed(host, "it asks for programs again and again")
            return
        for digest in sorted(attempt.needs - host.pushing):
            host.pushing.add(digest)
            kept = KeptFolder(digest=digest, folder=self.shipping.packed(digest))
            self._dispatch.ask(host.address, "keep", kept, partial(self._pushed, host, digest))

    def _pushed(self, host: ClusterHost, digest: str, answer: HostAnswer) -> None:
        host.pushing.discard(digest)
        welcome = answer.read(RunAnswer)
        for attempt in [attempt for attempt in host.attempts.values() if digest in attempt.needs]:
            attempt.needs.discard(digest)
            if welcome is None or welcome.refused is not None:
                why = f"could not keep a program: {answer.why if welcome is None else welcome.refused}"
                self._end(host, attempt, NotBegun(why=why))
                self.failed(host, why)
            elif not attempt.needs:
                self._play(host, attempt)


_KEPT_PAIRINGS = 10_000
"""Pairings of which it is known where they were played: their legs come soon after each other."""


class Cluster:
    """The hosts that play matches for a tournament.

    Args:
        hosts: of the cluster.
        where: number of a pairing -> name of the host that has played a leg of it in an earlier run.
    """

    def __init__(self, hosts: Hosts, where: Mapping[int, str]) -> None:
        self._hosts = hosts
        self._services = hosts.services
        self._where: OrderedDict[int, str] = OrderedDict(where)
        """Number of a pairing -> name of its host."""

    @property
    def room(self) -> int:
        """How many matches may be open at a time now."""
        return self._hosts.choice.room

    def takes(self, job: MatchJob) -> bool:
        """Tell whether a host can play a match."""
        return can_go(job)

    def processes(self) -> Sequence[PlayingProcess]:
        """Return the hosts, and how they are."""
        return [host.seen() for host in self._hosts.everybody]

    async def play(self, job: MatchJob) -> SealedMatch:
        """Have a match played to its end, and seal its record.

        Args:
            job: the match.

        Raises:
            MatchPaused: it was cancelled; its record is what it goes on from.
            BadTree: the folder of a program can't be read.
            OSError: the record can't be written.
        """
        shipped = await self._in_thread(self._hosts.shipping.shipped, job, self._hosts.run)
        while True:
            host = await self._hosts.free(self._where.get(job.context.fixture.number), shipped.programs)
            self._settle(job.context.fixture.number, host)
            handed_out = self._hosts.handed_out(host)
            followed = Followed(job, self._hosts.settings.folder, self._services.observers, handed_out)
            attempt = Attempt(shipped, followed)
            self._hosts.give(host, attempt)
            outcome = await self._outcome(host, attempt)
            if not isinstance(outcome, NotBegun):
                return await outlasting(Deferred.fromCoroutine(self._ended(host, shipped, followed, outcome)))

    async def _outcome(self, host: ClusterHost, attempt: Attempt) -> Outcome:
        try:
            return await attempt.outcome
        except CancelledError:
            self._hosts.stop(host, attempt.shipped.match)
            raise MatchPaused(str(attempt.followed.remote.path)) from None

    def _settle(self, pairing: int, host: ClusterHost) -> None:
        """Note where a pairing is played: its other legs are to be played there as well."""
        self._where[pairing] = host.name
        self._where.move_to_end(pairing)
        while len(self._where) > _KEPT_PAIRINGS:
            self._where.popitem(last=False)

    async def _ended(
        self, host: ClusterHost, shipped: ShippedJob, followed: Followed, outcome: PlayedMatch | Lost
    ) -> SealedMatch:
        """Seal what came of a match, or make it void for the referee's fault: no entrant is blamed for a host."""
        why, printed = None if isinstance(outcome, PlayedMatch) else outcome.why, outcome.printed
        try:
            if isinstance(outcome, PlayedMatch):
                followed.end(outcome.record)
            if isinstance(outcome, PlayedMatch) or followed.is_over:
                judged = await self._in_thread(followed.judged)
                why = self._why_excused(host, shipped, followed.job, judged)
                if why is None:
                    await self._sealed(host, followed, judged)
        except RecordError as error:
            printed = {}
            await self._in_thread(followed.refuse)
            self._hosts.put_aside(host, f"it sent a record that does not hold: {error}")
            why = "sent a record that does not hold"
        if why is not None:
            await self._in_thread(followed.void, void_for(host.name, why), self._services.sealer)
        await self._in_thread(keep, self._hosts.settings.folder, followed.job, printed)
        for step in followed.remote.untold:
            tell_step(self._services.observers, step)
        return followed.remote.played

    def _why_excused(self, host: ClusterHost, shipped: ShippedJob, job: MatchJob, judged: Accepted) -> str | None:
        """Tell why a match that was played does not count: its host may lack what a program needs."""
        result, choice = judged.result, self._hosts.choice
        if result.void is not None:
            return None
        starts, others = choice.starts, choice.others(host)
        failed = {seat for seat in unstarted(result.fouls, judged.moved) if shipped.programs[seat]}
        excused = [seat for seat in failed if starts.is_excused(shipped.programs[seat], host.name, others)]
        if excused:
            names = ", ".join(job.seats[seat].name for seat in sorted(excused))
            self._hosts.say(
                f"host {host.name} could not run {names}, and others may: {shipped.match} is void, and played again; "
                "what was printed is beside its record",
                match=shipped.match,
                host=host.name,
            )
            return f"could not run {names}, and others may"
        for seat in failed:
            starts.counted(shipped.programs[seat], shipped.match)
        self._note_moves(host, shipped, job, judged)
        return None

    def _note_moves(self, host: ClusterHost, shipped: ShippedJob, job: MatchJob, judged: Accepted) -> None:
        """Note which programs of a match have moved on its host; tell what they were blamed for elsewhere."""
        for seat in judged.moved:
            program = shipped.programs[seat]
            if program and (matches := self._hosts.choice.starts.moved(program, host.name)):
                name = job.seats[seat].name
                self._hosts.say(
                    f"{name} plays on host {host.name}, and could not be run on others, which counts in "
                    f"{', '.join(matches)}: see what was printed there, and whether that was the hosts' fault",
                    host=host.name,
                )

    async def _sealed(self, host: ClusterHost, followed: Followed, judged: Accepted) -> None:
        writer = followed.remote.seal(judged.result, judged.end, self._services.sealer)
        try:
            commits = self._services.commits
            assert commits is not None, "a tournament has them"
            await commits.sync(writer)
        finally:
            writer.close()
        host.over_ms = max(host.over_ms, judged.over_ms)
        for noted, facts in () if followed.is_live else judged.unusual:
            self._services.observers.note(noted, **facts)

    async def close(self) -> None:
        """Let all hosts go."""
        await self._hosts.close()

    def _in_thread(self, function: Any, *args: Any) -> "Deferred[Any]":
        reactor = self._hosts.reactor
        return deferToThreadPool(reactor, reactor.getThreadPool(), function, *args)
