"""Fill in the parts of protocol/SPEC.md that follow from the code: `python -m tests.protocol.make_spec`.

Only the parts between the marks of the file are replaced; its prose is written by hand.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

import protocol
from protocol import ConnectionState, limits
from protocol.connection import TRANSITIONS
from protocol.deal import nonce_commitment
from referee import chance
from referee.games.base import IllegalMove
from referee.plugins import load
from referee.programs.limits import ProgramLimits
from referee.programs.output import KEPT_BYTES
from referee.programs.sandbox import SHARED_MEMORY_MIB

from .situations import sender_of
from .tables import EXAMPLES, MATCH, NONCES, SALT, SEED, VIEW, framed, packed
from .worked_turns import worked_turn

PATH = Path(protocol.__file__).parent / "SPEC.md"
_PART = re.compile(r"(<!-- part: (.+?) -->\n).*?(<!-- end of part -->)", re.DOTALL)
_BYTES_A_LINE = 24
_LONGEST_LINE_CHARS = 140

HELLO_BYTES = (
    ("00 00 00 1e", "the body has 30 bytes"),
    ("83", "a map of 3 pairs"),
    ("a4 74 79 70 65", '"type"'),
    ("a5 68 65 6c 6c 6f", '"hello"'),
    ("a7 76 65 72 73 69 6f 6e", '"version"'),
    ("01", "1"),
    ("a4 6e 61 6d 65", '"name"'),
    ("a3 61 64 61", '"ada"'),
)
LIMITS = (
    ("length of the prefix", limits.PREFIX_BYTES, "bytes", "one integer that every language can read"),
    (
        "longest body from a player",
        limits.MAX_FRAME_FROM_PLAYER_BYTES,
        "bytes",
        "a move of the largest game is under 4 KiB; one read of a socket gives at most this many bytes",
    ),
    (
        "longest body from the referee",
        limits.MAX_FRAME_FROM_REFEREE_BYTES,
        "bytes",
        "a view of Q with every tile on the map is about 20 KiB; the rest is room for other games",
    ),
    (
        "longest body from a player that was asked nothing",
        limits.MAX_UNASKED_BYTES,
        "bytes",
        "enough for one whole message, which the expulsion can then show",
    ),
    (
        "unread bytes that the referee holds for a player",
        limits.MAX_UNREAD_BYTES,
        "bytes",
        "two of the referee's longest frames",
    ),
    (
        "nesting of arrays and maps",
        limits.MAX_DEPTH,
        "levels",
        "the deepest message has 6 levels; many levels can exhaust a decoder's stack",
    ),
    (
        "longest string, keys included",
        limits.MAX_STRING_BYTES,
        "bytes of UTF-8",
        "the longest string is the evidence of an expulsion, in hex",
    ),
    (
        "longest array; most pairs of a map",
        limits.MAX_ITEMS,
        "items",
        "the longest array has 1080 tiles; decoders allocate memory for as many items as a header says",
    ),
    ("longest name of a player", limits.MAX_NAME_CHARS, "characters", "twelve names fit into a table's heading"),
    ("longest token", limits.MAX_TOKEN_CHARS, "characters", "32 random bytes in hex need 64; the rest is reserve"),
    (
        "offending bytes that an expulsion shows",
        limits.MAX_EVIDENCE_BYTES,
        "bytes",
        "enough to recognise the message; the record has all bytes",
    ),
)
"""(limit, number, unit, reason)."""
PROGRAM = ProgramLimits()
PROGRAM_LIMITS = (
    (
        "memory, all processes together",
        f"{PROGRAM.memory_mib} MiB, unless the organiser says otherwise",
        "four players fit into a small machine",
    ),
    ("processes and threads", str(PROGRAM.processes), "Java takes about thirty"),
    ("CPU time of each process", f"{PROGRAM.cpu_s} s", "longer than any match; it stops endless loops"),
    ("one file", f"{PROGRAM.file_mib} MiB", "no program can fill the disk"),
    ("`HOME` and `/tmp`, each", f"{PROGRAM.tmp_mib} MiB", "both are memory, and count as such"),
    ("`/dev/shm`", f"{SHARED_MEMORY_MIB} MiB", "Python's semaphores need it"),
    ("open files", str(PROGRAM.open_files), "one connection, and the files that the program reads"),
    ("the end of its output that is stored", f"{KEPT_BYTES // 1024} KiB", "a traceback is much shorter"),
)
"""(limit, number, reason) of a launched program."""


def table(*rows: Sequence[str]) -> str:
    """Return a table of Markdown; the first row is its head."""
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


def spaced(data: bytes) -> str:
    """Return bytes in hex, a fixed number of them on each line."""
    lines = (data[start : start + _BYTES_A_LINE] for start in range(0, len(data), _BYTES_A_LINE))
    return "\n".join(line.hex(" ") for line in lines)


def states_table() -> str:
    """Return the table of what may follow what."""
    rows = [
        (f"`{state}`", str(sender_of(trigger)), f"`{trigger}`", f"`{TRANSITIONS[state, trigger]}`")
        for state in ConnectionState
        for trigger in dict.fromkeys(trigger for _, trigger in TRANSITIONS)
        if (state, trigger) in TRANSITIONS
    ]
    return table(("state", "who speaks", "message", "next state"), *rows)


def limits_table() -> str:
    """Return the limits with their numbers."""
    rows = ((what, f"{number} {unit}", why) for what, number, unit, why in LIMITS)
    return table(("limit", "number", "why"), *rows)


def program_limits_table() -> str:
    """Return what a launched program may use."""
    return table(("limit", "number", "why"), *PROGRAM_LIMITS)


def hello_bytes() -> str:
    """Return a hello, taken apart."""
    assert bytes.fromhex("".join(part for part, _ in HELLO_BYTES)) == framed(
        packed(_example("hello without the key token"))
    )
    return _block("\n".join(f"{part:<25} {meaning}" for part, meaning in HELLO_BYTES))


def example(name: str) -> str:
    """Return one example: the readable message, and its frame."""
    return _with_frame(_example(name))


def game(name: str) -> str:
    """Return the worked turn of a game: the view of the `turn`, then the `move` and the `told`, each with its frame."""
    worked = worked_turn(name)
    view = _spread(worked.turn.view)
    answers = (_with_frame(msgspec.to_builtins(message)) for message in (worked.move, worked.told))
    return "\n\n".join([view, *answers])


def chance_with_nonces() -> str:
    """Return the first worked example of the shuffle."""
    return _chance(NONCES, list("ABCDE"))


def chance_without_nonces() -> str:
    """Return the second worked example of the shuffle: no seat gave a nonce."""
    return _chance([None, None], list(range(10)))


PLACEMENTS: tuple[list[list[Any]], ...] = (
    [[0, 1, "red-star"]],
    [[0, 1, "red-star"], [0, 2, "red-8star"]],
    [[0, 2, "red-8star"], [0, 1, "red-star"]],
    [[-1, 0, "red-star"], [1, 0, "green-square"]],
    [[0, 1, "red-star"], [1, 0, "green-square"]],
    [[0, 1, "blue-clover"]],
    [[1, 0, "blue-clover"]],
    [[0, 1, "green-star"]],
    [[0, 0, "red-star"]],
    [],
)
"""Tiles that are placed on the map of VIEW."""


def placements() -> str:
    """Return some placements, each with its points or the rule of Q that it breaks."""
    game = load().game("q")
    state = game.imagine(game.parse_options({}), msgspec.convert(VIEW, game.view_type), chance.Dealer(SEED))
    rows = []
    for tiles in PLACEMENTS:
        try:
            points = game.news(game.play(state, game.parse_move({"action": "place", "tiles": tiles}))).public["points"]
            result = f"legal, {points} points"
        except IllegalMove as error:
            result = f"`{error.rule_id}`: {game.rules[error.rule_id].text}"
        rows.append((f"`{json.dumps(tiles)}`", result))
    return table(("`tiles`", "result"), *rows)


def hidden_seed() -> str:
    """Return how the seed is hidden in the line of a record."""
    value = json.dumps(SEED.hex())
    rows = {"salt": SALT, "value": value, "hash": hashlib.sha256((SALT + value).encode()).hexdigest()}
    return _block("\n".join(f"{name:<6} {text}" for name, text in rows.items()))


def _chance(nonces: Sequence[str | None], items: list[Any]) -> str:
    key = chance.shuffle_key(SEED, nonces)
    numbers = chance.Stream(key)
    draws = [numbers.below(bound) for bound in range(len(items), 1, -1)]
    rows = {
        "seed": SEED.hex(),
        "commitment": chance.commitment(SEED),
        "nonces": json.dumps(nonces),
        **_committed(nonces),
        "key": key.hex(),
        "block 0": hashlib.sha256(key + bytes(8)).hexdigest(),
        "drawn": ", ".join(
            f"below({bound}) = {drawn}" for bound, drawn in zip(range(len(items), 1, -1), draws, strict=True)
        ),
        "before": " ".join(map(str, items)),
        "after": " ".join(map(str, chance.Stream(key).shuffled(items))),
    }
    return _block("\n".join(f"{name:<11} {value}" for name, value in rows.items()))


def _committed(nonces: Sequence[str | None]) -> dict[str, str]:
    """Return what the players of a match committed to."""
    return {
        f"seat {seat}": nonce_commitment(MATCH, seat, nonce) for seat, nonce in enumerate(nonces) if nonce is not None
    }


def _example(name: str) -> dict[str, Any]:
    return next(message for other, _, message in EXAMPLES if other == name)


def _with_frame(message: dict[str, Any]) -> str:
    """Return a readable message, and its frame."""
    return _spread(message) + "\n\n" + _block(spaced(framed(packed(message))))


def _spread(value: dict[str, Any]) -> str:
    """Return a map with a line for each of its keys."""
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(inner)}" for key, inner in value.items())
    return _block("{\n" + lines + "\n}", "json")


def show_json(value: Any) -> str:
    """Return a value as a block of JSON on one line, or with a line for each key if that is too long."""
    line = json.dumps(value)
    return _spread(value) if len(line) > _LONGEST_LINE_CHARS else _block(line, "json")


def _block(text: str, language: str = "text") -> str:
    return f"```{language}\n{text}\n```"


PARTS: dict[str, Callable[[], str]] = {
    "states": states_table,
    "limits": limits_table,
    "program limits": program_limits_table,
    "bytes": hello_bytes,
    "placements": placements,
    "chance with nonces": chance_with_nonces,
    "chance without nonces": chance_without_nonces,
    "hidden seed": hidden_seed,
}


def fill(text: str) -> str:
    """Return the text of the file with every part as it follows from the code."""

    def make_part(found: re.Match[str]) -> str:
        kind, _, name = found[2].partition(": ")
        makers = {"example": example, "game": game}
        part = makers[kind](name) if kind in makers else PARTS[found[2]]()
        return f"{found[1]}\n{part}\n\n{found[3]}"

    return _PART.sub(make_part, text)


if __name__ == "__main__":
    PATH.write_text(fill(PATH.read_text()))
