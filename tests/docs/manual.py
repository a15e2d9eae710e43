"""Reads the pages of the manual: their blocks of code, and the comments before a block that say how to run it.

A block of `sh` or `python` is run, in the order of its page and in the page's own folder. A comment right before it
says otherwise:

    <!-- file NAME -->          the block is written to that file
    <!-- exit N -->             the block must end with exit status N; several may be allowed, as in `0 or 1`
    <!-- not run: REASON -->    the block is shown only
    <!-- needs PROGRAMS -->     its page is skipped on a machine that lacks one of them
    <!-- setup COMMANDS -->     these commands are run first; readers don't see them
"""

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
COMMAND_OF = {"sh": ("bash", "-euo", "pipefail", "-c"), "python": ("python", "-c")}
"""Language of a block that is run -> command for its text."""
_BY_CI = ("<!-- first command -->", "<!-- test command -->")
_COMMENT = re.compile(r"<!--\s*(file|exit|needs|not run:|setup)\s+(.*?)\s*-->", re.DOTALL)
_BLOCK = re.compile(r"((?:^<!--(?:(?!-->).)*-->\n+)*)^(`{3,})([^\n`]*)\n(.*?)^\2$", re.DOTALL | re.MULTILINE)


class Block(Struct, frozen=True, kw_only=True):
    """A block of code on a page, with the comments before it."""

    line: int
    language: str
    text: str
    file: str | None
    exit_statuses: tuple[int, ...]
    needs: tuple[str, ...]
    """Programs that it runs and that a machine may lack."""
    reason_not_run: str | None
    setup: str | None

    @property
    def is_run(self) -> bool:
        """Whether the block itself is run."""
        return self.language in COMMAND_OF and self.file is None and self.reason_not_run is None


def pages() -> list[Path]:
    """Return the pages of the manual that are written by hand."""
    docs = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "logs/README.md", *docs]


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in their order."""
    text = page.read_text()
    for found in _BLOCK.finditer(text):
        comments, _, language, code = found.groups()
        said = dict(_COMMENT.findall(comments))
        by_ci = "`.ci/run` runs it" if any(mark in comments for mark in _BY_CI) else None
        yield Block(
            line=text.count("\n", 0, found.start(2)) + 1,
            language=language,
            text=code,
            file=said.get("file"),
            exit_statuses=tuple(map(int, said.get("exit", "0").split(" or "))),
            needs=tuple(said.get("needs", "").split()),
            reason_not_run=said.get("not run:", by_ci),
            setup=said.get("setup"),
        )
