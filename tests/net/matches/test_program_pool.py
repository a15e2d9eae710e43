"""Programs that stay: which one plays again, and which is started again; with stand-ins for both."""

import resource
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from protocol import ConnectionState
from referee.net.matches import program_pool
from referee.net.matches.program_pool import FILES, LOOK_S, SETTLE_S, KeptProgram, ProgramPool
from referee.observers import Observers
from referee.programs.confining import Confinement
from referee.programs.player_spec import Launch

from ..tournaments.in_memory import Loop

ADA = Launch(name="ada", argv=("ada",))


class StandIn:
    """Stand-in for a program and its connection; it notes all calls."""

    def __init__(self) -> None:
        self.status: str | None = None
        self.gone: Deferred[None] = Deferred()
        self.filled = 0.0
        self.done: list[str] = []
        self.is_connected = True
        self.connection = self
        self.state = ConnectionState.IDLE
        self.owner: Any = None

    def uses_at_least(self, share: float) -> bool:
        """Return whether the program uses at least a share of its memory."""
        return self.filled >= share

    def save_output(self) -> None:
        """Have printed nothing."""

    def stop(self) -> None:
        """Be stopped."""
        self.done.append("stop")

    def resume(self) -> None:
        """Note that it may run again."""
        self.done.append("go on")

    def say_goodbye(self) -> None:
        """Note that it was sent goodbye."""
        self.is_connected, self.owner = False, None
        self.done.append("goodbye")

    def end(self) -> Deferred[None]:
        """Note that it was ended; it is gone at once."""
        self.done.append("end")
        if not self.gone.called:
            self.gone.callback(None)
        return self.gone


class Kept:
    """Programs that are kept for six matches, and notes about them."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.observers = Observers()
        self.programs = ProgramPool(self.loop, Confinement(), 6, self.observers)
        self.removed: list[int] = []

    def start(self, launch: Launch = ADA, deal: str = "one") -> tuple[KeptProgram, StandIn]:
        """Start a program for a match, and seat it."""
        made: Any = StandIn()
        folders = ExitStack()
        kept = self.programs.register(launch, made, folders, self.stamp(launch), deal)
        folders.callback(self.removed.append, kept.number)
        kept.link, made.owner = made, kept
        return kept, made

    def acquire(self, deal: str, launch: Launch = ADA) -> KeptProgram | None:
        """Return the program that is to play a deal."""
        found: KeptProgram | None = self._result(self.programs.acquire(launch, deal))
        return found

    def stamp(self, launch: Launch) -> int:
        """Return the stamp of a folder."""
        found: int = self._result(self.programs.stamp(launch))
        return found

    def work(self) -> None:
        """Do the work that was given to threads."""
        while self.loop.work:
            self.loop.work.pop(0)()

    def _result(self, course: Any) -> Any:
        found: list[Any] = []
        Deferred.fromCoroutine(course).addCallback(found.append)
        self.work()
        return found[0]


def test_a_program_plays_match_after_match() -> None:
    """The same program, known by the number of its start, plays again. No other entrant's program takes its place."""
    kept = Kept()
    (ada, _), (bob, _) = kept.start(), kept.start(Launch(name="bob", argv=("ada",)))
    assert (ada.number, bob.number) == (1, 2)
    assert [kept.programs.release(ada), kept.programs.release(bob)] == [True, True]
    assert (kept.acquire("two"), kept.acquire("two")) == (ada, None)
    assert kept.removed == []


def test_no_program_gets_a_deal_twice() -> None:
    """Another waiting program plays it, if there is one; the first one waits on."""
    kept = Kept()
    ada, _ = kept.start(deal="one")
    kept.programs.release(ada)
    assert kept.acquire("one") is None
    second, _ = kept.start(deal="two")
    kept.programs.release(second)
    assert kept.acquire("one") is second
    assert kept.acquire("two") is ada


def test_who_waits_is_stopped() -> None:
    """It may tidy up first, and it runs again for its next match."""
    kept = Kept()
    ada, made = kept.start()
    kept.programs.release(ada)
    kept.loop.advance(SETTLE_S / 2)
    assert kept.acquire("two") is ada
    kept.loop.advance(SETTLE_S)
    assert made.done == []
    kept.programs.release(ada)
    kept.loop.advance(SETTLE_S)
    assert made.done == ["stop"]
    assert kept.acquire("three") is ada
    assert made.done == ["stop", "go on"]


def _expelled(_kept: KeptProgram, made: StandIn) -> None:
    made.state, made.owner = ConnectionState.CLOSED, None


def _spent(kept: KeptProgram, _made: StandIn) -> None:
    kept.deals |= set("abcdef")


@pytest.mark.parametrize(
    "spoil",
    [
        _expelled,
        _spent,
        lambda _, made: setattr(made, "is_connected", False),
        lambda _, made: setattr(made, "status", "exit status 0"),
        lambda _, made: setattr(made, "filled", 0.9),
        lambda kept, made: kept.on_loss(made, "gone"),
    ],
    ids=["expelled", "spent", "unconnected", "ended", "filled", "left"],
)
@pytest.mark.parametrize("when", ["in its match", "while it waits"])
def test_what_can_not_play_on_is_ended(spoil: Callable[[Any, Any], None], when: str) -> None:
    """No process of it is left, and the next match starts a new program."""
    kept = Kept()
    ada, made = kept.start()
    if when == "in its match":
        spoil(ada, made)
        assert not kept.programs.release(ada)
    else:
        kept.programs.release(ada)
        spoil(ada, made)
        if len(ada.deals) > 1 or made.filled:
            return  # nothing of this kind happens while a program waits
        assert kept.acquire("two") is None
    kept.work()
    assert ("end" in made.done, kept.removed) == (True, [1])


def test_who_ends_between_two_matches_can_not_stay() -> None:
    """It is no foul; from then on the program is started for each match."""
    kept = Kept()
    ada, made = kept.start()
    kept.programs.release(ada)
    made.is_connected = False
    ada.on_loss(ada.link, "gone")  # type: ignore[arg-type]  # a stand-in
    assert kept.acquire("two") is None
    again, _ = kept.start(deal="two")
    assert not kept.programs.release(again)


def test_who_says_so_plays_one_match() -> None:
    """`matches = 1` in its player.toml says so."""
    kept = Kept()
    ada, _ = kept.start(Launch(name="ada", argv=("ada",), matches=2))
    assert kept.programs.release(ada)
    assert kept.acquire("two", ada.launch) is ada
    assert not kept.programs.release(ada)


def test_who_speaks_unasked_is_hung_up_on() -> None:
    """Between two matches no message is due."""
    kept = Kept()
    ada, made = kept.start()
    kept.programs.release(ada)
    ada.on_breach(made, None)  # type: ignore[arg-type]  # a stand-in
    assert kept.acquire("two") is None


def test_a_new_version_is_started_anew(tmp_path: Path) -> None:
    """Any change in its folder counts; the referee looks for changes from time to time."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "player.py").write_text("old")
    ada = Launch(name="ada", argv=("ada",), folder=tmp_path)
    kept = Kept()
    old, _ = kept.start(ada)
    kept.programs.release(old)
    kept.loop.advance(LOOK_S)
    assert kept.acquire("two", ada) is old
    kept.programs.release(old)
    (tmp_path / "sub" / "player.py").write_text("newer")
    kept.loop.advance(LOOK_S)
    assert kept.acquire("three", ada) is None
    kept.work()
    assert kept.removed == [1]


def test_workers_share_the_machines_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each process looks at the machine's free memory, and keeps no program while that is too little."""
    memory = tmp_path / "memory"
    monkeypatch.setattr(program_pool, "MEMINFO", memory)
    memory.write_text("MemTotal: 100 kB\nMemAvailable: 50 kB\n")
    workers = [Kept(), Kept()]
    for worker in workers:
        worker.programs.release(worker.start()[0])
    memory.write_text("MemTotal: 100 kB\nMemAvailable: 24 kB\n")
    for worker in workers:
        worker.programs.release(worker.start()[0])
        worker.work()
    assert [worker.removed for worker in workers] == [[1], [1]]


@pytest.mark.parametrize("is_short", [False, True])
def test_not_too_many_wait(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_short: bool) -> None:
    """The program that has waited longest makes way if files or memory run short. In the end, all are ended."""
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (4 * FILES, 0))
    (tmp_path / "memory").write_text(f"MemTotal: 100 kB\nMemFree: 5 kB\nMemAvailable: {24 if is_short else 25} kB\n")
    monkeypatch.setattr(program_pool, "MEMINFO", tmp_path / "memory")
    kept = Kept()
    all_of_them = [kept.start()[0] for _ in range(6)]
    assert all(map(kept.programs.release, all_of_them))
    kept.work()
    assert kept.removed == [1, 2, 3, 4, 5, 6][: 6 if is_short else 2]
    closed = Deferred.fromCoroutine(kept.programs.close())
    assert closed.called == is_short
    kept.work()
    assert (closed.called, sorted(kept.removed)) == (True, [1, 2, 3, 4, 5, 6])
    assert kept.loop.getDelayedCalls() == []
