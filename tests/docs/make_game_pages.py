"""Draw the boards of docs/games and fill in their worked turns: `python -m tests.docs.make_game_pages`.

The pictures are stored as files, so that the pages can be read without building anything. What they show is the
position of tests/protocol/worked_turns.py after its move, drawn by the game itself.
"""

import re
from pathlib import Path

from tests.docs.manual import ROOT
from tests.protocol.make_spec import show_json
from tests.protocol.worked_turns import WorkedTurn, worked_turn

FOLDER = ROOT / "docs/games"
GAMES = ("q", "quincy", "quincala", "quadominos")
_PART = re.compile(r"(<!-- part: (\w+) -->\n).*?(<!-- end of part -->)", re.DOTALL)


def page_of(name: str) -> Path:
    """Return the page of a game."""
    return FOLDER / f"{name}.md"


def picture_of(name: str) -> Path:
    """Return the picture of a game's board."""
    return FOLDER / f"{name}.svg"


def draw(turn: WorkedTurn) -> str:
    """Draw the board after a worked turn, with all hands open."""
    svg: str = turn.game.draw_svg(turn.after)
    return svg if svg.endswith("\n") else f"{svg}\n"


def fill(text: str, turn: WorkedTurn) -> str:
    """Return a page with the move and the news of its worked turn."""
    parts = {"move": turn.move.move, "told": turn.told.what}
    return _PART.sub(lambda part: f"{part[1]}\n{show_json(parts[part[2]])}\n\n{part[3]}", text)


if __name__ == "__main__":
    for game in GAMES:
        picture_of(game).write_text(draw(worked_turn(game)))
        page_of(game).write_text(fill(page_of(game).read_text(), worked_turn(game)))
