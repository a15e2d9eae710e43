"""The steps about messages and bytes (acks, packets, encodings, a flood of messages), printing and memory."""

import struct
from functools import partial
from typing import Any

from msgspec import msgpack
from msgspec.structs import replace

from protocol.decoding import unpack
from protocol.frames import encode_frame
from protocol.limits import MAX_FRAME_FROM_REFEREE_BYTES
from protocol.messages import Told, encode

from ..files.tree import MIB
from ..programs.output import KEPT_BYTES
from ..text import counted
from .context import CheckContext, CheckStep
from .findings import Failed, Skipped
from .scripted_match import ScriptedMatch
from .session import Rewrite
from .steps_games import near_end
from .wire import Delivery

_MOVES = 2
_MOVES_THAT_DRAW = 4
"""In a game with draws, the program has drawn something after this number of moves."""
_TOLD = 12_000
"""Number of messages, about a megabyte: more than the kernel buffers for a program that does not read."""
_MAY_BE_MISSING = ("ack", "draws")
"""Keys of the referee's messages that may be left out if they are null."""


def lengthen(body: bytes) -> bytes:
    """Return a message with each value in msgpack's longest form, which no encoder makes and every decoder accepts."""
    return _longest(unpack(body))


def reorder(body: bytes) -> bytes:
    """Return a message with its keys in reverse order and without its optional keys."""
    message = unpack(body)
    needed = {key: value for key, value in message.items() if value is not None or key not in _MAY_BE_MISSING}
    return msgpack.encode(dict(reversed(needed.items())))


def _longest(value: Any) -> bytes:
    match value:
        case None | bool() | float():
            return msgpack.encode(value)
        case int():
            return struct.pack(">Bq", 0xD3, value) if value < 0 else struct.pack(">BQ", 0xCF, value)
        case str():
            data = value.encode()
            return struct.pack(">BI", 0xDB, len(data)) + data
        case list():
            return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(_longest, value))
    pairs = [_longest(key) + _longest(inner) for key, inner in value.items()]
    return struct.pack(">BI", 0xDF, len(pairs)) + b"".join(pairs)


def _ack_start(context: CheckContext) -> None:
    with context.match(acknowledge=True) as match:
        match.deal()
        match.void()


def _ack_draws(context: CheckContext) -> str:
    with context.match(acknowledge=True) as match:
        for moves in range(1, _MOVES_THAT_DRAW + 1):
            match.play(moves)
            match.deal()
            if "told" in match.acks:
                match.void()
                return f"after {counted(moves, 'move')}"
        raise Skipped("the game dealt nothing to the program, so there was no `told` to acknowledge")


def _ack_end(context: CheckContext) -> None:
    with context.match(replace(near_end(context.game), acknowledge=True)) as match:
        match.play()


# --- bytes


def _read(context: CheckContext, delivery: Delivery = Delivery.WHOLE, rewrite: Rewrite | None = None) -> None:
    """Start the program and play a few moves, with another way to cut packets or another encoding."""
    with context.session() as session:
        session.delivery, session.rewrite = delivery, rewrite
        session.greet()
        ScriptedMatch(session, context.terms()).finish(_MOVES)


def _reads(context: CheckContext) -> str:
    """Send thousands of messages before the program's next turn; the program must still answer that turn."""
    with context.match() as match:
        match.play(1)
        told = Told(match=match.name, turn=1, what={"kind": "expelled", "seat": 1, "cause": "timeout"})
        match.session.insert(encode_frame(encode(told), MAX_FRAME_FROM_REFEREE_BYTES) * _TOLD)
        match.finish(2)
    return f"{_TOLD} messages"


# --- output and memory


def _prints(context: CheckContext) -> str:
    with context.session() as session:
        session.greet()
        match = ScriptedMatch(session, context.terms())
        match.finish(_MOVES)
        session.close()
    printed = len(session.printed)
    if printed > KEPT_BYTES:
        raise Failed(
            f"it printed more than {KEPT_BYTES} bytes in {counted(match.moves, 'move')}",
            f"at most {KEPT_BYTES} bytes, as many as the referee stores",
            "Print less: the referee stores only the end of the output, and drops its beginning.",
        )
    return f"{counted(printed, 'byte')} in {counted(match.moves, 'move')}"


def _memory(context: CheckContext) -> str:
    if not context.peak_bytes:
        _read(context)
    peak_mib, limit_mib = context.peak_bytes // MIB, context.confinement.limits.memory_mib
    if peak_mib > limit_mib:
        raise Failed(
            f"its processes used {peak_mib} MiB",
            f"at most {limit_mib} MiB for all its processes together",
            "Use less memory, or set a limit for the runtime: `java -Xmx300m`, `node --max-old-space-size=300`.",
        )
    return f"{peak_mib} MiB of {limit_mib} MiB at most"


STEPS = (
    CheckStep("ack-start", "it acknowledges `start` if asked to", _ack_start),
    CheckStep("ack-told", "it acknowledges `told` if asked to", _ack_draws),
    CheckStep("ack-end", "it acknowledges `end` if asked to", _ack_end),
    CheckStep("bytewise", "it reads messages that come byte by byte", partial(_read, delivery=Delivery.BYTEWISE)),
    CheckStep("split", "it reads messages that come in pieces", partial(_read, delivery=Delivery.SPLIT)),
    CheckStep("packed", "it reads several messages that come at once", partial(_read, delivery=Delivery.PACKED)),
    CheckStep(
        "long-forms",
        "it reads every form of msgpack's numbers, strings, arrays and maps",
        partial(_read, rewrite=lengthen),
    ),
    CheckStep("any-order", "it reads keys in any order, without the optional keys", partial(_read, rewrite=reorder)),
    CheckStep("reads", "it reads thousands of messages before its turn", _reads),
    CheckStep("prints", "it prints no more than the referee stores", _prints),
    CheckStep("memory", "it keeps its memory within the limit", _memory),
)
