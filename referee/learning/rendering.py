"""Pictures of an environment: a game's own drawing, as pixels, in a window, or as text."""

import io
from typing import Any

import numpy as np
import pygame
import resvg_py
from numpy.typing import NDArray
from rich.console import Console

_WIDTH = 640
"""Width of a picture in pixels."""
_TERMINAL_WIDTH = 100


def as_text(markup: str) -> str:
    """Return a text drawing for a terminal, with its colours as escape sequences."""
    shown = io.StringIO()
    Console(file=shown, force_terminal=True, color_system="truecolor", width=_TERMINAL_WIDTH).print(markup)
    return shown.getvalue()


def as_pixels(svg: str) -> NDArray[np.uint8]:
    """Return a drawing as pixels: rows from the top, columns from the left, red, green and blue."""
    surface = _surface(svg)
    # pygame's arrays begin with the columns, pictures in Gymnasium with the rows.
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).swapaxes(0, 1))


def _surface(svg: str) -> Any:
    png = resvg_py.svg_to_bytes(svg_string=svg, background="#ffffff", width=_WIDTH)
    return pygame.image.load(io.BytesIO(bytes(png)), "board.png")


class PictureWindow:
    """A window that shows the drawings of one environment.

    Args:
        title: title of the window.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._screen: Any = None
        self._shown = ""

    def show(self, svg: str) -> None:
        """Show a drawing, unless it is already shown; the window opens with the first one."""
        if svg != self._shown:
            self._draw(svg)
        # A window whose events nobody takes is soon marked by the desktop as one that does not respond.
        pygame.event.pump()

    def _draw(self, svg: str) -> None:
        self._shown, surface = svg, _surface(svg)
        if self._screen is None or self._screen.get_size() != surface.get_size():
            pygame.display.init()
            self._screen = pygame.display.set_mode(surface.get_size())
            pygame.display.set_caption(self._title)
        self._screen.blit(surface, (0, 0))
        pygame.display.flip()

    def close(self) -> None:
        """Close the window, if it is open."""
        if self._screen is not None:
            # Not `pygame.quit`: the program around this window may use other parts of pygame.
            pygame.display.quit()
            self._screen, self._shown = None, ""
