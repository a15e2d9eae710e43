"""`referee list`: games, house players, pairing formats and their options."""

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import rich_click as click
from rich.table import Column
from rich.table import Table as RichTable

from ...app.listing import described, everything, outlined
from ...games.base import Game, seats_text
from ...pairing.base import PairingFormat
from ...plugins import Registry, find_game, installed
from ..common import json_option, out, print_json
from ..options.completion import complete_games

_WIDE = 80
"""On a narrower terminal each option has a line of its own."""


@click.command("list", epilog="Example:  referee list q --schema")
@click.argument("game", required=False, shell_complete=complete_games)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of GAME's view, move and options.")
@json_option
def list_command(game: str | None, schema: bool, as_json: bool) -> None:
    """List the games, house players and pairing formats, or GAME's options and rules."""
    if game is None:
        if schema:
            raise click.UsageError("--schema needs a game, e.g. referee list q --schema")
        if as_json:
            print_json(everything(installed()))
        else:
            _show_all(installed())
        return
    for kind, others in (("house player", installed().players), ("pairing format", installed().formats)):
        if game in others:
            raise click.UsageError(f"{game} is a {kind}, not a game; `referee list` shows it")
    rules = find_game(game)
    if schema:
        print(json.dumps(rules.schema(), indent=2))
    elif as_json:
        print_json(described(rules))
    else:
        _show_game(rules)


def _show_all(known: Registry) -> None:
    _print_table("game", "Games", known.games.values())
    out.print()
    players_table = _table("player", "games", "how it plays", title="House players")
    for player in known.players.values():
        players_table.add_row(f"house:{player.name}", ", ".join(player.games), player.summary)
    out.print(players_table)
    out.print()
    _print_table("format", "Pairing formats", known.formats.values())


def _print_table(kind: str, title: str, plugins: Iterable[Game[Any, Any, Any] | PairingFormat[Any]]) -> None:
    table = _table(kind, "title", "seats", "options", title=title)
    for plugin in plugins:
        options = (", " if out.width >= _WIDE else "\n").join(
            f"{name}={value}" for name, value in outlined(plugin)["options"].items()
        )
        table.add_row(plugin.name, plugin.title, seats_text(plugin.seats), options)
    out.print(table)


def _table(name: str, *others: str, title: str | None = None) -> RichTable:
    """Return a table whose first column, which has the words to be typed, is whole on the narrowest terminal."""
    columns = (Column(header, overflow="fold", no_wrap=header == "options" and out.width < _WIDE) for header in others)
    return RichTable(Column(name, no_wrap=True), *columns, title=title, show_edge=False)


def _show_game(game: Game[Any, Any, Any]) -> None:
    out.print(f"[bold]{game.title}[/] ({game.name}), {seats_text(game.seats)} seats\n")
    for field in msgspec.structs.fields(game.options_type):
        value = "FILE.toml" if field.name in game.file_options else field.default
        out.print(f"  --option {field.name}={value}", highlight=False)
    table = _table("rule", "text", "source")
    for rule in game.rules.values():
        table.add_row(rule.id, rule.text, rule.source)
    out.print()
    out.print(table)
