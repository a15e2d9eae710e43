"""The form of the lines of a redacted record: what is shown of each must be what a whole record has there.

Who has a key can seal whatever he likes; behind this check, nothing that reads such a record stumbles over it.
"""

import re
from typing import Any

import msgspec

from ..match.fouls import Foul
from .reader import Chain, RecordError
from .redaction import HASH_KEY
from .schema import BadLine, RecordedStep, ResultLine, forms

_TEXT = "0" * 64
"""Stands for whatever is hidden: a seed, bytes in hex, what somebody said."""
_HEX = re.compile("(?:[0-9a-f]{2})*")


def check_forms(chain: Chain, seats: int) -> None:
    """Check that the lines behind the header have the form of a record's, as far as they are shown.

    Raises:
        RecordError: the first one that has not.
    """
    kinds = ["header", *["step"] * (len(chain.lines) - 3), "result", "seal"]
    for number, (line, kind) in enumerate(zip(chain.lines, kinds, strict=False), 1):
        try:
            _check_form(line.fields, kind, seats)
        except (BadLine, msgspec.ValidationError, RecursionError, OverflowError) as error:
            found = str(error) or type(error).__name__
            raise RecordError(chain.path, number, f"a line of kind {kind}", found) from None


def _check_form(fields: dict[str, Any], kind: str, seats: int) -> None:
    """Refuse a line of another kind, or without the form of that; seal and header were checked before."""
    if fields.get("kind") != kind:
        raise BadLine(f"kind {fields.get('kind')!r:.40}")
    if kind == "step":
        step = msgspec.convert({**fields, "event": _filled(fields.get("event"))}, RecordedStep)
        forms(step)
        for command in step.commands:
            if "foul" in command:
                _check_foul(command["foul"])
    elif kind == "result":
        result = fields.get("result")
        fouls = result.get("fouls") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(fouls, list):
            raise BadLine("no result with its fouls")
        plain = {**fields, "seed": _TEXT, "result": {**result, "fouls": [*map(_filled, fouls)]}}
        told = msgspec.convert(plain, ResultLine).result
        if not len(told.scores) == len(told.used_ms) == seats:
            raise BadLine(f"scores and times of other than {seats} seats")


def _check_foul(foul: Any) -> None:
    if not isinstance(foul, dict) or set(foul) != {*Foul.__struct_fields__}:
        raise BadLine("a foul that lacks a field, or has one too many")
    evidence = msgspec.convert(_filled(foul), Foul).evidence
    if not _HEX.fullmatch(evidence):
        raise BadLine("evidence that is not in hex")


def _filled(holder: Any) -> Any:
    """Return an object with some text in place of each field that is hidden; anything else as it is."""
    if not isinstance(holder, dict):
        return holder
    return {key: _TEXT if isinstance(value, dict) and HASH_KEY in value else value for key, value in holder.items()}
