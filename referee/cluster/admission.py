"""The hosts of a cluster: how each host comes and goes, and why a host is refused or excluded.

A host gets no matches of this tournament

- if its versions of the referee, of Python or of the game differ (`host.py` compares them and refuses the run);
- if it does not report its speed, or cannot be put on record;
- after `MOST_FAILURES` failures to play a match;
- if a record that it returns does not hold (`coordinator.py` checks it).

The hosts belong to the organiser and are not enemies. But only this process has the key, and it seals only what it has
checked. So a host with a broken disk or an old version is noticed here, and not by an auditor months later.
"""

import secrets
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from twisted.internet.defer import Deferred

from ..net.jobs.messages import SharedSettings
from ..net.matches.settings import MatchServices
from ..observers import Observer
from ..text import counted
from ..tournament.hosts import Calibration
from . import messages as m
from .cluster_host import GONE_LOOKS, Attempt, ClusterHost, HostChoice, Lost, Outcome
from .dispatcher_link import DispatcherLink, ignore_answer
from .host import versions
from .programs import Shipping

MOST_FAILURES = 3
"""Number of failures to play a match after which a host is excluded."""

Admit = Callable[[str, str, Calibration], str | None]
"""Puts a host on record, by its name, its process and its calibration. Returns the reason if that is not possible."""


class ClusterPlan(Struct, frozen=True, kw_only=True):
    """The cluster that a tournament is to be played on."""

    address: str
    """The scheduler's address."""
    keys: Path | None
    """Folder of the certificates; None for a connection without encryption."""
    tournament: str
    game: str


# How a host comes and goes. The dispatcher reports all hosts twice a second; everything below follows from these
# reports and from the answers to calls.
#
#     unknown --(reported)--> entering --(agrees, on record)--> admitted --(fails 3 times, wrong record)--> excluded
#                               ^                                  |
#                               +---(reported at a new address)----+---(absent for GONE_LOOKS reports)--> gone
#
# A host that is gone keeps its entry: if it comes back under its name, it is the same host, goes on with the matches it
# still has, and keeps its name in the records. There is no heartbeat of our own. Dask has one already, and a second one
# with other limits would only disagree with it now and then.
class Hosts:
    """The hosts of a cluster, and the dispatcher through which they are reached.

    Args:
        reactor: Twisted's reactor.
        plan: the cluster.
        settings: the settings that all matches share.
        services: services of the tournament. Their key stays in this process.
        processes: names for hosts in the records that no host has yet.
        has_room: called when more matches may be open.
        admit: puts a host on record.
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
        """Unique name of this run of the tournament."""
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
        """Number of reports of the hosts so far."""
        self._printed: set[str] = set()
        """Lines that the organiser should read only once, and that were printed already."""
        self._waiting: list[Deferred[None]] = []
        """Deferreds that fire when a host has room."""
        connect = m.Connect(address=plan.address, keys=plan.keys, topic=self.run)
        self.dispatcher = DispatcherLink(
            reactor, connect, settings.folder, self.take_report, self.forget_addresses, self.say
        )

    # --- for the coordinator

    async def wait_for_host(self, preferred: str | None, programs: Iterable[str]) -> ClusterHost:
        """Wait for a host that can be given a match.

        Args:
            preferred: preferred host (see `HostChoice.pick`); waits for it as long as it may still connect.
            programs: the programs of the match.
        """
        # A host with room may be taken by another match between the callback and this line, so the choice is made
        # again.
        while self._is_awaited(preferred) or (host := self.choice.pick(preferred, programs)) is None:
            waiting: Deferred[None] = Deferred()
            self._waiting.append(waiting)
            await waiting
        return host

    def _is_awaited(self, name: str | None) -> bool:
        """Return whether a host is not connected, but may still be."""
        if name is None:
            return False
        host = self._hosts.get(name)
        return self._looks < GONE_LOOKS if host is None else host.may_come

    def give(self, host: ClusterHost, attempt: Attempt) -> None:
        """Give a match to a host."""
        host.attempts[attempt.shipped.match] = attempt
        self._play(host, attempt)

    def stop(self, host: ClusterHost, match: str) -> None:
        """Stop a match in the middle, and forget it."""
        attempt = host.attempts.get(match)
        # A match that has not begun still waits in Dask's queue. Dask can cancel it there; the host does not know of it
        # yet.
        if attempt is not None and not attempt.followed.is_begun:
            self.dispatcher.drop(attempt.call)
        self._forget(host, match)
        if host.address:
            self.dispatcher.ask(host.address, "stop", m.StopMatch(run=self.run, match=match), ignore_answer)

    def exclude(self, host: ClusterHost, why: str) -> None:
        """Give a host no more matches, and give up those that it has."""
        host.excluded = why
        self.say(f"host {host.name} is excluded from this tournament: {why}", host=host.name)
        self._lose(host, f"was excluded: {why}")

    def note_failure(self, host: ClusterHost, why: str) -> None:
        """Record that a host could not play a match; exclude it after the third time."""
        host.failures += 1
        self._note("host-failed", host=host.name, why=why)
        if host.failures >= MOST_FAILURES and not host.excluded:
            self.exclude(host, why)

    def say(self, text: str, **facts: Any) -> None:
        """Print a line for the organiser, and write it to the diagnostics."""
        self._note("cluster", text=text, **facts)
        self.services.observers.notify(Observer.on_notice, text)

    def _say_once(self, text: str) -> None:
        if text not in self._printed:
            self._printed.add(text)
            self.say(text)

    async def close(self) -> None:
        """Dismiss all hosts, and wait until the dispatcher has exited."""
        for host in self._hosts.values():
            if host.address:
                self.dispatcher.ask(host.address, "stop", m.StopMatch(run=self.run, match=None), ignore_answer)
        await self.dispatcher.close()

    # --- reports of the dispatcher

    def take_report(self, report: m.KnownHosts | m.HostLines) -> None:
        """Process a report of the dispatcher: which hosts are connected, or new lines of a match."""
        if isinstance(report, m.KnownHosts):
            self._update_hosts(report.hosts)
        elif report.host in self._hosts:
            attempt = self._hosts[report.host].attempts.get(report.match)
            if attempt is not None:
                attempt.followed.take_lines(report.offset, report.lines)

    def forget_addresses(self) -> None:
        """Forget the hosts' addresses: they are admitted again through the next dispatcher."""
        for host in self._hosts.values():
            host.address = host.entering = ""
            host.pushing.clear()
        self.choice.update(self._hosts.values())

    # --- which hosts are present

    def _update_hosts(self, seen: tuple[m.SeenHost, ...]) -> None:
        # The order matters. First the tables are updated, so that a host that takes no new matches is given none. Then
        # the attempts are checked, which may free matches. Only then are hosts admitted, and the waiting matches are
        # woken up once.
        self._looks += 1
        present = {host.name: host for host in seen}
        for sight in seen:
            host = self._hosts.get(sight.name)
            if host is not None and sight.address == host.address and sight.tables != host.tables:
                host.tables = sight.tables
                takes = counted(host.tables, "match", "matches") if host.tables else "no new matches for now"
                self.say(f"host {host.name} takes {takes}")
        self.choice.update(self._hosts.values())
        for host in list(self._hosts.values()):
            host.outside_looks = 0 if host.address else host.outside_looks + 1
            if host.name in present:
                host.absent_looks = 0
                self._check_attempts(host, present[host.name])
            elif host.attempts or host.address:
                host.absent_looks += 1
                if host.absent_looks >= GONE_LOOKS:
                    self.say(f"host {host.name} is gone", host=host.name)
                    self._lose(host, "is gone")
        if not self._hosts and not seen:
            self._say_once(
                f"no host is connected: run `referee worker {self._plan.address}` on each machine that is to play"
            )
        for sight in seen:
            self._meet(sight)
        self._wake_waiting()

    def _meet(self, sight: m.SeenHost) -> None:
        """Admit a host that is new or has come back."""
        host = self._hosts.get(sight.name)
        if host is None:
            if not self._processes:
                self._say_once(
                    f"host {sight.name} and all later ones get no matches: this run has had as many hosts as a run can "
                    "have. To use them, stop the tournament and continue it"
                )
                return
            host = self._hosts[sight.name] = ClusterHost(sight.name, self._processes.pop(0))
        if sight.address not in (host.address, host.entering) and not host.excluded:
            host.entering = sight.address
            self._enter(host, sight)

    def _enter(self, host: ClusterHost, sight: m.SeenHost) -> None:
        offer = m.RunOffer(
            run=self.run,
            tournament=f"{self._plan.tournament} {self.services.sealer.public}",
            process=host.process,
            game=self._plan.game,
            versions=self._versions,
            terms=self.settings.terms,
            wanted=tuple(host.attempts),
        )
        self.dispatcher.ask(sight.address, "enter", offer, partial(self._on_entered, host, sight))

    def _on_entered(self, host: ClusterHost, sight: m.SeenHost, answer: m.HostAnswer) -> None:
        host.entering = ""
        reply = answer.read(m.RunAnswer)
        if reply is None:
            # The scheduler may not have delivered the call. To exclude a host for that would punish it for a lost
            # packet.
            return  # the next report names the host again, and it is asked again
        why_not = reply.refused or self._put_on_record(host, reply.calibration)
        if why_not is not None:
            self.exclude(host, why_not)
            return
        host.address, host.tables = sight.address, sight.tables
        takes = counted(host.tables, "match", "matches")
        text = f"host {host.name} plays {takes} at a time; its name in the records is {host.process}"
        self.say(text, host=host.name, address=host.address)
        # Ask again for the matches that the host was given before it was lost. If the host has finished one by now, it
        # returns the record.
        for attempt in list(host.attempts.values()):
            if host.tables or attempt.followed.is_begun:
                self._play(host, attempt)
        self._wake_waiting()

    def _put_on_record(self, host: ClusterHost, calibration: Calibration | None) -> str | None:
        """Put a host on record, unless it is there already; return the reason if it cannot play."""
        if calibration is None:
            return "it does not report its speed"
        why_not = None if host.is_on_record else self._admit(host.name, host.process, calibration)
        host.is_on_record = why_not is None
        return why_not

    def _check_attempts(self, host: ClusterHost, sight: m.SeenHost) -> None:
        """Give up the matches of a host that is present but does not answer, or has stopped playing.

        A match that waits at a host that takes no new matches is played elsewhere.
        """
        # While all tables are taken, a match that has not begun waits by design (see ClusterHost.capacity). That must
        # not count as standing still.
        has_table = sum(attempt.followed.is_begun for attempt in host.attempts.values()) < host.tables
        for attempt in list(host.attempts.values()):
            if attempt.unanswered and host.address == sight.address:
                self._end(host, attempt, Lost(why=f"gave no answer: {attempt.unanswered}"))
                self.note_failure(host, attempt.unanswered)
            elif not sight.tables and not attempt.followed.is_begun:
                self.stop(host, attempt.shipped.match)
                attempt.end(m.NotBegun(why="takes no new matches"))
            elif host.address == sight.address and attempt.check_stalled(
                is_its_turn=attempt.followed.is_begun or has_table
            ):
                self._abandon(host, attempt)

    def _abandon(self, host: ClusterHost, attempt: Attempt) -> None:
        """Give up a match that stands still though its host is present."""
        why = "stopped playing it"
        self.stop(host, attempt.shipped.match)
        attempt.end(Lost(why=why) if attempt.followed.is_begun else m.NotBegun(why=why))
        self.note_failure(host, f"it stopped playing {attempt.shipped.match}")

    def _lose(self, host: ClusterHost, why: str) -> None:
        """Give up all matches of a host: those that it has begun are void."""
        host.address = ""
        self.choice.update(self._hosts.values())
        self._note("host-lost", host=host.name, why=why)
        for attempt in list(host.attempts.values()):
            self._end(host, attempt, Lost(why=why) if attempt.followed.is_begun else m.NotBegun(why=why))

    def _wake_waiting(self) -> None:
        self.choice.update(self._hosts.values())
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
            on_answer = partial(self._on_answer, host, attempt)
            attempt.call = self.dispatcher.ask(host.address, call, attempt.shipped, on_answer)

    def _on_answer(self, host: ClusterHost, attempt: Attempt, answer: m.HostAnswer) -> None:
        returned: m.Returned | None = answer.read(m.RETURNED)
        if attempt.is_over:
            return  # the answer came after the attempt was given up: the match is void, or was played elsewhere
        if returned is None:
            attempt.unanswered = answer.why or "its answer cannot be read"
        elif isinstance(returned, m.Needs):
            self._push(host, attempt, returned)
        elif isinstance(returned, m.PlayedMatch):
            self._end(host, attempt, returned)
        elif isinstance(returned, m.BrokenOff):
            self._end(host, attempt, Lost(why=f"broke it off: {returned.why}", printed=returned.printed))
            self.note_failure(host, returned.why)
        else:
            self._end(host, attempt, returned)
            self.note_failure(host, returned.why)

    def _end(self, host: ClusterHost, attempt: Attempt, outcome: Outcome) -> None:
        facts = {"outcome": type(outcome).__struct_config__.tag, "lag_s": attempt.lag_ms(outcome) / 1000}
        self._note("host-match", host=host.name, match=attempt.shipped.match, **facts)
        if host.attempts.get(attempt.shipped.match) is attempt:
            self._forget(host, attempt.shipped.match)
        attempt.end(outcome)

    def _forget(self, host: ClusterHost, match: str) -> None:
        host.attempts.pop(match, None)
        self.choice.update_load(host)

    def _push(self, host: ClusterHost, attempt: Attempt, needs: m.Needs) -> None:
        """Send a host the programs that it lacks; the host is asked again when it has them all."""
        attempt.pushes += 1
        attempt.needs = set(needs.digests) & set(attempt.shipped.programs)
        # A host whose disk is full stores nothing, and would ask for the same program for ever.
        if attempt.pushes > MOST_FAILURES or not attempt.needs:
            self._end(host, attempt, m.NotBegun(why="asks for programs again and again"))
            self.note_failure(host, "it asks for programs again and again")
            return
        for digest in sorted(attempt.needs - host.pushing):
            host.pushing.add(digest)
            folder_message = m.StoredFolder(digest=digest, folder=self.shipping.read_packed(digest))
            self.dispatcher.ask(host.address, "store", folder_message, partial(self._on_pushed, host, digest))

    def _on_pushed(self, host: ClusterHost, digest: str, answer: m.HostAnswer) -> None:
        host.pushing.discard(digest)
        reply = answer.read(m.RunAnswer)
        for attempt in [attempt for attempt in host.attempts.values() if digest in attempt.needs]:
            attempt.needs.discard(digest)
            if reply is None or reply.refused is not None:
                why = f"could not store a program: {answer.why if reply is None else reply.refused}"
                self._end(host, attempt, m.NotBegun(why=why))
                self.note_failure(host, why)
            elif not attempt.needs:
                self._play(host, attempt)
