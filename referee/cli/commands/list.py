"""`referee list`: show games, house players, pairing formats and their options."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import rich_click as click
from msgspec import Struct
from msgspec.structs import asdict, fields
from rich.table import Column
from rich.table import Table as RichTable

from ... import builtin
from ...games.base import Game, seats_text
from ...plugins import Registry, UnknownName, installed
from ...text import nearest
from ...tournament.pairing.base import PairingFormat
from ..common import json_option, out, print_json
from ..completion import complete_topics


class Outline(Struct, frozen=True, kw_only=True):
    """A summary of a game or a pairing format."""

    name: str
    title: str
    seats: Sequence[int]
    """Numbers of seats that a match may have."""
    options: Mapping[str, Any]
    """Name of an option -> default value."""


class RuleText(Struct, frozen=True, kw_only=True):
    """A rule of a game."""

    text: str
    source: str
    """Source of the rule."""


class GameDescription(Outline, frozen=True, kw_only=True):
    """A game with its rules."""

    rules: Mapping[str, RuleText]
    """Id of a rule -> text and source."""


class HousePlayerLine(Struct, frozen=True, kw_only=True):
    """A house player."""

    name: str
    games: Sequence[str]
    """Names of the games that the house player plays."""
    summary: str


class Listing(Struct, frozen=True, kw_only=True):
    """All games, house players and pairing formats of an installation."""

    version: Literal[1] = 1
    """Version of this object's form."""
    games: Sequence[GameDescription]
    house_players: Sequence[HousePlayerLine]
    formats: Sequence[Outline]
    """The pairing formats."""


def list_everything(known: Registry) -> Listing:
    """Return all games, house players and pairing formats of an installation."""
    return Listing(
        games=[describe(game) for game in known.games.values()],
        house_players=[
            HousePlayerLine(name=player.name, games=player.games, summary=player.summary)
            for player in known.players.values()
        ],
        formats=[outline(form) for form in known.formats.values()],
    )


def find_topic(name: str, known: Registry) -> Game[Any, Any, Any] | PairingFormat[Any]:
    """Return the game or the format of a name.

    Raises:
        UnknownName: there is no such game or format; the text suggests the most similar name.
    """
    if name in known.players:
        raise UnknownName(f"house:{name} is a house player; `referee list` shows how it plays")
    if name in known.games:
        return known.games[name]
    if name in known.formats:
        return known.formats[name]
    raise UnknownName(f"there is no game or pairing format {name!r}{nearest(name, (*known.games, *known.formats))}")


def describe(game: Game[Any, Any, Any]) -> GameDescription:
    """Return a game with its rules."""
    rules = {rule.id: RuleText(text=rule.text, source=rule.source) for rule in game.rules.values()}
    return GameDescription(**asdict(outline(game)), rules=rules)


def outline(plugin: Game[Any, Any, Any] | PairingFormat[Any]) -> Outline:
    """Return the name, the title, the numbers of seats and the options of a game or a format."""
    return Outline(
        name=plugin.name,
        title=plugin.title,
        seats=list(plugin.seats),
        options={field.name: field.default for field in fields(plugin.options_type)},
    )


_WIDE = 80
"""Width of a terminal, in columns; on a narrower terminal each option has a line of its own."""


@click.command("list", epilog="Example:  referee list q --schema")
@click.argument("topic", required=False, shell_complete=complete_topics)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of GAME's view, move and options.")
@json_option
def list_command(topic: str | None, schema: bool, as_json: bool) -> None:
    """List games, house players and pairing formats.

    With TOPIC, a game or a pairing format, show its options and rules.
    """
    if topic is None:
        if schema:
            raise click.UsageError("--schema needs a game, e.g. referee list q --schema")
        if as_json:
            print_json(list_everything(installed()))
        else:
            _show_all(installed())
        return
    subject = find_topic(topic, installed())
    if isinstance(subject, PairingFormat):
        if schema:
            raise click.UsageError(f"--schema needs a game; {topic} is a pairing format")
        print_json(outline(subject)) if as_json else _show_options(subject)
    elif schema:
        print(json.dumps(subject.schema(), indent=2))
    elif as_json:
        print_json(describe(subject))
    else:
        _show_options(subject, subject.file_options)
        _show_rules(subject)


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
    """Return a table whose first column, the words to type, is never wrapped."""
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
    # A game from another package has no page in this manual.
    if game.name in {builtin_game.name for builtin_game in builtin.referee_games()}:
        page = f"docs/games/{game.name}.md in the referee's repository"
        out.print(f"\nThe rules with a picture and a worked turn: {page}", markup=False, highlight=False)
