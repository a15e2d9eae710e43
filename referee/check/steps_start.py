"""The first steps: a program's folder, its first words, its answers to an offer and to reveal, its first turn.

Each of them judges one thing, so that a program fails at the step that names its fault.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from protocol import Code, RemoteProtocolError
from protocol.deal import nonce_commitment
from protocol.decoding import decode
from protocol.limits import (
    MAX_FRAME_FROM_PLAYER_BYTES,
    NAME_FORM,
    NAME_PATTERN,
    NONCE_PATTERN,
    PREFIX_BYTES,
    PROTOCOL_VERSION,
)
from protocol.messages import FROM_PLAYER, Hello, Message, Move, Nonce, Ready, type_of

from ..games.base import IllegalMove, MalformedMove
from ..programs.player_spec import refuse_escapes, resolve_command
from ..text import counted
from .context import CheckContext, CheckStep, Run, demanding
from .findings import Failed
from .probes import FirstTurn, FirstWords, Opening, S, Seen, first_turn, first_words, judged, offered, revealed
from .remedies import OF_CODE, SPEC, prefix_remedy, remedy

_MANY_S = 10.0
"""A start that takes longer is told: a tournament starts programs many times."""


def _links(context: CheckContext) -> None:
    advice = "Put a copy in place of the link: the folder alone is what a tournament gets."
    with demanding("a folder that holds all that the program needs", advice):
        refuse_escapes(context.player_folder)


def _toml(context: CheckContext) -> None:
    _ = context.player_folder
    _ = context.launch


def _named(context: CheckContext) -> str:
    _toml(context)
    launch = context.launch
    if not re.match(NAME_PATTERN, launch.name):
        raise Failed(f"its name is {launch.name!r}", f"a name of {NAME_FORM}", "Change `name` in player.toml.")
    unknown = [name for name in launch.games if name not in context.known]
    if unknown:
        raise Failed(
            f"`games` names {', '.join(unknown)}",
            f"some of {', '.join(context.known)}",
            "Change `games` in player.toml; without it, the program is taken to play all of them.",
        )
    return f"{launch.name} plays {', '.join(launch.games) or 'every game'}"


def _build(context: CheckContext) -> str:
    _ = context.player_folder
    advice = "Run the command of `build` in the folder yourself; the file that is named has all that it printed."
    with demanding("a build that ends with exit status 0", advice):
        is_new = context.builds.build(context.launch)
    return "built" if is_new else "nothing to build" if not context.launch.build else "built before"


def _command(context: CheckContext) -> str:
    advice = "Do what the message says, change `run`, or let `build` make the file."
    with demanding("a program in the folder, or one that PATH finds", advice):
        return resolve_command(context.launch)[0]


# --- hello


def _connects(words: FirstWords) -> str:
    return f"after {words.seconds:.2f} s" + ("; that is long" if words.seconds > _MANY_S else "")


def _prefix(words: FirstWords) -> str:
    length = int.from_bytes(words.frame[:PREFIX_BYTES], "big")
    if words.silence is None and 0 < length <= MAX_FRAME_FROM_PLAYER_BYTES:
        return counted(length, "byte")
    if words.silence is not None and len(words.frame) < PREFIX_BYTES:
        raise words.silence
    raise Failed(
        f"its first 4 bytes announce a body of {length} bytes, and {len(words.body)} came",
        f"4 bytes that tell the length of the body, 1 to {MAX_FRAME_FROM_PLAYER_BYTES}, and the body",
        prefix_remedy(words.frame),
    )


def _body(words: FirstWords) -> None:
    if not isinstance(words.value, dict):
        raise RemoteProtocolError(Code.NOT_A_MAP, f"a {type(words.value).__name__}")


def _hello(words: FirstWords) -> None:
    """Judge the keys; their values have steps of their own."""
    value = words.value
    known = {"type", *Hello.__struct_fields__}
    needed = known - {"token"}
    wrong = [f"it lacks {key}" for key in sorted(needed - value.keys())]
    wrong += [f"it has {key}, which a hello has not" for key in sorted(value.keys() - known)]
    if value.get("type") != "hello":
        wrong.insert(0, f"its type is {value.get('type')!r}")
    if wrong:
        expected = '"type": "hello", version, name, and token for a launched program'
        raise Failed("; ".join(wrong), expected, f"See {SPEC}, hello.")


def _value(key: str, is_right: Callable[[Any, Any], bool], expected: str, advice: str, seen: Seen) -> str:
    """Judge one key of a message; what it has is worth a note where its author chose it."""
    value = seen.value.get(key)
    if not is_right(value, seen):
        raise Failed(f"{key} is {value!r}", expected, advice)
    return str(value) if key in ("version", "name") else ""


def _has_form(pattern: str) -> Callable[[Any, Any], bool]:
    return lambda value, _: isinstance(value, str) and re.match(pattern, value) is not None


_VALUES: tuple[tuple[str, Callable[[Any, Any], bool], str, str], ...] = (
    (
        "version",
        lambda version, _: type(version) is int and version == PROTOCOL_VERSION,
        "1",
        "Put it into the hello as version.",
    ),
    (
        "name",
        _has_form(NAME_PATTERN),
        f"{NAME_FORM}; best those in the environment variable REFEREE_NAME",
        "Put it into the hello as name.",
    ),
    (
        "token",
        lambda token, words: bool(token == words.token),
        "what stands in the environment variable REFEREE_TOKEN: it reserves the seat",
        "Put it into the hello as token.",
    ),
    (
        "commitment",
        _has_form(r"[0-9a-f]{64}$(?!\n)"),
        "64 hex digits in lower case: the SHA-256 of `nonce:MATCH:SEAT:NONCE`",
        OF_CODE["nonce"],
    ),
    (
        "nonce",
        _has_form(NONCE_PATTERN),
        "32 hex digits in lower case: 16 random bytes",
        "Draw 16 bytes from the system's random source and write each as two hex digits, a leading 0 kept.",
    ),
)
"""Key of a message, what makes its value right, what is expected, and what to do about another one."""
_VERSION, _NAME, _TOKEN, _COMMITMENT, _NONCE = (partial(_value, *row) for row in _VALUES)


def _is_quiet(seen: Seen) -> None:
    if seen.chatter is not None:
        raise seen.chatter


# --- ready and nonce


def _keys(expected: type[Message], asked: str, seen: Seen) -> None:
    """Judge type, keys and match of a message."""
    value, name = seen.value, type_of(expected)
    kind = value.get("type") if isinstance(value, dict) else None
    if kind != name:
        decode(seen.body, {name: expected})
    keys = {"type", *expected.__struct_fields__}
    if value.keys() != keys or value["match"] != seen.match:
        raise Failed(
            f"its {name} has the keys {', '.join(value)}, and match {value.get('match')!r}",
            f"the keys {', '.join(sorted(keys))}, and match {seen.match!r}, as in the {asked}",
            OF_CODE["wrong-match"],
        )


def _opens(seen: Opening) -> None:
    commitment = nonce_commitment(seen.match, seen.seat, seen.value["nonce"])
    if commitment != seen.commitment:
        raise Failed(
            f"its ready had the commitment {seen.commitment}",
            f"{commitment}: the SHA-256 of `nonce:{seen.match}:{seen.seat}:{seen.value['nonce']}`",
            OF_CODE["nonce"],
        )


def _new_nonce(context: CheckContext) -> None:
    first = context.seen(revealed)
    nonce = first.value["nonce"]
    if nonce == context.seen(first_turn).nonce:
        raise Failed(
            f"two matches got the same nonce, {nonce}",
            "a new one for each match, that nobody can guess",
            "Do not derive the nonce from a fixed seed or from REFEREE_PLAYER_SEED: the referee knows both.",
            received=first.frame,
        )


# --- the first turn


def _answers(seen: FirstTurn) -> str:
    if seen.silence is not None:
        raise seen.silence
    return f"after {seen.seconds:.2f} s, in {seen.game.name}"


def _move(seen: FirstTurn) -> Move:
    message = decode(seen.body, FROM_PLAYER)
    if not isinstance(message, Move):
        raise Failed(f"it answers the turn with {type_of(message)!r}", "a move", OF_CODE["out-of-turn"])
    return message


def _is_move(seen: FirstTurn) -> None:
    _move(seen)


def _copied(key: str, advice: str, seen: FirstTurn) -> None:
    """Judge whether the move has what stood in the turn."""
    value, wanted = getattr(_move(seen), key), getattr(seen, key)
    if value != wanted:
        raise Failed(f"{key} is {value!r}", f"{wanted!r}, as in the turn", advice)


def _move_shape(seen: FirstTurn) -> None:
    try:
        seen.game.parse_move(_move(seen).move)
    except MalformedMove as error:
        advice = OF_CODE["move"].replace("GAME", seen.game.name)
        raise Failed(str(error), f"a move of {seen.game.name}", advice) from None


def _move_rules(seen: FirstTurn) -> None:
    try:
        seen.game.play(seen.state, seen.game.parse_move(_move(seen).move))
    except IllegalMove as error:
        advice = remedy("illegal-move", None).replace("GAME", seen.game.name)
        rule = seen.game.rules[error.rule_id]
        raise Failed(f"{error.rule_id}: {error.detail}", f"{rule.text} ({rule.id})", advice) from None


def _move_once(seen: FirstTurn) -> None:
    if seen.behind:
        raise Failed(
            f"after its move it sent {counted(len(seen.behind), 'byte')} more",
            "one move for a turn, then silence until the next message that asks",
            OF_CODE["out-of-turn"],
            received=seen.behind,
        )


def _of(look: Callable[[CheckContext], S], *rows: tuple[str, str, Callable[[S], str | None]]) -> tuple[CheckStep, ...]:
    """Return steps that judge what one look shows: by row its key, its title and the judge."""
    return tuple(CheckStep(key, title, partial(judged, look, judge), is_basic=True) for key, title, judge in rows)


_FOLDER: tuple[tuple[str, str, Run], ...] = (
    ("links", "no link leads out of the folder", _links),
    ("toml", "player.toml is there and right", _toml),
    ("named", "its name and its games are such as a tournament takes", _named),
    ("build", "it builds", _build),
    ("command", "the program that `run` names is there", _command),
)
STEPS = (
    *(CheckStep(*row, is_basic=True) for row in _FOLDER),
    *_of(
        first_words,
        ("connects", "it starts, and connects in time", _connects),
        ("prefix", "its first bytes are the prefix of a frame", _prefix),
        ("body", "the frame holds one msgpack map", _body),
        ("hello", "the map is a hello", _hello),
        ("version", "the hello has version 1", _VERSION),
        ("name", "the hello has a name", _NAME),
        ("token", "the hello has the token", _TOKEN),
        ("waits", "after its hello it waits", _is_quiet),
    ),
    *_of(
        offered,
        ("ready", "it answers an offer with ready", partial(_keys, Ready, "offer")),
        ("commitment", "the ready has a commitment to a nonce", _COMMITMENT),
    ),
    *_of(
        revealed,
        ("reveal", "it answers reveal with its nonce", partial(_keys, Nonce, "reveal")),
        ("nonce", "the nonce is one", _NONCE),
        ("opens", "the nonce is the one that it committed to", _opens),
    ),
    CheckStep("new-nonce", "the nonce is another one in each match", _new_nonce),
    *_of(
        first_turn,
        ("quiet", "it says nothing while nothing is asked", _is_quiet),
        ("answers", "it answers its first turn in time", _answers),
        ("move", "the answer is a move", _is_move),
        ("move-match", "the move names the match", partial(_copied, "match", OF_CODE["wrong-match"])),
        ("move-turn", "the move has the number of the turn", partial(_copied, "turn", remedy("out-of-turn", None))),
        ("move-form", "the move has the form of the game's", _move_shape),
        ("move-rules", "the move is legal", _move_rules),
        ("move-once", "it moves once", _move_once),
    ),
)
"""In the order in which a program comes to them."""
