"""`referee new`: make a folder with a player that plays at once, to be changed by its author."""

from pathlib import Path

import rich_click as click

from protocol.limits import NAME_FORM

from ...app.new_player import TEMPLATES, make_player
from ..common import json_option, print_json


@click.command("new", epilog="Example:  referee new javascript ada")
@click.argument(
    "language",
    metavar="LANGUAGE",
    shell_complete=lambda _context, _parameter, typed: [name for name in TEMPLATES if name.startswith(typed)],
)
@click.argument("name")
@json_option
def new(language: str, name: str, as_json: bool) -> None:
    """Make a folder NAME with a player in LANGUAGE that plays all games at once, for you to change.

    LANGUAGE is c, go, java, javascript, python (with the client library), python-socket (without), python-policy (a
    player that teaches itself) or rust. NAME is the player's name, too: 1 to 20 letters, digits, - and _, the first
    one a letter or digit.

    Exit status: 0 made, 2 usage error, or there is a NAME already.
    """
    if name != Path(name).name:
        raise click.UsageError(f"a player's name is {NAME_FORM}; not {name!r}")
    files = make_player(language, Path(name))
    if as_json:
        print_json({"folder": name, "language": language, "files": files})
        return
    sample = TEMPLATES[language]
    click.echo(f"{name}/ has a player in {language}: {', '.join(files)}\n")
    for word, text in (
        ("needs", sample.needs),
        ("play", f"referee play q house:random {name}/"),
        ("edit", f"{name}/{sample.edit}: {sample.task}"),
        ("check", f"referee check {name}/"),
        ("read", "referee list q --schema  is what it sees, and what it may answer"),
    ):
        click.echo(f"  {word:<6} {text}")
