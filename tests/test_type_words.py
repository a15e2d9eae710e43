"""What is said of values that a type does not take."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from referee.games.base import BadSetup
from referee.plugins import load
from referee.tournament.pairing.base import BadFormat
from referee.type_words import taken_by

REGISTRY = load()


class Colour(StrEnum):
    """Two of them."""

    RED = "red"
    BLUE = "blue"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (bool, "true or false"),
        (int, "a whole number"),
        (Annotated[int, Meta(ge=1)], "a whole number from 1 up"),
        (Annotated[int, Meta(ge=1, le=9)] | None, "a whole number from 1 to 9"),
        (Annotated[float, Meta(gt=0.5, lt=1)] | None, "a number above 0.5 below 1"),
        (Literal["a", "b"], '"a" or "b"'),
        (Colour, '"red" or "blue"'),
        (Annotated[int, Meta(ge=1, le=5)] | Literal["endless"], '"endless"'),
        (str, "a text in quotation marks"),
        (list[int], "a list"),
        (dict[str, int] | None, "a table"),
    ],
)
def test_types_are_put_into_words(wanted: Any, words: str) -> None:
    """No name of a type in Python stands there."""
    assert words in taken_by(wanted)


@pytest.mark.parametrize("value", ["x", -1, 1.5, 2**80, float("nan"), None, [], [1], True, "forever"], ids=repr)
def test_every_option_is_refused_in_words(value: Any) -> None:
    """Of every game and every format, if it does not take the value."""
    said = []
    plugins: list[Any] = [*REGISTRY.games.values(), *REGISTRY.formats.values()]
    for plugin in plugins:
        for name in plugin.options_type.__struct_fields__:
            try:
                plugin.parse_options({name: value})
            except (BadSetup, BadFormat) as error:
                said.append(str(error))
    assert said
    assert not [text for text in said if any(word in text for word in ("Expected", "Invalid", "NoneType"))]
