"""The names of the API exist, are in the reference, and cost nothing until they are used."""

import re
import subprocess
import sys
from collections.abc import Iterator
from inspect import isfunction
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import referee
from tests.docs.manual import ROOT

PAGE = (ROOT / "docs/reference/python.md").read_text()
SHOWN = re.findall(r"^\.\. (?:auto|py:)\w+:: referee\.(\w+)(?:\(\))?$((?:\n   .*)*)", PAGE, re.MULTILINE)
"""Each name on the page, with the options of its directive."""


@pytest.mark.parametrize("name", referee.__all__)
def test_every_name_is_there(name: str) -> None:
    """Each name in `__all__` can be used."""
    assert getattr(referee, name) is not None


def test_no_other_name_is_offered() -> None:
    """A shell completes only the names of the API, and no private ones."""
    assert dir(referee) == sorted(referee.__all__)


def test_the_reference_has_every_name_and_no_other() -> None:
    """The page lists every public name, and no private one."""
    assert sorted(name for name, _ in SHOWN) == sorted(referee.__all__)
    assert len(SHOWN) == PAGE.count("\n.. ")


def own_kinds(hint: Any) -> set[Any]:
    """Return the classes of this package that a type refers to."""
    kind = get_origin(hint) or hint
    own = {kind} if isinstance(kind, type) and kind.__module__.startswith("referee") else set()
    return own.union(*map(own_kinds, get_args(hint)))


def hints(name: str, options: str) -> Iterator[Any]:
    """Yield all types in the page's entry for a name."""
    owner, named = getattr(referee, name), re.search(r":members: (.+)", options)
    members = named[1].split(", ") if named else [member for member in dir(owner) if not member.startswith("_")]
    found = [getattr(owner, member, None) for member in members] if isinstance(owner, type) else [owner]
    for member in found:
        getter = member.fget if isinstance(member, property) else getattr(member, "func", member)
        yield from get_type_hints(getter).values() if isfunction(getter) else ()
    if isinstance(owner, type) and not named:
        yield from get_type_hints(owner).values()


@pytest.mark.parametrize(("name", "options"), SHOWN)
def test_the_reference_has_all_that_its_names_give_and_take(name: str, options: str) -> None:
    """The class of every attribute, argument and return value is on the page, too."""
    public = {getattr(referee, public) for public in referee.__all__}
    assert {kind for hint in hints(name, options) for kind in own_kinds(hint)} <= public


def test_other_names_are_none() -> None:
    """An unknown name raises the same error as in any module."""
    with pytest.raises(AttributeError, match="no attribute 'plaz'"):
        _ = referee.plaz  # type: ignore[attr-defined, unused-ignore]  # that is the point


def test_to_import_it_is_cheap() -> None:
    """The package alone imports neither the rules nor Twisted, because every command begins with this import."""
    code = "import sys, referee; print(sorted({'msgspec', 'twisted', 'rich', 'jinja2'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
