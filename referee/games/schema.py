"""Makes JSON Schemas. Their descriptions are the docstrings below the fields of structs."""

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
    """Return the JSON Schemas of some types. The schemas of structs in these types are under `$defs`.

    The description of a field is the docstring below it, and that of a tag is the docstring of its struct. Descriptions
    from a `Meta` are kept.
    """
    roots, parts = msgspec.json.schema_components(types.values())
    structs: list[type[msgspec.Struct]] = []
    for info in multi_type_info(types.values()):
        _collect(info, structs)
    # msgspec does not know the docstrings below the fields of a struct, so they are read from the source.
    for struct in structs:
        _describe(struct, parts.get(struct.__name__, {}))
    return {**dict(zip(types, roots, strict=True)), "$defs": parts}


def _collect(info: Type | Field, structs: list[type[msgspec.Struct]]) -> None:
    """Add the structs of a type to a list, including structs inside of other structs."""
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
    """Return the docstrings below the fields of a struct; an empty dict if its source is not available."""
    # Python drops the text below a field, so it is read from the source. `Meta(description=...)` would need no source,
    # but would make structs hard to read, because it stands in the middle of each type.
    try:
        parsed = ast.parse(dedent(inspect.getsource(struct))).body[0]
    except (OSError, TypeError):  # the struct was created without a source file
        return {}
    assert isinstance(parsed, ast.ClassDef)
    texts = {}
    for field, below in pairwise(parsed.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
    return texts
