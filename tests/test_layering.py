"""The architecture, read off the imports themselves: who may import whom, what stays pure, how the house is kept."""

import ast
import subprocess
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWN = ("referee", "protocol", "sample_players")
MAX_LINES = 400
IMPURE = {"twisted", "socket", "time", "random", "os", "logging", "asyncio", "threading", "datetime", "subprocess"}

ORDER: tuple[str, ...] = (
    "protocol",
    "referee.errors",
    "referee.chance",
    "referee.text",
    "referee.clock",
    "referee.files",
    "referee.hookspecs",  # what it imports of those behind it, it needs for types alone
    "referee.games",
    "referee.match",
    "referee.pairing",
    "referee.tournament",
    "referee.record",
    "referee.observers",
    "referee.plugins",
    "referee.encoding",
    "referee.pettingzoo",
    "sample_players",
    "referee.house",
    "referee.testing",
    "referee.ledger",
    "referee.launch",
    "referee.net",
    "referee.dialects",
    "referee.submissions",
    "referee.check",
    "referee.pages",
    "referee.site",
    "referee.person",
    "referee.cluster",
    "referee.app",
    "referee.api",
    "referee.cli",
    "referee.__main__",
)
"""The rooms of the house, from the ground up: a module imports its own room and those before it."""
SIBLINGS = (
    {"referee.match", "referee.pairing"},
    {"referee.ledger", "referee.launch"},
    {"referee.dialects", "referee.submissions", "referee.check", "referee.pages"},
    {"referee.site", "referee.cluster"},
)
"""Rooms on one floor: none of them imports another."""
ONLY: dict[str, set[str]] = {
    "sample_players": {"protocol", "referee.games", "referee.hookspecs", "referee.encoding", "referee.pettingzoo"},
    "referee.launch": {"protocol", "referee.errors", "referee.text", "referee.clock", "referee.files", "referee.house"},
}
"""Rooms that import less than their place in the order allows."""
MAX_FILES = 24
"""In a folder."""
TYPES_ALONE = {"referee", "referee.hookspecs"}
"""Modules that import from other rooms for types alone."""
PURE = ("referee.games", "referee.match", "referee.pairing", "referee.tournament", "referee.chance", "protocol")
EDGES = {"protocol.client"}


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
    """Return the room of the house that a module is in; `referee` itself is its own few names only."""
    return next((room for room in ORDER if name == room or name.startswith(room + ".")), "referee")


def may_import(name: str, found: str) -> bool:
    """Tell whether a module may import another one."""
    own, other = room_of(name), room_of(found)
    if own == other or "referee" in (own, other):
        return True
    if own in ONLY:
        return other in ONLY[own]
    are_siblings = any({own, other} <= siblings for siblings in SIBLINGS)
    return ORDER.index(other) < ORDER.index(own) and not are_siblings


def imports_of(name: str, path: Path) -> Iterator[str]:
    """Yield what a module imports, wherever in it: dotted names, as exact as they can be told."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
            source = ".".join(filter(None, (base if node.level else "", node.module)))
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield inner if inner in MODULES else source


def started_by(path: Path) -> Iterator[str]:
    """Yield the modules that a module starts as programs: what stands behind "-m" in a command line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Tuple | ast.List):
            words = [part.value if isinstance(part, ast.Constant) else None for part in node.elts]
            for option, module in pairwise(words):
                if option == "-m" and isinstance(module, str):
                    yield f"{module}.__main__" if f"{module}.__main__" in MODULES else module


def needed_by(name: str) -> set[str]:
    """Return the modules of the product that a module imports or starts, those for types alone left out."""
    imported = set() if name in TYPES_ALONE else {*imports_of(name, MODULES[name])}
    return imported | {*started_by(MODULES[name])}


@pytest.mark.parametrize("name", MODULES)
def test_imports_follow_the_design(name: str) -> None:
    """A module imports its own room and those below it, programs that it starts by their module's name included."""
    own = [found for found in needed_by(name) if found.split(".")[0] in OWN]
    assert [found for found in own if not may_import(name, found)] == []


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith(PURE) and name not in EDGES])
def test_the_middle_is_pure(name: str) -> None:
    """Below the edges there is no clock, no chance, no I/O and no log."""
    assert {found.split(".")[0] for found in imports_of(name, MODULES[name])} & IMPURE == set()


def test_there_are_no_import_cycles() -> None:
    """Every module can be understood after those that it imports."""
    graph = {name: needed_by(name) & MODULES.keys() for name in MODULES}
    while leaves := {name for name, needed in graph.items() if not needed & (graph.keys() - {name})}:
        graph = {name: needed for name, needed in graph.items() if name not in leaves}
    assert sorted(graph) == []


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_has_a_docstring(name: str) -> None:
    """Modules, and whatever has no underscore, say what they are."""
    tree = ast.parse(MODULES[name].read_text())
    assert ast.get_docstring(tree)
    assert [silent for silent in undocumented(tree) if not silent.startswith("_")] == []


def undocumented(tree: ast.Module) -> Iterator[str]:
    """Yield the names of classes and functions without a docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not ast.get_docstring(node):
            yield node.name


def test_every_test_says_what_it_shows() -> None:
    """A test's docstring states the behaviour."""
    trees = [ast.parse(path.read_text()) for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    assert [name for tree in trees for name in undocumented(tree) if name.startswith("test_")] == []


def test_no_file_is_too_long() -> None:
    """A file that outgrows a few screens is two files."""
    files = [*MODULES.values(), *(ROOT / "tests").rglob("*.py")]
    assert [path.name for path in files if len(path.read_text().splitlines()) > MAX_LINES] == []


def test_no_folder_has_too_many_files() -> None:
    """A folder that can't be seen at a glance is two folders."""
    counts = Counter(path.parent for path in MODULES.values())
    assert [str(folder) for folder, count in counts.items() if count > MAX_FILES] == []


def test_the_product_names_no_place_of_its_making() -> None:
    """Nothing that is kept under version control names a path of the machine that it was written on."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    home = str(Path.home()) + "/"
    places = ("/" + "work/", home) if home != "//" else ("/" + "work/",)
    kept = [ROOT / name for name in listed if (ROOT / name).is_file()]
    assert [path.name for path in kept if any(place in path.read_text(errors="replace") for place in places)] == []
