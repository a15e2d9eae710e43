"""Pictures of an environment: a game's own drawing, as pixels, in a window, or as text."""

import io
from typing import Any

import numpy as np
import pygame
import resvg_py
from numpy.typing import NDArray
from rich.console import Console

from ..errors import BadRequest
from ..games.base import Game

RENDER_MODES = ("ansi", "rgb_array", "human")
_WIDTH = 640
"""Width of a picture in pixels."""
_TERMINAL_WIDTH = 100


class Renderer:
    """Shows the positions of one environment.

    Args:
        rules: the rules of its game.
        mode: one of RENDER_MODES; None: nothing is shown.

    Raises:
        BadRequest: there is no such mode.
    """

    def __init__(self, rules: Game[Any, Any, Any], mode: str | None) -> None:
        if mode not in (None, *RENDER_MODES):
            raise BadRequest(f"render_mode is {', '.join(RENDER_MODES)} or None, not {mode!r}")
        self._rules = rules
        self._mode = mode
        self._window: Any = None
        self._shown = ""

    def follow(self, state: Any) -> None:
        """Show a new position if there is a window."""
        if self._mode == "human":
            self.render(state)

    def render(self, state: Any) -> Any:
        """Return a position as text or pixels, or show it in a window, as the mode says."""
        if self._mode == "ansi":
            return _as_text(self._rules.draw_text(state))
        if self._mode == "rgb_array":
            return _as_pixels(self._rules.draw_svg(state))
        if self._mode == "human":
            self._show(self._rules.draw_svg(state))
        return None

    def _show(self, svg: str) -> None:
        """Show a drawing in the window, unless it is already shown; the first drawing opens the window."""
        if svg != self._shown:
            self._shown, surface = svg, _as_surface(svg)
            if self._window is None or self._window.get_size() != surface.get_size():
                pygame.display.init()
                self._window = pygame.display.set_mode(surface.get_size())
                pygame.display.set_caption(self._rules.title)
            self._window.blit(surface, (0, 0))
            pygame.display.flip()
        # If nobody takes the events of a window, the desktop soon marks it as not responding.
        pygame.event.pump()

    def close(self) -> None:
        """Close the window, if it is open."""
        if self._window is not None:
            # Not `pygame.quit`: the program around this window may use other parts of pygame.
            pygame.display.quit()
            self._window, self._shown = None, ""


def _as_text(markup: str) -> str:
    """Return a text drawing for a terminal, with its colours as escape sequences."""
    shown = io.StringIO()
    Console(file=shown, force_terminal=True, color_system="truecolor", width=_TERMINAL_WIDTH).print(markup)
    return shown.getvalue()


def _as_pixels(svg: str) -> NDArray[np.uint8]:
    """Return a drawing as pixels: rows from the top, columns from the left, red, green and blue."""
    # pygame's arrays begin with the columns, pictures in Gymnasium with the rows.
    return np.ascontiguousarray(pygame.surfarray.array3d(_as_surface(svg)).swapaxes(0, 1))


def _as_surface(svg: str) -> Any:
    png = resvg_py.svg_to_bytes(svg_string=svg, background="#ffffff", width=_WIDTH)
    return pygame.image.load(io.BytesIO(bytes(png)), "board.png")
