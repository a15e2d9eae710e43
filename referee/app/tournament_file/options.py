"""Checks options of games and formats in a file, and says in words which values each takes, from its type."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, inspect

from .sheet import Section, shown, unfit

_NAMES: dict[type[inspect.Type], str] = {
    inspect.BoolType: "true or false",
    inspect.StrType: "a text in quotation marks",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
    inspect.TupleType: "a list",
    inspect.DictType: "a table",
    inspect.StructType: "a table",
}


def are_fit(section: Section, options_type: type[Struct], options: Mapping[str, Any]) -> bool:
    """Tell whether each option is one and has the right type and range by itself; None is what could not be read."""
    before = len(section.sheet.mistakes)
    fields = {field.encode_name: field for field in msgspec.structs.fields(options_type)}
    section.known += [name for name in fields if name not in section.known]
    for key, value in options.items():
        if key in fields and value is not None:
            try:
                msgspec.convert(value, fields[key].type, strict=True)
            except msgspec.ValidationError as error:
                if isinstance(value, dict):  # the message names the place within it
                    section.refuse(key, str(error).replace("`$.", "`").replace("`$[", "`["))
                    continue
                section.refuse(key, f"takes {taken_by(fields[key].type)}, not {shown(unfit(value, fields[key].type))}")
    return len(section.sheet.mistakes) == before and options.keys() <= fields.keys()


def taken_by(wanted: Any) -> str:
    """Return which values a type takes, as a file in TOML has them; None is what stands there if nothing does."""
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
