"""The docstring examples of `protocol` run, and every public function and class has one."""

import doctest
import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import protocol

MODULES = [importlib.import_module(f"protocol.{info.name}") for info in pkgutil.iter_modules(protocol.__path__)]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_run(module: ModuleType) -> None:
    """Each example prints the output that it shows."""
    assert doctest.testmod(module, optionflags=OPTIONS).failed == 0


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_function_has_an_example(module: ModuleType) -> None:
    functions = [
        value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and not name.startswith("_") and value.__module__ == module.__name__
    ]
    assert [function.__name__ for function in functions if ">>>" not in (function.__doc__ or "")] == []
