"""Draws a position: pieces on a grid if the library's text is a grid, otherwise the text itself."""

from xml.sax.saxutils import escape

from rich.markup import escape as escape_markup

_CELL = 40
_LINE, _CHAR = 18, 8.4
_DISCS = {
    "tic_tac_toe": {"x": "#c0392b", "o": "#2471a3", ".": ""},
    "connect_four": {"x": "#c0392b", "o": "#e0b400", ".": ""},
    "othello": {"x": "#111", "o": "#eee", "-": ""},
    "hex": {"x": "#c0392b", "o": "#2471a3", ".": ""},
    "go": {"X": "#111", "O": "#eee", "+": ""},
    "gomoku": {"x": "#111", "o": "#eee", ".": ""},
    "breakthrough": {"b": "#111", "w": "#eee", ".": ""},
}
"""Game -> character of its text -> colour of the piece; an empty colour stands for an empty cell."""
_CHESS = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))


def draw_terminal(public: str, private: dict[int, str]) -> str:
    """Return a position for a terminal.

    Args:
        public: what all may know.
        private: seat -> what it alone may know.
    """
    parts = [public, *(f"seat {seat} knows:\n{text}" for seat, text in private.items())]
    return escape_markup("\n".join(parts))


def draw_board(name: str, public: str, private: dict[int, str], seats: int) -> str:
    """Return one SVG document with the seats' names, the board, and what seats alone may know.

    Args:
        name: the library's name of the game.
        public: what all may know.
        private: seat -> what it alone may know.
        seats: number of seats.
    """
    top = 30 + _LINE * seats
    names = [
        f'<text x="10" y="{24 + _LINE * seat}" font-size="14" data-seat="{seat}">seat {seat}</text>'
        for seat in range(seats)
    ]
    rows = _read_grid(name, public)
    body, width, height = _draw_grid(name, rows, top) if rows else _draw_lines(public, top)
    for seat, text in private.items():
        lines, line_width, height = _draw_lines(f"seat {seat} knows:\n{text}", height + 10)
        body += [f'<g data-hand="{seat}">', *lines, "</g>"]
        width = max(width, line_width)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" fill="currentColor">',
            f'<rect class="ground" width="{width}" height="{height}" fill="#fff"/>',
            *names,
            *body,
            "</svg>",
        )
    )


def _read_grid(name: str, text: str) -> list[str]:
    """Return the rows of a board, one character for each cell; empty if the text is not a grid."""
    if name == "chess":
        ranks = text.split(" ", 1)[0].split("/")
        return ["".join("." * int(mark) if mark.isdigit() else mark for mark in rank) for rank in ranks]
    discs = _DISCS.get(name)
    if discs is None:
        return []
    rows = ["".join(mark for mark in line if mark in discs) for line in text.splitlines()]
    width = max(map(len, rows), default=0)
    return [row for row in rows if len(row) == width and width > 1]


def _draw_grid(name: str, rows: list[str], top: int) -> tuple[list[str], float, float]:
    """Return the elements of a grid, and the drawing's width and height."""
    body: list[str] = []
    slant = _CELL / 2 if name == "hex" else 0
    for row, marks in enumerate(rows):
        for column, mark in enumerate(marks):
            x, y = 10 + column * _CELL + row * slant, top + row * _CELL
            shade = 0.15 if name == "chess" and (row + column) % 2 else 0
            body.append(
                f'<rect x="{x:g}" y="{y}" width="{_CELL}" height="{_CELL}" fill-opacity="{shade}" '
                'stroke="currentColor" stroke-opacity="0.4"/>'
            )
            middle = (x + _CELL / 2, y + _CELL / 2)
            if name == "chess" and mark in _CHESS:
                body.append(
                    f'<text x="{middle[0]:g}" y="{middle[1] + 11:g}" font-size="32" text-anchor="middle">'
                    f"{_CHESS[mark]}</text>"
                )
            elif colour := _DISCS.get(name, {}).get(mark):
                body.append(
                    f'<circle cx="{middle[0]:g}" cy="{middle[1]:g}" r="{_CELL * 0.4:g}" fill="{colour}" '
                    'stroke="currentColor"/>'
                )
    width = 20 + max(map(len, rows)) * _CELL + slant * len(rows)
    return body, width, top + len(rows) * _CELL + 10


def _draw_lines(text: str, top: float) -> tuple[list[str], float, float]:
    """Return the elements of a text, line by line, and the drawing's width and height."""
    lines = ["".join(mark for mark in line if mark.isprintable()) for line in text.splitlines()]
    body = [
        f'<text x="10" y="{top + _LINE * (number + 1):g}" font-family="monospace" font-size="14" xml:space="preserve">'
        f"{escape(line)}</text>"
        for number, line in enumerate(lines)
    ]
    return body, 20 + _CHAR * max(map(len, lines), default=10), top + _LINE * (len(lines) + 1)
