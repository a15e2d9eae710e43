"""Options that belong together and reach a command as one value."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """Adds something to a command, whatever the command is called with."""

    def __call__(self, function: F, /) -> F:
        """Return the function with it."""


def grouped(keyword: str, make: Callable[..., Any], *options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, which is called with one value made of theirs.

    Args:
        keyword: by which the command takes it.
        make: called with the options' values, by their names.
        options: click's own decorators, in the order of the help text.
    """

    def _decorate(function: F) -> F:
        @wraps(function)
        def _call(*args: Any, **values: Any) -> Any:
            group = make(**{name: values.pop(name) for name in names})
            return function(*args, **{keyword: group}, **values)

        wrapped: Any = _call
        for option in reversed(options):
            wrapped = option(wrapped)
        names = [parameter.name for parameter in wrapped.__click_params__[-len(options) :]]
        decorated: F = wrapped
        return decorated

    return _decorate
