"""The first steps: a program's folder, its first words, its answer to an offer, its first turn.

Each of them judges one thing, so that a program fails at the step that names its fault.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from protocol import RemoteProtocolError
from protocol.decoding import decode, unpack
from protocol.limits import (
    MAX_FRAME_FROM_PLAYER_BYTES,
    NAME_FORM,
    NAME_PATTERN,
    NONCE_PATTERN,
    PREFIX_BYTES,
    PROTOCOL_VERSION,
)
from protocol.messages import FROM_PLAYER, Hello, Message, Move, Ready

from ..games.base import IllegalMove, MalformedMove
from ..launch import PlayerError
from ..launch.player_spec import refuse_escapes, resolved
from ..text import counted
from .context import CheckContext, unready
from .findings import Failed
from .probes import FirstTurn, FirstWords, first_turn, first_words, offered
from .remedies import OF_CODE, SPEC, prefix_remedy, remedy
from .step import CheckStep

_MANY_S = 10.0
"""A start that takes longer is told: a tournament starts programs many times."""


def _links(context: CheckContext) -> str:
    try:
        refuse_escapes(context.player_folder)
    except PlayerError as error:
        advice = "Put a copy in place of the link: the folder alone is what a tournament gets."
        raise unready(error, "a folder that holds all that the program needs", advice) from None
    return ""


def _toml(context: CheckContext) -> str:
    _ = context.player_folder
    _ = context.launch
    return ""


def _named(context: CheckContext) -> str:
    _ = context.player_folder
    launch = context.launch
    if not re.match(NAME_PATTERN, launch.name):
        raise Failed(
            f"its name is {launch.name!r}",
            expected=f"a name of {NAME_FORM}",
            remedy="Change `name` in player.toml.",
        )
    unknown = [name for name in launch.games if name not in context.known]
    if unknown:
        raise Failed(
            f"`games` names {', '.join(unknown)}",
            expected=f"some of {', '.join(context.known)}",
            remedy="Change `games` in player.toml; without it, the program is taken to play all of them.",
        )
    return f"{launch.name} plays {', '.join(launch.games) or 'every game'}"


def _build(context: CheckContext) -> str:
    _ = context.player_folder
    try:
        is_new = context.builds.build(context.launch)
    except PlayerError as error:
        advice = "Run the command of `build` in the folder yourself; the file that is named has all that it printed."
        raise unready(error, "a build that ends with exit status 0", advice) from None
    return "built" if is_new else "nothing to build" if not context.launch.build else "built before"


def _command(context: CheckContext) -> str:
    try:
        return resolved(context.launch)[0]
    except PlayerError as error:
        raise Failed(
            str(error),
            expected="a program in the folder, or one that PATH finds",
            remedy="Change `run`, make the file executable (chmod +x), or let `build` make it.",
        ) from None


# --- hello


def _connects(context: CheckContext) -> str:
    seconds = context.seen(first_words).connected_s
    return f"after {seconds:.2f} s" + ("; that is long" if seconds > _MANY_S else "")


def _prefix(context: CheckContext) -> str:
    words = context.seen(first_words)
    length = int.from_bytes(words.frame[:PREFIX_BYTES], "big")
    if words.silence is None and 0 < length <= MAX_FRAME_FROM_PLAYER_BYTES:
        return counted(length, "byte")
    if words.silence is not None and len(words.frame) < PREFIX_BYTES:
        raise words.silence
    happened = f"its first 4 bytes announce a body of {length} bytes, and {len(words.body)} came"
    expected = f"4 bytes that tell the length of the body, 1 to {MAX_FRAME_FROM_PLAYER_BYTES}, and the body"
    raise Failed(happened, expected=expected, remedy=prefix_remedy(words.frame), received=words.frame)


def _body(context: CheckContext) -> str:
    value = _plain(context.seen(first_words))
    if not isinstance(value, dict):
        raise _breach(RemoteProtocolError("not-a-map", f"a {type(value).__name__}"), context.seen(first_words).frame)  # type: ignore[arg-type]
    return ""


def _plain(words: FirstWords) -> Any:
    try:
        return unpack(words.body)
    except RemoteProtocolError as error:
        raise _breach(error, words.frame) from None


def _hello(context: CheckContext) -> str:
    """Judge the keys; their values have steps of their own."""
    words = context.seen(first_words)
    value = _plain(words)
    known = {"type", *Hello.__struct_fields__}
    needed = known - {"token"}
    wrong = [f"it lacks {key}" for key in sorted(needed - value.keys())]
    wrong += [f"it has {key}, which a hello has not" for key in sorted(value.keys() - known)]
    if value.get("type") != "hello":
        wrong.insert(0, f"its type is {value.get('type')!r}")
    if wrong:
        raise Failed(
            "; ".join(wrong),
            expected='"type": "hello", version, name, and token for a launched program',
            remedy=f"See {SPEC}, hello.",
            received=words.frame,
        )
    return ""


def _value(key: str, is_right: Callable[[Any, FirstWords], bool], expected: str, context: CheckContext) -> str:
    """Judge one key of the hello."""
    words = context.seen(first_words)
    value = _plain(words).get(key)
    if not is_right(value, words):
        advice = f"Put it into the hello as {key}."
        raise Failed(f"{key} is {value!r}", expected=expected, remedy=advice, received=words.frame)
    return "" if key == "token" else str(value)


_VALUES: tuple[tuple[str, Callable[[Any, FirstWords], bool], str], ...] = (
    ("version", lambda version, _: type(version) is int and version == PROTOCOL_VERSION, "1"),
    (
        "name",
        lambda name, _: isinstance(name, str) and bool(re.match(NAME_PATTERN, name)),
        f"{NAME_FORM}; best those in the environment variable REFEREE_NAME",
    ),
    (
        "token",
        lambda token, words: bool(token == words.token),
        "what stands in the environment variable REFEREE_TOKEN: it reserves the seat",
    ),
)
"""Key of the hello, what makes its value right, and what is expected."""
_VERSION, _NAME, _TOKEN = (partial(_value, *row) for row in _VALUES)


def _waits(context: CheckContext) -> str:
    chatter = context.seen(first_words).chatter
    if chatter is not None:
        raise chatter
    return ""


# --- ready


def _ready(context: CheckContext) -> str:
    """Judge all but the nonce."""
    seen = context.seen(offered)
    try:
        value = unpack(seen.frame[PREFIX_BYTES:])
        kind = value.get("type") if isinstance(value, dict) else None
        if kind != "ready":
            decode(seen.frame[PREFIX_BYTES:], {"ready": Ready})
    except RemoteProtocolError as error:
        raise _breach(error, seen.frame, seen.asked) from None
    keys = {"type", *Ready.__struct_fields__}
    if value.keys() != keys or value["match"] != seen.match:
        raise Failed(
            f"its ready has the keys {', '.join(value)}, and match {value.get('match')!r}",
            expected=f"the keys {', '.join(sorted(keys))}, and match {seen.match!r}, as in the offer",
            remedy=OF_CODE["wrong-match"],
            received=seen.frame,
            asked=seen.asked,
        )
    return ""


def _nonce(context: CheckContext) -> str:
    seen = context.seen(offered)
    nonce = unpack(seen.frame[PREFIX_BYTES:]).get("nonce")
    if not (isinstance(nonce, str) and re.match(NONCE_PATTERN, nonce)):
        raise Failed(
            f"nonce is {nonce!r}",
            expected="32 hex digits in lower case: 16 random bytes",
            remedy="Draw 16 bytes from the system's random source and write each as two hex digits, a leading 0 kept.",
            received=seen.frame,
            asked=seen.asked,
        )
    return ""


def _new_nonce(context: CheckContext) -> str:
    first, second = unpack(context.seen(offered).frame[PREFIX_BYTES:])["nonce"], context.seen(first_turn).nonce
    if first == second:
        raise Failed(
            f"two matches got the same nonce, {first}",
            expected="a new one for each match, that nobody can guess",
            remedy="Do not derive the nonce from a fixed seed or from REFEREE_PLAYER_SEED: the referee knows both.",
            received=context.seen(offered).frame,
        )
    return ""


# --- the first turn


def _quiet(context: CheckContext) -> str:
    chatter = context.seen(first_turn).chatter
    if chatter is not None:
        raise chatter
    return ""


def _answers(context: CheckContext) -> str:
    seen = context.seen(first_turn)
    if seen.silence is not None:
        raise seen.silence
    return f"after {seen.seconds:.2f} s, in {seen.game.name}"


def _move_form(context: CheckContext) -> str:
    _move(context.seen(first_turn))
    return ""


def _move(seen: FirstTurn) -> Move:
    try:
        message: Message = decode(seen.frame[PREFIX_BYTES:], FROM_PLAYER)
    except RemoteProtocolError as error:
        raise _breach(error, seen.frame, seen.asked) from None
    if not isinstance(message, Move):
        raise _wrong(
            seen, f"it answers the turn with {message.__struct_config__.tag!r}", "a move", OF_CODE["out-of-turn"]
        )
    return message


def _wrong(seen: FirstTurn, happened: str, expected: str, advice: str) -> Failed:
    return Failed(happened, expected=expected, remedy=advice, received=seen.frame, asked=seen.asked)


def _move_match(context: CheckContext) -> str:
    seen = context.seen(first_turn)
    match = _move(seen).match
    if match != seen.match:
        raise _wrong(seen, f"match is {match!r}", f"{seen.match!r}, as in the turn", OF_CODE["wrong-match"])
    return ""


def _move_number(context: CheckContext) -> str:
    seen = context.seen(first_turn)
    number = _move(seen).turn
    if number != seen.turn:
        raise _wrong(seen, f"turn is {number}", f"{seen.turn}, as in the turn", remedy("out-of-turn", None))
    return ""


def _move_shape(context: CheckContext) -> str:
    seen = context.seen(first_turn)
    try:
        seen.game.parse_move(_move(seen).move)
    except MalformedMove as error:
        advice = OF_CODE["move"].replace("GAME", seen.game.name)
        raise _wrong(seen, str(error), f"a move of {seen.game.name}", advice) from None
    return ""


def _move_rules(context: CheckContext) -> str:
    seen = context.seen(first_turn)
    try:
        seen.game.play(seen.state, seen.game.parse_move(_move(seen).move))
    except IllegalMove as error:
        advice = remedy("illegal-move", None).replace("GAME", seen.game.name)
        rule = seen.game.rules[error.rule_id]
        raise _wrong(seen, f"{error.rule_id}: {error.detail}", f"{rule.text} ({rule.id})", advice) from None
    return ""


def _move_once(context: CheckContext) -> str:
    seen = context.seen(first_turn)
    if seen.behind:
        raise Failed(
            f"after its move it sent {counted(len(seen.behind), 'byte')} more",
            expected="one move for a turn, then silence until the next message that asks",
            remedy=OF_CODE["out-of-turn"],
            received=seen.behind,
            asked=seen.asked,
        )
    return ""


def _breach(error: RemoteProtocolError, frame: bytes, asked: tuple[bytes, ...] = ()) -> Failed:
    expected = "one msgpack map, a message of the player"
    advice = OF_CODE[error.code]
    return Failed(f"{error.code}: {error.detail}", expected=expected, remedy=advice, received=frame, asked=asked)


STEPS = (
    CheckStep("links", "no link leads out of the folder", _links, is_basic=True),
    CheckStep("toml", "player.toml is there and right", _toml, is_basic=True),
    CheckStep("named", "its name and its games are such as a tournament takes", _named, is_basic=True),
    CheckStep("build", "it builds", _build, is_basic=True),
    CheckStep("command", "the program that `run` names is there", _command, is_basic=True),
    CheckStep("connects", "it starts, and connects in time", _connects, is_basic=True),
    CheckStep("prefix", "its first bytes are the prefix of a frame", _prefix, is_basic=True),
    CheckStep("body", "the frame holds one msgpack map", _body, is_basic=True),
    CheckStep("hello", "the map is a hello", _hello, is_basic=True),
    CheckStep("version", "the hello has version 1", _VERSION, is_basic=True),
    CheckStep("name", "the hello has a name", _NAME, is_basic=True),
    CheckStep("token", "the hello has the token", _TOKEN, is_basic=True),
    CheckStep("waits", "after its hello it waits", _waits, is_basic=True),
    CheckStep("ready", "it answers an offer with ready", _ready, is_basic=True),
    CheckStep("nonce", "the ready has a nonce", _nonce, is_basic=True),
    CheckStep("new-nonce", "the nonce is another one in each match", _new_nonce),
    CheckStep("quiet", "it says nothing while nothing is asked", _quiet, is_basic=True),
    CheckStep("answers", "it answers its first turn in time", _answers, is_basic=True),
    CheckStep("move", "the answer is a move", _move_form, is_basic=True),
    CheckStep("move-match", "the move names the match", _move_match, is_basic=True),
    CheckStep("move-turn", "the move has the number of the turn", _move_number, is_basic=True),
    CheckStep("move-form", "the move has the form of the game's", _move_shape, is_basic=True),
    CheckStep("move-rules", "the move is legal", _move_rules, is_basic=True),
    CheckStep("move-once", "it moves once", _move_once, is_basic=True),
)
"""In the order in which a program comes to them."""
