"""Fill in tables of the manual: `PYTHONPATH=examples/openspiel python -m tests.docs.make_tables`.

Makes a row for each key from the structs that write the objects, one for each column of standings.csv, and one for each
command, cause and code of a foul. Copies code of the example package. The prose of the pages is left alone.
"""

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import click
import msgspec
import pyspiel

from referee.check.findings import CheckReport
from referee.check.remedies import CODE_REMEDIES, remedy
from referee.cli.commands.check import ClassReport
from referee.cli.commands.compare import PlayedComparison
from referee.cli.commands.list import Listing
from referee.cli.commands.tournament import TrialReport
from referee.cli.errors import ErrorReport
from referee.cli.main import main
from referee.cli.match_view import PlayedMatch
from referee.cli.strength import Strength
from referee.games.base import seats_text
from referee.games.schema import schema_of
from referee.match.fouls import Cause
from referee.net.tournaments.play import RunSettings
from referee.pages.columns import STANDINGS
from referee.pages.tournament_json import TournamentReport
from referee.settings import MatchChoices, RunTerms, settings_of
from referee.type_words import describe_type
from referee_openspiel.catalogue import explain_unfitness, is_open, list_fit
from referee_openspiel.game import SpielGame
from tests.docs.manual import ROOT

WRITE_A_GAME = ROOT / "docs/develop/write-a-game.md"
LIBRARY_GAMES = ROOT / "docs/develop/write-a-library-game.md"
OPENSPIEL = ROOT / "docs/games/openspiel.md"
REFERENCE = [ROOT / "docs/reference" / name for name in ("tournament-json.md", "json.md", "exports.md", "cli.md")]
TROUBLESHOOTING = ROOT / "docs/troubleshooting.md"
PAGES = [*REFERENCE, TROUBLESHOOTING, WRITE_A_GAME, LIBRARY_GAMES, OPENSPIEL]
OBJECTS = {
    "tournament.json": TournamentReport,
    "play": PlayedMatch,
    "list": Listing,
    "compare": PlayedComparison,
    "check": CheckReport,
    "class": ClassReport,
    "strength": Strength,
    "trial": TrialReport,
    "error": ErrorReport,
}
"""Name of a part of a page -> the structs of its table."""
OTHERS = ("standings.csv", "commands", "settings", "causes", "codes")
"""Parts of a page that no struct describes."""
_PART = re.compile(r"(<!-- part: (.+?) -->\n).*?(<!-- end of part -->)", re.DOTALL)


def fill(text: str) -> str:
    """Return a page with its tables as they follow from the structs."""
    return _PART.sub(lambda found: f"{found[1]}{table_called(found[2])}{found[3]}", text)


def table_called(name: str) -> str:  # noqa: PLR0911  # one for each part
    """Return the table of a part of a page."""
    match name:
        case "standings.csv":
            return lines_of("column", "meaning", {column.key: column.meaning for column in STANDINGS if column.key})
        case "commands":
            return lines_of("command", "what it does", dict(commands()))
        case "settings":
            return "".join(f"{row}\n" for row in settings())
        case "causes":
            by_code = {Cause.MALFORMED_MESSAGE: "See the table of codes below."}
            return lines_of("cause", "do this", {cause: by_code.get(cause) or remedy(cause, cause) for cause in Cause})
        case "codes":
            return lines_of(
                "code", "do this", {code: text for code, text in CODE_REMEDIES.items() if code not in list(Cause)}
            )
        case "openspiel-games":
            return "".join(f"{line}\n" for line in openspiel_games())
        case "openspiel-reasons":
            return lines_of("game", "reason", openspiel_reasons())
        case _ if name in OBJECTS:
            return table_of(OBJECTS[name])
        case _:
            return code_of(*name.split(" "))


def commands() -> Iterator[tuple[str, str]]:
    """Yield each command with the first sentence of its help."""
    context = click.Context(main)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        if command is not None and not command.hidden:
            text = " ".join((command.help or "").split("\n\n")[0].split())
            yield name, re.split(r"(?<=\.) (?=[A-Z])", text)[0]


def settings() -> Iterator[str]:
    """Yield the table of the settings that a tournament's file can have."""
    yield "| option | key of a tournament's file | takes | default | meaning |"
    yield "|---|---|---|---|---|"
    for setting in chain(settings_of(MatchChoices), settings_of(RunTerms), settings_of(RunSettings)):
        if not setting.key:
            continue
        default = setting.unset or f"`{msgspec.json.encode(setting.default).decode()}`"
        names = (f"`{name}`" if name else "" for name in (setting.option, setting.key))
        yield f"| {' | '.join([*names, describe_type(setting.type), default, setting.meaning])} |"


def openspiel_games() -> Iterator[str]:
    """Yield the table of OpenSpiel's games that can be played."""
    yield "| game | title | seats | a seat sees | chance |"
    yield "|---|---|---|---|---|"
    for kind in list_fit():
        seats = seats_text(SpielGame(kind).seats)
        seen = "everything" if is_open(kind) else "its own"
        chance = "no" if kind.chance_mode == kind.ChanceMode.DETERMINISTIC else "yes"
        yield f"| `{kind.short_name}` | {kind.long_name} | {seats} | {seen} | {chance} |"


def openspiel_reasons() -> dict[str, str]:
    """Return why games of OpenSpiel are left out, by their names, with all names of one reason together."""
    reasons = {kind.short_name: explain_unfitness(kind) for kind in pyspiel.registered_games()}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    return dict(sorted(left_out.items(), key=lambda item: (item[1], item[0])))


def code_of(path: str, *names: str) -> str:
    """Return parts of a module as a block of code, which a code host shows, too.

    Args:
        path: the module's, from the root of the repository.
        names: classes, functions and constants; a method as CLASS.METHOD.
    """
    source = (ROOT / path).read_text()
    named: dict[str, ast.AST] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            named |= {f"{node.name}.{part.name}": part for part in node.body if isinstance(part, ast.FunctionDef)}
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            named[node.name] = node
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named[node.targets[0].id] = node
    parts = (_source_of(source, named[name]) for name in names)
    return "```py\n" + "\n\n".join(parts) + "```\n"


def _source_of(source: str, node: ast.AST) -> str:
    """Return a part of a module with its decorators, at the left margin."""
    nodes = [*getattr(node, "decorator_list", ()), node]
    first, last = min(part.lineno for part in nodes), getattr(node, "end_lineno", 0)
    return textwrap.dedent("\n".join(source.split("\n")[first - 1 : last])) + "\n"


def lines_of(first: str, second: str, rows: Mapping[str, str]) -> str:
    """Return a table of two columns, with the first one as code."""
    return "".join(
        f"{line}\n"
        for line in (f"| {first} | {second} |", "|---|---|", *(f"| `{key}` | {rows[key]} |" for key in rows))
    )


def table_of(struct: Any) -> str:
    """Return the table that describes an object."""
    schema = schema_of({"object": struct})
    rows = rows_of(struct_of(schema["object"], schema["$defs"])[0] or {}, schema["$defs"], "")
    return "".join(f"{row}\n" for row in ("| key | meaning |", "|---|---|", *rows))


def rows_of(part: Mapping[str, Any], structs: Mapping[str, Any], path: str) -> Iterator[str]:
    """Yield a row for each key of an object that is described or holds objects; its row names those that do neither.

    Args:
        part: the schema of the object.
        structs: the schemas that others refer to.
        path: keys that lead to the object, each with a dot behind it.
    """
    for key, field in part["properties"].items():
        inner, dimensions = struct_of(field, structs)
        if inner is None and "description" not in field and path:
            continue
        text = field.get("description") or (inner or {}).get("description", "")
        name = f"{path}{key}{'[]' * dimensions if inner else ''}"
        named = [] if inner is None else [f"`{each}`" for each in own_keys(inner, structs)]
        cell = [re.sub(r"\bNone\b", "null", text).replace("|", "\\|"), f"Keys: {', '.join(named)}." if named else ""]
        yield f"| `{name}` | {' '.join(filter(None, cell))} |"
        if inner is not None:
            yield from rows_of(inner, structs, f"{name}.")


def own_keys(part: Mapping[str, Any], structs: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of an object that have no row of their own."""
    for key, field in part["properties"].items():
        if "description" not in field and struct_of(field, structs)[0] is None:
            yield key


def struct_of(part: Mapping[str, Any], structs: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, int]:
    """Return the schema of the object that a value is or holds, None if it holds none, and in how many lists."""
    for each in (part, *part.get("anyOf", ())):
        if "$ref" in each:
            found = structs[each["$ref"].rpartition("/")[2]]
            return (found if "properties" in found else None), 0  # without them it is an enumeration
    if part.get("type") == "array":
        inner, dimensions = struct_of(part["items"], structs)
        return inner, dimensions + 1
    return None, 0


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(fill(page.read_text()))
