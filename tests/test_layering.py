"""The architecture, read off the imports themselves: who may import whom, what stays pure, what is documented."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
OWN = ("referee", "protocol", "sample_players")
IMPURE = {"twisted", "socket", "time", "random", "os", "logging", "asyncio", "threading", "datetime", "subprocess"}

ORDER: tuple[str, ...] = (
    "protocol",
    "referee.errors",
    "referee.chance",
    "referee.text",
    "referee.type_words",
    "referee.clock",
    "referee.files",
    "referee.hookspecs",  # what it imports of those behind it, it needs for types alone
    "referee.games",
    "referee.match",
    "referee.tournament.pairing",
    "referee.tournament",
    "referee.record",
    "referee.observers",
    "referee.plugins",
    "referee.learning",
    "sample_players",
    "referee.programs.environment",
    "referee.programs.house_process",
    "referee.testing",
    "referee.programs",
    "referee.net",
    "referee.dialects",
    "referee.web.rate_limit",
    "referee.web.submissions",
    "referee.check",
    "referee.pages",
    "referee.web.event_streams",
    "referee.web.http",
    "referee.web.visitors",
    "referee.web.monitor",
    "referee.web.person",
    "referee.cluster",
    "referee.app",
    "referee.web",
    "referee.api",
    "referee.cli",
    "referee.__main__",
)
"""The rooms of the house, from the ground up: a module imports its own room and those before it."""
SIBLINGS = (
    {"referee.match", "referee.tournament.pairing"},
    {"referee.dialects", "referee.web.submissions", "referee.check", "referee.pages"},
)
"""Rooms on one floor: none of them imports another."""
ONLY: dict[str, set[str]] = {
    "sample_players": {"protocol", "referee.games", "referee.hookspecs", "referee.learning"},
    "referee.programs": {
        *("protocol", "referee.errors", "referee.text", "referee.type_words", "referee.clock", "referee.files"),
        *("referee.programs.environment", "referee.programs.house_process"),
    },
}
"""Rooms that import less than their place in the order allows."""
TYPES_ALONE = {"referee", "referee.hookspecs"}
"""Modules that import from other rooms for types alone."""
PURE = (
    "referee.games",
    "referee.match",
    "referee.tournament.pairing",
    "referee.tournament",
    "referee.chance",
    "protocol",
)
EDGES = {"protocol.client"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def modules() -> dict[str, Path]:
    """Return every module of the product: dotted name -> file."""
    found = {}
    for top in OWN:
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def room_of(name: str) -> str:
    """Return the innermost room of the house that a module is in; `referee` itself is its own few names only."""
    return max((room for room in ORDER if name == room or name.startswith(room + ".")), key=len, default="referee")


def may_import(name: str, found: str) -> bool:
    """Tell whether a module may import another one."""
    own, other = room_of(name), room_of(found)
    if own == other or "referee" in (own, other):
        return True
    if own in ONLY:
        return other in ONLY[own]
    are_siblings = any({own, other} <= siblings for siblings in SIBLINGS)
    return ORDER.index(other) < ORDER.index(own) and not are_siblings


class Facts(NamedTuple):
    """What is read off a file."""

    imported: frozenset[str]
    """Wherever in it: dotted names, as exact as they can be told."""
    started: frozenset[str]
    """Modules of the product that it starts as programs: what stands behind "-m" in a command line."""
    undocumented: tuple[str, ...]
    """Its classes and functions without a docstring, and itself."""


@cache
def facts_of(path: Path, name: str = "") -> Facts:
    """Read a file; in one go, for it takes long.

    Args:
        path: of the file.
        name: dotted, of the module.
    """
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = ast.parse(path.read_text())
    imported, started, undocumented = set[str](), set[str](), list[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported |= {*imported_from(node, package)}
        elif isinstance(node, ast.Tuple | ast.List):
            started |= {*started_by(node)}
        elif isinstance(node, DOCUMENTED) and not ast.get_docstring(node, clean=False) and not is_overload(node):
            undocumented.append("the file itself" if isinstance(node, ast.Module) else node.name)
    return Facts(frozenset(imported), frozenset(started), tuple(undocumented))


def is_overload(node: ast.AST) -> bool:
    """Return whether a function is only a signature: the implementation after it has the docstring."""
    return any(isinstance(mark, ast.Name) and mark.id == "overload" for mark in getattr(node, "decorator_list", ()))


def imported_from(node: ast.ImportFrom, package: str) -> Iterator[str]:
    """Yield what is imported from a module."""
    base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
    source = ".".join(filter(None, (base if node.level else "", node.module)))
    for alias in node.names:
        inner = f"{source}.{alias.name}"
        yield inner if inner in MODULES else source


def started_by(node: ast.Tuple | ast.List) -> Iterator[str]:
    """Yield the modules that a command line starts."""
    words = [part.value if isinstance(part, ast.Constant) else None for part in node.elts]
    for option, module in pairwise(words):
        if option == "-m" and isinstance(module, str):
            yield f"{module}.__main__" if f"{module}.__main__" in MODULES else module


def needed_by(name: str) -> frozenset[str]:
    """Return the modules of the product that a module imports or starts, those for types alone left out."""
    facts = facts_of(MODULES[name], name)
    return facts.started if name in TYPES_ALONE else facts.imported | facts.started


def test_imports_follow_the_design() -> None:
    """A module imports its own room and those below it, programs that it starts by their module's name included."""
    own = [(name, found) for name in MODULES for found in needed_by(name) if found.split(".")[0] in OWN]
    assert [f"{name} imports {found}" for name, found in own if not may_import(name, found)] == []


def test_the_middle_is_pure() -> None:
    """Below the edges there is no clock, no chance, no I/O and no log."""
    pure = [name for name in MODULES if name.startswith(PURE) and name not in EDGES]
    found = {name: {top.split(".")[0] for top in facts_of(MODULES[name], name).imported} & IMPURE for name in pure}
    assert {name: impure for name, impure in found.items() if impure} == {}


def test_there_are_no_import_cycles() -> None:
    """Every module can be understood after those that it imports."""
    graph = {name: needed_by(name) & MODULES.keys() for name in MODULES}
    while leaves := {name for name, needed in graph.items() if not needed & (graph.keys() - {name})}:
        graph = {name: needed for name, needed in graph.items() if name not in leaves}
    assert sorted(graph) == []


def test_everything_public_has_a_docstring() -> None:
    """Modules, and whatever has no underscore, say what they are."""
    silent = {name: facts_of(path, name).undocumented for name, path in MODULES.items()}
    public = {name: [own for own in found if own[0] != "_"] for name, found in silent.items()}
    assert {name: found for name, found in public.items() if found} == {}


def test_every_test_says_what_it_shows() -> None:
    """A test's docstring states the behaviour."""
    silent = {path.name: facts_of(path).undocumented for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    assert [name for found in silent.values() for name in found if name.startswith("test_")] == []


def test_the_product_names_no_place_of_its_making() -> None:
    """Nothing that is kept under version control names a path of the machine that it was written on."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    home = str(Path.home()) + "/"
    places = ("/" + "work/", home) if home != "//" else ("/" + "work/",)
    kept = [ROOT / name for name in listed if (ROOT / name).is_file()]
    assert [path.name for path in kept if any(place in path.read_text(errors="replace") for place in places)] == []
