"""The conversation: the table says which message may follow which, for both sides."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol import Code, Connection, ConnectionState, LocalProtocolError, Need, RemoteProtocolError, Role
from protocol.connection import TRANSITIONS
from protocol.frames import encode_frame
from protocol.limits import MAX_FRAME_FROM_REFEREE_BYTES
from protocol.messages import FROM_PLAYER, FROM_REFEREE, Ack, Message, Move, encode

from .pairs import ConnectionPair, deliver
from .situations import OTHER, PAST, STATES_OF_NO_MATCH, TRIGGERS, message_for, pair_in, receive_all, sender_of
from .tables import BAD_FRAMES, MATCH, framed

ROWS = [(state, trigger) for state in ConnectionState for trigger in TRIGGERS]
ALLOWED = [row for row in ROWS if row in TRANSITIONS]
FORBIDDEN = [row for row in ROWS if row not in TRANSITIONS]
TAKEN_BACK = [
    state
    for state in ConnectionState
    if state not in (ConnectionState.NEW, ConnectionState.GREETED, ConnectionState.OFFERED, ConnectionState.CLOSED)
]
"""The states that can be reached without an offer."""
NAMELESS = ("offer", "resumed", "refused")
"""Messages of the referee outside of a match, or for a new one."""
CHUNKS = (1, 7, 65_536)


def raw(message: Message) -> bytes:
    """Return a message's frame, even if it may not be sent."""
    return encode_frame(encode(message), MAX_FRAME_FROM_REFEREE_BYTES)


def match_of(state: ConnectionState, trigger: str) -> str:
    """Return the match that a row's message must name. Between matches, `end` and `expelled` name the last one."""
    return PAST if state is ConnectionState.IDLE and trigger in ("end", "expelled") else MATCH


def test_the_table_speaks_of_every_message() -> None:
    """The table has exactly the messages of both sides."""
    assert {*FROM_PLAYER, *FROM_REFEREE} == {trigger.removesuffix("+") for _, trigger in TRANSITIONS}


def test_every_code_is_provoked() -> None:
    """Each code for received bytes is in the table of bad frames, or needs more than a frame."""
    assert set(Code) == {code for *_, code in BAD_FRAMES} | {Code.WRONG_MATCH, Code.FLOOD, Code.NOT_READING}


@pytest.mark.parametrize(("state", "trigger"), ALLOWED)
@pytest.mark.parametrize("chunk_bytes", CHUNKS)
def test_what_has_a_row_passes_on_both_sides(state: ConnectionState, trigger: str, chunk_bytes: int) -> None:
    """An allowed message is sent and received, however it is cut, and both sides reach the state of its row."""
    pair, sender = pair_in(state), sender_of(trigger)
    message = message_for(trigger, match_of(state, trigger))
    received = deliver(pair.side(OTHER[sender]), pair.side(sender).send(message), chunk_bytes)
    assert [message] == received
    assert TRANSITIONS[state, trigger] == pair.player.state == pair.referee.state


@pytest.mark.parametrize(("state", "trigger"), [row for row in ALLOWED if row[0] in TAKEN_BACK])
def test_a_player_that_was_taken_back_plays_like_any_other(state: ConnectionState, trigger: str) -> None:
    """All messages that are allowed in an offered match are allowed in a resumed one."""
    pair, sender = pair_in(state, avoided="offer"), sender_of(trigger)
    message = message_for(trigger, match_of(state, trigger))
    assert [message] == pair.send(sender, message)
    assert TRANSITIONS[state, trigger] == pair.player.state == pair.referee.state


@pytest.mark.parametrize("state", ConnectionState)
def test_only_between_matches_is_a_player_taken_back(state: ConnectionState) -> None:
    """`resumed` is allowed only after `welcome` and after the end of another match."""
    assert ((state, "resumed") in TRANSITIONS) is (state is ConnectionState.IDLE)


@pytest.mark.parametrize(("state", "trigger"), FORBIDDEN)
def test_what_has_no_row_is_not_sent(state: ConnectionState, trigger: str) -> None:
    """Sending such a message is this side's own mistake, and changes nothing."""
    sender = pair_in(state).side(sender_of(trigger))
    with pytest.raises(LocalProtocolError):
        sender.send(message_for(trigger))
    assert state == sender.state


@pytest.mark.parametrize("state", ConnectionState)
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_after_a_breach_only_the_reason_is_owed(state: ConnectionState, trigger: str) -> None:
    """In any state, `refused` and `expelled` may still be sent, and nothing else."""
    side = pair_in(state).side(sender_of(trigger))
    message = message_for(trigger)
    if trigger in ("refused", "expelled"):
        assert raw(message) == side.send_last(message)
        assert ConnectionState.CLOSED is side.state
        return
    with pytest.raises(LocalProtocolError):
        side.send_last(message)


@pytest.mark.parametrize(("state", "trigger"), [row for row in FORBIDDEN if row[0] is not ConnectionState.CLOSED])
def test_what_has_no_row_is_out_of_turn(state: ConnectionState, trigger: str) -> None:
    """Receiving such a message is the peer's mistake, and closes the conversation."""
    receiver = pair_in(state).side(OTHER[sender_of(trigger)])
    data = raw(message_for(trigger))
    with pytest.raises(RemoteProtocolError) as caught:
        deliver(receiver, data)
    assert Code.OUT_OF_TURN is caught.value.code
    assert data[4:] == caught.value.evidence
    assert ConnectionState.CLOSED is receiver.state


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_closed_conversation_drops_what_arrives(trigger: str) -> None:
    """Everything after the last word is dropped, even the end of the connection."""
    receiver = pair_in(ConnectionState.CLOSED).side(OTHER[sender_of(trigger)])
    assert receive_all(receiver, raw(message_for(trigger)) + b"\x00", 65_536) == []
    assert receiver.pending == b""


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize("state", ConnectionState)
def test_nobody_sends_the_other_sides_messages(state: ConnectionState, trigger: str) -> None:
    """Such a message is an error in every state."""
    with pytest.raises(LocalProtocolError):
        pair_in(state).side(OTHER[sender_of(trigger)]).send(message_for(trigger))


@pytest.mark.parametrize(
    ("state", "trigger"),
    [row for row in ALLOWED if row[0] not in (ConnectionState.NEW, ConnectionState.GREETED) and row[1] not in NAMELESS],
)
def test_another_match_is_refused_on_both_sides(state: ConnectionState, trigger: str) -> None:
    """A message must name the match that is being played, or between matches the last one."""
    pair, sender = pair_in(state), sender_of(trigger)
    message = message_for(trigger, "another")
    with pytest.raises(LocalProtocolError):
        pair.side(sender).send(message)
    assert state == pair.side(sender).state
    with pytest.raises(RemoteProtocolError) as caught:
        deliver(pair.side(OTHER[sender]), raw(message))
    assert Code.WRONG_MATCH is caught.value.code
    assert ConnectionState.CLOSED is pair.side(OTHER[sender]).state


@pytest.mark.parametrize("late", [Move(match=PAST, turn=1, move=None), Ack(match=PAST, ack=1)])
@pytest.mark.parametrize(
    "state", [state for state in ConnectionState if state not in (ConnectionState.NEW, ConnectionState.GREETED)]
)
@pytest.mark.parametrize("chunk_bytes", CHUNKS)
def test_an_answer_that_crossed_the_end_is_dropped(state: ConnectionState, late: Message, chunk_bytes: int) -> None:
    """An answer for the last match is no fault: the referee's side neither passes it on nor judges it."""
    referee = pair_in(state).referee
    assert deliver(referee, raw(late), chunk_bytes) == []
    assert state == referee.state


def test_a_late_answer_does_not_hide_the_next_one() -> None:
    """The right answer after it in the same bytes is received."""
    pair = pair_in(ConnectionState.ASKED)
    late, right = Move(match=PAST, turn=9, move=None), Move(match=MATCH, turn=1, move=None)
    assert [right] == deliver(pair.referee, raw(late) + raw(right))


def test_a_player_takes_no_late_message() -> None:
    """Only answers can cross: a referee that names the last match, except in its end, breaks the protocol."""
    pair = pair_in(ConnectionState.SEATED)
    with pytest.raises(RemoteProtocolError) as caught:
        deliver(pair.player, raw(message_for("told", PAST)))
    assert Code.WRONG_MATCH is caught.value.code


@pytest.mark.parametrize("trigger", ["end", "expelled"])
def test_a_last_word_that_crosses_the_last_ack_is_taken(trigger: str) -> None:
    """A player that has confirmed the end still accepts that the referee voids that match."""
    pair = pair_in(ConnectionState.TO_CONFIRM_END)
    pair.player.send(message_for("ack"))
    last_word = message_for(trigger)
    assert [last_word] == deliver(pair.player, pair.referee.send(last_word))


def test_a_match_may_have_the_name_of_the_past_one() -> None:
    pair = pair_in(ConnectionState.IDLE)
    for trigger in ("offer", "ready", "turn", "move", "end", "resumed", "turn", "move"):
        assert [message_for(trigger, PAST)] == pair.send(sender_of(trigger), message_for(trigger, PAST))


@pytest.mark.parametrize("chunk_bytes", CHUNKS)
def test_a_whole_match_survives_any_cut(chunk_bytes: int) -> None:
    """A match with acknowledgements passes from sign-up to the next offer."""
    pair = ConnectionPair(chunk_bytes)
    script = ["hello", "welcome", "offer", "ready", "start+", "ack", "told", "turn", "told", "move", "told+", "ack"]
    script += ["told", "end+", "ack", "offer"]
    assert [message_for(step) for step in script] == [
        received for step in script for received in pair.send(sender_of(step), message_for(step))
    ]


@pytest.mark.parametrize("again", ["start+ ack", "turn move", "told+ ack told", "end+ ack offer", "end", "expelled"])
@pytest.mark.parametrize("chunk_bytes", CHUNKS)
def test_what_was_open_is_asked_again(again: str, chunk_bytes: int) -> None:
    """On a new connection, a player that says hello again is taken back, and the open request follows."""
    pair = ConnectionPair(chunk_bytes)
    script = ["hello", "welcome", "resumed", *again.split()]
    assert [message_for(step) for step in script] == [
        received for step in script for received in pair.send(sender_of(step), message_for(step))
    ]


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_begun_frame_is_pending_evidence(cut: int) -> None:
    """The bytes of an incomplete frame can be shown, and its end is TRUNCATED."""
    pair = pair_in(ConnectionState.ASKED)
    data = raw(message_for("move"))[:cut]
    assert deliver(pair.referee, data) == []
    assert data == pair.referee.pending
    assert pair.referee.is_mid_frame
    with pytest.raises(RemoteProtocolError) as caught:
        pair.referee.receive_end()
    assert Code.TRUNCATED is caught.value.code
    assert data == caught.value.evidence


def test_the_end_between_frames_is_no_mistake() -> None:
    """A peer may close the connection whenever no frame has begun."""
    pair = pair_in(ConnectionState.ASKED)
    assert not pair.referee.is_mid_frame
    pair.referee.receive_end()
    assert Need.DATA is pair.referee.next_event()


UNSENDABLE = (object(), 2**64, -(2**63) - 1, "\ud800", 1j)


@pytest.mark.parametrize("move", UNSENDABLE, ids=lambda move: type(move).__name__)
def test_what_msgpack_cannot_carry_is_a_local_mistake(move: object) -> None:
    """A move that is no plain value is refused before it is sent, and another one may be sent instead."""
    player = pair_in(ConnectionState.ASKED).player
    with pytest.raises(LocalProtocolError):
        player.send(Move(match=MATCH, turn=1, move=move))
    assert ConnectionState.ASKED is player.state
    player.send(message_for("move"))


def test_a_move_within_itself_is_a_local_mistake() -> None:
    """Endless nesting is refused before it is sent."""
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(LocalProtocolError):
        pair_in(ConnectionState.ASKED).player.send(Move(match=MATCH, turn=1, move=endless))


def test_a_frame_over_the_limit_is_a_local_mistake() -> None:
    """A move that the referee would refuse for its length is not sent."""
    player = pair_in(ConnectionState.ASKED).player
    with pytest.raises(LocalProtocolError):
        player.send(Move(match=MATCH, turn=1, move=["x" * 4000] * 17))
    assert ConnectionState.ASKED is player.state


def test_a_player_speaks_only_when_asked() -> None:
    """In every state in which the player may send, its message makes the referee send next."""
    asked = {state for state, trigger in TRANSITIONS if trigger in FROM_PLAYER}
    after = {goal for (_, trigger), goal in TRANSITIONS.items() if trigger in FROM_PLAYER}
    assert set() == asked & after
    assert asked.isdisjoint(STATES_OF_NO_MATCH[1:])


def take(receiver: Connection, data: bytes, cuts: list[int]) -> None:
    """Receive bytes, cut anywhere, until the peer breaks the protocol."""
    try:
        for cut in [*cuts, len(data)]:
            deliver(receiver, data[:cut])
            data = data[cut:]
        receiver.receive_end()
    except RemoteProtocolError as error:
        assert len(error.evidence) <= MAX_FRAME_FROM_REFEREE_BYTES  # noqa: PT017  # not raising is right, too
        assert len(error.detail) <= 1000  # noqa: PT017


CUTS = st.lists(st.integers(1, 60), max_size=4)
SIDES = [(state, role) for state in ConnectionState for role in Role]
STREAMS = {
    role: b"".join(raw(message_for(trigger)) for trigger in TRIGGERS if sender_of(trigger) is role) for role in Role
}


@given(st.sampled_from(SIDES), st.binary(max_size=300), CUTS)
@settings(max_examples=300)
def test_random_bytes_raise_nothing_else(side: tuple[ConnectionState, Role], data: bytes, cuts: list[int]) -> None:
    """In every state and role, random bytes are dropped, taken or refused."""
    state, role = side
    take(pair_in(state).side(role), data, cuts)
    take(pair_in(state).side(role), framed(data), cuts)


@given(
    st.sampled_from(SIDES),
    st.lists(st.tuples(st.integers(0, 2000), st.binary(max_size=4), st.integers(0, 4)), min_size=1, max_size=4),
    CUTS,
)
@settings(max_examples=600)
def test_mutated_streams_raise_nothing_else(
    side: tuple[ConnectionState, Role], mutations: list[tuple[int, bytes, int]], cuts: list[int]
) -> None:
    """Valid messages with some bytes changed, added or lost are dropped, taken or refused."""
    state, role = side
    stream = STREAMS[OTHER[role]]
    for place, new, lost in mutations:
        at = place % len(stream)
        stream = stream[:at] + new + stream[at + lost :]
    take(pair_in(state).side(role), stream, cuts)


@given(st.sampled_from(TRIGGERS), st.integers(0, 2000), st.integers(0, 255))
@settings(max_examples=600)
def test_a_mutated_body_raises_nothing_else(trigger: str, place: int, byte: int) -> None:
    """The one expected message, with one changed byte in its body, is taken or refused."""
    state = next(state for state, other in ALLOWED if other == trigger)
    body = bytearray(raw(message_for(trigger))[4:])
    body[place % len(body)] = byte
    take(pair_in(state).side(OTHER[sender_of(trigger)]), framed(bytes(body)), [])


@pytest.mark.parametrize("state", [ConnectionState.IDLE, ConnectionState.SEATED])
@pytest.mark.parametrize("chunk_bytes", [1, 1000, 65_536])
@pytest.mark.parametrize("sent", [4, 50_000, 60_000])
def test_a_long_unasked_frame_is_a_flood_by_its_prefix(state: ConnectionState, chunk_bytes: int, sent: int) -> None:
    """However it is cut, however much of it has come, and whatever is in it: it is refused, and not decoded."""
    referee = pair_in(state).referee
    flood = ((60_000).to_bytes(4, "big") + b"\xc1" * 60_000)[:sent]
    with pytest.raises(RemoteProtocolError) as caught:
        receive_all(referee, flood, chunk_bytes)
    assert Code.FLOOD is caught.value.code
    assert "60000" in caught.value.detail


def test_the_second_of_two_answers_is_a_flood_if_it_is_long() -> None:
    """The first one has answered the request."""
    pair = pair_in(ConnectionState.ASKED)
    move = pair.player.send(message_for("move", match_of(ConnectionState.ASKED, "move")))
    pair.referee.receive_data(move + (60_000).to_bytes(4, "big"))
    assert isinstance(pair.referee.next_event(), Move)
    with pytest.raises(RemoteProtocolError) as caught:
        pair.referee.next_event()
    assert Code.FLOOD is caught.value.code


def test_a_long_answer_is_no_flood() -> None:
    """A requested message may be as long as a frame, however slowly it comes."""
    referee = pair_in(ConnectionState.ASKED).referee
    referee.receive_data((60_000).to_bytes(4, "big") + bytes(50_000))
    assert referee.next_event() is Need.DATA
