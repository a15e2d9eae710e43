"""Writes a move as one word without spaces, and reads it again.

A move with an `action` is written in a short form: `{"action": "add", "domino": [8, 9], "square": [8, 9]}` is
`add:8,9;8,9`. Every other value is written as JSON. Writing needs no game, so even a move that no game accepts can be
written. Reading needs the game, because the short form has neither the names of fields nor the types of values.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import groupby
from typing import Any

import msgspec
from msgspec import inspect

from ..text import printable
from .base import Game, MalformedMove

_WORD = re.compile(r"[A-Za-z0-9_.+-]{1,40}\Z")
_MOST_SHOWN = 60
"""Number of characters to which a text is shortened in an error message."""


class _NoShortForm(Exception):
    """A value has no short form: it is not a word or a number, nor a list of them, nor a list of such lists."""


def to_plain(value: Any) -> Any:
    """Convert a value into the plain data that a player would receive over the wire: a tuple becomes a list."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))


def format_move(move: Any) -> str:
    """Write a plain move as one word.

    An object with an `action` becomes the action, a colon, and its other values in their order. Commas separate single
    values and the values of a list, and semicolons separate lists.

    >>> format_move({"action": "place", "tiles": [[0, 1, "red-star"], [0, 2, "red-circle"]]})
    'place:0,1,red-star;0,2,red-circle'
    >>> format_move({"heap": 0, "take": 2})
    '{"heap":0,"take":2}'
    """
    try:
        return _shorten(move)
    except _NoShortForm:
        pass
    try:
        text = json.dumps(move, ensure_ascii=False, separators=(",", ":"), default=str)
    except RecursionError:
        return "(too-deep)"
    return printable(text).replace(" ", "\\u0020")


def format_json(value: Any) -> str:
    """Return a plain value of any length as JSON without spaces."""
    return msgspec.json.encode(value).decode().replace(" ", "\\u0020")


def format_exactly(game: Game[Any, Any, Any], move: Any) -> str:
    """Write a plain move so that `read_move` returns the same move: in the short form if possible, else as JSON."""
    try:
        text = _shorten(move)
        if read_move(game, text) == move:
            return text
    except (_NoShortForm, MalformedMove):
        pass
    return format_json(move)


def read_move(game: Game[Any, Any, Any], text: str) -> Any:
    """Read a plain move from a text: a short form, JSON, or the text itself if it is a move.

    Args:
        game: the rules, which define the fields of moves.
        text: the text.

    Raises:
        MalformedMove: no reading of the text has the form of a move.

    >>> from referee.games.quincy.game import QuincyGame
    >>> read_move(QuincyGame(), "add:8,9;8,9")
    {'action': 'add', 'domino': [8, 9], 'square': [8, 9]}
    """
    for move in _readings(game, text):
        try:
            game.parse_move(move)
        except (MalformedMove, UnicodeEncodeError):  # half of a surrogate pair raises UnicodeEncodeError
            continue
        return move
    shown = printable(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")
    raise MalformedMove(f'"{shown}" is no move of {game.name}; write a move in the short form, or as JSON')


def _shorten(move: Any) -> str:
    """Return the short form of a move; raise _NoShortForm if there is none."""
    if not isinstance(move, dict) or not _is_word(move.get("action")):
        raise _NoShortForm
    values = [value for key, value in move.items() if key != "action"]
    return ":".join(filter(None, (move["action"], ";".join(_groups(values)))))


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and _WORD.match(value) is not None


def _groups(values: Sequence[Any]) -> Iterator[str]:
    """Yield the parts between semicolons."""
    for is_list, group in groupby(values, key=lambda value: isinstance(value, list)):
        if not is_list:
            yield ",".join(map(_scalar, group))
            continue
        for value in group:
            if any(isinstance(inner, list) for inner in value):
                yield from (",".join(map(_scalar, inner if isinstance(inner, list) else [inner])) for inner in value)
            else:
                yield ",".join(map(_scalar, value))


def _scalar(value: Any) -> str:
    if isinstance(value, bool | None):
        return json.dumps(value)
    if isinstance(value, int | float) or _is_word(value):
        return str(value)
    raise _NoShortForm


def _readings(game: Game[Any, Any, Any], text: str) -> Iterator[Any]:
    """Yield the possible readings of a text as plain values, the likeliest first."""
    with suppress(msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        yield msgspec.json.decode(text)
    action, _, rest = text.partition(":")
    fields = _actions(game.move_type).get(action)
    if fields is not None:
        with suppress(IndexError, msgspec.ValidationError, UnicodeEncodeError):
            texts = {"action": action, **_divide(fields, rest)}
            # This is not strict: numbers and texts are written alike, and only the field's type decides between them.
            yield to_plain(msgspec.convert(texts, game.move_type, strict=False))
    yield text


def _divide(fields: Sequence[tuple[str, int]], rest: str) -> dict[str, Any]:
    """Divide a short form into the texts of its fields; raise IndexError if there are too few or too many.

    Args:
        fields: name and depth of each field: 0 for a single value, 1 for a list of values, 2 for a list of such lists.
        rest: the short form after its action.
    """
    groups = [group.split(",") for group in rest.split(";")] if rest else []
    values: dict[str, Any] = {}
    for depth, group in groupby(fields, key=lambda field: field[1]):
        names = [name for name, _ in group]
        if depth == 0:
            values.update(zip(names, groups.pop(0), strict=False))
        for name in names if depth else ():
            values[name] = [groups.pop(0) for _ in range(len(groups))] if depth > 1 else groups.pop(0)
    if groups or len(values) < len(fields):
        raise IndexError(rest)
    return values


def list_actions(game: Game[Any, Any, Any]) -> list[str]:
    """Return the names of a game's actions; an empty list if its moves have no `action`."""
    return list(_actions(game.move_type))


@cache
def _actions(move_type: Any) -> dict[str, list[tuple[str, int]]]:
    """Return the fields of each kind of move that has an action, in the form that `_divide` needs."""
    described = inspect.type_info(move_type)
    kinds = described.types if isinstance(described, inspect.UnionType) else (described,)
    return {
        str(kind.tag): [(field.encode_name, _depth(field.type)) for field in kind.fields]
        for kind in kinds
        if isinstance(kind, inspect.StructType) and kind.tag_field == "action"
    }


def _depth(kind: inspect.Type) -> int:
    """Return how deep lists are nested in a type: 0 for a single value."""
    if isinstance(kind, inspect.StructType) and kind.array_like:
        return 1 + max((_depth(field.type) for field in kind.fields), default=0)
    if isinstance(kind, inspect.TupleType):
        return 1 + max(map(_depth, kind.item_types), default=0)
    return 1 + _depth(kind.item_type) if isinstance(kind, inspect.ListType | inspect.VarTupleType) else 0
