"""Folds a record again and compares every command and the result, line by line. Trusts nothing but the rules.

Knows what must follow from what. Refuses to know how the match was run.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from .. import chance
from ..games.base import BadSetup, Game
from ..match.machine import ImpossibleEvent, Match
from .reader import Record, RecordError, read_record
from .schema import Step, plain_commands

FindGame = Callable[[str], Game[Any, Any, Any]]
_SHOWN_CHARS = 300


def audit(path: Path, find_game: FindGame) -> Record:
    """Verify a record.

    Args:
        path: the record.
        find_game: a game's name -> its rules.

    Returns:
        The record; everything in it follows from its header, its events and its seed. If `result` is None the match
        was not finished, and no more than its chain could be verified unless its seed was fixed beforehand.

    Raises:
        RecordError: the first line that does not hold.
        Exception: what find_game raises for a game it does not know.
    """
    record = read_record(path)
    match = open_match(record, find_game)
    if match is None:
        return record
    for number, (step, _) in enumerate(refold(record, match), 2):
        if match.result is not None and number < len(record.steps) + 1:
            raise RecordError(path, number + 1, "the result, for the match is over", type(step.event).__name__)
    _check_result(record, match)
    return record


def open_match(record: Record, find_game: FindGame) -> Match | None:
    """Build the match of a record, before its first event.

    Returns:
        The match, or None if the record of an unfinished match does not tell its seed.

    Raises:
        RecordError: the setup is not one of the game's, or the seed does not fit the commitment.
    """
    setup = record.header.setup
    fixed = record.header.seed
    if record.result is not None and fixed is not None and fixed != record.result.seed:
        raise RecordError(record.path, 1, f"the seed of the result, {record.result.seed}", f"seed {fixed}")
    try:
        seed = record.seed
        if seed is None:
            return None
        return Match(find_game(setup.game), setup, seed)
    except (BadSetup, ValueError) as error:
        raise RecordError(record.path, 1, f"a setup of {setup.game} and its committed seed", str(error)) from None


def refold(record: Record, match: Match) -> Iterator[tuple[Step, Match]]:
    """Fold a record's events again, and yield after each its step and the match as it then is.

    Raises:
        RecordError: an event can't happen, or gives other commands than stand in its line.
    """
    for number, step in enumerate(record.steps, 2):
        try:
            commands = plain_commands(match.handle(step.event))
        except ImpossibleEvent as error:
            raise RecordError(record.path, number, "an event that can happen", str(error)) from None
        if not _is_same(commands, step.commands):
            raise _difference(record.path, number, commands, step.commands)
        yield step, match


def _check_result(record: Record, match: Match) -> None:
    number = len(record.steps) + 2
    if record.result is None:
        if match.result is not None and not record.is_torn:
            raise RecordError(record.path, number, "the result", "the end of the file")
        return
    if match.result is None:
        raise RecordError(record.path, number, f"more events (the match is {match.phase})", "a result")
    pairs = (
        ("result", msgspec.to_builtins(match.result), msgspec.to_builtins(record.result.result)),
        ("nonces", match.nonces, record.result.nonces),
        ("commitment", chance.commitment(match.seed), record.header.setup.commitment),
    )
    for name, expected, found in pairs:
        if expected != found:
            raise RecordError(record.path, number, f"{name} {_shown(expected)}", _shown(found))


def _difference(path: Path, number: int, expected: list[Any], found: list[Any]) -> RecordError:
    """Name the first command that differs."""
    for index, command in enumerate(expected):
        if index >= len(found):
            return RecordError(path, number, f"command {index + 1}: {_shown(command)}", "no such command")
        if not _is_same(command, found[index]):
            return RecordError(path, number, f"command {index + 1}: {_shown(command)}", _shown(found[index]))
    return RecordError(path, number, f"{len(expected)} commands", f"{len(found)} commands")


def _is_same(expected: Any, found: Any) -> bool:
    """Compare plain values as a record shows them: to Python, true is 1 and 1.0 is 1."""
    return msgspec.json.encode(expected, order="sorted") == msgspec.json.encode(found, order="sorted")


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."
