"""The reports of a worker, and their order."""

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from referee.net.jobs import messages, worker
from referee.net.jobs.job import encode_job
from referee.net.jobs.messages import (
    REPORTS,
    Alive,
    Close,
    Frames,
    MatchStopped,
    Order,
    Pause,
    Play,
    Report,
    SharedSettings,
    SocketEnd,
    pack_frame,
)
from referee.net.jobs.worker import NoGroupCommit, Reporter, Worker
from referee.observers import MatchTransition
from referee.programs.confining import Confinement
from referee.settings import RunTerms

from .played import JOB, Played


def test_only_a_match_that_is_followed_is_told_step_by_step(tmp_path: Path) -> None:
    """Of other matches, nobody would receive the transitions."""
    played, reports, followed = Played(tmp_path, 1), list[Report](), set[str]()
    played.writer.close()
    (told,) = played.told
    step = MatchTransition(
        setup=JOB.setup,
        line=told.line,
        hash=told.hash,
        event=told.event,
        commands=(),
        turn=0,
        position=None,
        asked=(),
        expelled=(),
    )
    reporter = Reporter(reports.append, followed)
    reporter.on_match_advanced(step)
    followed.add(JOB.match)
    reporter.on_match_advanced(step)
    assert reports == [told]


def test_a_match_is_over_only_once_its_last_step_was_told() -> None:
    """Nothing waits for the disk, and still the end is reported only after the last transition."""
    clock = Clock()
    synced = NoGroupCommit(clock).sync(cast("Any", None))
    assert not synced.called
    clock.advance(0)
    assert synced.called


class NoTables:
    """Tables at which a match lasts until it is cancelled."""

    def __init__(self, *_: Any) -> None:
        self.loop = SimpleNamespace(lag=SimpleNamespace(start=lambda: None, stop=lambda: None))
        self.services = SimpleNamespace(confinement=Confinement())
        self.closed: Deferred[None] = Deferred()

    async def play(self, *_: Any, **__: Any) -> None:
        """Play for ever."""
        await Deferred[None]()

    async def close(self) -> None:
        """Take as long as the test wants."""
        await self.closed


def test_a_worker_stops_what_it_is_to_and_leaves_when_its_programs_are_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It reports its end before it leaves. It ignores a request to stop a match that it does not play."""
    clock, tables, said, left = Clock(), NoTables(), list[Report](), list[int]()
    monkeypatch.setattr(worker, "LocalTables", lambda *_: tables)
    frames = Frames(REPORTS)

    def _send(data: bytes) -> None:
        said.extend(report for reports in frames.add(data) for report in reports if not isinstance(report, Alive))

    def _order(*orders: Order) -> None:
        running.take_data(pack_frame(orders))

    running = Worker(clock, clock.seconds, _send, lambda: left.append(len(said)))
    _order(SharedSettings.of(tmp_path, Confinement(), RunTerms()))
    _order(Pause(match=JOB.match))
    _order(Play(job=encode_job(JOB), is_followed=False))
    clock.advance(worker.ALIVE_S)
    assert said == []
    _order(Pause(match=JOB.match), Close())
    clock.advance(worker.ALIVE_S)
    assert (said, left) == ([MatchStopped(match=JOB.match)], [])
    tables.closed.callback(None)
    assert left == [1]


def test_what_a_process_has_said_before_its_end_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it is read, in however many pieces it comes."""
    monkeypatch.setattr(messages, "READ_BYTES", 10)
    ours, theirs = socket.socketpair()
    reactor: Any = SimpleNamespace(addReader=lambda _: None)
    got = list[bytes]()
    end = SocketEnd(reactor, ours, got.append, lambda: None)
    with ours, theirs:
        theirs.send(b"it is over; it was so from the beginning")
        theirs.shutdown(socket.SHUT_WR)
        end.read_rest()
    assert b"".join(got) == b"it is over; it was so from the beginning"
