"""Programs that stay: each plays match after match on one connection, and waits in between.

A program that waits is stopped, so that it can't think on the others' time. It is started again if it was expelled, if
its folder has changed, if it has played its number of matches, or if it uses nearly all of its memory or processes. So
is a program that has ended by itself, which is no foul between two matches. No running program ever gets the same deal
twice: it could remember the first one.
"""

import itertools
import re
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
from ...files.reading import open_descriptor
from ...files.tree import BadTree
from ...observers import Observer, Observers
from ...programs.confining import Confinement
from ...programs.player_spec import Launch
from ...programs.program import Program
from ..links.player_protocol import Owner, PlayerLink
from ..waiting import outlast

# Starting a program often takes longer than playing a match. So programs may stay. But a program that has played before
# knows something that a new one does not, and three rules keep that from mattering: it is stopped between matches (it
# can't think ahead), it is started again when its folder changes (the tournament's record names the folder's hash), and
# it never gets a deal twice (it could remember the hands).
#
# A program that waits still holds memory, processes and files. The pool ends the one that has waited longest when files
# or memory run short: the next match starts a new one, which is slower but never wrong.

SETTLE_S = 0.2
"""Seconds that a program may tidy up after its match, before it is stopped."""
FILLED = 0.75
"""Share of its memory or processes: a program that uses more could fail in its next match because of earlier ones."""
LOOK_S = 1.0
"""Seconds between two looks at a folder or at the machine's memory: often enough for a tournament that runs."""
FILES = 16
"""One program may wait for each FILES files that this process may open. A program that waits takes four files."""
FREE = 0.25
"""Share of the machine's memory for programs that play: while less is available, fewer programs wait."""
MEMINFO = Path("/proc/meminfo")
_MEMORY = re.compile(rb"^(MemTotal|MemAvailable): +(\d+) kB", re.MULTILINE)


class KeptProgram(Owner):
    """One running program; it owns its connection between its matches.

    Args:
        launch: launch of its player.
        program: the process.
        number: number of its start, unique in this referee's process.
        folders: removes its files when the program is gone.
        stamp: stamp of its folder when it was started.
    """

    def __init__(self, launch: Launch, program: Program, number: int, folders: ExitStack, stamp: int) -> None:
        self.launch = launch
        self.program = program
        self.number = number
        self.folders = folders
        self.stamp = stamp
        self.link: PlayerLink | None = None
        """Its connection; None until it is seated for the first time."""
        self.deals: set[str] = set()
        """Commitments to the deals that it has played, including the present one."""
        self.has_left = False
        """True if it has ended by itself between two matches."""
        self.stopping: Timer | None = None
        """Timer that stops it after SETTLE_S."""

    @property
    def is_waiting(self) -> bool:
        """True if it can be offered a match."""
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
    """Finds out whether players' folders have changed.

    Args:
        reactor: Twisted's reactor.
    """

    def __init__(self, reactor: Any) -> None:
        self._reactor = reactor
        self._looks: dict[Path, tuple[float, int]] = {}
        """Folder -> time of the last look, in seconds of the reactor, and the stamp at that time."""

    async def get(self, launch: Launch) -> int:
        """Return the stamp of a player's folder: a number that changes whenever something in the folder does."""
        folder, now = launch.folder, self._reactor.seconds()
        if folder is None:
            return 0
        looked_s, stamp = self._looks.get(folder, (-LOOK_S, 0))
        if now - looked_s >= LOOK_S:
            stamp = await deferToThreadPool(self._reactor, self._reactor.getThreadPool(), _stamp, folder)
            self._looks[folder] = now, stamp
        return stamp


class ProgramPool:
    """All programs of one process that wait for a match.

    Args:
        reactor: Twisted's reactor.
        confinement: sandbox and limits of programs.
        keep_for: most matches of a program.
        observers: notified of programs that can't stay.
    """

    def __init__(self, reactor: Any, confinement: Confinement, keep_for: int, observers: Observers) -> None:
        # The limit of processor time is meant for one match, but the system counts all matches of a program together.
        limits = replace(confinement.limits, cpu_s=confinement.limits.cpu_s * keep_for)
        self.confinement = replace(confinement, limits=limits)
        self._reactor = reactor
        self._keep_for = keep_for
        self._observers = observers
        self._numbers = itertools.count(1)
        self._waiting: list[KeptProgram] = []
        """Programs that wait; the one that has waited longest is first."""
        self._cannot_stay: set[str] = set()
        """Names of players whose program has ended between two matches."""
        self._ending: set[Deferred[Any]] = set()
        self._stamps = FolderStamps(reactor)
        self._most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] // FILES
        """Most programs that may wait."""
        self._looked: tuple[int, float, bool] | None = None
        """Programs that waited at the last look at the machine's memory, when that was, and whether memory was
        short."""

    async def acquire(self, launch: Launch, deal: str) -> KeptProgram | None:
        """Wake a program that waits and may play a deal, and return it; None if there is none.

        Args:
            launch: launch of the player.
            deal: commitment to the deal.
        """
        stamp = await self.stamp(launch)
        for kept in [kept for kept in reversed(self._waiting) if kept.launch == launch and deal not in kept.deals]:
            self._waiting.remove(kept)
            if kept.stamp == stamp and kept.is_waiting:
                self._wake(kept)
                kept.deals.add(deal)
                return kept
            self._dismiss(kept)
        return None

    def register(self, launch: Launch, program: Program, folders: ExitStack, stamp: int, deal: str) -> KeptProgram:
        """Register a program that was started for a match.

        Args:
            launch: launch of its player.
            program: the process.
            folders: removes its files when the program is gone.
            stamp: stamp of its folder, before it was started.
            deal: commitment to the deal that it plays.
        """
        kept = KeptProgram(launch, program, next(self._numbers), folders, stamp)
        kept.deals.add(deal)
        return kept

    def release(self, kept: KeptProgram) -> bool:
        """Let a program wait for its next match, unless it has to be started again for that.

        Returns:
            Whether it stays; if not, it is being ended.
        """
        most = min(self._keep_for, kept.launch.matches or self._keep_for)
        is_spent = len(kept.deals) >= most or kept.has_left or kept.launch.name in self._cannot_stay
        if is_spent or not kept.is_waiting or kept.program.uses_at_least(FILLED):
            self._dismiss(kept)
            return False
        kept.program.save_output()
        kept.stopping = self._reactor.callLater(SETTLE_S, kept.program.stop)
        self._waiting.append(kept)
        if len(self._waiting) > self._most or self._look_at_memory():
            self._dismiss(self._waiting.pop(0))
        return True

    def _look_at_memory(self) -> bool:
        """Return whether memory is short; look again only after LOOK_S or if more programs wait."""
        count, now = len(self._waiting), self._reactor.seconds()
        if self._looked is None or count > self._looked[0] or now - self._looked[1] >= LOOK_S:
            self._looked = count, now, is_memory_short()
        return self._looked[2]

    async def stamp(self, launch: Launch) -> int:
        """Return the stamp of a player's folder, see FolderStamps."""
        return await self._stamps.get(launch)

    async def close(self) -> None:
        """End all programs that wait, and wait until nothing is left of them."""
        while self._waiting:
            self._dismiss(self._waiting.pop())
        for ending in list(self._ending):
            await outlast(ending)

    def _wake(self, kept: KeptProgram) -> None:
        if kept.stopping is not None and kept.stopping.active():
            kept.stopping.cancel()
        elif kept.stopping is not None:
            kept.program.resume()
        kept.stopping = None

    def _dismiss(self, kept: KeptProgram) -> None:
        """End a program, and remove its files."""
        name = kept.launch.name
        if kept.has_left and name not in self._cannot_stay:
            self._cannot_stay.add(name)
            text = f"{name} ended between two matches: from now on, it is started again for each one"
            self._observers.notify(Observer.on_notice, text)
        self._wake(kept)
        if kept.link is not None and kept.link.owner in (kept, None):
            kept.link.say_goodbye()
        removing = Deferred[None]()
        self._ending.add(removing)

        def _remove(_gone: None) -> None:
            done = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), kept.folders.close)
            done.addBoth(_finish)

        def _finish(_result: object) -> None:
            self._ending.discard(removing)
            removing.callback(None)

        kept.program.end().addCallback(_remove)


def is_memory_short() -> bool:
    """Return whether less of the machine's memory is available than FREE."""
    try:
        sizes = dict(_MEMORY.findall(MEMINFO.read_bytes()))
        return int(sizes[b"MemAvailable"]) < FREE * int(sizes[b"MemTotal"])
    except (OSError, KeyError):
        return False  # this system does not say


def _stamp(folder: Path) -> int:
    try:
        with open_descriptor(folder) as top:
            return hash(tuple(sorted(marks(top).items())))
    except (BadTree, OSError) as error:
        return hash(str(error))  # starting the program reports the same error
