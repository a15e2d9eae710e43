"""Checks the options of games and formats in a file, each by itself."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ...type_words import TABLE, explain_mismatch, shown, taken_by, unfit
from .sheet import Section


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
                if isinstance(value, dict) and TABLE in taken_by(fields[key].type):  # it names the place within
                    section.refuse(key, explain_mismatch(error))
                    continue
                section.refuse(key, f"takes {taken_by(fields[key].type)}, not {shown(unfit(value, fields[key].type))}")
    return len(section.sheet.mistakes) == before and options.keys() <= fields.keys()
