"""What launched programs are held to, as the organiser wants it and this machine can do it. Knows the command line."""

import os
from pathlib import Path

import rich_click as click

from ..net.launch import Confinement, NoSandboxError, Sandbox, find_ground, find_sandbox
from ..record.key_file import default_path
from .common import console

REQUIRED, AUTO, OFF = "required", "auto", "off"

sandbox_option = click.option(
    "--sandbox",
    "sandbox_mode",
    type=click.Choice((REQUIRED, AUTO, OFF)),
    default=AUTO,
    show_default=True,
    help="Run programs in a sandbox: always, where this machine can (see `referee doctor`), or never.",
)


def find_confinement(mode: str, key: Path | None, logs: Path) -> Confinement:
    """Return what programs are held to, and say so if that is less than it could be.

    Args:
        mode: `required`, `auto` or `off`.
        key: file of the key that seals records; None: where it is kept by default.
        logs: folder of the records.

    Raises:
        click.UsageError: a sandbox is required and this machine has none.
    """
    hidden = (logs.absolute(), (key or default_path(os.environ)).absolute())
    return Confinement(sandbox=_find_sandbox(mode), ground=find_ground(), hidden=hidden)


def _find_sandbox(mode: str) -> Sandbox | None:
    if mode == OFF:
        return None
    try:
        return find_sandbox()
    except NoSandboxError as error:
        if mode == REQUIRED:
            raise click.UsageError(f"--sandbox required: {error}") from None
        text = f"programs run without a sandbox, and can read and write what you can: {error}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return None
