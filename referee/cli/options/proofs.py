"""What records are held to: keys that must have sealed them, and heads that players were sent."""

import re

import rich_click as click

from ...errors import BadRequest
from ...record.key_file import parse_public


def parse_head(text: str) -> str:
    """Return the hash that an auditor named, in lower case.

    Raises:
        BadRequest: it is none.
    """
    if not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        raise BadRequest(f"--head takes the 64 hex digits that a player was sent as `head`, not {text!r}")
    return text.lower()


keys_option = click.option(
    "--key",
    "keys",
    type=parse_public,
    metavar="KEY",
    multiple=True,
    help="Public key that must have sealed them: 64 hex digits, or a file.",
)
heads_option = click.option(
    "--head",
    "heads",
    type=parse_head,
    metavar="HASH",
    multiple=True,
    help="Hash a player was sent, to be found in one of them.",
)
