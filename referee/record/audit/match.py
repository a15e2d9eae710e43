"""Verifies the record of a match: folds it again and compares every command, and checks it without the fold, too."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from ...games.base import BadSetup, Game
from ...match import events as e
from ...match.commands import Result
from ...match.events import ImpossibleEvent
from ...match.machine import Match
from ...match.setup import UnfitSeed
from ...text import show_json
from ...tournament.match_context import MatchContext, name_match
from ...tournament.spec import REMOTE
from .. import schema
from ..hidden_fields import HASH_PREFIX, OPEN, Salt
from ..reader import Chain, NotSealed, Record, RecordError, check_key, is_sealed, open_file, read_lines, read_record
from ..writer import encode_transition
from .chance import check_shuffle
from .evidence import FindWire, check_evidence, no_dialects
from .times import check_book

# What an audit does
# ------------------
# A record holds events and the commands that followed. The audit takes the header, the seed and the events, folds the
# match again (match/machine.py) and demands the same commands, byte for byte. So no verdict in a record is believed: it
# is derived. `prove` is the quick way for a record that is finished: it writes every line once more and compares bytes,
# and says nothing about what is wrong. If it fails, `refold` goes line by line and names the first that does not hold.
#
# A fold that is wrong would confirm its own errors. Therefore the modules next to this one check a second time, without
# it: the deal and the nonces (chance.py), limits, banks and lags (times.py), the bytes held against a player
# (evidence.py), the ranking (here). They are written from the specification, and share only the game's rules with the
# fold.
#
# What it can show: every line follows from those before it; the referee had committed to the seed before the players
# sent their nonces; each expulsion follows from bytes that the record holds and from instants that it states; nothing
# was changed after the seal; the file was sealed with the key that it names (or with one that the auditor demands).
#
# What it cannot show: that the events happened. Only the referee knows when bytes arrived, and it could invent a
# player's answer, or delay one. A lie has to be consistent, though: standstills are common to all matches of a process,
# instants must leave room for what they claim, and every answer that led to an expulsion is there in its bytes. Nor can
# it show that a record is complete: a match that nobody kept a head of can be played again in secret. Published heads,
# the record of the tournament and the signed list of a folder narrow that down.

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
        is_strict: True to refuse a record without a seal, that is of an unfinished match.
        find_wire: a dialect's name -> the wire that reads the bytes of its players.

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
        check_consequences(record, find_game, find_wire)
    else:
        _check_without_fold(record, match, find_wire)
    if is_strict and record.seal is None:
        end = f"the end of a record that is {record.state}" + (", its last line torn" if record.is_torn else "")
        raise NotSealed(record.path, len(record.chain.hashes), "a result and its seal", end)
    return record


def check_consequences(record: Record, find_game: FindGame, find_wire: FindWire = no_dialects) -> Match | None:
    """Check that everything in a record follows from its header, its events and its seed.

    Args:
        record: record whose lines hold together.
        find_game: a game's name -> its rules.
        find_wire: a dialect's name -> the wire that reads the bytes of its players.

    Returns:
        The match, folded again; None if its record does not have the seed: then only its times were checked.

    Raises:
        RecordError: the first line that does not hold.
        Exception: what find_game raises for a game, and find_wire for a dialect, that it does not know.
    """
    match = open_match(record, find_game)
    if match is None:
        check_book(record)
        return None
    for number, (transition, _) in enumerate(refold(record, match), 1):
        if match.result is not None and number < len(record.transitions):
            raise RecordError(
                record.path, number + 1, "the result, for the match is over", type(transition.event).__name__
            )
    _check_without_fold(record, match, find_wire)
    return match


def _check_without_fold(record: Record, match: Match, find_wire: FindWire) -> None:
    """Make all checks without the fold, once the fold has confirmed every line."""
    check_result(record, match)
    check_evidence(record, find_wire)
    check_book(record)
    check_shuffle(record, match.game)
    check_ranking(record)


def open_match(record: Record, find_game: FindGame) -> Match | None:
    """Build the match of a record, before its first event.

    Returns:
        The match, or None if the record of an unfinished match does not have its seed.

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
    with naming_rules(record, game):
        try:
            return Match(game, setup, seed)
        except (BadSetup, UnfitSeed) as error:  # whatever else is raised is no fault of the record
            raise RecordError(record.path, 0, f"a setup of {setup.game} and its committed seed", str(error)) from None


def name_rules(version: str) -> str:
    """Return the package and version that has the rules of a game, in words."""
    return version or "the referee itself"


@contextmanager
def naming_rules(record: Record, game: Game[Any, Any, Any]) -> Iterator[None]:
    """Replace any error by one that names both versions of the rules, if a match was played by another version.

    Such a record may well hold: only an audit with the version that it names can tell. If it holds by this version,
    too, there is no error to replace.

    Args:
        record: the record.
        game: its game, as it is installed here.

    Raises:
        RecordError: the block failed, and the header names another version of the rules.
    """
    try:
        yield
    except Exception as error:
        if record.header.rules_version == game.rules_version:
            raise
        played, here = name_rules(record.header.rules_version), name_rules(game.rules_version)
        trouble = f"{type(error).__name__}: {error}"
        if isinstance(error, RecordError):
            trouble = f"line {error.line} does not follow by them"
        expected = f"the rules of {played}, by which the match was played: install them, and try again"
        raise RecordError(record.path, 0, expected, f"those of {here}: {trouble}") from error


def refold(record: Record, match: Match) -> Iterator[tuple[schema.Transition, Match]]:
    """Fold a record's events again, and yield each transition with the match after it.

    Raises:
        RecordError: an event can't happen, or gives other commands than stand in its line; or the rules have another
            version here, and a line does not follow by them.
        Exception: what the fold or the game failed with, where the record tells of no such fault: it is this program's.
    """
    for number, transition in enumerate(record.transitions, 1):
        with naming_rules(record, match.game):
            _fold_transition(record, match, number, transition)
        yield transition, match


def _fold_transition(record: Record, match: Match, number: int, transition: schema.Transition) -> None:
    try:
        commands = match.handle(transition.event)
    except ImpossibleEvent as error:
        raise RecordError(record.path, number, "an event that can happen", str(error)) from None
    folded = schema.plain_json(commands)
    if folded != bytes(transition.told):
        if match.fault is not None and not _is_void(transition):
            raise match.fault
        raise _difference(record.path, number, msgspec.json.decode(folded), transition.commands)


def _is_void(transition: schema.Transition) -> bool:
    """Return whether a transition closed its match as void, or has malformed commands."""
    try:
        return any(form.result is not None and form.result.void is not None for form in transition.forms)
    except schema.BadLine:
        return True


def check_result(record: Record, match: Match) -> None:
    """Compare the result in a record, if there is one, with that of its match folded again.

    Raises:
        RecordError: the match is not over, or ended otherwise.
    """
    number = len(record.transitions) + 1
    if record.result is None:
        return
    if match.result is None:
        raise RecordError(record.path, number, f"more events (the match is {match.phase})", "a result")
    pairs = (
        ("result", msgspec.to_builtins(match.result), msgspec.to_builtins(record.result.result)),
        ("nonces", match.nonces.opened, record.result.nonces),
    )
    for name, expected, recorded in pairs:
        if expected != recorded:
            raise RecordError(record.path, number, f"{name} {show_json(expected)}", show_json(recorded))


def _difference(path: Path, number: int, expected: list[Any], recorded: list[Any]) -> RecordError:
    """Name the first command that differs."""
    for index, command in enumerate(expected):
        if index >= len(recorded):
            return RecordError(path, number, f"command {index + 1}: {show_json(command)}", "no such command")
        if msgspec.json.encode(command) != msgspec.json.encode(recorded[index]):  # to Python, true is 1 and 1.0 is 1
            return RecordError(path, number, f"command {index + 1}: {show_json(command)}", show_json(recorded[index]))
    return RecordError(path, number, f"{len(expected)} commands", f"{len(recorded)} commands")


_BEFORE_OPEN = b',"%s":' % OPEN.encode()
_HASHED = re.compile(re.escape(HASH_PREFIX) + rb'"[0-9a-f]{64}"}')
"""Object in a line's core that replaces a hidden value."""
_entries = msgspec.json.Decoder(dict[str, tuple[Salt, Raw]])
_steps = msgspec.json.Decoder(schema.Transition)


def prove(path: Path, open_match: Callable[[Record], Match | None]) -> tuple[Record, Match] | None:
    """Read a record, and fold its match, if it is one that is finished and holds.

    Args:
        path: the record.
        open_match: builds the match, before its first event, of a record that has no transitions yet.

    Returns:
        Both; None if the bytes are not those that the referee would have written, or if that can't be decided.
    """
    try:
        with open_file(path) as file:
            return _proven(path, list(read_lines(path, file)), open_match)
    except Exception:  # noqa: BLE001  # the slower check meets it again, and says what it is
        return None


def _proven(path: Path, lines: Sequence[bytes], open_match: Callable[[Record], Match | None]) -> tuple[Record, Match]:
    if not lines[-1].endswith(b"\n"):
        raise schema.BadLine("torn")
    numbers = 0, len(lines) - 2, len(lines) - 1
    ends = [schema.read_line(lines[number][:-1]) for number in numbers]
    header, result, seal = map(schema.parse_line, ends)
    if not (
        isinstance(header, schema.Header)
        and isinstance(result, schema.ResultLine)
        and isinstance(seal, schema.SealLine)
    ):
        raise schema.BadLine("not what begins and ends a record")
    transitions = _Steps(lines[1:-2], ends[0].hash)
    hashes = (*transitions.hashes, ends[1].hash, ends[2].hash)
    links = list(zip(numbers, (schema.FIRST_PREV, *hashes[-3:-1]), strict=True))
    if [(end.n, end.prev) for end in (header, result, seal)] != links or not is_sealed(header.key, seal):
        raise schema.BadLine("not chained, or not sealed")
    data = b"".join(lines)
    chain = Chain(path, hashes, len(data), b"", partial(_read, data))
    record = Record(path, header, (), result, seal, chain)
    match = open_match(record)
    assert match is not None, "a result tells the seed"
    return replace(record, transitions=transitions.fold(match)), match


def _read(data: bytes) -> tuple[schema.PlainLine, ...]:
    return tuple(map(schema.read_line, data[:-1].split(b"\n")))


class _Steps:
    """The lines between the header and the result, which are chained.

    Each thing is done for all of them before the next is: in the processor's caches, there is room for one at a time.

    Args:
        lines: with their line feeds.
        prev: hash of the header.

    Raises:
        BadLine: they are not chained.
    """

    def __init__(self, lines: Sequence[bytes], prev: str) -> None:
        self._lines = lines
        self._parts: list[tuple[bytes, bytes]] = []
        """Core and, if anything is hidden in it, the key `open`."""
        self.hashes = [prev]
        """Hashes of the header and of the lines after it."""
        for number, data in enumerate(lines, 1):
            core, _, opened = data[:-1].partition(_BEFORE_OPEN)
            core += b"}" if opened else b""
            if not core.startswith(schema.linked_core(number, self.hashes[-1], b"")[:-1]):
                raise schema.BadLine("not chained")
            self._parts.append((core, opened[:-1]))
            self.hashes.append(schema.line_hash(core))

    def fold(self, match: Match) -> tuple[schema.Transition, ...]:
        """Fold the events, write the lines once more, and compare.

        Args:
            match: the match before its first event.

        Raises:
            BadLine: a line is not what this fold writes.
            Exception: a line is not valid, or its event can't happen.
        """
        transitions, salts = zip(*(_open_line(*parts) for parts in self._parts), strict=True)
        followed = [match.handle(transition.event) for transition in transitions]
        msgspec.msgpack.encode(
            ([transition.event for transition in transitions], followed)
        )  # fails for integers of over 64 bits
        _ = [transition.forms for transition in transitions]  # fails for commands that are none
        written = [
            encode_transition(transition.event, commands, transition.standstills, iter(line_salts))
            for transition, commands, line_salts in zip(transitions, followed, salts, strict=True)
        ]
        for number, (fields, opened) in enumerate(written):
            core = schema.linked_core(number + 1, self.hashes[number], fields)
            if core != self._parts[number][0] or schema.with_open(core, opened) + b"\n" != self._lines[number]:
                raise schema.BadLine("not what follows")
        return transitions


def _open_line(core: bytes, opened: bytes) -> tuple[schema.Transition, list[str]]:
    """Return a transition, its values put in their places one after the other, and their salts.

    A misplaced value gives another line when that is written once more.
    """
    if not opened:
        return _steps.decode(core), []
    entries = _entries.decode(opened).values()
    values = iter(entries)
    filled = _HASHED.sub(lambda _: bytes(next(values)[1]), core)
    return _steps.decode(filled), [salt for salt, _ in entries]


_HASH = re.compile("[0-9a-f]{64}")


def check_header(record: Record, *, is_fixed: bool) -> None:
    """Check the header's seats, seed, nonces and tournament, and the starts of programs against it.

    Args:
        record: whole, or redacted with stand-ins for what is hidden.
        is_fixed: True if its header has a seed, hidden or not.

    Raises:
        RecordError: the first line that contradicts the header, or the header itself.
    """
    header, setup = record.header, record.header.setup
    seats = len(setup.names)
    shares_deal = not setup.nonces and not is_fixed
    if header.programs is not None and len(header.programs) != seats:
        raise _wrong(record, f"programs of {seats} seats", show_json(header.programs, 140))
    if is_fixed and setup.nonces:
        raise _wrong(record, "no nonces, for the seed was fixed beforehand", "nonces true")
    if shares_deal != (setup.seed_opens != "at-end"):
        expected = (
            "a seed that opens after its last leg"
            if shares_deal
            else "seed_opens at-end, for no other match has its deal"
        )
        raise _wrong(record, expected, f"seed_opens {setup.seed_opens}, nonces {show_json(setup.nonces)}")
    if shares_deal and header.context is None:
        raise _wrong(record, "a tournament, for this is a leg of a duplicate deal", "none")
    if header.context is not None:
        _check_context(record, header.context)
    for number, transition in enumerate(record.transitions, 1):
        if isinstance(transition.event, e.Began):
            _check_starts(record, number, transition.event.starts)


def _check_context(record: Record, context: MatchContext) -> None:
    """Check the context in a header against the setup."""
    setup, fixture = record.header.setup, context.fixture
    name = name_match(context.tournament, fixture.number, fixture.leg, fixture.attempt)
    if not setup.match == fixture.match == name:
        raise _wrong(record, f"the match {name}, as its fixture makes it", f"{setup.match}, opened as {fixture.match}")
    if len(fixture.entrants) != len(setup.names) or len({*fixture.entrants}) != len(fixture.entrants):
        raise _wrong(record, f"{len(setup.names)} entrants, one for each seat", show_json(fixture.entrants))
    if fixture.leg >= len(setup.names) or (fixture.leg and setup.nonces):
        raise _wrong(record, "a leg of a duplicate deal, one for each seat at most", f"leg {fixture.leg}")
    if setup.lot or min(fixture.entrants) < 0 or not _HASH.fullmatch(context.head):
        contradiction = f"lot {show_json(setup.lot)}, entrants {show_json(fixture.entrants)}, head {context.head}"
        raise _wrong(record, "a match that a line of a tournament's record opened, its seats not drawn", contradiction)


def _check_starts(record: Record, number: int, starts: tuple[int, ...]) -> None:
    """Check that only matches of a tournament have starts, one for each seat, and none for a remote player."""
    header, seats = record.header, len(record.header.setup.names)
    if not starts:
        return
    if header.context is None:
        raise RecordError(record.path, number, "no starts, for programs stay in tournaments alone", show_json(starts))
    remote = [seat for seat, given in enumerate(header.programs or ()) if given == REMOTE]
    if len(starts) != seats or min(starts) < 0 or any(starts[seat] for seat in remote):
        expected = "a start for each seat, from 1, and 0 where there is no program"
        raise RecordError(record.path, number, expected, show_json(starts))


def _wrong(record: Record, expected: str, found: str) -> RecordError:
    return RecordError(record.path, 0, expected, found)


def check_ranking(record: Record) -> None:
    """Check that every seat has one rank, that seats which fouled share the last one, and that the best win.

    Raises:
        RecordError: the result contradicts itself.
    """
    if record.result is None:
        return
    result, seats = record.result.result, range(len(record.header.setup.names))
    out = sorted({foul.seat for foul in result.fouls})
    ranked = [seat for level in result.ranking for seat in level]
    problem = None
    if result.void is not None:
        problem = "no ranking of a void match" if result.ranking or result.winners else None
    elif sorted(ranked) != list(seats):
        problem = "one rank for every seat"
    elif out and sorted(result.ranking[-1]) != out:
        problem = f"the expelled seats {out} on the last rank"
    elif list(result.winners) not in _possible_winners(record, result, is_deserted=out == list(seats)):
        problem = "the seats of the best rank as winners"
    if problem is not None:
        verdict = f"ranking {show_json(result.ranking)}, winners {show_json(result.winners)}"
        raise RecordError(record.path, len(record.transitions) + 1, problem, verdict)


def _possible_winners(record: Record, result: Result, *, is_deserted: bool) -> list[list[int]]:
    """Return who can have won: the best; nobody if all fouled, or perhaps if a winner fouled confirming the end."""
    if is_deserted:
        return [[]]
    best = sorted(result.ranking[0])
    kinds = [form.command for transition in record.transitions for form in transition.forms]
    is_lost_at_the_end = "end-seat" in kinds and "expel-seat" in kinds[kinds.index("end-seat") :]
    return [best, []] if is_lost_at_the_end else [best]
