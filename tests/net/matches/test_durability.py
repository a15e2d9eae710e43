"""Matches with durability `turn`: each line is on the disk before anything follows from it. The test plays the disk."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from protocol import ConnectionState
from protocol.messages import Ack, Message, Move, Nonce, Resumed, Turn
from referee.match.fouls import Cause
from referee.net.group_commit import GroupCommit
from referee.net.matches.journal import Journal
from referee.net.matches.runner import MatchPaused
from referee.record.reader import read_chain, read_record
from referee.record.writer import NotWritten
from referee.settings import Durability

from ..in_memory import LIMIT_S, NONCE, PASS, InMemoryMatch, let_others_go_first, ready, token
from ..tournaments.in_memory import Loop
from ..wires import Peer, fired, kinds


class Attentive(Peer):
    """A player that remembers all messages."""

    def __init__(self, *given: Any) -> None:
        self.all: list[Message] = []
        super().__init__(*given)

    def heard(self) -> list[Message]:
        """Return all messages that ever came."""
        self.all += super().heard()
        return self.all


class SlowDisk(InMemoryMatch):
    """A match whose lines are synced when the test wants it."""

    peer = Attentive

    def __init__(self, folder: Path, **options: Any) -> None:
        self.loop = Loop()
        self.loop.syncs_at_once = False
        self.kept = b""
        """Content of the record that would survive a power failure at this moment."""
        commits = GroupCommit(self.loop, Durability.TURN, self._stand_still)
        super().__init__(folder, clock=self.loop, commits=commits, durability=Durability.TURN, **options)

    def _stand_still(self, *_: object) -> None:
        self.loop.rightNow += LIMIT_S

    def sync(self) -> None:
        """Let the disk complete all requests."""
        while self.loop.work:
            self.kept = self.path.read_bytes()
            self.loop.work.pop(0)()

    def ready(self) -> None:
        """Let every seat accept."""
        for _ in ("accept", "open the nonces"):
            for seat, peer in enumerate(self.peers):
                self._answer(peer, seat)
            self.sync()

    def heads(self) -> list[str]:
        """Return the heads that players were sent."""
        return [message.head for peer in self.peers for message in peer.heard() if hasattr(message, "head")]

    def check(self) -> None:
        """Check that the lines of all messages that players were sent are on the disk."""
        path = self.path.with_name("kept")
        path.write_bytes(self.kept)
        assert set(self.heads()) <= {line.hash for line in read_chain(path).lines}

    def play(self) -> None:
        """Answer until the match is over; no message may leave before the disk has its line."""
        for _ in range(20):
            self.sync()
            self.check()
            if self.result:
                return
            before = [len(peer.heard()) for peer in self.peers]
            for seat, peer in enumerate(self.peers):
                self._answer(peer, seat)
            assert [len(peer.heard()) for peer in self.peers] == before, "the line that says so is not on the disk"
        raise AssertionError("it does not end")

    def _answer(self, peer: Peer, seat: int) -> None:
        last = peer.heard()[-1]
        match peer.connection.state:
            case ConnectionState.OFFERED:
                peer.say(ready(seat))
            case ConnectionState.TO_REVEAL:
                peer.say(Nonce(match="m1", nonce=NONCE))
            case ConnectionState.ASKED:
                self.answer(seat)
            case ConnectionState.TO_CONFIRM | ConnectionState.TO_CONFIRM_END:
                peer.say(Ack(match="m1", ack=getattr(last, "ack", 0)))


Open = Callable[..., SlowDisk]


@pytest.fixture
def open_slow(tmp_path: Path) -> Iterator[Open]:
    """Return a function that opens a match on a slow disk."""
    opened: list[SlowDisk] = []

    def open_(**options: Any) -> SlowDisk:
        opened.append(SlowDisk(tmp_path / f"{len(opened)}", **options))
        return opened[-1]

    yield open_
    for match in opened:
        match.writer.close()
        match.event_loop.lag.stop()


@pytest.mark.parametrize("acknowledge", [False, True])
def test_nobody_is_told_what_could_be_lost(open_slow: Open, *, acknowledge: bool) -> None:
    """No message leaves before the sync of its line was reported, and the match ends once its seal is synced."""
    match = open_slow(acknowledge=acknowledge)
    assert [peer.heard()[1:] for peer in match.peers] == [[], []], "no offer yet"
    match.play()
    assert match.end().reason
    assert match.kept == match.path.read_bytes()


def playing(open_slow: Open, **options: Any) -> SlowDisk:
    """Return a match in which seat 0 has been asked for its first move."""
    match = open_slow(**options)
    match.sync()
    match.ready()
    match.sync()
    assert isinstance(match.peers[0].heard()[-1], Turn)
    return match


def test_no_clock_runs_while_a_line_is_synced(open_slow: Open) -> None:
    """A disk that takes ten times as long as the limit of a move takes no time from the players."""
    match = playing(open_slow, bank_ms=LIMIT_S * 1000)
    match.answer(0)
    match.run(10 * LIMIT_S)
    match.sync()
    turn = match.asked(1)
    assert turn.left_ms == LIMIT_S * 1000
    match.run(LIMIT_S / 2)
    match.answer(1)
    match.run(10 * LIMIT_S)
    match.sync()
    result = match.end()
    assert result.fouls == ()
    assert result.used_ms[1] == pytest.approx(LIMIT_S * 500, abs=10)


def test_a_player_that_is_back_before_the_disk_is_told_once(open_slow: Open) -> None:
    """A message for the old connection is not sent on the new one. The disk's time does not count for the player."""
    match = playing(open_slow, come_back_s=5.0, bank_ms=LIMIT_S * 1000)
    match.answer(0)
    match.run(LIMIT_S / 2)
    match.peers[1].wire.drop()
    match.run(LIMIT_S)
    peer = Attentive(match.lobby, match.clock)
    peer.hello("p1", token=token(1))
    match.run(LIMIT_S)
    match.sync()
    back, turn = peer.heard()[-2:]
    assert isinstance(back, Resumed)
    assert isinstance(turn, Turn)
    assert turn.left_ms == LIMIT_S * 1000
    peer.say(Move(match="m1", turn=turn.turn, move=PASS))
    match.sync()
    assert match.end().fouls == ()


def test_who_floods_before_the_disk_is_done_stops_nothing(open_slow: Open) -> None:
    """A player that breaks the protocol while the end waits for the disk is out of the match, or is sent its foul."""
    match = playing(open_slow)
    match.answer(0)
    match.sync()
    match.answer(1)
    match.peers[0].raw(b"\xff" * 64)
    match.peers[1].raw(b"\xff" * 64)
    match.sync()
    assert match.end().fouls == ()
    other = playing(open_slow)
    other.answer(0)
    other.peers[1].raw(b"\xff" * 64)
    other.sync()
    other.check()
    assert [seat for seat, _ in other.fouls()] == [1]


def test_what_the_disk_refuses_ends_the_match_untold(open_slow: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The match ends as it does with a record that can't be written."""
    match = playing(open_slow)
    failures: list[Any] = []
    match.runner.done.addErrback(lambda failure: failures.append(failure.value))
    heads = match.heads()
    match.answer(0)

    def refuse(_number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    match.sync()
    (error,) = failures
    assert isinstance(error, NotWritten)
    assert match.heads() == heads
    assert not any(peer.is_open for peer in match.peers)


def test_a_pause_is_told_once_the_disk_has_all(open_slow: Open) -> None:
    """Waiting lines are synced at once; the head of the pause is that of the last line."""
    match = playing(open_slow)
    failures: list[Any] = []
    match.runner.done.addErrback(lambda failure: failures.append(failure.value))
    match.answer(0)
    match.runner.pause("the organiser stopped the referee")
    assert isinstance(failures[0], MatchPaused)
    assert set(match.heads()) >= {read_chain(match.path).head}
    assert [kinds(peer.heard())[-1] for peer in match.peers] == ["Paused", "Paused"]
    match.sync()


def test_a_match_that_is_over_is_not_paused(open_slow: Open) -> None:
    """If the referee is stopped while the end is synced, it waits for the disk."""
    match = playing(open_slow)
    match.answer(0)
    match.sync()
    match.answer(1)
    match.runner.pause("the organiser stopped the referee")
    assert match.result
    match.sync()
    match.check()
    assert match.end().reason


def back_again(match: SlowDisk, seat: int) -> Attentive:
    """Let a player's connection break, and let the player return at once."""
    match.peers[seat].wire.drop()
    peer = Attentive(match.lobby, match.clock)
    peer.hello(f"p{seat}", token=token(seat))
    return peer


def test_an_answer_behind_the_deadline_is_none_before_the_disk_either(open_slow: Open) -> None:
    """The player is out from the deadline on, whether it has been sent its expulsion or not."""
    match = playing(open_slow)
    match.run(2 * LIMIT_S)
    match.answer(0)
    match.sync()
    assert match.fouls() == [(0, Cause.TIMEOUT)]
    assert kinds(match.peers[0].heard())[-1] == "Expelled"
    assert isinstance(match.peers[1].heard()[-1], Turn)


def test_the_time_of_the_disk_is_no_ones_after_a_return_either(open_slow: Open) -> None:
    """The rest of a returned player's time runs from the request, not from when its line was written."""
    match = playing(open_slow, come_back_s=5.0)
    match.answer(0)
    match.run(3 * LIMIT_S)
    match.sync()
    match.run(LIMIT_S / 2)
    peer = back_again(match, 1)
    match.sync()
    turn = peer.heard()[-1]
    assert isinstance(turn, Turn)
    assert turn.left_ms == pytest.approx(LIMIT_S * 500, abs=10)


def test_an_old_deadline_is_none_while_a_return_is_synced(open_slow: Open) -> None:
    """It is asked again with the rest of its time, however long the disk takes."""
    match = playing(open_slow, come_back_s=5.0)
    match.run(0.9 * LIMIT_S)
    peer = back_again(match, 0)
    match.run(2 * LIMIT_S)
    match.sync()
    turn = peer.heard()[-1]
    assert isinstance(turn, Turn)
    assert turn.left_ms == pytest.approx(LIMIT_S * 100, abs=10)
    peer.say(Move(match="m1", turn=turn.turn, move=PASS))
    match.sync()
    match.answer(1)
    match.sync()
    assert match.end().fouls == ()


@pytest.mark.parametrize("durability", Durability)
@pytest.mark.parametrize("is_waited_for", [False, True])
def test_a_match_of_which_each_turn_waits_says_so(durability: Durability, *, is_waited_for: bool) -> None:
    """With such a match, the loop waits for the disk."""
    commits: Any = SimpleNamespace(is_waited_for=is_waited_for)
    writer: Any = SimpleNamespace(count=1)
    journal = Journal(writer, commits, durability)
    assert journal.waits_for_disk == (durability is Durability.TURN)
    assert commits.is_waited_for == (is_waited_for or durability is Durability.TURN)


@pytest.mark.parametrize("seat", [0, 1], ids=["in the middle", "at the end"])
def test_a_referee_that_stops_syncs_what_it_says_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seat: int
) -> None:
    """An answer that was read, whose match waited for others, is on the disk before any message follows from it."""
    match = SlowDisk(tmp_path)
    sync = match.writer.sync

    def _sync() -> None:
        sync()
        match.kept = match.path.read_bytes()

    monkeypatch.setattr(match.writer, "sync", _sync)
    match.sync()
    match.ready()
    for before in range(seat):
        match.answer(before)
        match.sync()
    stopped = fired(match.runner.done.addErrback(lambda failure: failure.type))
    match.event_loop.agenda.hold()
    let_others_go_first(match.event_loop.agenda)
    match.answer(seat)
    match.event_loop.agenda.release()
    match.runner.pause("it is late")
    if seat:
        assert [kinds(peer.heard())[-1] for peer in match.peers] == ["End", "End"]
        assert read_record(match.path).result is not None
    else:
        match.check()
        assert (stopped, kinds(match.peers[0].heard())[-1]) == ([MatchPaused], "Paused")
