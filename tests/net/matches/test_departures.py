"""Connections during a match: players that return, a referee that stops, and players that do not read."""

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.task import Clock

from protocol.frames import encode_frame
from protocol.limits import MAX_UNREAD_BYTES
from protocol.messages import Expelled, Move, Nonce, Paused, Refused, Resumed, Turn, encode
from referee.games.q.game import QGame
from referee.match.fouls import Cause
from referee.net.links.lobby import MatchLobby, SignUpPolicy
from referee.net.matches.runner import MAX_RETURNS, MatchPaused
from referee.record.reader import read_chain
from referee.record.resume import reopen

from ..in_memory import LIMIT_S, NONCE, PASS, InMemoryMatch, OpenMatch, ready, token
from ..wires import Peer, kinds


@pytest.fixture
def patient(open_match: OpenMatch) -> InMemoryMatch:
    """Return a match of two that waits for lost players, and has just asked seat 0."""
    running = open_match(come_back_s=5.0)
    running.ready()
    return running


def test_who_comes_back_in_time_plays_on(patient: InMemoryMatch) -> None:
    """The open turn is asked again with the rest of its time; the record has the length of the absence."""
    patient.peers[0].heard()
    patient.peers[0].wire.drop()
    patient.run(0.05)
    assert patient.fouls() == []
    peer = Peer(patient.lobby, patient.clock)
    welcome, resumed, turn = peer.hello("p0", token(0))
    assert (kinds([welcome]), type(resumed), type(turn)) == (["Welcome"], Resumed, Turn)
    assert isinstance(turn, Turn)
    assert turn.left_ms == pytest.approx(LIMIT_S * 1000 - 50.0)
    assert patient.last_step()["event"]["gone_ms"] == pytest.approx(50.0)
    peer.say(Move(match="m1", turn=turn.turn, move=PASS))
    patient.answer(1)
    assert patient.end().winners == (0, 1)


def test_the_clock_runs_on_while_a_player_is_away(patient: InMemoryMatch) -> None:
    """A player that is away at its deadline is late, however long it may be away."""
    patient.peers[0].wire.drop()
    patient.run(LIMIT_S + 0.02)
    assert patient.fouls() == [(0, Cause.TIMEOUT)]
    peer = Peer(patient.lobby, patient.clock)
    assert peer.hello("p0", token(0)) == [Refused(code="closed", reason="sign-up is over")]


def test_who_stays_away_is_late_when_it_is_asked(patient: InMemoryMatch) -> None:
    """A seat that is asked nothing may be away; once it is asked, its time runs as usual."""
    patient.peers[1].wire.drop()
    patient.answer(0)
    patient.run(LIMIT_S - 0.01)
    assert patient.fouls() == []
    patient.run(0.03)
    assert patient.fouls() == [(1, Cause.TIMEOUT)]


def test_patience_ends(open_match: OpenMatch) -> None:
    """A player may be away only for a limited time, even if it is not its turn."""
    running = open_match(come_back_s=0.05)
    running.ready()
    running.peers[1].wire.drop()
    running.run(0.04)
    assert running.fouls() == []
    running.run(0.02)
    assert running.fouls() == [(1, Cause.DISCONNECTED)]


def test_an_answer_that_broke_off_is_sent_again(patient: InMemoryMatch) -> None:
    """Half a frame is a foul only if players may not return."""
    turn = patient.asked(0)
    data = patient.peers[0].connection.send(Move(match="m1", turn=turn.turn, move=PASS))
    patient.peers[0].raw(data[:-3])
    patient.peers[0].wire.drop()
    assert patient.fouls() == []
    peer = Peer(patient.lobby, patient.clock)
    asked = peer.hello("p0", token(0))[-1]
    assert isinstance(asked, Turn)
    peer.say(Move(match="m1", turn=asked.turn, move=PASS))
    assert patient.match.open_requests.keys() == {1}


@pytest.mark.parametrize("how", ["between two", "within a message"])
def test_a_program_that_ended_before_its_match_has_not_fouled(open_match: OpenMatch, how: str) -> None:
    """It had played before, and may end between two matches.

    The match is void, and the program is started each time.
    """
    stays = SimpleNamespace(has_left=False)
    running = open_match(reused={0: stays})
    if how == "within a message":
        running.peers[0].raw(b"\0\0\0\x50\x83")
    running.peers[0].wire.drop()
    assert (running.fouls(), stays.has_left) == ([], True)
    assert "p0 had ended between" in str(running.result[0].void)


def test_once_it_has_accepted_its_end_is_a_foul(open_match: OpenMatch) -> None:
    """This holds whether it has played before or not."""
    stays = SimpleNamespace(has_left=False)
    running = open_match(reused={0: stays})
    running.peers[0].heard()
    running.peers[0].say(ready(0))
    running.peers[0].wire.drop()
    assert (running.fouls(), stays.has_left) == ([(0, Cause.DISCONNECTED)], False)


def test_a_dead_connection_makes_way(patient: InMemoryMatch) -> None:
    """The token identifies the player, even while the referee still believes that the old connection is alive."""
    old = patient.peers[0]
    old.heard()
    peer = Peer(patient.lobby, patient.clock)
    assert kinds(peer.hello("p0", token(0))) == ["Welcome", "Resumed", "Turn"]
    assert not old.is_open
    assert patient.fouls() == []


def test_before_the_deal_the_offer_comes_again(open_match: OpenMatch) -> None:
    """A player that was lost before its `ready` sends it on the new connection."""
    running = open_match(come_back_s=5.0)
    running.peers[0].heard()
    running.peers[0].wire.drop()
    peer = Peer(running.lobby, running.clock)
    assert kinds(peer.hello("p0", token(0))) == ["Welcome", "Offer"]
    peer.say(ready(0))
    assert running.match.open_requests.keys() == {1}


def test_between_commitment_and_nonce_it_is_asked_again(open_match: OpenMatch) -> None:
    """A player that is lost after its `ready` is taken back and opens its nonce, even if it is lost when asked."""
    running = open_match(come_back_s=5.0)
    running.peers[0].heard()
    running.peers[0].say(ready(0))
    running.peers[0].wire.drop()
    running.peers[0] = Peer(running.lobby, running.clock)
    assert kinds(running.peers[0].hello("p0", token(0))) == ["Welcome", "Resumed"]
    running.peers[1].heard()
    running.peers[1].say(ready(1))
    assert kinds(running.peers[0].heard()) == ["Reveal"]
    running.peers[0].wire.drop()
    running.peers[0] = Peer(running.lobby, running.clock)
    assert kinds(running.peers[0].hello("p0", token(0))) == ["Welcome", "Resumed", "Reveal"]
    running.peers[1].heard()
    for peer in running.peers:
        peer.say(Nonce(match="m1", nonce=NONCE))
    running.answer(0)
    running.answer(1)
    assert running.end().winners == (0, 1)


@pytest.mark.parametrize("given", ["", "x", token(2), token(0)[:-1], token(0) + "0"])
def test_no_other_token_opens_a_seat(patient: InMemoryMatch, given: str) -> None:
    """Names do not count, nor do tokens of other matches."""
    patient.peers[0].wire.drop()
    assert Peer(patient.lobby, patient.clock).hello("p0", given) == [Refused(code="closed", reason="sign-up is over")]


def test_without_patience_nobody_comes_back(running: InMemoryMatch) -> None:
    """Without `come_back`, the foul is immediate, and the token opens nothing."""
    running.peers[0].wire.drop()
    assert running.fouls() == [(0, Cause.DISCONNECTED)]
    assert kinds(Peer(running.lobby, running.clock).hello("p0", token(0))) == ["Refused"]


def test_a_program_that_was_started_anew_has_its_own_token_only(patient: InMemoryMatch) -> None:
    """Where each player has a token of its own, that token is enough to return."""
    hashes = {"p0": hashlib.sha256(b"secret").hexdigest()}
    lobby = MatchLobby(patient.clock, SignUpPolicy(), hashes)
    lobby.close()
    lobby.returns = patient.runner
    patient.peers[0].wire.drop()
    assert kinds(Peer(lobby, patient.clock).hello("x", "secret")) == ["Welcome", "Resumed", "Turn"]
    assert kinds(Peer(lobby, patient.clock).hello("p1", "guessed")) == ["Refused"]
    assert kinds(Peer(lobby, patient.clock).hello("p1", token(1))) == ["Welcome", "Resumed"]


def test_who_is_out_does_not_come_back(patient: InMemoryMatch) -> None:
    """A token opens nothing after its seat has fouled, and the match goes on."""
    patient.peers[0].raw(b"\0\0\0\x01\xc1")
    assert patient.fouls() == [(0, Cause.MALFORMED_MESSAGE)]
    assert kinds(Peer(patient.lobby, patient.clock).hello("p0", token(0))) == ["Refused"]
    patient.answer(1)
    assert patient.end().ranking == ((1,), (0,))


def test_a_seat_comes_back_so_often_and_no_more(patient: InMemoryMatch) -> None:
    """Each return costs lines of the record, so a player that returns without end is expelled."""
    for _ in range(MAX_RETURNS):
        assert kinds(Peer(patient.lobby, patient.clock).hello("p1", token(1)))[0] == "Welcome"
    assert kinds(Peer(patient.lobby, patient.clock).hello("p1", token(1))) == ["Refused"]


def test_the_referees_own_standstill_is_nobodys_who_comes_back(patient: InMemoryMatch) -> None:
    """The loop's standstill in between does not count; above the margin, the limit begins again."""
    patient.run(0.05)
    patient.clock.advance(0.1)
    *_, turn = Peer(patient.lobby, patient.clock).hello("p0", token(0))
    assert isinstance(turn, Turn)
    assert turn.left_ms == pytest.approx(LIMIT_S * 1000 - 50.0, abs=15.0)
    patient.clock.advance(0.3)
    *_, turn = Peer(patient.lobby, patient.clock).hello("p0", token(0))
    assert isinstance(turn, Turn)
    assert turn.left_ms >= LIMIT_S * 1000 - 70.0
    assert patient.fouls() == []


# --- a referee that stops


def test_a_referee_that_stops_leaves_a_match_to_go_on_with(running: InMemoryMatch) -> None:
    """The players are notified, nobody is at fault, and the match can be resumed from its record."""
    failures: list[Any] = []
    running.runner.done.addErrback(failures.append)
    running.runner.pause("the organiser stopped the referee")
    head = read_chain(running.path).head
    for peer in running.peers:
        assert peer.heard()[-1] == Paused(match="m1", reason="the organiser stopped the referee", head=head)
        assert not peer.is_open
    assert isinstance(failures[0].value, MatchPaused)
    assert str(running.path) == str(failures[0].value)
    resumed = reopen(running.path, lambda _name: QGame(), running.sealer)
    assert resumed.match.turn == 1
    resumed.writer.close()


# --- a player that does not read


def test_a_player_that_does_not_read_is_expelled(running: InMemoryMatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages for it pile up to a limit; the others play on."""
    monkeypatch.setattr("referee.net.links.player_protocol.MAX_UNREAD_BYTES", 100)
    running.peers[1].wire.room = 0
    running.peers[1].link.pauseProducing()
    running.answer(0)
    assert running.fouls() == [(1, Cause.NOT_READING)]
    assert running.match.fouls[0].detail == "more than 100 bytes of what was sent are unread"
    assert MAX_UNREAD_BYTES > 100


def test_what_is_unread_adds_up(open_match: OpenMatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twisted reports at each write that the player reads too slowly, but the limit does not begin again."""
    running = open_match(seats=3)
    running.ready()
    peer = running.peers[1]
    peer.heard()
    peer.wire.room = 0
    peer.link.pauseProducing()
    running.answer(0)
    sent_bytes = peer.wire.room = len(peer.wire.dataBuffer)
    peer.wire.doWrite()
    monkeypatch.setattr("referee.net.links.player_protocol.MAX_UNREAD_BYTES", sent_bytes)
    peer.link.pauseProducing()
    running.answer(1)
    assert running.fouls() == [(1, Cause.NOT_READING)]


def test_who_catches_up_is_forgiven(running: InMemoryMatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow reader is not expelled as long as it reads."""
    monkeypatch.setattr("referee.net.links.player_protocol.MAX_UNREAD_BYTES", 2000)
    link, wire = running.peers[1].link, running.peers[1].wire
    wire.room = 0
    link.pauseProducing()
    running.answer(0)
    wire.room = 5000
    wire.doWrite()
    link.resumeProducing()
    wire.room = 0
    link.pauseProducing()
    running.answer(1)
    assert running.fouls() == []


def test_an_expulsion_says_which_bytes_were_refused(running: InMemoryMatch, tmp_path: Path) -> None:
    """An illegal move is on record with its bytes; a legal one without them."""
    running.answer(0)
    assert "frame" not in running.last_step()["event"]
    turn = running.asked(1)
    data = running.peers[1].connection.send(Move(match="m1", turn=turn.turn, move={"action": "place", "tiles": []}))
    running.peers[1].raw(data)
    assert running.fouls() == [(1, Cause.ILLEGAL_MOVE)]
    assert running.match.fouls[0].evidence == data[4:].hex()
    expelled = running.peers[1].heard()[-1]
    assert isinstance(expelled, Expelled)
    assert expelled.evidence == data[4:].hex()
    assert running.end().ranking == ((0,), (1,))


# --- several frames in one piece


class TickingClock(Clock):
    """A clock that advances a little each time it is read, as real ones do."""

    def seconds(self) -> float:
        self.rightNow += 1e-6
        return super().seconds()


def test_two_answers_in_one_piece_are_two_answers(tmp_path: Path) -> None:
    """A player that sends its next answer in the same packet is judged as usual, and nothing is void."""
    running = InMemoryMatch(tmp_path, clock=TickingClock())
    for peer in running.peers:
        peer.heard()
    for seat, peer in enumerate(running.peers):
        peer.say(ready(seat))
    for peer in running.peers:
        peer.heard()
    running.peers[1].say(Nonce(match="m1", nonce=NONCE))
    nonce = running.peers[0].connection.send(Nonce(match="m1", nonce=NONCE))
    move = encode_frame(encode(Move(match="m1", turn=1, move=PASS)), 1000)
    running.peers[0].raw(nonce + move)
    assert running.match.turn == 2
    running.answer(1)
    assert running.result[0].void is None
    running.event_loop.lag.stop()
