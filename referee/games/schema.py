"""JSON Schemas with descriptions, which are the docstrings below the fields of structs."""

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
    """Return the JSON Schemas of some types, with those of the structs that they contain under `$defs`.

    A field is described by the docstring below it, a tag by the docstring of its struct. A description that comes from
    a `Meta` is not replaced.
    """
    roots, parts = msgspec.json.schema_components(types.values())
    structs: list[type[msgspec.Struct]] = []
    for info in multi_type_info(types.values()):
        _collect(info, structs)
    # msgspec knows the form of a struct but not the docstrings below its fields: those are read from the source.
    for struct in structs:
        _describe(struct, parts.get(struct.__name__, {}))
    return {**dict(zip(types, roots, strict=True)), "$defs": parts}


def _collect(info: Type | Field, structs: list[type[msgspec.Struct]]) -> None:
    """Add the structs of a type to a list, those inside of others included."""
    if isinstance(info, StructType):
        if info.cls in structs:
            return
        structs.append(info.cls)
    for value in astuple(info):
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Type | Field):
                _collect(part, structs)


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
    """Return the docstrings below the fields of a struct; none where there is no source."""
    # Python throws the text below a field away, so it is read from the source. `Meta(description=...)` would need no
    # source, but would stand in the middle of each type, where it makes the struct hard to read.
    try:
        parsed = ast.parse(dedent(inspect.getsource(struct))).body[0]
    except (OSError, TypeError):  # the struct was made without a file, or is built in
        return {}
    assert isinstance(parsed, ast.ClassDef)
    texts = {}
    for field, below in pairwise(parsed.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
    return texts
