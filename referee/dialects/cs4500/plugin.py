"""Adds the dialect cs4500 through the hook; the network and the rest are imported only where they are asked for."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from ... import hookimpl
from ...hookspecs import Dialect
from .names import NAME, NAME_FORM, NAME_PATTERN


def _later(module: str, name: str) -> Callable[..., Any]:
    """Return a function of a module of this folder, which is imported once it is called."""

    def _call_later(*given: Any, **named: Any) -> Any:
        return getattr(import_module(f".{module}", __package__), name)(*given, **named)

    return _call_later


@hookimpl
def referee_dialects() -> Iterable[Dialect]:
    """Return the one dialect."""
    dialect = Dialect(
        name=NAME,
        game="q",
        link=_later("link", "CourseLink"),
        name_pattern=NAME_PATTERN,
        name_form=NAME_FORM,
        wire=_later("evidence", "CourseWire"),
        join=_later("joining", "join"),
        server=_later("server", "read_server"),
        clients=_later("clients", "read_clients"),
    )
    return [dialect]
