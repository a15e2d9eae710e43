"""`referee list`: games, house players, pairing formats and their options."""

import json
from collections.abc import Collection, Iterable
from typing import Any

import rich_click as click
from rich.table import Column
from rich.table import Table as RichTable

from ...app.listing import describe, find_topic, list_everything, outline
from ...games.base import Game, seats_text
from ...plugins import Registry, installed
from ...tournament.pairing.base import PairingFormat
from ..common import json_option, out, print_json
from ..options.completion import complete_games

_WIDE = 80
"""On a narrower terminal each option has a line of its own."""


@click.command("list", epilog="Example:  referee list q --schema")
@click.argument("topic", required=False, shell_complete=complete_games)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of GAME's view, move and options.")
@json_option
def list_command(topic: str | None, schema: bool, as_json: bool) -> None:
    """List the games, house players and pairing formats; of a TOPIC, which is a game or a format, options and rules."""
    if topic is None:
        if schema:
            raise click.UsageError("--schema needs a game, e.g. referee list q --schema")
        if as_json:
            print_json(list_everything(installed()))
        else:
            _show_all(installed())
        return
    found = find_topic(topic, installed())
    if isinstance(found, PairingFormat):
        if schema:
            raise click.UsageError(f"--schema needs a game; {topic} is a pairing format")
        print_json(outline(found)) if as_json else _show_options(found)
    elif schema:
        print(json.dumps(found.schema(), indent=2))
    elif as_json:
        print_json(describe(found))
    else:
        _show_options(found, found.file_options)
        _show_rules(found)


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
            f"{name}={value}" for name, value in outline(plugin).options.items()
        )
        table.add_row(plugin.name, plugin.title, seats_text(plugin.seats), options)
    out.print(table)


def _table(name: str, *others: str, title: str | None = None) -> RichTable:
    """Return a table whose first column, which has the words to be typed, is whole on the narrowest terminal."""
    columns = (Column(header, overflow="fold", no_wrap=header == "options" and out.width < _WIDE) for header in others)
    return RichTable(Column(name, no_wrap=True), *columns, title=title, show_edge=False)


def _show_options(plugin: Game[Any, Any, Any] | PairingFormat[Any], of_files: Collection[str] = ()) -> None:
    out.print(f"[bold]{plugin.title}[/] ({plugin.name}), {seats_text(plugin.seats)} seats\n")
    for name, value in outline(plugin).options.items():
        if isinstance(plugin, PairingFormat):
            line = f"{name}, not set" if value is None else f"{name} = {json.dumps(value)}"
        else:
            line = f"--option {name}={'FILE.toml' if name in of_files else value}"
        out.print(f"  {line}", markup=False, highlight=False)


def _show_rules(game: Game[Any, Any, Any]) -> None:
    table = _table("rule", "text", "source")
    for rule in game.rules.values():
        table.add_row(rule.id, rule.text, rule.source)
    out.print()
    out.print(table)
