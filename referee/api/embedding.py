"""Puts a whole page into a notebook: it runs by itself in a frame, and neither side can touch the other."""

from html import escape


def framed(page: str, title: str, *, height_px: int = 760) -> str:
    """Return HTML that shows a page within another one, without a network.

    Args:
        page: an HTML document that needs nothing from outside.
        title: what it is, for whom nothing is drawn.
        height_px: how high the frame is.
    """
    style = f"width: 100%; height: {height_px}px; border: 0"
    return f'<iframe title="{escape(title)}" srcdoc="{escape(page)}" sandbox="allow-scripts" style="{style}"></iframe>'
