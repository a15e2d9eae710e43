"""Programs that stay: each plays match after match on its one connection, and waits in between.

A program that waits is stopped, so that it can't think on the others' time. It is started anew after an expulsion, when
its folder has changed, when it has played as many matches as it may, when it uses nearly all that it is allowed, and
when it has ended by itself, which is no foul between two matches. No running program ever gets the same deal twice.
"""

import itertools
import resource
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThreadPool

from protocol import ConnectionState, RemoteProtocolError
from protocol.messages import Message

from ...clock import Timer
from ...files.copies import marks
from ...files.opened import open_descriptor
from ...files.tree import BadTree
from ...observers import Observer, Observers
from ...programs.confining import Confinement
from ...programs.player_spec import Launch
from ...programs.program import Program
from ..links.player_protocol import Owner, PlayerLink
from ..waiting import outlast

SETTLE_S = 0.2
"""How long a program may tidy up after its match, before it is stopped."""
FILLED = 0.75
"""Of its memory or its processes: a program that uses more could fail in a match for what the ones before have left."""
LOOK_S = 1.0
"""How often it is looked whether a folder has changed: whoever changes it expects no more of a tournament that runs."""
FILES = 16
"""Of the files that this process may have open, one in so many may belong to a program that waits; each takes four."""
FREE = 0.25
"""Of the machine's memory, what is left to those that play: while less is available, fewer wait."""
_MEMORY = Path("/proc/meminfo")


class KeptProgram(Owner):
    """One running program; it owns its connection between its matches.

    Args:
        launch: how it was started.
        program: it.
        number: of its start; no other one of this referee's process has it.
        folders: what is removed when nothing is left of it.
        stamp: of its folder, when it was started.
    """

    def __init__(self, launch: Launch, program: Program, number: int, folders: ExitStack, stamp: int) -> None:
        self.launch = launch
        self.program = program
        self.number = number
        self.folders = folders
        self.stamp = stamp
        self.link: PlayerLink | None = None
        """None until it is seated for the first time."""
        self.deals: set[str] = set()
        """Commitments to the deals that it has played, the present one included."""
        self.has_left = False
        """Whether it has ended between two matches by itself."""
        self.stopping: Timer | None = None
        """Stops it, once it has had its time to tidy up."""

    @property
    def is_waiting(self) -> bool:
        """Whether it can be offered a match."""
        link = self.link
        is_idle = link is not None and link.is_connected and link.connection.state is ConnectionState.IDLE
        return is_idle and self.program.status is None and not self.has_left

    def on_message(self, link: PlayerLink, message: Message, first_byte: float, at: float) -> None:
        """Do nothing: between two matches no message may come."""

    def on_breach(self, link: PlayerLink, error: RemoteProtocolError) -> None:
        """Hang up on a program that speaks between two matches."""
        link.say_goodbye()

    def on_loss(self, link: PlayerLink, detail: str) -> None:
        """Mark the program as gone, so that it is not used again."""
        self.has_left = True


class FolderStamps:
    """Tells whether players' folders have changed.

    Args:
        reactor: Twisted's.
    """

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._looked: dict[Path, tuple[float, int]] = {}
        """Folder -> when it was looked at, and its stamp then."""

    async def of(self, launch: Launch) -> int:
        """Return what changes whenever something in a player's folder does."""
        folder, now = launch.folder, self._reactor.seconds()
        if folder is None:
            return 0
        looked_s, stamp = self._looked.get(folder, (-LOOK_S, 0))
        if now - looked_s >= LOOK_S:
            stamp = await deferToThreadPool(self._reactor, self._reactor.getThreadPool(), _stamp, folder)
            self._looked[folder] = now, stamp
        return stamp


class ProgramPool:
    """All programs of one process that wait for a match.

    Args:
        reactor: Twisted's.
        confinement: what programs are held to.
        keep_for: how many matches a program may play.
        observers: told which program can't stay, and why.
    """

    def __init__(self, reactor: Any, confinement: Confinement, keep_for: int, observers: Observers) -> None:
        limits = replace(confinement.limits, cpu_s=confinement.limits.cpu_s * keep_for)  # it is for one match's needs
        self.confinement = replace(confinement, limits=limits)
        self._reactor = reactor
        self._keep_for = keep_for
        self._observers = observers
        self._numbers = itertools.count(1)
        self._waiting: list[KeptProgram] = []
        """The one that has waited longest first."""
        self._cannot_stay: set[str] = set()
        """Names of those whose program has ended between two matches."""
        self._ending: set[Deferred[Any]] = set()
        self._stamps = FolderStamps(reactor)
        self._most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // FILES
        """Of those that wait."""

    async def acquire(self, launch: Launch, deal: str) -> KeptProgram | None:
        """Return a program that waits and may play a deal; it is not stopped any more. None if there is none.

        Args:
            launch: how it was started.
            deal: commitment to the deal.
        """
        stamp = await self.stamp(launch)
        for kept in [kept for kept in reversed(self._waiting) if kept.launch == launch and deal not in kept.deals]:
            self._waiting.remove(kept)
            if kept.stamp == stamp and kept.is_waiting:
                self._rouse(kept)
                kept.deals.add(deal)
                return kept
            self._dismiss(kept)
        return None

    def started(self, launch: Launch, program: Program, folders: ExitStack, stamp: int, deal: str) -> KeptProgram:
        """Take note of a program that was started for a match.

        Args:
            launch: how.
            program: it.
            folders: what is removed when nothing is left of it.
            stamp: of its folder, from before.
            deal: commitment to the deal that it plays.
        """
        kept = KeptProgram(launch, program, next(self._numbers), folders, stamp)
        kept.deals.add(deal)
        return kept

    def release(self, kept: KeptProgram) -> bool:
        """Let a program wait for its next match, unless it has to be started anew.

        Returns:
            Whether it stays; else it is being ended.
        """
        most = min(self._keep_for, kept.launch.matches or self._keep_for)
        is_spent = len(kept.deals) >= most or kept.has_left or kept.launch.name in self._cannot_stay
        if is_spent or not kept.is_waiting or kept.program.uses_at_least(FILLED):
            self._dismiss(kept)
            return False
        kept.program.save_output()
        kept.stopping = self._reactor.callLater(SETTLE_S, kept.program.stop)
        self._waiting.append(kept)
        if len(self._waiting) > self._most or is_memory_short():
            self._dismiss(self._waiting.pop(0))
        return True

    async def stamp(self, launch: Launch) -> int:
        """Return what changes whenever something in a player's folder does."""
        return await self._stamps.of(launch)

    async def close(self) -> None:
        """End all programs that wait, and wait until nothing is left of any."""
        while self._waiting:
            self._dismiss(self._waiting.pop())
        for ending in list(self._ending):
            await outlast(ending)

    def _rouse(self, kept: KeptProgram) -> None:
        if kept.stopping is not None and kept.stopping.active():
            kept.stopping.cancel()
        elif kept.stopping is not None:
            kept.program.resume()
        kept.stopping = None

    def _dismiss(self, kept: KeptProgram) -> None:
        """End a program, and remove what it has left."""
        name = kept.launch.name
        if kept.has_left and name not in self._cannot_stay:
            self._cannot_stay.add(name)
            text = f"{name} ended between two matches: from here on, it is started anew for each one"
            self._observers.notify(Observer.on_notice, text)
        self._rouse(kept)
        if kept.link is not None and kept.link.owner in (kept, None):
            kept.link.say_goodbye()
        removing = Deferred[None]()
        self._ending.add(removing)

        def _remove(_gone: None) -> None:
            done = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), kept.folders.close)
            done.addBoth(_removed)

        def _removed(_result: object) -> None:
            self._ending.discard(removing)
            removing.callback(None)

        kept.program.end().addCallback(_remove)


def is_memory_short() -> bool:
    """Tell whether less of the machine's memory is available than is to be."""
    try:
        found = dict(line.split()[:2] for line in _MEMORY.read_text().splitlines())
        return int(found["MemAvailable:"]) < FREE * int(found["MemTotal:"])
    except (OSError, ValueError, KeyError):
        return False  # not told here


def _stamp(folder: Path) -> int:
    try:
        with open_descriptor(folder) as top:
            return hash(tuple(sorted(marks(top).items())))
    except (BadTree, OSError) as error:
        return hash(str(error))  # whoever starts it will be told
