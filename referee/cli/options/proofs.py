"""What records are held to: keys that must have sealed them, and heads that players were sent."""

import rich_click as click

from ...record.key import parse_head, parse_public, parse_seed
from ..common import EXISTING_FILE

keys_option = click.option(
    "--key",
    "keys",
    type=parse_public,
    metavar="KEY",
    multiple=True,
    help="Public key that must have sealed them: 64 hex digits, or a file.",
)
published_option = click.option(
    "--heads",
    "published",
    type=EXISTING_FILE,
    multiple=True,
    help="File of heads that `referee play --heads FILE` published: the records must have them all.",
)
seed_option = click.option(
    "--seed",
    type=parse_seed,
    metavar="HEX",
    help="The match's seed: of a redacted record, the hand that its player was dealt is verified, too.",
)
heads_option = click.option(
    "--head",
    "heads",
    type=parse_head,
    metavar="HASH",
    multiple=True,
    help="Hash a player was sent, to be found in one of them.",
)
