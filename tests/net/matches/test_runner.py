"""One match between in-memory links: instants, deadlines, fouls, and its record."""

import errno
import os
from typing import Any

import pytest

from protocol.messages import Ack, End, Expelled, Move, Offer
from referee import chance
from referee.games.q.game import QGame
from referee.match import events as e
from referee.match.fouls import Cause
from referee.net.event_loop import BEAT_S
from referee.net.links.origin_limits import STORM
from referee.record.audit.match import audit
from referee.record.reader import read_record
from referee.record.writer import NotWritten, RecordWriter

from ..in_memory import LIMIT_S, NONCE, PASS, SEED, InMemoryMatch, OpenMatch, ready
from ..wires import kinds


def test_a_match_of_passes(running: InMemoryMatch) -> None:
    """A round of passes ends the game: all seats are notified, the seed is revealed, and the connections are closed."""
    running.answer(0)
    running.answer(1)
    for peer in running.peers:
        end = peer.heard()[-1]
        assert isinstance(end, End)
        assert (SEED.hex(), [NONCE, NONCE], [0, 1]) == (end.seed, end.nonces, end.winners)
        assert not peer.is_open
    assert running.end().winners == (0, 1)


def test_the_offer_hides_the_seed(open_match: OpenMatch) -> None:
    """An offer has the commitment, and no record of a running match has the seed."""
    running = open_match()
    offer = running.peers[1].heard()[0]
    assert isinstance(offer, Offer)
    assert (chance.commitment(SEED), 1, ["p0", "p1"]) == (offer.commitment, offer.seat, offer.names)
    assert SEED.hex() not in running.path.read_text()


@pytest.mark.parametrize("is_void", [False, True])
@pytest.mark.parametrize("seed_opens", ["at-end", "at-end-unless-void", "after-last-leg"])
@pytest.mark.forges  # a leg that no tournament opened
def test_a_seed_may_be_kept_for_another_match(open_match: OpenMatch, seed_opens: str, is_void: bool) -> None:  # noqa: FBT001  # of a table
    """The `end` of a match whose deal is played again has no seed; its record has the seed, hidden."""
    running = open_match(nonces=False, seed_opens=seed_opens)
    for seat in (0, 1):
        running.peers[seat].heard()
        running.peers[seat].say(ready(seat))
    if is_void:
        running.runner.feed(e.RefereeFailed(at_ms=9.0, detail="the disk is full"))
    else:
        running.answer(0)
        running.answer(1)
    ends = [peer.heard()[-1] for peer in running.peers]
    is_kept = seed_opens == "after-last-leg" or (seed_opens == "at-end-unless-void" and is_void)
    assert [getattr(end, "seed", "") for end in ends] == [None if is_kept else SEED.hex()] * 2
    record = read_record(running.path)
    assert record.result is not None
    assert record.result.seed == SEED.hex()
    running.event_loop.lag.stop()


def test_an_answer_has_three_instants(running: InMemoryMatch) -> None:
    """Request sent, first byte, completion: each is recorded."""
    turn = running.asked(0)
    data = running.peers[0].connection.send(Move(match="m1", turn=turn.turn, move=PASS))
    running.run(0.05)
    running.peers[0].raw(data[:1])
    running.run(0.05)
    running.peers[0].raw(data[1:])
    event = running.last_step()["event"]
    assert (event["sent_ms"], event["first_byte_ms"], event["at_ms"], event["lag_ms"]) == (0.0, 50.0, 100.0, 0.0)


def test_silence_is_a_timeout(running: InMemoryMatch) -> None:
    """A player that does not answer within the limit is expelled with the reason, and the other plays on."""
    running.run(LIMIT_S)
    assert running.fouls() == []
    running.run(0.02)
    assert running.fouls() == [(0, Cause.TIMEOUT)]
    expelled = running.peers[0].heard()[-1]
    assert isinstance(expelled, Expelled)
    assert expelled.foul == "timeout"
    running.answer(1)
    assert running.end().winners == (1,)


def test_dripping_extends_nothing(running: InMemoryMatch) -> None:
    """Bytes that come one by one do not extend the limit; the bytes so far are the evidence."""
    turn = running.asked(0)
    data = running.peers[0].connection.send(Move(match="m1", turn=turn.turn, move=PASS))
    for byte in data[:-1]:
        running.peers[0].raw(bytes([byte]))
        running.run(0.01)
    assert running.fouls()[0] == (0, Cause.TIMEOUT)
    evidence = running.match.fouls[0].evidence
    assert evidence
    assert data.hex().startswith(evidence)


def test_what_lies_in_the_socket_at_the_deadline_counts(running: InMemoryMatch) -> None:
    """Bytes that are read on the first look after the deadline were there in time."""
    turn = running.asked(0)
    peer = running.peers[0]
    data = peer.connection.send(Move(match="m1", turn=turn.turn, move=PASS))
    running.clock.callLater(LIMIT_S + 0.00001, peer.raw, data)
    running.run(LIMIT_S + 0.02)
    assert running.fouls() == []
    running.answer(1)
    assert running.end().winners == (0, 1)


def test_an_answer_counts_until_the_deadline_was_looked_at(running: InMemoryMatch) -> None:
    """Bytes that are read 1 ms after the deadline, before its timer ran, may have come in time: nobody had looked."""
    turn = running.asked(0)
    data = running.peers[0].connection.send(Move(match="m1", turn=turn.turn, move=PASS))
    running.run(LIMIT_S - BEAT_S / 2)
    running.clock.rightNow += BEAT_S / 2 + 0.001
    running.peers[0].raw(data)
    assert running.fouls() == []
    assert running.last_step()["event"]["lag_ms"] == pytest.approx(1.0, abs=0.01)


def test_a_request_does_not_wait_for_the_loop(running: InMemoryMatch) -> None:
    """The request is in the socket before its time runs, as are all other messages of the transition."""
    running.answer(0)
    assert [peer.wire.is_flushed for peer in running.peers] == [True, True]


def test_a_stall_of_the_referee_is_not_charged(running: InMemoryMatch) -> None:
    """An answer that lay unread while the loop was busy is in time, and the record says how long it lay."""
    turn = running.asked(0)
    data = running.peers[0].connection.send(Move(match="m1", turn=turn.turn, move=PASS))
    running.run(0.15)
    running.clock.rightNow += 0.3
    running.peers[0].raw(data)
    assert running.fouls() == []
    assert running.last_step()["event"]["lag_ms"] == pytest.approx(300.0, abs=BEAT_S * 1000)


def test_a_stall_does_not_save_who_stays_silent(running: InMemoryMatch) -> None:
    """After a stall the socket is read; if it is empty, the limit has passed."""
    running.run(0.15)
    running.clock.advance(0.2)
    running.run(0.02)
    assert running.fouls() == [(0, Cause.TIMEOUT)]


def test_a_long_stall_is_no_time_to_judge(running: InMemoryMatch) -> None:
    """Above the margin, a silent player gets its limit once more; without a further stall, that limit counts."""
    running.run(0.15)
    running.clock.advance(0.3)
    running.run(0.02)
    assert running.fouls() == []
    assert running.last_step()["commands"] == [{"command": "extend-limit", "seat": 0, "limit_ms": LIMIT_S * 1000}]
    running.run(LIMIT_S + 0.02)
    assert running.fouls() == [(0, Cause.TIMEOUT)]


def test_a_long_stall_is_no_excuse_for_who_storms_the_door(running: InMemoryMatch) -> None:
    """Its limit passes as if the loop had not stood still."""
    for _ in range(2 * STORM):
        running.event_loop.lag.storms.count(running.peers[0].link.origin)
    running.run(0.05)
    running.clock.advance(0.3)
    assert running.fouls() == [(0, Cause.TIMEOUT)]
    event = running.last_step()["event"]
    assert "stalled_ms" not in event
    assert event["stormed_ms"] >= 300.0


@pytest.mark.parametrize(
    ("data", "cause", "code"),
    [
        (b"\0\0\0\x01\xc1", Cause.MALFORMED_MESSAGE, "not-msgpack"),
        (b"\x7f\xff\xff\xff", Cause.OVERSIZE, "oversize"),
        (b"\0\0\0\x01\x80", Cause.MALFORMED_MESSAGE, "unknown-type"),
    ],
)
def test_a_breach_of_the_protocol(running: InMemoryMatch, data: bytes, cause: Cause, code: str) -> None:
    """A breach expels at once, with its code and its bytes, and the player is sent both."""
    running.peers[0].heard()
    running.peers[0].raw(data)
    assert running.fouls() == [(0, cause)]
    assert running.match.fouls[0].code == code
    expelled = running.peers[0].heard()[-1]
    assert isinstance(expelled, Expelled)
    assert (str(cause), code) == (expelled.foul, expelled.code)
    running.answer(1)
    assert running.end().ranking == ((1,), (0,))


def test_an_answer_out_of_turn(running: InMemoryMatch) -> None:
    """A move that was not asked for expels only its author, and the open turn goes on."""
    move = Move(match="m1", turn=1, move=PASS)
    peer = running.peers[1]
    peer.raw(running.peers[0].connection.send(move) if kinds(running.peers[0].heard()) else b"")
    assert running.fouls() == [(1, Cause.OUT_OF_TURN)]
    running.peers[0].raw(b"")
    assert running.match.open_requests.keys() == {0}


def test_a_flood(running: InMemoryMatch) -> None:
    """A player that sends a flood of bytes is expelled before they are a message, and the open turn goes on."""
    running.peers[1].raw((60_000).to_bytes(4, "big") + bytes(10_000))
    assert running.fouls() == [(1, Cause.FLOOD)]
    assert running.match.open_requests.keys() == {0}


def test_an_illegal_move(running: InMemoryMatch) -> None:
    """A move against the rules expels with the id of the rule."""
    running.answer(0, {"action": "place", "tiles": []})
    assert running.match.fouls[0].rule == "q.place.some"
    running.answer(1)
    assert running.end().winners == (1,)


def test_a_lost_connection(running: InMemoryMatch) -> None:
    """A player that leaves is expelled at once, even if it is not its turn, and the other goes on."""
    running.peers[1].wire.drop()
    assert running.fouls() == [(1, Cause.DISCONNECTED)]
    running.answer(0)
    running.answer(0) if running.match.result is None else None
    assert running.end().winners == (0,)


def test_an_answer_that_crosses_a_default_is_nobodys_foul(open_match: OpenMatch) -> None:
    """The last player is sent that it has won while it thinks; its late move is dropped."""
    running = open_match(default_margin=2)
    running.ready()
    thinking = running.peers[0]
    move = thinking.connection.send(Move(match="m1", turn=running.asked(0).turn, move=PASS))
    running.peers[1].wire.drop()
    thinking.raw(move)
    result = running.end()
    assert (result.winners, result.scores, result.reason) == ((0,), (2, 0), "default")
    assert running.fouls() == [(1, Cause.DISCONNECTED)]
    assert kinds(thinking.heard())[-2:] == ["Told", "End"]


def test_a_frame_broken_off_is_malformed(running: InMemoryMatch) -> None:
    """A connection that ends in the middle of a frame leaves that frame as evidence."""
    running.peers[0].raw(b"\0\0\0\x20abc")
    running.peers[0].wire.drop()
    assert [(foul.code, foul.evidence) for foul in running.match.fouls] == [("truncated", "00000020616263")]


def test_everybody_leaves(running: InMemoryMatch) -> None:
    """Without players the game is deserted: nobody wins, and nothing keeps running."""
    for peer in running.peers:
        peer.wire.drop()
    result = running.end()
    assert (result.winners, result.reason) == ((), "q.end.deserted")


def test_acknowledgements_are_demanded_one_after_the_other(open_match: OpenMatch) -> None:
    """With `acknowledge`, the second seat is sent the start when the first has confirmed it."""
    running = open_match(acknowledge=True)
    running.ready()
    first, second = running.peers
    assert kinds(first.heard()) == ["Start"]
    assert kinds(second.heard()) == []
    first.say(Ack(match="m1", ack=1))
    assert kinds(second.heard()) == ["Start"]
    running.run(LIMIT_S + 0.02)
    assert running.fouls() == [(1, Cause.TIMEOUT)]


def test_a_silent_seat_refuses_to_start(open_match: OpenMatch) -> None:
    """A player that does not accept within the start-up limit is expelled; the others are dealt their tiles."""
    running = open_match(start_ms=500.0)
    assert kinds(running.peers[0].heard()) == ["Offer"]
    running.peers[0].say(ready(0))
    running.run(0.52)
    assert running.fouls() == [(1, Cause.REFUSED_TO_START)]
    running.open_nonces()
    running.answer(0)
    assert running.end().ranking == ((0,), (1,))


def test_a_record_that_cannot_be_written_ends_the_match(
    running: InMemoryMatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No message is sent before its line is on record; a full disk ends the match with the error."""
    failures: list[Any] = []
    running.runner.done.addErrback(failures.append)

    def full(*_args: object) -> None:
        raise NotWritten(28, "No space left on device")

    monkeypatch.setattr(RecordWriter, "write_transition", full)
    running.answer(0)
    assert [failure.value.errno for failure in failures] == [28]
    assert kinds(running.peers[1].heard()) == ["Start"]
    assert not running.peers[1].is_open


@pytest.mark.parametrize("error", [BrokenPipeError(32, "Broken pipe"), OSError(24, "Too many open files"), KeyError()])
def test_any_other_fault_of_the_referee_voids_the_match(
    running: InMemoryMatch, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Only a record that can't be written ends a match without a result; all other faults make it void."""
    faults = [error]

    def fail(*_args: object) -> None:
        if faults:
            raise faults.pop()

    monkeypatch.setattr(running.runner, "on_transition", fail)
    running.answer(0)
    (result,) = running.result
    assert (result.void, result.fouls) == (f"{type(error).__name__}: {error}", ())
    assert audit(running.path, lambda _name: QGame()).result is not None


@pytest.mark.forges
def test_a_disk_that_is_full_ends_the_match(running: InMemoryMatch) -> None:
    """The caller gets the error, and all players are released."""
    failures: list[Any] = []
    running.runner.done.addErrback(failures.append)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, running.writer.file.fileno())
    os.close(full)
    running.answer(0)
    assert [failure.value.errno for failure in failures] == [errno.ENOSPC]
    assert not running.peers[1].is_open
