"""How far a command is with many files, as a bar that goes away when it is done; on a terminal alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress

from ..common import console, is_interactive


@contextmanager
def progress(doing: str, is_quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a bar while something is done.

    Args:
        doing: what: `auditing`.

    Yields:
        What is to be called after each file, with how many files there are.
    """
    with Progress(console=console, transient=True, disable=is_quiet or not is_interactive()) as bar:
        task = bar.add_task(doing, total=None)
        yield lambda total: bar.update(task, advance=1, total=total)
