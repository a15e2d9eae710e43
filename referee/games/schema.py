"""JSON Schemas with descriptions."""

import ast
import inspect
from collections.abc import Mapping
from itertools import pairwise
from textwrap import dedent
from typing import Any

import msgspec
from msgspec.inspect import Field, StructType, Type, multi_type_info
from msgspec.structs import astuple


def schema_of(types: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of each of some types, and under `$defs` that of the structs they are made of.

    What stands beneath a field in its struct describes it there; a tag is described by what the struct says of itself.
    A description that msgspec knows already, from a `Meta`, stays.
    """
    roots, parts = msgspec.json.schema_components(types.values())
    structs: list[type[msgspec.Struct]] = []
    for info in multi_type_info(types.values()):
        _collect(info, structs)
    for struct in structs:
        _describe(struct, parts.get(struct.__name__, {}))
    return {**dict(zip(types, roots, strict=True)), "$defs": parts}


def _collect(info: Type | Field, found: list[type[msgspec.Struct]]) -> None:
    """Find the structs of a type, those within others, too."""
    if isinstance(info, StructType):
        if info.cls in found:
            return
        found.append(info.cls)
    for value in astuple(info):
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Type | Field):
                _collect(part, found)


def _describe(struct: type[msgspec.Struct], part: dict[str, Any]) -> None:
    """Write the descriptions of a struct's fields into its part of the schema."""
    texts = {name: text for base in reversed(struct.__mro__) for name, text in _docstrings(base).items()}
    if struct.__struct_config__.tag_field is not None:
        texts[struct.__struct_config__.tag_field] = part.get("description", "")
    fields = [
        *part.get("properties", {}).items(),
        *zip(struct.__struct_fields__, part.get("prefixItems", ()), strict=False),
    ]
    for name, field in fields:
        if texts.get(name):
            field.setdefault("description", texts[name])


def _docstrings(struct: type) -> dict[str, str]:
    """Return what stands beneath the fields of a struct in its source; nothing where there is no source."""
    try:
        parsed = ast.parse(dedent(inspect.getsource(struct))).body[0]
    except (OSError, TypeError):  # it was made without a file, or is built in
        return {}
    assert isinstance(parsed, ast.ClassDef)
    found = {}
    for field, below in pairwise(parsed.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = " ".join(text.split())
    return found
