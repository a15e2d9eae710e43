"""A player as a student of the course writes it: only sockets and json, nothing of this project.

It lays the first tile of its hand that fits anywhere, else exchanges, else passes; after some turns it only passes.
"""

import contextlib
import json
import socket
import threading
from collections.abc import Sequence
from typing import Any

TURNS = 6
"""Number of turns in which it does something; after them it passes, so that matches are short."""
_SIDES = ((0, 1), (1, 0), (0, -1), (-1, 0))


def choose(public: Any) -> Any:
    """Return a choice for what a player knows."""
    board = {(row[0], cell[0]): cell[1] for row in public["map"] for cell in row[1:]}
    hand = public["players"][0]["tile*"]
    for tile in hand:
        for row, column in sorted(board):
            for down, right in _SIDES:
                spot = (row + down, column + right)
                if spot not in board and fits(board, spot, tile):
                    return [{"coordinate": {"row": spot[0], "column": spot[1]}, "1tile": tile}]
    return "replace" if public["tile*"] >= len(hand) else "pass"


def fits(board: dict[tuple[int, int], Any], spot: tuple[int, int], tile: Any) -> bool:
    """Return whether a tile agrees with the neighbours of a spot: per axis, all in shape or all in colour."""
    for down, right in ((0, 1), (1, 0)):
        sides = ((spot[0] + down, spot[1] + right), (spot[0] - down, spot[1] - right))
        near = [board[side] for side in sides if side in board]
        if not any(all(other[what] == tile[what] for other in near) for what in ("shape", "color")):
            return False
    return True


class CoursePlayer(threading.Thread):
    """A player in a thread of its own.

    Args:
        port: where the referee listens, on this machine.
        name: what it signs up with.
        misbehave: method -> bytes that it answers in place of a result.
        others: other players of the same program; when this player's connection ends, theirs are ended, too.
    """

    def __init__(
        self,
        port: int,
        name: str,
        misbehave: dict[str, bytes] | None = None,
        others: Sequence["CoursePlayer"] = (),
    ) -> None:
        super().__init__(daemon=True)
        self._others = others
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.sendall(json.dumps(name).encode())
        self._misbehave = misbehave or {}
        self.calls: list[str] = []
        """The called methods, in order."""
        self.won: bool | None = None
        """What `win` told."""
        self.start()

    def run(self) -> None:
        """Answer until the referee closes the connection."""
        text, decoder = "", json.JSONDecoder()
        with self._socket:
            while data := self._socket.recv(4096):
                text += data.decode()
                try:
                    (method, arguments), end = decoder.raw_decode(text.lstrip())
                except ValueError:
                    continue  # the rest is on its way
                text = text.lstrip()[end:]
                self._answer(method, arguments)
        for other in self._others:
            other.hang_up()

    def hang_up(self) -> None:
        """End the connection, if it has not ended."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _answer(self, method: str, arguments: Any) -> None:
        self.calls.append(method)
        if method == "win":
            (self.won,) = arguments
        result: Any = "void"
        if method == "take-turn":
            result = choose(arguments[0]) if self.calls.count(method) <= TURNS else "pass"
        self._socket.sendall(self._misbehave.get(method, json.dumps(result).encode()))
