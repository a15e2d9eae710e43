"""Advice to an author: what to do about a foul or a breach of the protocol. A step has its own special advice."""

import contextlib
import re

from protocol import Code
from protocol.limits import MAX_FRAME_FROM_PLAYER_BYTES, PREFIX_BYTES

from ..games.notation import list_actions
from ..match.coordinates import WOULD_BE_LEGAL
from ..match.events import Ending
from ..match.fouls import Cause, Foul
from ..plugins import UnknownName, find_game

SPEC = "protocol/SPEC.md"

CODE_REMEDIES: dict[str, str] = {
    Code.OVERSIZE: f"Write the body's length as 4 bytes, the most significant first, before the body ({SPEC}, Bytes).",
    Code.EMPTY: "Send no frame of length 0.",
    Code.TRUNCATED: "Send the whole frame before the connection is closed, and flush the output buffer.",
    Code.NOT_MSGPACK: f"Encode the body with msgpack, not as JSON: one map and nothing after it ({SPEC}, Bytes).",
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
    Code.WRONG_TYPE: f"Give the key a value of the type and range that {SPEC} states.",
    Code.WRONG_MATCH: "Copy `match` from the message that you answer.",
    Code.FLOOD: "Send only the messages that the referee asked for.",
    Code.NOT_READING: "Read from the connection all the time, even if it is not your turn.",
    Code.OUT_OF_TURN: "Answer each request once, and send nothing else: one ready per offer, "
    "one nonce per reveal, one move per turn, one ack per number.",
    "nonce": "Send the nonce from which you computed the `commitment` of your `ready`. The commitment is the "
    f"SHA-256 of `nonce:MATCH:SEAT:NONCE` in ASCII, in hex ({SPEC}, Chance).",
    "move": "`referee list GAME --schema` prints the form of a move; compare your move with it.",
}
"""Code of a breach of the protocol -> advice."""

CAUSE_REMEDIES: dict[str, str] = {
    Cause.TIMEOUT: "Answer sooner: `left_ms` in the turn is the time that is left. Flush the answer.",
    Cause.ILLEGAL_MOVE: "Compare the move with the view in the turn; `referee list GAME` prints the rule.",
    Cause.OUT_OF_TURN: "Copy `turn` or `ack` from the message that you answer, and answer each message once.",
    Cause.DISCONNECTED: "Keep the connection open until the referee closes it.",
    Cause.CRASHED: "See what the program printed last. The program must run until the referee closes the connection.",
    Cause.REFUSED_TO_START: "First connect to the address in REFEREE_ADDRESS, send `hello` and flush it; load models "
    "after that. stdin and stdout do not lead to the referee.",
}
"""Cause of a foul without a code -> advice."""

ENDED_AT_ONCE = (
    f"Does the file call `run(...)`, or another function that connects? {CAUSE_REMEDIES[Cause.REFUSED_TO_START]}"
)
"""Advice about a program that ended by itself, without an error, before the first turn."""
ENDED_IN_MATCH = (
    "It ended by itself, without an error: look for exit, quit or return. "
    "It must run until the referee closes the connection."
)
"""Advice about a program that ended by itself, without an error, after the first turn had begun."""

_WORDS_REMEDIES: dict[str, str] = {
    r"No module named '(msgpack|msgspec|protocol|referee)\b": r"The Python that runs the program is not the "
    r"referee's, and lacks \1. Activate the referee's virtual environment (`. .venv/bin/activate`) before you "
    "call `referee`, or let `run` in player.toml begin with the path of its python3. `referee new python-socket NAME` "
    "makes a player that needs no package.",
    r"No module named '(\w{1,80})": r"Install \1 for the Python that runs the program, or put it into the folder.",
    r"(?:partially initialized |AttributeError: )module '(\w{1,80})'": r"If one of your files is called \1.py, "
    r"rename it: it hides the module \1 of Python or of a package.",
    r"ends too early|incomplete input|Input data was truncated|extra data|unpack requires a buffer": "It did not "
    "decode exactly one frame. Repeat the read until you have as many bytes as the prefix says, and no more.",
    r"prefix [0-9a-f]{8} of a frame": "It read the length of a frame wrongly: 4 bytes, the most significant first.",
    r"can not serialize '[\w.]+'|objects of type [\w.]+ is unsupported|the wire carries no \w+": "The message holds a "
    "value that msgpack does not know, such as a number of numpy or a set. Make it an int, str, list or dict first: "
    "`int(x)`, `list(x)`.",
    r"token is not one of this match": "Put the content of REFEREE_TOKEN into the hello as `token`.",
    r"(?i)read-only file system|EROFS|name resolution|EAI_AGAIN|network is unreachable|ENETUNREACH"
    r"|no such file or directory(?:, \w+|:) '/|\bopen /.{1,200}: no such file|/.{1,200} \(no such file": "Did it run "
    "in a sandbox? There, a program sees only its own folder and the system, writes only to /tmp and its home, and can "
    "connect only to the address in REFEREE_ADDRESS. See docs/players/limits.md.",
    r"Connection refused|ConnectionRefused|Address family not supported": "Connect to the "
    "address in REFEREE_ADDRESS: `unix:PATH` in a sandbox, `tcp:HOST:PORT` without one.",
}
"""Regular expression for the last output of a program -> advice; `\\1` in the advice stands for the first group."""


def remedy(cause: str, code: str | None) -> str:
    """Return the advice about a kind of foul."""
    return CAUSE_REMEDIES.get(cause) or CODE_REMEDIES.get(code or "", "") or f"See {SPEC}, Fouls."


def foul_remedy(foul: Foul, game: str, *, has_moved: bool = False) -> str:
    """Return the advice about a foul.

    Args:
        foul: the foul.
        game: name of the game.
        has_moved: whether a move was due and the seat had moved before; False if this is not known.
    """
    evidence = bytes.fromhex(foul.evidence)
    advice = None
    if foul.ending is Ending.ENDED:
        advice = ENDED_IN_MATCH if foul.turn else ENDED_AT_ONCE
    elif foul.ending is Ending.WAITING and has_moved and not evidence:
        advice = WAITS_IN_TURN
    elif foul.ending is not None:
        advice = ending_remedy(foul.ending, foul.detail, foul.cause, evidence)
    if advice is not None:
        return advice
    if WOULD_BE_LEGAL in foul.detail:
        return "Check how your program counts rows and columns, and which of the two comes first."
    if "got `null` - at `$.move`" in foul.detail:
        return "It sent no move. Does the function that chooses one return it?"
    if foul.cause is Cause.OVERSIZE:
        return prefix_remedy(evidence)
    return _name_actions(foul, game) + remedy(foul.cause, foul.code).replace("GAME", game)


def _name_actions(foul: Foul, game: str) -> str:
    """Return a sentence that lists the game's actions if the move named an unknown action; else an empty text."""
    if foul.code != "move" or not re.search(
        r"^(?:\w+: )?Invalid value .* - at `\$\.move\.action`$", foul.detail, re.DOTALL
    ):
        return ""
    with contextlib.suppress(UnknownName):  # the record may be of a game that is not installed
        return f"`action` is one of {', '.join(list_actions(find_game(game)))}. "
    return ""


def prefix_remedy(data: bytes) -> str:
    """Return the advice about a prefix that announces too long a body.

    Args:
        data: the prefix, and the bytes after it.
    """
    prefix = data[:PREFIX_BYTES]
    if data[:1] in (b"{", b"["):
        return f"This is JSON without a prefix: {CODE_REMEDIES[Code.NOT_MSGPACK]}"
    if data[:1] and (0x80 <= data[0] <= 0x8F or data[0] in (0xDE, 0xDF)):
        return f"This is a map of msgpack without a prefix. {CODE_REMEDIES[Code.OVERSIZE]}"
    if 0 < int.from_bytes(prefix, "little") <= MAX_FRAME_FROM_PLAYER_BYTES < int.from_bytes(prefix, "big"):
        return "The prefix has its least significant byte first; write the most significant byte first."
    return CODE_REMEDIES[Code.OVERSIZE]


_ENDING_REMEDIES: dict[Ending, str] = {
    Ending.STRANGER: "Put the content of REFEREE_TOKEN into the hello as `token`.",
    Ending.SILENT: "Its hello was read. Answer `offer` with `ready` within the start-up limit; flush the answer. Does "
    "it read whole frames: 4 bytes, the most significant first, then as many as they say?",
    Ending.OUT_OF_MEMORY: "Use less memory, or ask the organiser for more (`--memory`).",
    Ending.SPEECHLESS: "It printed nothing. Run the command yourself to see why it ends, and fix that.",
    Ending.COMPUTING: "Look for a loop that does not end, or think less: `left_ms` in the turn is the time that is "
    "left.",
    Ending.WAITING: "Is the answer flushed? Does it wait for a sleep, a lock, a subprocess, input, or a message of "
    "another type than the referee sends (`turn` asks for a move)? Make sure that the program reads each message to "
    "its end, answers even after an error, and writes to the connection, not to stdout.",
}
WAITS_IN_TURN = (
    "It waits for something: a sleep, a lock, a thread, a subprocess, input, or a message of another type (the "
    "referee's request was `turn`). Make sure that it answers even after an error."
)
"""Advice about a program that waits although it has moved before, and so does flush its answers."""


def ending_remedy(ending: Ending, last_words: str, cause: str, came: bytes = b"") -> str | None:
    """Return the advice about a seat that could not play; None if its program ended with exit status 0.

    Args:
        ending: why the seat could not play.
        last_words: text that contains what the program printed last.
        cause: cause of the foul.
        came: the bytes of an incomplete answer.
    """
    if ending in (Ending.COMPUTING, Ending.WAITING) and (came or cause == Cause.REFUSED_TO_START):
        return incomplete_remedy(came) if came else CAUSE_REMEDIES[Cause.REFUSED_TO_START]
    if ending is not Ending.FAILED:
        return _ENDING_REMEDIES.get(ending)
    return words_remedy(last_words) or "Fix the error that it printed last."


def incomplete_remedy(came: bytes) -> str:
    """Return the advice about an incomplete frame.

    Args:
        came: the prefix or a part of the prefix, and the bytes after it.
    """
    announced, length = int.from_bytes(came[:PREFIX_BYTES], "big"), len(came) - PREFIX_BYTES
    if announced == len(came):
        return f"The prefix counts its own {PREFIX_BYTES} bytes. Count only the body: {length} bytes."
    return (
        "Only a part of a frame came. The prefix is the length of the body in 4 bytes: "
        "send exactly so many bytes after it, and flush them."
    )


def words_remedy(last_words: str) -> str | None:
    """Return the advice about a common error in the program's last output; None if it shows no common error."""
    for words, advice in _WORDS_REMEDIES.items():
        if (match := re.search(words, last_words)) is not None:
            return match.expand(advice)
    return None
