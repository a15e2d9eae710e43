"""Says in words which values a type takes, and what came in their place."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import msgspec
from msgspec import Struct, inspect

TABLE = "a table"
"""What takes keys and values."""
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
"""Characters of a value in an error: enough to find it again."""


def taken_by(wanted: Any) -> str:
    """Return which values a type takes, as people write them; None, the lack of a value, is left out."""
    return _words(inspect.type_info(wanted))


def _words(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.Metadata):
        return _words(kind.type)
    if isinstance(kind, inspect.UnionType):
        return " or ".join(_words(inner) for inner in kind.types if not isinstance(inner, inspect.NoneType))
    if isinstance(kind, inspect.LiteralType | inspect.EnumType):
        return _one_of(kind.values if isinstance(kind, inspect.LiteralType) else [one.value for one in kind.cls])
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        return _number(kind)
    return _NAMES.get(type(kind), "another kind of value")


def _one_of(values: Any) -> str:
    return " or ".join(msgspec.json.encode(value).decode() for value in values)


def _number(kind: inspect.IntType | inspect.FloatType) -> str:
    """Return what a number may be, with its bounds."""
    noun = "a whole number" if isinstance(kind, inspect.IntType) else "a number"
    if kind.ge is not None and kind.le is not None:
        return f"{noun} from {kind.ge:g} to {kind.le:g}"
    bounds = {"from {} up": kind.ge, "above {}": kind.gt, "up to {}": kind.le, "below {}": kind.lt}
    return " ".join([noun, *(text.format(f"{bound:g}") for text, bound in bounds.items() if bound is not None)])


def shown(value: Any) -> str:
    """Return a value as an error shows it."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "an array"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def unfit(value: Any, wanted: Any) -> Any:
    """Return what of a value is not of the type that is wanted: of an array, the first element that is not."""
    if isinstance(value, list) and get_origin(wanted) is list:
        for element in value:
            try:
                msgspec.convert(element, get_args(wanted)[0], strict=True)
            except msgspec.ValidationError:
                return element
    return value


def wrong_options(raw: Mapping[str, Any], options_type: type[Struct]) -> Iterator[str]:
    """Yield what is wrong with each option that is known and has a wrong value, in a few words."""
    for field in msgspec.structs.fields(options_type):
        if field.encode_name in raw:
            value = raw[field.encode_name]
            try:
                msgspec.convert(value, field.type, strict=True)
            except msgspec.ValidationError as error:
                takes = taken_by(field.type)
                is_table = isinstance(value, dict) and TABLE in takes  # the message names the place within it
                what = str(error) if is_table else f"takes {takes}, not {shown(unfit(value, field.type))}"
                yield f"{field.encode_name} {what}"
