"""The manual's examples work: every block of shell and of Python in its pages is run."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from referee.cli.main import main
from tests import warm
from tests.docs.manual import COMMAND_OF, ROOT, Block, blocks, pages
from tests.needs import require

PAGES = [page for page in pages() if any(block.is_run for block in blocks(page))]
LIMIT_S = 60
"""Longest time of one block; on a quiet machine, all of them together take less."""
MOST_NOT_RUN = 20
"""Number of shell and Python blocks that are only shown, each with its reason."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_on_a_page_runs(page: Path, tmp_path: Path) -> None:
    """The blocks of a page, one after the other in one folder, do what the page says."""
    require(*(program for block in blocks(page) for program in block.needs))
    for block in blocks(page):
        if block.setup is not None:
            run(COMMAND_OF["sh"], block.setup, page, block, (0,), tmp_path)
        if block.file is not None:
            path = tmp_path / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
        elif block.is_run:
            run(COMMAND_OF[block.language], block.text, page, block, block.exit_statuses, tmp_path)


def run(command: tuple[str, ...], text: str, page: Path, block: Block, statuses: tuple[int, ...], folder: Path) -> None:
    """Run a text in a page's folder.

    Raises:
        AssertionError: it ended with another exit status; the message has the place and the output.
    """
    scripts = Path(sys.executable).parent
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "COVERAGE"))},
        "PATH": f"{Path(warm.program()).parent}:{scripts}:{os.environ['PATH']}",
        "VIRTUAL_ENV": str(scripts.parent),
        "HOME": str(folder / ".home"),
        "CHECKOUT": str(ROOT),
    }
    done = subprocess.run(
        [*command, text], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    where = f"{page.relative_to(ROOT)}, line {block.line}"
    assert done.returncode in statuses, f"{where}: exit status {done.returncode}\n{text}\n{done.stdout}\n{done.stderr}"


def test_few_blocks_are_only_shown() -> None:
    """Code that is not run is the exception, and says why."""
    shown = [block for page in pages() for block in blocks(page) if block.language in COMMAND_OF and not block.file]
    not_run = [block for block in shown if not block.is_run]
    assert all(block.reason_not_run for block in not_run)
    assert len(not_run) <= MOST_NOT_RUN


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_only_shown_exists(page: Path) -> None:
    """Such a command of the referee exists, with all options that the page shows."""
    texts = [block.text.replace("\\\n", " ") for block in blocks(page) if block.language == "sh" and not block.is_run]
    lines = [shlex.split(line, comments=True) for text in texts for line in text.splitlines()]
    for name, *words in (line[1:] for line in lines if line[:1] == ["referee"]):
        command = main.get_command(click.Context(main), name)
        assert command is not None, f"there is no command {name}"
        known = {option for parameter in command.params for option in parameter.opts}
        assert [word for word in words if word.startswith("--") and word not in known] == []
