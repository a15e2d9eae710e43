"""Checks what a program gives to the client: a mistake gets a sentence before the client connects.

What is of another type is a TypeError, as Python's own functions have it.
"""

import re
from numbers import Real

from .limits import NAME_FORM, NAME_PATTERN


def check_text(name: str, value: object) -> None:
    """See to it that an argument is text, or None.

    Raises:
        TypeError: it is not.
    """
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is text, not {_describe(value)}")


def check_seconds(name: str, value: object) -> None:
    """See to it that an argument is a time in seconds.

    Raises:
        TypeError: it is no number.
        ValueError: it is below 0, or no number that can be compared.
    """
    if not isinstance(value, Real):
        raise TypeError(f"{name} is a number of seconds, not {_describe(value)}")
    if not float(value) >= 0:
        raise ValueError(f"{name} is at least 0 seconds, not {value}")


def check_function(name: str, value: object, what: str) -> None:
    """See to it that an argument is a function, or None.

    Args:
        name: of the argument.
        value: what was given.
        what: it takes and returns.

    Raises:
        TypeError: it is not.
    """
    if value is not None and not callable(value):
        raise TypeError(f"{name} is a function {what}, not {_describe(value)}")


def check_player_name(value: str) -> None:
    """See to it that a player can be called so.

    Raises:
        ValueError: it can't.
    """
    if not re.match(NAME_PATTERN, value):
        raise ValueError(f"the name {value[:60]!r} must be {NAME_FORM}")


def _describe(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"of the type {type(value).__name__}"
