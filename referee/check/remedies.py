"""Advice to an author: what to do about a foul or a breach of the wire. Advice of a single step is in that step."""

import re

from protocol import Code
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, PREFIX_BYTES

from ..match.coordinates import WOULD_BE_LEGAL
from ..match.events import Ending
from ..match.fouls import Cause, Foul

SPEC = "protocol/SPEC.md"

CODE_REMEDIES: dict[str, str] = {
    Code.OVERSIZE: f"Write the body's length as 4 bytes, the most significant first, before the body ({SPEC}, Bytes).",
    Code.EMPTY: "Send no frame of length 0.",
    Code.TRUNCATED: "Send the whole frame before the connection is closed, and flush the output buffer.",
    Code.NOT_MSGPACK: f"Encode the body with msgpack, one map and nothing after it ({SPEC}, Bytes); not as JSON.",
    Code.NOT_A_MAP: "Send a map with the key `type`.",
    Code.KEY_NOT_STRING: "Use strings as keys of maps.",
    Code.DUPLICATE_KEY: "Write each key of a map once.",
    Code.TYPE_NOT_ALLOWED: "Encode texts as msgpack strings, not as raw bytes; use no ext types and no timestamps.",
    Code.NOT_FINITE: "Send no NaN and no infinity.",
    Code.TOO_DEEP: "Nest arrays and maps less deeply.",
    Code.TOO_LONG: "Send shorter strings, arrays and maps.",
    Code.UNKNOWN_TYPE: f"Use type hello, ready, nonce, move or ack, in lower case ({SPEC}, Messages of the player).",
    Code.MISSING_KEY: f"Add the key; {SPEC} lists the keys of every message.",
    Code.EXTRA_KEY: f"Leave the key out; {SPEC} lists the keys of every message.",
    Code.WRONG_TYPE: f"Give the key a value of the type and range that {SPEC} says.",
    Code.WRONG_MATCH: "Copy `match` from the message that you answer.",
    Code.FLOOD: "Send only the messages that the referee asked for.",
    Code.NOT_READING: "Read from the connection all the time, even if it is not your turn.",
    Code.OUT_OF_TURN: "Answer each request once, and send nothing else: one ready per offer, "
    "one nonce per reveal, one move per turn, one ack per number.",
    "nonce": "Send the nonce from which you computed the `commitment` of your `ready`. The commitment is the "
    f"SHA-256 of `nonce:MATCH:SEAT:NONCE` in ASCII, in hex ({SPEC}, Chance).",
    "move": "`referee list GAME --schema` prints the form of a move; compare your move with it.",
}
"""Code of a breach of the wire -> advice."""

CAUSE_REMEDIES: dict[str, str] = {
    Cause.TIMEOUT: "Answer sooner: `left_ms` of the turn says how much time is left. Flush the output buffer.",
    Cause.ILLEGAL_MOVE: "Compare the move with the view in the turn; `referee list GAME` prints the rule.",
    Cause.OUT_OF_TURN: "Copy `turn` or `ack` from the message that you answer, and answer each message once.",
    Cause.DISCONNECTED: "Keep the connection open until the referee closes it.",
    Cause.CRASHED: "See what the program printed last, and let it run until the referee closes the connection.",
    Cause.REFUSED_TO_START: "Connect to the address in REFEREE_ADDRESS, say hello, and answer `offer` with `ready`, "
    "within the start-up limit. The prefix of a frame is the length of its body; flush the output buffer.",
}
"""Cause of a foul without a code -> advice."""

_NO_MODULE = re.compile(r"No module named '([\w.]{1,80})'")
_REFEREE_REMEDIES = ("msgpack", "msgspec", "protocol", "referee")
"""Python modules that a player in Python gets from the referee's own installation."""


def remedy(cause: str, code: str | None) -> str:
    """Return the advice about a kind of foul."""
    return CAUSE_REMEDIES.get(cause) or CODE_REMEDIES.get(code or "", "") or f"See {SPEC}, Fouls."


def foul_remedy(foul: Foul, game: str, printed: str | None = None) -> str:
    """Return the advice about a foul.

    Args:
        foul: the foul.
        game: name of the game.
        printed: path of the file with the program's output; None if there is none.
    """
    if foul.ending is not None and (advice := ending_remedy(foul.ending, foul.detail, printed)) is not None:
        return advice
    if foul.cause is Cause.TIMEOUT and not foul.evidence:
        return (
            "No byte of an answer came in time: think less (`left_ms` of the turn tells how much there is), or see "
            "that the answer is written and flushed. `referee check` finds out whether the program thinks or waits."
        )
    if WOULD_BE_LEGAL in foul.detail:
        return "Check how your program counts rows and columns, and which of the two comes first."
    if foul.cause is Cause.OVERSIZE:
        return prefix_remedy(bytes.fromhex(foul.evidence))
    return remedy(foul.cause, foul.code).replace("GAME", game)


def prefix_remedy(first: bytes) -> str:
    """Return the advice about a prefix that announces a body which is too long.

    Args:
        first: the prefix, and the bytes after it.
    """
    prefix = first[:PREFIX_BYTES]
    if first[:1] in (b"{", b"["):
        return f"This is JSON without a prefix: {CODE_REMEDIES[Code.NOT_MSGPACK]}"
    if 0 < int.from_bytes(prefix, "little") <= MAX_FRAME_FROM_PLAYER_BYTES < int.from_bytes(prefix, "big"):
        return "The prefix has its least significant byte first; write the most significant byte first."
    return CODE_REMEDIES[Code.OVERSIZE]


_ENDING_REMEDIES: dict[Ending, str] = {
    Ending.STRANGER: "Put the content of REFEREE_TOKEN into the hello as `token`.",
    Ending.SILENT: "Its hello was read. Answer `offer` with `ready` within the start-up limit; flush the output.",
    Ending.OUT_OF_MEMORY: "Use less memory, or ask the organiser for more (`--memory`).",
    Ending.SPEECHLESS: "It printed nothing. Run the command yourself to see why it ends, and fix that.",
}


def ending_remedy(ending: Ending, last_words: str, printed: str | None = None) -> str | None:
    """Return the advice about a seat that could not play; None if its program ended with exit status 0.

    Args:
        ending: why the seat could not play.
        last_words: text with what the program printed last.
        printed: as for foul_remedy.
    """
    if ending is not Ending.FAILED:
        return _ENDING_REMEDIES.get(ending)
    if (advice := module_remedy(last_words)) is not None:
        return advice
    where = "" if printed is None else f" All that it printed is in {printed}"
    return f"Fix the error that it printed last.{where}"


def module_remedy(last_words: str) -> str | None:
    """Return the advice about a missing Python module; None if the program's last output is no such error."""
    match = _NO_MODULE.search(last_words)
    if match is None:
        return None
    module = match[1].partition(".")[0]
    if module not in _REFEREE_REMEDIES:
        return f"Install {module} for the Python that runs the program, or put it into the folder."
    return (
        f"The Python that runs the program is not the referee's, and has no {module}. Activate the referee's virtual "
        "environment (`. .venv/bin/activate`) before you call `referee`, or let `run` in player.toml begin with the "
        "path of its python3. `referee new python-socket NAME` makes a player that needs no package."
    )


def late_remedy(used_s: float, *, is_busy: bool, has_answered: bool) -> str:
    """Return the advice about an answer that did not come in time.

    Args:
        used_s: CPU time of the program's processes since they were started, in seconds.
        is_busy: whether they still used some after the limit.
        has_answered: whether an answer came too late, or a part of one.
    """
    if is_busy and not has_answered:
        return (
            f"The program used {used_s:.1f} s of CPU since it was started and is still thinking: look for a loop that "
            "does not end, or think less; `left_ms` of the turn says how much time is left."
        )
    if is_busy:
        return (
            f"The program used {used_s:.1f} s of CPU since it was started: think less; `left_ms` of the turn says how "
            "much time is left. Write the whole frame, and flush the output buffer."
        )
    waits = f"The program used {used_s:.1f} s of CPU since it was started, and waits for something. "
    if has_answered:
        return f"{waits}Answer sooner, write the whole frame, and flush the output buffer."
    return f"{waits}Check that it reads and understands the message, writes the answer, and flushes it."
