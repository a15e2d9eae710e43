"""The architecture, read off the imports themselves: who may import whom, what stays pure, how the house is kept."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OWN = ("referee", "protocol", "sample_players")
MAX_LINES = 400
IMPURE = {"twisted", "socket", "time", "random", "os", "logging", "asyncio", "threading", "datetime", "subprocess"}

ALLOWED: dict[str, set[str]] = {
    "referee.hookspecs": {"referee.games.base", "referee.pairing.base"},  # for its types alone
    "referee.chance": set(),
    "referee.files": set(),
    "referee.games": {"referee.hookspecs"},
    "referee.pairing": {"referee.hookspecs", "referee.games.base"},
    "referee.match": {"referee.games.base", "referee.chance"},
    "referee.tournament": {"protocol.limits", "referee.pairing.base", "referee.games.base", "referee.chance"},
    "referee.record": {"referee.match", "referee.games.base", "referee.tournament", "referee.chance", "referee.files"},
    "referee.plugins": {"referee.hookspecs", "referee.games", "referee.pairing"},
    "referee.testing": {"referee.games.base", "referee.match", "referee.pairing.base", "referee.chance"},
    "referee.net": {
        "protocol",
        "referee",
        "referee.chance",
        "referee.files",
        "referee.games.base",
        "referee.match",
        "referee.record",
        "referee.tournament",
        "referee.submissions",
        "referee.plugins",
    },
    "referee.submissions": {"referee.games.base", "referee.files", "referee.record", "referee.tournament.spec"},
    "referee.pages": {
        "referee.record",
        "referee.match",
        "referee.games.base",
        "referee.pairing.base",
        "referee.tournament",
    },
    "referee.check": {
        "protocol",
        "referee.chance",
        "referee.files",
        "referee.games.base",
        "referee.match",
        "referee.net",
    },
    "referee.cli": {"referee", "protocol"},
    "referee.__main__": {"referee.cli"},
    "referee": {"referee.hookspecs"},
    "sample_players": {"protocol", "referee.games", "referee.hookspecs"},
    "protocol": set(),
}
"""Layer -> what its modules may import of this project, besides their own layer. The longest matching name counts."""
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


def layer_of(name: str) -> str:
    """Return the layer that a module belongs to."""
    return max((layer for layer in ALLOWED if name == layer or name.startswith(layer + ".")), key=len)


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


def is_within(name: str, layer: str) -> bool:
    """Tell whether a name is a layer or something inside it; `referee` itself is its own few names only."""
    return name == layer or (layer != "referee" and name.startswith(layer + "."))


@pytest.mark.parametrize("name", MODULES)
def test_imports_follow_the_design(name: str) -> None:
    """A module imports its own layer and what the design lets it."""
    layer = layer_of(name)
    allowed = ALLOWED[layer] | {layer}
    if layer == "referee.cli":
        parts = (
            "check",
            "files",
            "games",
            "match",
            "net",
            "pairing",
            "plugins",
            "record",
            "submissions",
            "tournament",
            "web",
        )
        allowed |= {f"referee.{part}" for part in (*parts, "hookspecs", "chance")}
    own = [found for found in imports_of(name, MODULES[name]) if found.split(".")[0] in OWN]
    assert [found for found in own if not any(is_within(found, one) for one in allowed)] == []


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith(PURE) and name not in EDGES])
def test_the_middle_is_pure(name: str) -> None:
    """Below the edges there is no clock, no chance, no I/O and no log."""
    assert {found.split(".")[0] for found in imports_of(name, MODULES[name])} & IMPURE == set()


def test_there_are_no_import_cycles() -> None:
    """Every module can be understood after those that it imports."""
    graph = {name: {found for found in imports_of(name, path) if found in MODULES} for name, path in MODULES.items()}
    graph["referee.hookspecs"] -= {"referee.games.base", "referee.pairing.base"}  # under TYPE_CHECKING
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


def test_the_product_names_no_place_of_its_making() -> None:
    """Nothing that is kept under version control names a path of the machine that it was written on."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    home = str(Path.home()) + "/"
    places = ("/" + "work/", home) if home != "//" else ("/" + "work/",)
    kept = [ROOT / name for name in listed if (ROOT / name).is_file()]
    assert [path.name for path in kept if any(place in path.read_text(errors="replace") for place in places)] == []
