"""`referee token`: make the tokens by which players identify themselves."""

from pathlib import Path

import rich_click as click

from ...net.links.tokens import add_tokens
from ..common import FILE, json_option, print_json


@click.command("token", epilog="Example:  referee token ada bob carl --file players.toml")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--file",
    "path",
    type=FILE,
    default=Path("players.toml"),
    show_default=True,
    help="File of the players; made if missing. It holds hashes only.",
)
@click.option("--renew", is_flag=True, help="Give a player of the file a new token; the old one is worth nothing then.")
@json_option
def token_command(names: tuple[str, ...], path: Path, renew: bool, as_json: bool) -> None:
    """Make a token for each player NAME and print it: this is the only time that it can be seen.

    Give every author its own token, as `REFEREE_TOKEN`. `referee serve --players FILE` then takes those players only,
    and seats them in the order of the file, whatever they call themselves and whenever they come.

    Exit status: 0 made, 2 a name or the file can't be used.
    """
    tokens = add_tokens(path, list(dict.fromkeys(names)), may_renew=renew)
    if as_json:
        print_json({"file": str(path), "tokens": tokens})
        return
    width = max(map(len, tokens))
    for name, token in tokens.items():
        click.echo(f"{name:<{width}}  {token}")
