"""The first steps: a program's folder, its hello, its answers to `offer` and `reveal`, its first turn."""

# Each step judges one thing, so that a program fails at the step that names its mistake. It would take long to start
# the program again for each step. So there are a few "looks": each starts the program once and stores what it sends,
# right or wrong. Several steps then judge what one look has stored.

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct

from protocol import Code, RemoteProtocolError
from protocol.deal import nonce_commitment
from protocol.decoding import decode, unpack
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
from ..match.coordinates import add_hint
from ..match.fouls import Cause, Foul
from ..programs.build import BuildFailed
from ..programs.player_spec import refuse_escapes, resolve_command
from ..testing.seats import AnyGame
from ..text import counted
from .context import CheckContext, CheckStep, Run, demanding
from .findings import Failed
from .remedies import CAUSE_REMEDIES, CODE_REMEDIES, SPEC, prefix_remedy
from .scripted_match import ScriptedMatch, explain_foul
from .session import Session

QUIET_S = 0.15
"""Time to watch whether a program sends a message when it should send none."""
_BUILD_CHARS = 4000
"""Most characters to show of a failed build's output. Compilers print the first error far above the last line."""
_LONG_S = 10.0
"""Start-up time that a note calls long: a tournament starts programs many times."""


# --- looks


class Seen(Struct, frozen=True, kw_only=True):
    """Result of a look: what a program sends when one message is due."""

    frame: bytes
    """The program's frame with its prefix; if `silence` is set, the incomplete part that came."""
    asked: tuple[bytes, ...]
    """Frames of the referee that the program answers."""
    silence: Failed | None = None
    """Reason why no complete frame came."""
    chatter: Failed | None = None
    """Failure of a program that sends something at the wrong time."""
    seconds: float = 0.0
    """Time that the program took to connect, or to answer."""
    match: str = ""

    @property
    def body(self) -> bytes:
        """Body of the frame."""
        return self.frame[PREFIX_BYTES:]

    @property
    def value(self) -> Any:
        """The decoded body.

        Raises:
            RemoteProtocolError: the body can't be decoded.
        """
        return unpack(self.body)


class FirstWords(Seen, frozen=True, kw_only=True):
    """The first message of a program; `chatter` is what the program sends after it."""

    token: str
    """Token in the program's environment."""


class Opening(Seen, frozen=True, kw_only=True):
    """The answer of a program to the request for its nonce."""

    seat: int
    commitment: str
    """Commitment in the program's `ready`."""


class FirstTurn(Seen, frozen=True, kw_only=True):
    """The answer of a program in its first turn; `chatter` is what the program sent before that turn."""

    game: AnyGame
    nonce: str
    turn: int
    state: Any
    behind: bytes
    """Bytes that the program sent after its answer, without a request."""


S = TypeVar("S", bound=Seen)
M = TypeVar("M", Ready, Nonce)


def _judge(look: Callable[[CheckContext], S], judge: Callable[[S], str | None], context: CheckContext) -> str | None:
    """Judge the result of a look. If the failure names no bytes, it gets the frame of the look.

    Raises:
        Failed: the frame is wrong, or is no message.
    """
    look_result = context.look(look)
    try:
        return judge(look_result)
    except RemoteProtocolError as error:
        happened, remedy = f"{error.code}: {error.detail}", CODE_REMEDIES[error.code]
        failure = Failed(happened, "one msgpack map that is a message of a player", remedy)
    except Failed as raised:
        failure = raised
    failure.asked = failure.asked or look_result.asked
    failure.received = look_result.frame if failure.received is None else failure.received
    raise failure


def _first_words(context: CheckContext) -> FirstWords:
    """Start the program, and read its first message."""
    with context.session() as session:
        connected_s = session.accept(context.times.start_s)
        silence, frame = _read_frame(session, context.times.start_s, "a hello")
        return FirstWords(
            frame=frame,
            asked=(),
            silence=silence,
            chatter=None if silence else _listen(session, "before it was welcomed"),
            seconds=connected_s,
            token=session.token,
        )


@contextmanager
def _in_a_match(context: CheckContext) -> Iterator[tuple[Session, ScriptedMatch]]:
    """Start the program, welcome it and offer it a match."""
    with context.session() as session:
        session.greet()
        match = ScriptedMatch(session, context.terms(nonces=True))
        match.open()
        yield session, match


def _take(session: Session, match: ScriptedMatch, kind: type[M], limit_s: float, what: str) -> M:
    """Pass the program's next message on to the match, and return it."""
    message = session.hear(limit_s, what)
    assert isinstance(message, kind), "the connection accepts no other message"
    match.take(message)
    return message


def _offer(context: CheckContext) -> Seen:
    """Offer the program a match, and read its answer."""
    with _in_a_match(context) as (session, match):
        frame = session.frame(context.times.start_s, "a ready")
        return Seen(match=match.name, asked=session.asked, frame=frame)


def _reveal(context: CheckContext) -> Opening:
    """Let the program commit to a nonce, then ask for the nonce."""
    with _in_a_match(context) as (session, match):
        ready = _take(session, match, Ready, context.times.start_s, "a ready")
        frame = session.frame(context.times.move_s, "the nonce")
        return Opening(match=match.name, asked=session.asked, frame=frame, seat=match.seat, commitment=ready.commitment)


def _first_turn(context: CheckContext) -> FirstTurn:
    """Play up to the program's first turn and wait for its answer."""
    with _in_a_match(context) as (session, match):
        _take(session, match, Ready, context.times.start_s, "a ready")
        nonce = _take(session, match, Nonce, context.times.move_s, "the nonce")
        # Hold the turn back. Otherwise a program that moves right after `start` would look like one that answers fast.
        session.flush(but_last=True)
        chatter = _listen(session, "after `start`, before its turn")
        began_s = session.loop.seconds()
        silence, frame = _read_frame(session, context.times.move_s, "a move")
        seconds = session.loop.seconds() - began_s
        if not silence:
            session.loop.pause(QUIET_S)
        return FirstTurn(
            frame=frame,
            asked=session.asked,
            silence=silence,
            chatter=chatter,
            seconds=seconds,
            match=match.name,
            game=context.game,
            nonce=nonce.nonce,
            turn=match.fold.turn,
            state=match.fold.state,
            behind=bytes(session.wire.received),
        )


def _read_frame(session: Session, limit_s: float, what: str) -> tuple[Failed | None, bytes]:
    """Return the reason why no complete frame came (or None), and the bytes that came."""
    try:
        return None, session.frame(limit_s, what)
    except Failed as failure:
        session.explain(failure)
        return failure, session.heard


def _listen(session: Session, when: str) -> Failed | None:
    """Return the failure of a program that sends something now; None if it sends nothing."""
    try:
        session.expect_silence(QUIET_S, when)
    except Failed as failure:
        session.explain(failure)
        return failure
    return None


# --- the folder


def _links(context: CheckContext) -> None:
    advice = "Replace the link by a copy: a tournament gets nothing but the folder."
    with demanding("a folder that holds all that the program needs", advice):
        refuse_escapes(context.player_folder)


def _toml(context: CheckContext) -> None:
    _ = context.player_folder
    _ = context.launch


def _names(context: CheckContext) -> str:
    _toml(context)
    launch = context.launch
    if not re.match(NAME_PATTERN, launch.name):
        raise Failed(f"its name is {launch.name!r}", f"a name of {NAME_FORM}", "Change `name` in player.toml.")
    unknown = [name for name in launch.games if name not in context.all_games]
    if unknown:
        raise Failed(
            f"`games` names {', '.join(unknown)}",
            f"some of {', '.join(context.all_games)}",
            "Change `games` in player.toml; without this key, the program must play all of them.",
        )
    return f"{launch.name} plays {', '.join(launch.games) or 'every game'}"


def _build(context: CheckContext) -> str:
    _ = context.player_folder
    expected = "a build that ends with exit status 0"
    advice = "Fix the first error that it printed. To see all of it, run the command of `build` in the folder yourself."
    with demanding(expected, advice):
        try:
            is_new = context.builds.build(context.launch)
        except BuildFailed as error:
            failure = Failed(error.happened, expected, advice)
            failure.printed = error.output[-_BUILD_CHARS:]
            raise failure from None
    return "built" if is_new else "nothing to build" if not context.launch.build else "built before"


def _command(context: CheckContext) -> str:
    advice = "Do what the message says, change `run`, or let `build` make the file."
    with demanding("a program in the folder, or in a folder of PATH", advice):
        return resolve_command(context.launch)[0]


# --- hello


def _connects(words: FirstWords) -> str:
    return f"after {words.seconds:.2f} s" + ("; this is long" if words.seconds > _LONG_S else "")


def _prefix(words: FirstWords) -> str:
    length = int.from_bytes(words.frame[:PREFIX_BYTES], "big")
    if words.silence is None and 0 < length <= MAX_FRAME_FROM_PLAYER_BYTES:
        return counted(length, "byte")
    if words.silence is not None and len(words.frame) < PREFIX_BYTES:
        raise words.silence
    raise Failed(
        f"its first 4 bytes announce a body of {length} bytes, and {len(words.body)} came",
        f"4 bytes with the length of the body (1 to {MAX_FRAME_FROM_PLAYER_BYTES}), then the body",
        prefix_remedy(words.frame),
    )


def _body(words: FirstWords) -> None:
    if not isinstance(words.value, dict):
        raise RemoteProtocolError(Code.NOT_A_MAP, f"a {type(words.value).__name__}")


def _hello(words: FirstWords) -> None:
    """Judge the keys; later steps judge their values."""
    value = words.value
    allowed = {"type", *Hello.__struct_fields__}
    needed = allowed - {"token"}
    wrong = [f"it lacks {key}" for key in sorted(needed - value.keys())]
    wrong += [f"it has {key}, which is no key of a hello" for key in sorted(value.keys() - allowed)]
    if value.get("type") != "hello":
        wrong.insert(0, f"its type is {value.get('type')!r}")
    if wrong:
        expected = '"type": "hello", version, name, and token for a launched program'
        raise Failed("; ".join(wrong), expected, f"See {SPEC}, hello.")


def _value(key: str, is_right: Callable[[Any, Any], bool], expected: str, advice: str, seen: Seen) -> str:
    """Judge one key of a message, and return its value as a note if the program's author has chosen it."""
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
        f"{NAME_FORM}; best the value of the environment variable REFEREE_NAME",
        "Put it into the hello as name.",
    ),
    (
        "token",
        lambda token, words: bool(token == words.token),
        "the value of the environment variable REFEREE_TOKEN: it reserves the seat",
        "Put it into the hello as token.",
    ),
    (
        "commitment",
        _has_form(r"[0-9a-f]{64}$(?!\n)"),
        "64 hex digits in lower case: the SHA-256 of `nonce:MATCH:SEAT:NONCE`",
        CODE_REMEDIES["nonce"],
    ),
    (
        "nonce",
        _has_form(NONCE_PATTERN),
        "32 hex digits in lower case: 16 random bytes",
        "Draw 16 bytes from the system's random source and write each as two hex digits, a leading 0 kept.",
    ),
)
"""Rows: key of a message, predicate for a right value, expectation, advice."""
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
            f"its {name} has the keys {', '.join(value)}; its match is {value.get('match')!r}",
            f"the keys {', '.join(sorted(keys))}; match {seen.match!r}, as in the {asked}",
            CODE_REMEDIES["wrong-match"],
        )


def _opens(seen: Opening) -> None:
    commitment = nonce_commitment(seen.match, seen.seat, seen.value["nonce"])
    if commitment != seen.commitment:
        raise Failed(
            f"its ready had the commitment {seen.commitment}",
            f"{commitment}: the SHA-256 of `nonce:{seen.match}:{seen.seat}:{seen.value['nonce']}`",
            CODE_REMEDIES["nonce"],
        )


def _new_nonce(context: CheckContext) -> None:
    first = context.look(_reveal)
    nonce = first.value["nonce"]
    if nonce == context.look(_first_turn).nonce:
        raise Failed(
            f"two matches got the same nonce, {nonce}",
            "a new nonce for each match, which nobody can guess",
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
        raise Failed(f"it answers the turn with {type_of(message)!r}", "a move", CODE_REMEDIES["out-of-turn"])
    return message


def _is_move(seen: FirstTurn) -> None:
    _move(seen)


def _repeats(key: str, seen: FirstTurn) -> None:
    """Judge whether the move has the same value as the turn under a key."""
    value, wanted = getattr(_move(seen), key), getattr(seen, key)
    if value != wanted:
        code, advice = _REPEATED[key]
        raise Failed(f"the `{key}` of its move is {value}", f"`{key}` {wanted}, as in the turn", advice, cause=code)


_REPEATED = {
    "match": (Code.WRONG_MATCH, CODE_REMEDIES[Code.WRONG_MATCH]),
    "turn": (Code.OUT_OF_TURN, CAUSE_REMEDIES[Cause.OUT_OF_TURN]),
}
"""Key that a move copies from the turn -> code of the breach if it differs, and the advice."""


def _move_shape(seen: FirstTurn) -> None:
    try:
        seen.game.parse_move(_move(seen).move)
    except MalformedMove as error:
        raise _fail_move(seen, str(error), cause=Cause.MALFORMED_MESSAGE, code="move") from None


def _move_rules(seen: FirstTurn) -> None:
    try:
        seen.game.play(seen.state, seen.game.parse_move(_move(seen).move))
    except IllegalMove as error:
        raise _fail_move(seen, error.detail, cause=Cause.ILLEGAL_MOVE, rule=error.rule_id) from None


def _fail_move(seen: FirstTurn, detail: str, **facts: Any) -> Failed:
    """Return the failure of a bad move, in the words that a real match uses."""
    detail = add_hint(detail, seen.game, seen.state, _move(seen).move)
    return explain_foul(Foul(seat=0, at_ms=0.0, turn=1, detail=detail, **facts), seen.game)


def _move_once(seen: FirstTurn) -> None:
    if seen.behind:
        raise Failed(
            f"after its move it sent {counted(len(seen.behind), 'byte')} more",
            "one move for each turn, then nothing until the next request",
            CODE_REMEDIES["out-of-turn"],
            received=seen.behind,
        )


def _of(look: Callable[[CheckContext], S], *rows: tuple[str, str, Callable[[S], str | None]]) -> tuple[CheckStep, ...]:
    """Return the steps that judge one look; each row is a key, a title and a judge."""
    return tuple(CheckStep(key, title, partial(_judge, look, judge), is_basic=True) for key, title, judge in rows)


_FOLDER: tuple[tuple[str, str, Run], ...] = (
    ("links", "no link leads out of the folder", _links),
    ("toml", "player.toml is there and right", _toml),
    ("named", "a tournament can accept its name and its games", _names),
    ("build", "it builds", _build),
    ("command", "the program that `run` names is there", _command),
)
STEPS = (
    *(CheckStep(*row, is_basic=True) for row in _FOLDER),
    *_of(
        _first_words,
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
        _offer,
        ("ready", "it answers an offer with ready", partial(_keys, Ready, "offer")),
        ("commitment", "the ready has a commitment to a nonce", _COMMITMENT),
    ),
    *_of(
        _reveal,
        ("reveal", "it answers reveal with its nonce", partial(_keys, Nonce, "reveal")),
        ("nonce", "the nonce has the right form", _NONCE),
        ("opens", "the nonce is the one that it committed to", _opens),
    ),
    CheckStep("new-nonce", "each match gets a new nonce", _new_nonce),
    *_of(
        _first_turn,
        ("quiet", "it sends nothing without a request", _is_quiet),
        ("answers", "it answers its first turn in time", _answers),
        ("move", "the answer is a move", _is_move),
        ("move-match", "the move names the match", partial(_repeats, "match")),
        ("move-turn", "the move has the number of the turn", partial(_repeats, "turn")),
        ("move-form", "the move has the form that the game demands", _move_shape),
        ("move-rules", "the move is legal", _move_rules),
        ("move-once", "it moves once", _move_once),
    ),
)
"""The first steps, in the order of a program's way into a match."""
