"""The examples for authors of plugins run: those of the hooks and of `referee.testing`."""

import doctest
import importlib
import inspect

import pytest

from referee import hookspecs, testing

MODULES = (
    "referee.hookspecs",
    *sorted({value.__module__ for value in map(vars(testing).get, testing.__all__) if inspect.isfunction(value)}),
)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_run(name: str) -> None:
    """Each example prints the output that it shows."""
    results = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert results.attempted > 0
    assert results.failed == 0


def test_every_hook_has_an_example() -> None:
    hooks = [value for name, value in vars(hookspecs).items() if name.startswith("referee_")]
    assert len(hooks) == 5
    assert all(">>>" in (hook.__doc__ or "") for hook in hooks)


def test_every_function_for_tests_has_an_example() -> None:
    functions = [value for value in map(vars(testing).get, testing.__all__) if inspect.isfunction(value)]
    assert [function.__name__ for function in functions if ">>>" not in (function.__doc__ or "")] == []
