"""Transitions of several matches that are taken together: each stage of all before the next one."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.task import Clock

from protocol.limits import MAX_UNREAD_BYTES
from protocol.messages import Message, Move, Resumed, Turn
from referee.match.fouls import Cause
from referee.net.event_loop import EventLoop
from referee.net.links.player_protocol import PlayerLink
from referee.net.matches.runner import MatchPaused
from referee.record.writer import ChainWriter

from ...peers.rogues import frame
from ..in_memory import PASS, InMemoryMatch, let_others_go_first, ready, token
from ..wires import Peer, kinds


class Tables:
    """Matches of one loop, and their notes about each stage, in order."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock()
        self.loop = EventLoop(self.clock, self.clock.seconds)
        self.loop.lag.start()
        self.opened: list[InMemoryMatch] = []
        self._folder = folder

    def open(self, name: str, **options: Any) -> InMemoryMatch:
        """Open a match whose seats have come."""
        self.opened.append(InMemoryMatch(self._folder / name, clock=self.clock, event_loop=self.loop, **options))
        return self.opened[-1]

    def ready(self, name: str, **options: Any) -> InMemoryMatch:
        """Open a match in which the first seat is asked for its move."""
        running = self.open(name, **options)
        running.ready()
        return running

    def together(self, *acts: Callable[[], object], after_others: bool = False) -> None:
        """Do things as if they had come on sockets that are read together, perhaps after messages of others."""
        self.loop.agenda.hold()
        if after_others:
            let_others_go_first(self.loop.agenda)
        for act in acts:
            act()
        self.loop.agenda.release()


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    """Return a loop without matches; close all files at the end."""
    tables = Tables(tmp_path)
    yield tables
    for running in tables.opened:
        running.writer.close()


def test_all_lines_are_written_before_anything_is_sent(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for all matches whose answers came together."""
    running = [tables.ready(name) for name in "ab"]
    acts: list[str] = []
    append, flush = ChainWriter.append, PlayerLink.flush

    def _append(writer: ChainWriter, *line: bytes) -> None:
        acts.append("written")
        append(writer, *line)

    def _flush(link: PlayerLink) -> None:
        acts.extend(["sent"] * bool(link.held))
        flush(link)

    monkeypatch.setattr(ChainWriter, "append", _append)
    monkeypatch.setattr(PlayerLink, "flush", _flush)
    tables.together(*(lambda match=match: match.answer(0) for match in running))
    assert acts == ["written"] * 2 + ["sent"] * 4
    assert [kinds(match.peers[1].heard()) for match in running] == [["Start", "Told", "Turn"]] * 2


def test_whose_clock_runs_begins_when_it_was_asked(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that the other matches of a batch take counts for nobody."""
    first, second = tables.ready("a"), tables.ready("b")
    write = second.writer.write_transition

    def _slowly(*step: Any) -> None:
        tables.clock.rightNow += 0.05
        write(*step)

    monkeypatch.setattr(second.writer, "write_transition", _slowly)
    tables.together(lambda: first.answer(0), lambda: second.answer(0))
    tables.clock.rightNow += 0.15
    first.answer(1)
    steps = [json.loads(line) for line in first.path.read_text().splitlines()]
    answer = [step["event"] for step in steps if step.get("event", {}).get("event") == "move-received"][-1]
    assert answer["at_ms"] - answer["sent_ms"] == pytest.approx(150.0)


def test_a_match_that_fails_voids_itself_alone(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever stage fails, all other matches of the batch go on."""
    failing = [tables.ready(name) for name in ("judged", "sent")]
    sound = tables.ready("sound")

    def _broken(*_args: Any) -> Any:
        monkeypatch.setattr(failing[0].match, "handle", whole)
        raise RuntimeError("broken")

    whole = failing[0].match.handle
    monkeypatch.setattr(failing[0].match, "handle", _broken)
    failing[1].runner.on_transition = _broken
    tables.together(*(lambda match=match: match.answer(0) for match in [*failing, sound]))
    assert [match.result[0].void for match in failing] == ["RuntimeError: broken"] * 2
    assert kinds(sound.peers[1].heard())[-1] == "Turn"


def test_a_breach_is_judged_after_the_answer_that_came_before(tables: Tables) -> None:
    """Another seat of the same match has answered, and both waited; the breach is reported all the same."""
    running = tables.ready("a")
    turn = running.asked(0)
    tables.together(
        lambda: running.peers[0].say(Move(match="m1", turn=turn.turn, move=PASS)),
        lambda: running.peers[1].raw(b"\0\0\0\1\xc1"),
    )
    events = [json.loads(line)["event"] for line in running.path.read_text().splitlines() if '"event":{' in line]
    assert [(event["event"], event["seat"]) for event in events[-2:]] == [("move-received", 0), ("protocol-broken", 1)]
    assert running.fouls() == [(1, "malformed-message")]


def test_whose_connection_ends_while_its_match_waits_is_told_nothing_more(tables: Tables) -> None:
    """The loss is its own foul, although the waiting answer leads to a request for it; all others play on."""
    running = tables.ready("a", seats=3)
    tables.together(lambda: running.answer(0), after_others=True)
    assert running.match.turn == 1
    running.peers[1].wire.drop()
    assert (running.fouls(), running.result) == ([(1, Cause.DISCONNECTED)], [])
    assert kinds(running.peers[2].heard())[-1] == "Turn"


def test_who_stops_to_read_is_out_after_the_step_that_was_too_much(tables: Tables) -> None:
    """Observers get one transition after the other, although sending the first one causes the second."""
    running = tables.ready("a", seats=3)
    told: list[int] = []
    running.runner.on_transition = lambda step: told.append(step.line)
    slow = running.peers[1]
    slow.wire.room, slow.link.unread_bytes = 0, MAX_UNREAD_BYTES
    tables.together(lambda: running.answer(0), after_others=True)
    running.peers[2].wire.drop()  # nothing holds the agenda
    assert running.fouls()[0] == (1, Cause.NOT_READING)
    assert told == sorted(told)
    assert len(told) == 3


def test_who_speaks_while_its_match_waits_is_judged_by_what_came_before(tables: Tables) -> None:
    """The result is the same as if nobody had waited; otherwise a right answer would be recorded as a breach."""
    running = tables.ready("a")
    tables.together(lambda: running.answer(0), after_others=True)
    running.peers[1].raw(frame(Move(match="m1", turn=2, move={"action": "exchange"})))
    assert (running.fouls(), [result.reason for result in running.result]) == ([], ["q.end.idle-round"])


def test_a_match_that_is_stopped_by_when_its_last_answer_has_come_is_over(tables: Tables) -> None:
    """The answer waited for others; the record is sealed, and nobody is sent a pause."""
    running = tables.ready("a")
    running.answer(0)
    tables.together(lambda: running.answer(1), after_others=True)
    running.runner.pause("it is late")
    assert [result.reason for result in running.result] == ["q.end.idle-round"]
    assert [kinds(peer.heard())[-1] for peer in running.peers] == ["End", "End"]


def test_a_stranger_has_no_match_take_what_waits(tables: Tables) -> None:
    """Only a player that may return is sent the state of the match."""
    running = tables.ready("a", come_back_s=5.0)
    tables.together(lambda: running.answer(0), after_others=True)
    assert Peer(running.lobby, tables.clock).hello("p0", token(7)) != []
    assert running.match.turn == 1
    assert kinds(Peer(running.lobby, tables.clock).hello("p0", token(0))) == ["Welcome", "Resumed"]
    assert running.match.turn == 2


@pytest.mark.parametrize("said", [0, 1])
@pytest.mark.parametrize("how", ["between two", "within a message"])
def test_a_program_that_ended_before_its_match_has_not_fouled(tables: Tables, how: str, said: int) -> None:
    """Its match begins while sockets are read; still, the referee knows whether it has sent anything in it."""
    stays, opened = SimpleNamespace(has_left=False), list[InMemoryMatch]()

    def _open() -> None:
        opened.append(tables.open("a", reused={0: stays}))
        opened[0].peers[0].heard()
        for _ in range(said):
            opened[0].peers[0].say(ready(0))
        if how == "within a message":
            opened[0].peers[0].raw(b"\0\0\0\x50\x83")
        opened[0].peers[0].wire.drop()

    tables.together(_open)
    causes = [cause for _, cause in opened[0].fouls()]
    fouled = {"between two": Cause.DISCONNECTED, "within a message": Cause.MALFORMED_MESSAGE}
    assert (causes, stays.has_left) == ([fouled[how]] * said, not said)


def test_who_comes_back_after_its_last_words_is_judged_by_them_first(tables: Tables) -> None:
    """It has broken a rule and said hello on a new connection. Both came together, and it is refused."""
    running = tables.ready("a", come_back_s=5.0)
    running.peers[0].heard()
    again = Peer(running.lobby, tables.clock)
    told: list[Message] = []
    tables.together(
        lambda: running.peers[0].say(Move(match="m1", turn=1, move={"action": "dance"})),
        lambda: told.extend(again.hello("p0", token(0))),
    )
    assert [seat for seat, _ in running.fouls()] == [0]
    assert kinds(told) == ["Refused"]


def test_who_comes_back_is_shown_what_its_answer_led_to(tables: Tables) -> None:
    """It answered on its old connection, and said hello on a new one; both came together."""
    running = tables.ready("a", come_back_s=5.0)
    running.peers[0].heard()
    again = Peer(running.lobby, tables.clock)
    tables.together(lambda: _moves(running.peers[0], 1), lambda: again.hello("p0", token(0)))
    resumed = next(message for message in again.heard() if isinstance(message, Resumed))
    assert (resumed.turn, running.fouls()) == (2, [])


def test_a_match_that_is_stopped_has_taken_what_came(tables: Tables) -> None:
    """No message that was read is lost, although the referee is stopped before its turn."""
    running = tables.ready("a")
    turn = running.asked(0)
    failed: list[Any] = []
    running.runner.done.addErrback(failed.append)
    tables.together(
        lambda: running.peers[0].say(Move(match="m1", turn=turn.turn, move=PASS)),
        lambda: running.runner.pause("it is late"),
    )
    assert isinstance(failed[0].value, MatchPaused)
    assert running.last_step()["event"]["event"] == "move-received"
    assert isinstance(running.peers[1].heard()[-2], Turn)


def _moves(peer: Peer, turn: int) -> None:
    peer.say(Move(match="m1", turn=turn, move=PASS))
