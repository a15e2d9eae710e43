"""The names of the API are there, and cost nothing until they are used."""

import subprocess
import sys

import pytest

import referee


@pytest.mark.parametrize("name", referee.__all__)
def test_every_name_is_there(name: str) -> None:
    """What the package says that it has can be used, and is listed."""
    assert getattr(referee, name) is not None
    assert name in dir(referee)


def test_other_names_are_none() -> None:
    """A name that is none of the API is an error like that of any module."""
    with pytest.raises(AttributeError, match="no attribute 'plaz'"):
        _ = referee.plaz  # type: ignore[attr-defined, unused-ignore]  # that is the point


def test_to_import_it_is_cheap() -> None:
    """The package alone imports neither the rules nor Twisted: every command begins with it."""
    code = "import sys, referee; print(sorted({'msgspec', 'twisted', 'rich', 'jinja2'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
