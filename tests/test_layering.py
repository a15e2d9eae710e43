"""The architecture, checked on the imports: which module may import which, and which modules stay pure."""

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
    "referee.settings",
    "referee.clock",
    "referee.files",
    "referee.hookspecs",  # imports later rooms for types only
    "referee.builtin",
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
"""The packages in order, lowest layer first: a module imports its own package and those before it."""
SIBLINGS = (
    {"referee.match", "referee.tournament.pairing"},
    {"referee.dialects", "referee.web.submissions", "referee.check", "referee.pages"},
)
"""Packages of one layer: none of them imports another."""
ONLY: dict[str, set[str]] = {
    "sample_players": {"protocol", "referee.builtin", "referee.games", "referee.hookspecs", "referee.learning"},
    "referee.programs": {
        *(
            "protocol",
            "referee.errors",
            "referee.text",
            "referee.type_words",
            "referee.settings",
            "referee.clock",
            "referee.files",
        ),
        *("referee.programs.environment", "referee.programs.house_process"),
    },
}
"""Packages that may import less than their place in the order allows."""
TYPES_ALONE = {"referee", "referee.hookspecs"}
"""Modules that import other packages for types only."""
PURE = (
    "referee.games",
    "referee.match",
    "referee.tournament.pairing",
    "referee.tournament",
    "referee.chance",
    "protocol",
)
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
    """Return the innermost package in ORDER that a module is in; `referee` for the modules at the top."""
    return max((room for room in ORDER if name == room or name.startswith(room + ".")), key=len, default="referee")


def may_import(name: str, found: str) -> bool:
    """Return whether a module may import another one."""
    own, other = room_of(name), room_of(found)
    if own == other or "referee" in (own, other):
        return True
    if own in ONLY:
        return other in ONLY[own]
    are_siblings = any({own, other} <= siblings for siblings in SIBLINGS)
    return ORDER.index(other) < ORDER.index(own) and not are_siblings


class Facts(NamedTuple):
    """The imports of one file."""

    imported: frozenset[str]
    """Dotted names of all imported modules, anywhere in the file."""
    started: frozenset[str]
    """Modules of the product that the file starts as programs: the word after "-m" in a command line."""


@cache
def facts_of(path: Path, name: str = "") -> Facts:
    """Read the imports of a file, once.

    Args:
        path: the file.
        name: dotted name of the module.
    """
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = ast.parse(path.read_text())
    imported, started = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported |= {*imported_from(node, package)}
        elif isinstance(node, ast.Tuple | ast.List):
            started |= {*started_by(node)}
    return Facts(frozenset(imported), frozenset(started))


def imported_from(node: ast.ImportFrom, package: str) -> Iterator[str]:
    """Yield the modules that an import statement names."""
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
    """Return the modules that a module imports or starts, without imports for types only."""
    facts = facts_of(MODULES[name], name)
    return facts.started if name in TYPES_ALONE else facts.imported | facts.started


def test_imports_follow_the_design() -> None:
    """Programs that a module starts by `-m` count as imports."""
    own = [(name, found) for name in MODULES for found in needed_by(name) if found.split(".")[0] in OWN]
    assert [f"{name} imports {found}" for name, found in own if not may_import(name, found)] == []


def test_the_middle_is_pure() -> None:
    """Pure modules do not import clocks, random numbers, input, output or logging."""
    pure = [name for name in MODULES if name.startswith(PURE) and name not in EDGES]
    found = {name: {top.split(".")[0] for top in facts_of(MODULES[name], name).imported} & IMPURE for name in pure}
    assert {name: impure for name, impure in found.items() if impure} == {}


def test_there_are_no_import_cycles() -> None:
    graph = {name: needed_by(name) & MODULES.keys() for name in MODULES}
    while leaves := {name for name, needed in graph.items() if not needed & (graph.keys() - {name})}:
        graph = {name: needed for name, needed in graph.items() if name not in leaves}
    assert sorted(graph) == []


def test_the_product_names_no_place_of_its_making() -> None:
    """No file under version control has a path of a developer's machine."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    home = str(Path.home()) + "/"
    places = ("/" + "work/", home) if home != "//" else ("/" + "work/",)
    kept = [ROOT / name for name in listed if (ROOT / name).is_file()]
    assert [path.name for path in kept if any(place in path.read_text(errors="replace") for place in places)] == []
