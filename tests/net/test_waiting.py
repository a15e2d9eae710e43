"""Work that can't be stopped is waited for, however often the caller is cancelled."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import CancelledError, Deferred

from referee.net.matches.programs import MatchPrograms
from referee.net.matches.settings import MatchServices
from referee.net.waiting import let_finish, outlast
from referee.programs.confining import Confinement
from referee.programs.player_spec import Launch

from ..programs.test_folder_copy import BOXED, player

FAULT = ValueError("a fault")
CASES: dict[str, tuple[Callable[..., Any], int, Any, Any]] = {
    "it comes": (let_finish, 0, 7, 7),
    "it fails": (let_finish, 0, FAULT, FAULT),
    "it comes too late": (let_finish, 2, 7, CancelledError),
    "it fails too late": (let_finish, 2, FAULT, CancelledError),
    "nobody asks for it": (outlast, 0, 7, 7),
    "it outlasts all": (outlast, 2, 7, 7),
}


@pytest.mark.parametrize(("wait", "cancels", "comes", "found"), CASES.values(), ids=CASES)
def test_it_is_waited_for(wait: Callable[..., Any], cancels: int, comes: Any, found: Any) -> None:
    """Cancelling does not end it; others that wait for the same work get its result."""
    awaited, seen = Deferred[Any](), list[Any]()
    waiting = Deferred.fromCoroutine(wait(awaited))
    waiting.addErrback(lambda failure: failure.value).addCallback(seen.append)
    for _ in range(cancels):
        waiting.cancel()
    assert not seen
    awaited.callback(comes) if comes == 7 else awaited.errback(comes)
    awaited.addCallback(seen.append)
    assert seen[0] == found or isinstance(seen[0], found)
    assert seen[1] == (7 if comes == 7 else None)


class Pool:
    """A reactor and its threads; their work is done when a test wants it."""

    def __init__(self) -> None:
        self.jobs: list[Callable[[], None]] = []

    def getThreadPool(self) -> "Pool":
        """Return the threads."""
        return self

    def callInThreadWithCallback(self, told: Callable[..., None], job: Callable[..., Any], *args: Any) -> None:
        """Store a job."""
        self.jobs.append(lambda: told(True, job(*args)))

    def callFromThread(self, function: Callable[..., None], *args: Any) -> None:
        """Call at once."""
        function(*args)


def test_a_copy_that_comes_too_late_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The match is given up while a program's folder is copied for it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    pool: Any = Pool()
    match: Any = type("", (), {"is_out": lambda *_: False})()
    services = MatchServices(confinement=Confinement(sandbox=BOXED.sandbox))
    programs = MatchPrograms(match, [player(tmp_path / "ada"), Launch(name="b", argv=())], [], tmp_path, pool, services)

    async def _play() -> None:
        async with programs.own_folders():
            raise AssertionError("it was given up")

    playing, over = Deferred.fromCoroutine(_play()), list[Any]()
    playing.addErrback(lambda failure: failure.trap(CancelledError)).addCallback(over.append)
    playing.cancel()
    assert (len(pool.jobs), over) == (1, [])
    for job in pool.jobs:  # the second one removes what the first has made
        job()
    assert over == [CancelledError]
    assert list((tmp_path / "scratch").iterdir()) == []
