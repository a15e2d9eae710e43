"""Check the arguments of the client, so that a mistake is reported in a sentence before the client connects.

A wrong type is a TypeError and a wrong value a ValueError, as for Python's own functions.
"""

import re
from numbers import Real

from .limits import NAME_FORM, NAME_PATTERN


def check_text(name: str, value: object) -> None:
    """Check that an argument is text or None.

    Args:
        name: name of the argument, for the error.
        value: the argument.

    Raises:
        TypeError: it is neither.

    >>> check_text("address", 7777)
    Traceback (most recent call last):
    TypeError: address is text, not of the type int
    """
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is text, not {_describe(value)}")


def check_seconds(name: str, value: object) -> None:
    """Check that an argument is a time in seconds.

    Args:
        name: name of the argument, for the error.
        value: the argument.

    Raises:
        TypeError: it is not a number.
        ValueError: it is below 0 or NaN.

    >>> check_seconds("wait_s", 0.5)
    >>> check_seconds("wait_s", -1)
    Traceback (most recent call last):
    ValueError: wait_s is at least 0 seconds, not -1
    """
    if not isinstance(value, Real):
        raise TypeError(f"{name} is a number of seconds, not {_describe(value)}")
    if not float(value) >= 0:  # not `< 0`: NaN would pass that
        raise ValueError(f"{name} is at least 0 seconds, not {value}")


def check_function(name: str, value: object, what: str) -> None:
    """Check that an argument is a function or None.

    Args:
        name: name of the argument, for the error.
        value: the argument.
        what: words for the values that the function takes and returns.

    Raises:
        TypeError: it is neither.

    >>> check_function("choose", "player.py", "from a view to a move")
    Traceback (most recent call last):
    TypeError: choose is a function from a view to a move, not of the type str
    """
    if value is not None and not callable(value):
        raise TypeError(f"{name} is a function {what}, not {_describe(value)}")


def check_player_name(value: str) -> None:
    """Check that a player can have a name.

    Raises:
        ValueError: the name has a character, or a length, that a name may not have.

    >>> check_player_name("my_1st-Player")
    >>> check_player_name("Ada Lovelace")
    Traceback (most recent call last):
    ValueError: the name 'Ada Lovelace' must be 1 to 20 ASCII letters, digits, - and _, the first one a letter or digit
    """
    if not re.match(NAME_PATTERN, value):
        raise ValueError(f"the name {value[:60]!r} must be {NAME_FORM}")


def _describe(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"of the type {type(value).__name__}"
