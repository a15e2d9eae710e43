"""Verifies a record: folds it again and compares every command, and checks it without the fold (checks.py), too.

Knows what must follow from what. Trusts nothing but the rules of the game; refuses to know how the match was run.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ...games.base import BadSetup, Game
from ...match.events import ImpossibleEvent
from ...match.machine import Match
from ...match.setup import UnfitSeed
from ...text import show_json
from ..reader import NotSealed, Record, RecordError, check_key, read_record
from ..schema import BadLine, RecordedStep, plain_json
from .checks import check_ranking, check_shuffle
from .evidence import FindWire, check_evidence, no_dialects
from .headers import check_header
from .proof import prove
from .times import check_book

FindGame = Callable[[str], Game[Any, Any, Any]]


def audit(
    path: Path,
    find_game: FindGame,
    *,
    keys: Collection[str] = (),
    is_strict: bool = True,
    find_wire: FindWire = no_dialects,
) -> Record:
    """Verify a record.

    Args:
        path: the record.
        find_game: a game's name -> its rules.
        keys: public keys, in hex, one of which must have sealed the record; empty: the one that it names itself.
        is_strict: whether a record without a seal, one of an unfinished match, is refused.
        find_wire: a dialect's name -> what reads the bytes of its players.

    Returns:
        The record; everything in it follows from its header, its events and its seed. If `result` is None the match
        was not finished, and its commands could be verified only if its seed was fixed beforehand.

    Raises:
        RecordError: the first line that does not hold.
        NotSealed: all of them hold, the record has no seal, and is_strict is true.
        Exception: what find_game raises for a game, and find_wire for a dialect, that it does not know.
    """
    record, match = prove(path, partial(open_match, find_game=find_game)) or (read_record(path), None)
    check_key(record.path, 0, record.header.key, keys)
    check_header(record, is_fixed=record.header.seed is not None)
    if match is None:
        check_course(record, find_game, find_wire)
    else:
        _check_without_fold(record, match, find_wire)
    if is_strict and record.seal is None:
        found = f"the end of a record that is {record.state}" + (", its last line torn" if record.is_torn else "")
        raise NotSealed(record.path, len(record.chain.hashes), "a result and its seal", found)
    return record


def check_course(record: Record, find_game: FindGame, find_wire: FindWire = no_dialects) -> Match | None:
    """Check that everything in a record follows from its header, its events and its seed.

    Args:
        record: one whose lines hold together.
        find_game: a game's name -> its rules.
        find_wire: a dialect's name -> what reads the bytes of its players.

    Returns:
        The match, folded again; None if its record does not tell its seed: then only its times were checked.

    Raises:
        RecordError: the first line that does not hold.
        Exception: what find_game raises for a game, and find_wire for a dialect, that it does not know.
    """
    match = open_match(record, find_game)
    if match is None:
        check_book(record)
        return None
    for number, (step, _) in enumerate(refold(record, match), 1):
        if match.result is not None and number < len(record.steps):
            raise RecordError(record.path, number + 1, "the result, for the match is over", type(step.event).__name__)
    _check_without_fold(record, match, find_wire)
    return match


def _check_without_fold(record: Record, match: Match, find_wire: FindWire) -> None:
    """Check all that is checked without the fold, once every line is known to be the fold's."""
    check_result(record, match)
    check_evidence(record, find_wire)
    check_book(record)
    check_shuffle(record, match.game)
    check_ranking(record)


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
        raise RecordError(record.path, 0, f"the seed of the result, {record.result.seed}", f"seed {fixed}")
    seed = record.seed
    if seed is None:
        return None
    game = find_game(setup.game)
    try:
        return Match(game, setup, seed)
    except (BadSetup, UnfitSeed) as error:  # whatever else is raised is no fault of the record
        raise RecordError(record.path, 0, f"a setup of {setup.game} and its committed seed", str(error)) from None


def refold(record: Record, match: Match) -> Iterator[tuple[RecordedStep, Match]]:
    """Fold a record's events again, and yield after each its step and the match as it then is.

    Raises:
        RecordError: an event can't happen, or gives other commands than stand in its line.
        Exception: what the fold or the game failed with, where the record tells of no such fault: it is this program's.
    """
    for number, step in enumerate(record.steps, 1):
        try:
            commands = match.handle(step.event)
        except ImpossibleEvent as error:
            raise RecordError(record.path, number, "an event that can happen", str(error)) from None
        folded = plain_json(commands)
        if folded != bytes(step.told):
            if match.fault is not None and not _is_void(step):
                raise match.fault
            raise _difference(record.path, number, msgspec.json.decode(folded), step.commands)
        yield step, match


def _is_void(step: RecordedStep) -> bool:
    """Tell whether a step closed its match as void, or has commands that are none."""
    try:
        return any(form.result is not None and form.result.void is not None for form in step.forms)
    except BadLine:
        return True


def check_result(record: Record, match: Match) -> None:
    """Compare the result that a record tells, if it does, with the one of its match folded again.

    Raises:
        RecordError: the match is not over, or ended otherwise.
    """
    number = len(record.steps) + 1
    if record.result is None:
        return
    if match.result is None:
        raise RecordError(record.path, number, f"more events (the match is {match.phase})", "a result")
    pairs = (
        ("result", msgspec.to_builtins(match.result), msgspec.to_builtins(record.result.result)),
        ("nonces", match.nonces.opened, record.result.nonces),
    )
    for name, expected, found in pairs:
        if expected != found:
            raise RecordError(record.path, number, f"{name} {show_json(expected)}", show_json(found))


def _difference(path: Path, number: int, expected: list[Any], found: list[Any]) -> RecordError:
    """Name the first command that differs."""
    for index, command in enumerate(expected):
        if index >= len(found):
            return RecordError(path, number, f"command {index + 1}: {show_json(command)}", "no such command")
        if msgspec.json.encode(command) != msgspec.json.encode(found[index]):  # to Python, true is 1 and 1.0 is 1
            return RecordError(path, number, f"command {index + 1}: {show_json(command)}", show_json(found[index]))
    return RecordError(path, number, f"{len(expected)} commands", f"{len(found)} commands")
