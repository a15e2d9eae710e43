"""Plays some matches again on another host, and compares: a host that invents moves is found by lot.

Which ones follows from the key, so no host knows beforehand. Only what must come out the same is drawn: a match whose
deal no player's nonce is part of, between programs that say that they always play the same.
"""

from pathlib import Path
from typing import Any

import msgspec
from twisted.internet.defer import CancelledError, Deferred

from ..hookspecs import HousePlayer
from ..match import events as e
from ..net.jobs.job import JobSeat, MatchJob
from ..observers import Observers
from ..plugins import installed
from ..record.reader import Record, RecordError, read_record, record_in
from ..record.seal import Sealer
from .acceptance import Accepted, FalseRecord, accepted_bytes
from .cluster_host import Attempt, ClusterHost
from .followed import Followed
from .hosts import Hosts
from .messages import PlayedMatch, ShippedJob

SHARE = 0.03
"""So many of the matches that can be are played again."""
FOLDER = ".replays"
"""Beside the records: those of replays that came out otherwise."""
_BYTES = 8


class Replays:
    """The matches of a run that are played again.

    Args:
        hosts: of the cluster.
        share: so many of those that can be.
    """

    def __init__(self, hosts: Hosts, share: float = SHARE) -> None:
        self._hosts = hosts
        self._share = share
        self._folder = hosts.settings.folder / FOLDER
        self._going_on: set[Deferred[None]] = set()

    def consider(self, job: MatchJob, shipped: ShippedJob, host: ClusterHost, record: Path) -> None:
        """Have a match played again if the lot falls on it; nothing waits for that.

        Args:
            job: the match.
            shipped: what its host was sent.
            host: that has played it.
            record: of it, sealed.
        """
        hosts = self._hosts
        if hosts.settings.keep_for is not None or not is_reproducible(job):
            return
        if not is_drawn(job.match, hosts.services.sealer, self._share):
            return
        if (other := hosts.choice.other(host, shipped.programs)) is not None:
            replay = Deferred.fromCoroutine(self._replay(job, shipped, (host, other), record))
            self._going_on.add(replay)
            replay.addBoth(lambda _: self._going_on.discard(replay))

    def stop(self) -> None:
        """Drop what is being played again."""
        for replay in list(self._going_on):
            replay.cancel()

    async def _replay(
        self, job: MatchJob, shipped: ShippedJob, hosts: tuple[ClusterHost, ClusterHost], record: Path
    ) -> None:
        first, other = hosts
        try:
            again = await played_again(self._hosts, other, shipped, followed_again(self._hosts, other, job))
        except CancelledError:
            return
        if again is None:
            return
        played, _ = again
        try:
            found = difference(read_record(record), record_in(played.record, record))
        except RecordError:
            return  # the record here was ruled away, or is of a referee that was stopped
        self._note(job.match, first, other, found, played.record)

    def _note(self, match: str, first: ClusterHost, other: ClusterHost, found: str | None, record: bytes) -> None:
        """Tell what came of a replay; an organiser has to look at one that came out otherwise."""
        self._hosts.services.observers.note("replayed", match=match, first=first.name, other=other.name, differs=found)
        if found is None:
            return
        path = self._folder / f"{match}.{other.name}.jsonl"
        path.write_bytes(record)
        self._hosts.say(
            f"{match} came out otherwise when it was played again: {found} at host {first.name} and at {other.name}; "
            f"one of them lies, or a program does not always play the same; see {path}",
            match=match,
        )


def followed_again(hosts: Hosts, other: ClusterHost, job: MatchJob) -> Followed:
    """Return what follows a match that is to be played once more, on another host: nobody looks on."""
    folder = hosts.settings.folder / FOLDER
    folder.mkdir(exist_ok=True)
    return Followed(job, folder, Observers(), hosts.handed_out(other))


async def played_again(
    hosts: Hosts, other: ClusterHost, shipped: ShippedJob, followed: Followed
) -> tuple[PlayedMatch, Accepted] | None:
    """Have a match played once more; a host whose record does not hold is put aside.

    Args:
        hosts: of the cluster.
        other: that is to play it.
        shipped: what it is sent.
        followed: follows it; see followed_again.

    Returns:
        What it sent, and what that is; None: it has not played it, or what it says does not hold.

    Raises:
        CancelledError: it was cancelled meanwhile; the host goes on.
    """
    attempt = Attempt(shipped, followed)
    hosts.give(other, attempt)
    outcome = await attempt.outcome
    followed.remote.path.unlink(missing_ok=True)
    if not isinstance(outcome, PlayedMatch):
        return None
    try:
        return outcome, accepted_bytes(followed.job, outcome.record, followed.handed_out)
    except FalseRecord as error:
        hosts.put_aside(other, f"it sent a record that does not hold: {error}")
        return None


def is_drawn(match: str, sealer: Sealer, share: float) -> bool:
    """Tell whether the lot falls on a match.

    Args:
        match: its name.
        sealer: the key: nobody else can tell.
        share: how many of all are drawn.
    """
    drawn = sealer.secret(f"replay:{match}")[:_BYTES]
    return int.from_bytes(drawn) < share * 256.0**_BYTES


def is_reproducible(job: MatchJob) -> bool:
    """Tell whether a match must come out the same wherever it is played."""
    return not job.setup.nonces and all(map(_plays_the_same, job.seats))


def _plays_the_same(seat: JobSeat) -> bool:
    launch = seat.launch
    if launch is None:
        return False
    if launch.is_house:
        player: HousePlayer = installed().player(launch.argv[-1])
        return player.is_reproducible
    return launch.is_reproducible


def difference(one: Record, other: Record) -> str | None:
    """Return what differs in two records of one match, but for times; None: nothing."""
    for number, (mine, theirs) in enumerate(zip(_moves(one), _moves(other), strict=False), 1):
        if msgspec.json.encode(mine) != msgspec.json.encode(theirs):
            return f"move {number} is another one"
    ends = [_end(record) for record in (one, other)]
    return None if ends[0] == ends[1] else "it ended otherwise"


def moves_before(record: Record, turn: int) -> bytes:
    """Return the moves of a match before a turn: the same bytes for the same moves."""
    moves = (move for move in _moves(record) if move[1] < turn)
    return msgspec.json.encode(sorted(moves, key=lambda move: (move[1], move[0])))


def _moves(record: Record) -> list[tuple[int, int, Any]]:
    moves = (step.event for step in record.steps if isinstance(step.event, e.MoveReceived))
    return [(move.seat, move.turn, move.move) for move in moves]


def _end(record: Record) -> tuple[Any, ...]:
    line = record.result
    assert line is not None, "both are over"
    result = line.result
    fouls = [(foul.seat, str(foul.cause)) for foul in result.fouls]
    return result.ranking, result.scores, fouls, result.turns, result.void is None
