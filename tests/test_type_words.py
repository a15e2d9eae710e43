"""Errors about values that a type does not accept."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from referee.games.base import BadSetup
from referee.plugins import load
from referee.tournament.pairing.base import BadFormat
from referee.type_words import describe_type, explain_mismatch

REGISTRY = load()


class Colour(StrEnum):
    """Two colours."""

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
    """The words have no name of a Python type."""
    assert words in describe_type(wanted)


class Box(Struct, forbid_unknown_fields=True):
    """A table with a table."""

    colour: Colour = Colour.RED
    rows: Annotated[list[int], Meta(max_length=3)] = []
    name: Annotated[str, Meta(min_length=1)] = "x"
    code: Annotated[str, Meta(pattern=r"^[0-9]+$(?!\n)")] = "0"
    pair: tuple[int, int] = (0, 0)
    share: Annotated[float, Meta(ge=0, lt=1)] = 0
    counts: dict[str, int] = {}
    inner: "Inner | None" = None


class Inner(Struct, forbid_unknown_fields=True):
    """One required key."""

    needed: int | None


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (3, "it takes a table, not a whole number"),
        ({"size": 3}, "there is no key size"),
        ({"inner": {}}, "the key needed is missing in inner"),
        ({"inner": {"needed": 1, "more": 2}}, "there is no key more in inner"),
        ({"inner": {"needed": "x"}}, "inner.needed takes a whole number or nothing, not a text"),
        ({"colour": "green"}, "colour can't be 'green'"),
        ({"rows": [1, "x"]}, "rows[1] takes a whole number, not a text"),
        ({"rows": [1, 2, 3, 4]}, "rows takes at most 3 elements"),
        ({"name": ""}, "name takes at least 1 character"),
        ({"code": "abc"}, "code takes a text of the form ^[0-9]+$"),
        ({"pair": [1]}, "pair takes 2 elements, not 1"),
        ({"share": -1}, "share takes a number from 0 up"),
        ({"share": 1}, "share takes a number below 1"),
        ({"counts": {1: 1}}, "a key of counts takes a text, not a whole number"),
        ({"counts": {"a": True}}, "counts[...] takes a whole number, not true or false"),
    ],
)
def test_mismatches_are_explained_in_english(raw: Any, words: str) -> None:
    """The place of the wrong value comes first."""
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(raw, Box)
    assert explain_mismatch(caught.value) == words


def test_an_unknown_option_gets_the_one_that_was_meant() -> None:
    """Wrong values of other options are reported as well."""
    with pytest.raises(
        BadSetup, match=r'there is no option "q_bonu"; did you mean "q_bonus".*finish_bonus takes a whole'
    ):
        REGISTRY.games["q"].parse_options({"q_bonu": 1, "finish_bonus": "x"})


@pytest.mark.parametrize("value", ["x", -1, 1.5, 2**80, float("nan"), None, [], [1], True, "forever"], ids=repr)
def test_every_option_is_refused_in_words(value: Any) -> None:
    """This holds for every option of every game and format."""
    said = []
    plugins: list[Any] = [*REGISTRY.games.values(), *REGISTRY.formats.values()]
    for plugin in plugins:
        for name in plugin.options_type.__struct_fields__:
            try:
                plugin.parse_options({name: value})
            except (BadSetup, BadFormat) as error:
                said.append(str(error))
    assert said
    assert not [text for text in said if any(word in text for word in ("Expected", "Invalid", "NoneType", "Object"))]
