"""Options of a game as they are given on a command line or in a form."""

import json
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ..errors import BadRequest
from ..files.small import read_small_text


def parse_options(pairs: Sequence[str], file_options: Collection[str] = ()) -> dict[str, Any]:
    """Turn `NAME=VALUE` pairs into options; a value that is JSON is taken as such, anything else as text.

    Args:
        pairs: from the command line.
        file_options: the names whose value is the path of a TOML file; what stands in the file is the option.

    Raises:
        BadRequest: a pair has no equals sign, or its file can't be read as TOML.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise BadRequest(f"--option takes NAME=VALUE, e.g. --option q_bonus=8, not {pair!r}")
        if name in file_options:
            options[name] = _read_toml(name, Path(text))
            continue
        try:
            options[name] = json.loads(text)
        except (ValueError, RecursionError):  # no JSON, or too deep
            options[name] = text
    return options


def _read_toml(name: str, path: Path) -> dict[str, Any]:
    """Return what stands in the file of an option."""
    try:
        return tomllib.loads(read_small_text(path))
    except OSError as error:
        raise BadRequest(f"--option {name} takes the path of a TOML file: {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # TOML that is none or too deep, or no UTF-8
        raise BadRequest(f"--option {name}: {path} is no TOML: {error}") from None
