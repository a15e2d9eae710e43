"""Describes in words which values a type accepts, and which value was given instead."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import Struct, inspect

from .text import counted, near

TABLE = "a table"
"""Words for a type of keys and values."""
_NAMES: dict[type[inspect.Type], str] = {
    inspect.BoolType: "true or false",
    inspect.StrType: "a text in quotation marks",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
    inspect.TupleType: "a list",
    inspect.DictType: TABLE,
    inspect.StructType: TABLE,
}
_MAX_SHOWN = 60
"""Longest value in an error: enough to find it in a file."""


_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "null": "nothing",
    "array": "a list",
    "object": "a table",
    "bytes": "bytes",
}
"""msgspec's name of a kind of value -> the words for it."""
_MESSAGE = re.compile("(?P<what>.*?)(?: - at (?:`key` in `(?P<holder>[^`]*)`|`(?P<place>[^`]*)`))?", re.DOTALL)
_UNKNOWN = re.compile("Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile("Object missing required field `(.*)`", re.DOTALL)
_OTHER_VALUE = re.compile("Invalid enum value (.*)", re.DOTALL)
_OTHER_KIND = re.compile("Expected `([^`]*)`, got `([^`]*)`")
_LENGTH = re.compile("Expected `([^`]*)` of length (>= |<= |)([0-9]+)(?:, got ([0-9]+))?")
_PATTERN = re.compile(r"Expected `str` matching regex '(.*?)(?:\(\?!\\{1,2}n\))?'", re.DOTALL)
"""msgspec's message about a text, without the end of the pattern that refuses a line feed."""
_BOUND = re.compile("Expected `([^`]*)` (>=|<=|>|<) (.*)")
_PARTS = {"str": "character", "object": "key"}
_BOUNDS = {">=": "from {} up", ">": "above {}", "<=": "up to {}", "<": "below {}"}


def explain_mismatch(error: msgspec.ValidationError, whole: str = "") -> str:
    """Translate msgspec's message about a value that a type does not accept into plain English.

    Records keep msgspec's own words about malformed moves, since an audit derives them again.

    Args:
        error: msgspec's error.
        whole: place of the value in a larger one; empty if it is the whole.

    >>> explain_mismatch(msgspec.ValidationError("Expected `int`, got `str` - at `$.rows[2]`"))
    'rows[2] takes a whole number, not a text'
    """
    parts = _MESSAGE.fullmatch(str(error))
    if parts is None:
        return str(error)
    what, place = parts["what"], (whole + (parts["place"] or parts["holder"] or "").removeprefix("$")).removeprefix(".")
    within = f" in {place}" if place else ""
    if match := _UNKNOWN.fullmatch(what):
        return f"there is no key {match[1]}{within}"
    if match := _MISSING.fullmatch(what):
        return f"the key {match[1]} is missing{within}"
    subject = place or "it" if parts["holder"] is None else f"a key of {place or 'the table'}"
    if match := _OTHER_VALUE.fullmatch(what):
        return f"{subject} can't be {match[1]}"
    accepted = _taken_instead(what)
    return f"{subject} takes {accepted}" if accepted else f"{what}{within}"


def _taken_instead(what: str) -> str:
    """Describe what is accepted and what was given, from msgspec's message without its place; "" for other messages."""
    if match := _OTHER_KIND.fullmatch(what):
        return f"{_name_kinds(match[1])}, not {_name_kinds(match[2])}"
    if match := _LENGTH.fullmatch(what):
        bound = {">= ": "at least ", "<= ": "at most "}.get(match[2], "")
        count = counted(int(match[3]), _PARTS.get(match[1], "element"))
        return f"{bound}{count}{f', not {match[4]}' if match[4] else ''}"
    if match := _PATTERN.fullmatch(what):
        return f"a text of the form {match[1]}"
    if match := _BOUND.fullmatch(what):
        return f"{_name_kinds(match[1])} {_BOUNDS[match[2]].format(match[3].removesuffix('.0'))}"
    return ""


def _name_kinds(names: str) -> str:
    """Return the words for the kinds of values that msgspec names, such as `int | null`."""
    return " or ".join(_KINDS.get(name, name) for name in names.split(" | "))


def describe_type(wanted: Any) -> str:
    """Describe the values that a type accepts, as people write them; None is left out.

    The `extra` of a msgspec.Meta may give `words`, which describe the type as a whole, or the `unit` of a number.

    >>> describe_type(Annotated[int, Meta(ge=1, extra={"unit": "MiB"})])
    'a whole number of MiB from 1 up'
    """
    return _words(inspect.type_info(wanted))


def _words(kind: inspect.Type, unit: str = "") -> str:
    if isinstance(kind, inspect.Metadata):
        extra = kind.extra or {}
        return extra.get("words") or _words(kind.type, extra.get("unit", ""))
    if isinstance(kind, inspect.UnionType):
        return " or ".join(_words(inner) for inner in kind.types if not isinstance(inner, inspect.NoneType))
    if isinstance(kind, inspect.LiteralType | inspect.EnumType):
        return _join_values(kind.values if isinstance(kind, inspect.LiteralType) else [one.value for one in kind.cls])
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        return _number(kind, unit)
    return _NAMES.get(type(kind), "another kind of value")


def _join_values(values: Any) -> str:
    return " or ".join(msgspec.json.encode(value).decode() for value in values)


def _number(kind: inspect.IntType | inspect.FloatType, unit: str) -> str:
    """Describe a number with its unit and its bounds."""
    noun = ("a whole number" if isinstance(kind, inspect.IntType) else "a number") + (f" of {unit}" if unit else "")
    least, most = (None if bound is None else str(bound).removesuffix(".0") for bound in (kind.ge, kind.le))
    if least is not None and most is not None:
        return f"{noun} from {least} to {most}"
    bounds = {"from {} up": least, "above {}": kind.gt, "up to {}": most, "below {}": kind.lt}
    return " ".join([noun, *(text.format(bound) for text, bound in bounds.items() if bound is not None)])


def show_value(value: Any) -> str:
    """Format a value for an error."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def unfit(value: Any, wanted: Any) -> Any:
    """Return the part of a value that is not of the wanted type: the first wrong element of an array, or all of it."""
    bare = get_args(wanted)[0] if get_origin(wanted) is Annotated else wanted
    if isinstance(value, list) and get_origin(bare) is list:
        for element in value:
            try:
                msgspec.convert(element, get_args(bare)[0], strict=True)
            except msgspec.ValidationError:
                return element
    return value


def wrong_options(raw: Mapping[str, Any], options_type: type[Struct]) -> Iterator[str]:
    """Describe in a few words each option that is unknown or has a wrong value."""
    option_names = [field.encode_name for field in msgspec.structs.fields(options_type)]
    for name in raw:
        if name not in option_names:
            yield f"there is no option {show_value(name)}{near(name, option_names)}"
    for field in msgspec.structs.fields(options_type):
        if field.encode_name in raw:
            value = raw[field.encode_name]
            try:
                msgspec.convert(value, field.type, strict=True)
            except msgspec.ValidationError as error:
                takes = describe_type(field.type)
                is_table = isinstance(value, dict) and TABLE in takes  # the message names the place in the table
                what = (
                    f": {explain_mismatch(error)}"
                    if is_table
                    else f" takes {takes}, not {show_value(unfit(value, field.type))}"
                )
                yield f"{field.encode_name}{what}"
