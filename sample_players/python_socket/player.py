"""A player for all four games that needs nothing but Python. To make it yours, replace `choose`.

python3 player.py            plays the best move for this turn
python3 player.py random     plays any legal move
python3 player.py echo       for tests: reads frames in hex, one on each line, and writes them back, or an error
"""

import io
import os
import random
import sys
from typing import Any

from games import MOVES
from wire import WireError, frame, play, read_frame

STRATEGY = sys.argv[1] if len(sys.argv) > 1 else "heuristic"
CHANCE = random.Random(os.environ.get("REFEREE_PLAYER_SEED"))
"""Random numbers; matches with the same seed get the same numbers, so that a match can be repeated."""


def choose(game: str, view: dict[str, Any]) -> Any:
    """Return the move to play. This is the function to replace.

    Args:
        game: name of the game: `q`, `quincy`, `quincala` or `quadominos`.
        view: all that this seat may know, as the referee sent it.
    """
    moves = MOVES[game](view)
    best = max(value for value, _ in moves)
    return CHANCE.choice([move for value, move in moves if value == best or STRATEGY == "random"])


def echo(line: str) -> str:
    """Decode a frame and encode it again, in hex."""
    incoming = io.BytesIO(bytes.fromhex(line))
    try:
        message = read_frame(incoming.read)
        return "error: no frame" if message is None or incoming.read() else frame(message).hex()
    except WireError as error:
        return f"error: {error}"


if __name__ == "__main__":
    if STRATEGY == "echo":
        sys.stdout.writelines(f"{echo(line)}\n" for line in sys.stdin)
    elif STRATEGY in ("heuristic", "random"):
        try:
            play(choose)
        except WireError as wrong:
            sys.exit(str(wrong))
    else:
        sys.exit(f"the strategy is heuristic or random, not {STRATEGY!r}")
