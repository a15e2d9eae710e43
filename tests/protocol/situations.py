"""Brings both sides of a conversation into any state of the table, by the table itself.

Every state is reached by messages; none is set by hand.
"""

from collections import deque
from functools import cache

import msgspec

from protocol import Connection, ConnectionState, Role
from protocol.connection import TRANSITIONS
from protocol.messages import FROM_PLAYER, FROM_REFEREE, Message

from .pairs import ConnectionPair, deliver
from .tables import EXAMPLES, MATCH

PAST = "q-0"
"""Name of the earlier match."""

OTHER = {Role.PLAYER: Role.REFEREE, Role.REFEREE: Role.PLAYER}
STATES_OF_NO_MATCH = (ConnectionState.NEW, ConnectionState.GREETED, ConnectionState.IDLE, ConnectionState.CLOSED)
TRIGGERS = sorted({trigger for _, trigger in TRANSITIONS})


def typed(message: dict[str, object]) -> Message:
    """Return the message of a plain map."""
    kinds = {**FROM_PLAYER, **FROM_REFEREE}
    return msgspec.convert(message, kinds[str(message["type"])])


def sender_of(trigger: str) -> Role:
    """Return who sends what a row of the table speaks of."""
    return Role.PLAYER if trigger in FROM_PLAYER else Role.REFEREE


def message_for(trigger: str, match: str = MATCH) -> Message:
    """Return the first example of a message, for a match if it names one."""
    for _, _, plain in EXAMPLES:
        demands = trigger.endswith("+")
        if plain["type"] == trigger.removesuffix("+") and (
            plain["type"] == "ack" or (plain.get("ack") is not None) == demands
        ):
            return typed({**plain, "match": match} if "match" in plain else plain)
    raise AssertionError(f"no example of {trigger}")


@cache
def path_to(
    goal: ConnectionState, start: ConnectionState = ConnectionState.NEW, avoided: str = "resumed"
) -> tuple[str, ...]:
    """Return the shortest way through the table from one state to another that avoids a message."""
    queue: deque[tuple[ConnectionState, tuple[str, ...]]] = deque([(start, ())])
    seen = {start}
    while queue:
        state, path = queue.popleft()
        if state is goal:
            return path
        for (before, trigger), after in TRANSITIONS.items():
            if before is state and after not in seen and trigger != avoided:
                seen.add(after)
                queue.append((after, (*path, trigger)))
    raise AssertionError(f"no way to {goal}")


def pair_in(goal: ConnectionState, avoided: str = "resumed") -> ConnectionPair:
    """Return two sides that have played one match and are now in a state, in a match named MATCH if in any.

    Args:
        goal: the state.
        avoided: the message that leads into no match on the way: `offer` or `resumed`.
    """
    pair = ConnectionPair()
    if goal in (ConnectionState.NEW, ConnectionState.GREETED, ConnectionState.CLOSED):
        legs = [(PAST, path_to(goal))]
    else:
        once = (*path_to(ConnectionState.SEATED, avoided=avoided), "end")
        legs = [(PAST, once), (MATCH, path_to(goal, ConnectionState.IDLE, avoided))]
    for match, path in legs:
        for trigger in path:
            pair.send(sender_of(trigger), message_for(trigger, match))
    assert goal is pair.player.state
    assert goal is pair.referee.state
    return pair


def receive_all(receiver: Connection, data: bytes, chunk_bytes: int) -> list[Message]:
    """Receive bytes a chunk at a time, then the end of the connection."""
    received = deliver(receiver, data, chunk_bytes)
    receiver.receive_end()
    return received
