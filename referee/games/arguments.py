"""Checks the arguments of functions that users call. Errors name the argument in a whole sentence."""

import operator
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from numbers import Real
from typing import Any

from ..chance import MAX_SEED
from ..errors import BadRequest

_SHOWN_CHARS = 60


def describe(value: object) -> str:
    """Return a value as an error message shows it: as source code, or by its type."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    text = repr(value)
    if " object at 0x" in text or text.startswith("<"):
        return f"an object of the type {type(value).__name__}"
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


def read_text(name: str, value: object, example: str) -> str:
    """Return an argument that is text.

    Raises:
        BadRequest: it is not text.
    """
    if not isinstance(value, str):
        raise BadRequest(f"{name} is text, such as {example!r}, not {describe(value)}")
    return value


def read_whole(name: str, value: object, least: int | None = None) -> int:
    """Return an argument that is a whole number of any type, including NumPy's.

    Raises:
        BadRequest: it is not a whole number, or too small.
    """
    try:
        # `int` would also accept "3" and 3.7, so that a mistake would start a game that nobody meant. `operator.index`
        # accepts only whole numbers, including NumPy's.
        number = operator.index(value)  # type: ignore[arg-type]  # the call itself checks the type
    except TypeError:
        raise BadRequest(f"{name} is a whole number, not {describe(value)}") from None
    if least is not None and number < least:
        raise BadRequest(f"{name} is at least {least}, not {number}")
    return number


def read_seed(seed: int) -> int:
    """Return a seed, given as a whole number of any type, as an int.

    Raises:
        BadRequest: it is not a whole number from 0 to `MAX_SEED`.
    """
    number = read_whole("a seed", seed)
    if not 0 <= number <= MAX_SEED:
        raise BadRequest(f"a seed is a whole number from 0 to {MAX_SEED}, not {number:.6g}")
    return number


def read_number(name: str, value: object) -> float:
    """Return an argument that is a number.

    Raises:
        BadRequest: it is not a number, or larger than a float.
    """
    try:
        if isinstance(value, Real):
            return float(value)
    except OverflowError:
        pass
    raise BadRequest(f"{name} is a number, not {describe(value)}")


def read_list(name: str, value: object, what: str) -> list[Any]:
    """Return an argument that is a list or another sequence of values.

    Args:
        name: name of the argument.
        value: the argument.
        what: description of the expected list, for the error message.

    Raises:
        BadRequest: it is not a list.
    """
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping | AbstractSet):
        raise BadRequest(f"{name} is {what}, not {describe(value)}")
    return list(value)


def read_options(value: object) -> dict[str, Any]:
    """Return the options of a game as a dict. The game itself checks their names and values.

    Raises:
        BadRequest: they are not a mapping.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadRequest(f"options is a dict, from the name of an option to its value, not {describe(value)}")
    return dict(value)
