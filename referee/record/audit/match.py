"""Verifies the record of a match: folds its events again, compares every command, and makes checks without the fold."""

import hashlib
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
# A record holds events and the commands that followed from them. The audit takes the header, the seed and the events,
# folds the match again (match/machine.py) and requires the same commands, byte for byte. So it believes no verdict in a
# record: it derives all of them. `prove` is the quick way for a finished record: it writes every line again and
# compares bytes, but can't say what is wrong. If it fails, `refold` goes line by line and names the first wrong one.
#
# A fold with a bug would confirm its own errors. Therefore other code checks a second time, without the fold: the deal
# and the nonces (chance.py), limits, banks and lags (times.py), the bytes that are evidence against a player
# (evidence.py), and the ranking (here). It is written from the specification, and shares only the game's rules with the
# fold.
#
# What the audit can show: every line follows from the lines before it. The referee had committed to the seed before the
# players sent their nonces. Each expulsion follows from the bytes and the instants in the record. Nothing was changed
# after the seal. The file was sealed with the key that it names, or with one that the auditor requires.
#
# What it can't show: that the events happened. Only the referee knows when bytes arrived, and it could invent or delay
# a player's answer. But a lie has to be consistent. All matches of a process share its standstills, each instant must
# be possible between its neighbours, and the bytes of every answer that led to an expulsion are in the record. Nor can
# the audit show that nothing is missing: if nobody kept a head of a match, the referee can play it again in secret.
# Published heads, the record of the tournament and the signed list of a folder limit this.

FindGame = Callable[[str], Game[Any, Any, Any]]
"""Function that returns the rules of a game, given its name."""


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
        find_game: function that returns the rules of a game, given its name.
        keys: public keys in hex, one of which must have sealed the record. If empty, the key that the record names
            counts.
        is_strict: True to refuse a record without a seal, whose match is unfinished.
        find_wire: function that returns the wire protocol of a dialect, given its name.

    Returns:
        The record. Everything in it follows from its header, its events and its seed. If its `result` is None, the
        match is unfinished, and the commands could be verified only if the seed was fixed beforehand.

    Raises:
        RecordError: a line does not hold. The error names the first such line.
        NotSealed: all lines hold, the record has no seal, and is_strict is True.
        Exception: find_game does not know the game, or find_wire does not know the dialect.
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
        record: record whose form, chain and seal were checked.
        find_game: function that returns the rules of a game, given its name.
        find_wire: function that returns the wire protocol of a dialect, given its name.

    Returns:
        The match, folded again. None if the record does not reveal the seed, so that only times were checked.

    Raises:
        RecordError: a line does not hold. The error names the first such line.
        Exception: find_game does not know the game, or find_wire does not know the dialect.
    """
    match = open_match(record, find_game)
    if match is None:
        check_book(record)
        return None
    for number, (transition, _) in enumerate(refold(record, match), 1):
        if match.result is not None and number < len(record.transitions):
            raise RecordError(
                record.path, number + 1, "the result, because the match is over", type(transition.event).__name__
            )
    _check_without_fold(record, match, find_wire)
    return match


def _check_without_fold(record: Record, match: Match, find_wire: FindWire) -> None:
    """Make all checks that don't need the fold, after the fold has confirmed every line."""
    check_result(record, match)
    check_evidence(record, find_wire)
    check_book(record)
    check_shuffle(record, match.game)
    check_ranking(record)


def open_match(record: Record, find_game: FindGame) -> Match | None:
    """Build the match of a record, before its first event.

    Returns:
        The match; None if it is unfinished and its record does not reveal the seed.

    Raises:
        RecordError: the game does not accept the setup, or the seed does not fit the commitment.
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
        except (BadSetup, UnfitSeed) as error:  # any other exception is not the record's fault
            raise RecordError(record.path, 0, f"a setup of {setup.game} and its committed seed", str(error)) from None


def name_rules(version: str) -> str:
    """Return a name for a version of a game's rules, even if the game is built in and has none."""
    return version or "the referee itself"


@contextmanager
def naming_rules(record: Record, game: Game[Any, Any, Any]) -> Iterator[None]:
    """Replace an error in the `with` block if the match was played by another version of the rules.

    Such a record may hold all the same, but only an audit with the version that it names can show this. So the new
    error names both versions.

    Args:
        record: the record.
        game: its game, in the version that is installed here.

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
            trouble = f"line {error.line} does not follow from them"
        expected = f"the rules of {played}, by which the match was played: install them, and try again"
        raise RecordError(record.path, 0, expected, f"those of {here}: {trouble}") from error


def refold(record: Record, match: Match) -> Iterator[tuple[schema.Transition, Match]]:
    """Fold a record's events again, and yield each transition with the match after it.

    Raises:
        RecordError: an event can't happen, or other commands follow from it than its line holds. If another version
            of the rules is installed, the error says so.
        Exception: the fold or the game failed, though the record reports no failure. It is a bug of this program.
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
    """Return whether the commands of a transition close the match as void, or are malformed."""
    try:
        return any(form.result is not None and form.result.void is not None for form in transition.forms)
    except schema.BadLine:
        return True


def check_result(record: Record, match: Match) -> None:
    """Compare the result in a record, if there is one, with the result of the match that was folded again.

    Raises:
        RecordError: the match is not over, or has another result.
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
    """Return an error that names the first differing command."""
    for index, command in enumerate(expected):
        if index >= len(recorded):
            return RecordError(path, number, f"command {index + 1}: {show_json(command)}", "no such command")
        if msgspec.json.encode(command) != msgspec.json.encode(recorded[index]):  # in Python, True equals 1
            return RecordError(path, number, f"command {index + 1}: {show_json(command)}", show_json(recorded[index]))
    return RecordError(path, number, f"{len(expected)} commands", f"{len(recorded)} commands")


_BEFORE_OPEN = b',"%s":' % OPEN.encode()
_HASHED = re.compile(re.escape(HASH_PREFIX) + rb'"[0-9a-f]{64}"}')
"""Object in a line's core that replaces a hidden value."""
_entries = msgspec.json.Decoder(dict[str, tuple[Salt, Raw]])
_steps = msgspec.json.Decoder(schema.Transition)


def prove(path: Path, open_match: Callable[[Record], Match | None]) -> tuple[Record, Match] | None:
    """Verify a finished record quickly: fold its events, write every line again, and compare the bytes.

    Args:
        path: the record.
        open_match: function that builds the match before its first event. It gets a record without transitions.

    Returns:
        The record and its match; None if the record is unfinished or does not hold, or if this can't be decided.
    """
    try:
        with open_file(path) as file:
            return _proven(path, list(read_lines(path, file)), open_match)
    except Exception:  # noqa: BLE001  # the slower check will run into it again, and report it
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
    chain = Chain(path, hashes, len(data), b"", hashlib.sha256(data).hexdigest(), partial(_read, data))
    record = Record(path, header, (), result, seal, chain)
    match = open_match(record)
    assert match is not None, "a result holds the seed"
    return replace(record, transitions=transitions.fold(match)), match


def _read(data: bytes) -> tuple[schema.PlainLine, ...]:
    return tuple(map(schema.read_line, data[:-1].split(b"\n")))


class _Steps:
    """The lines between the header and the result.

    Each stage is done for all lines before the next stage begins. This is faster, because the processor's caches have
    room for the code and the data of only one stage.

    Args:
        lines: the lines with their line feeds.
        prev: hash of the header.

    Raises:
        BadLine: the lines are not chained.
    """

    def __init__(self, lines: Sequence[bytes], prev: str) -> None:
        self._lines = lines
        self._parts: list[tuple[bytes, bytes]] = []
        """For each line, its core, and the content of its key `open` without the last brace; empty without the key."""
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
        """Fold the events, write the lines again, and compare the bytes.

        Args:
            match: the match before its first event.

        Raises:
            BadLine: a line differs from the line that was written again.
            Exception: a line is not valid, or its event can't happen.
        """
        transitions, salts = zip(*(_open_line(*parts) for parts in self._parts), strict=True)
        followed = [match.handle(transition.event) for transition in transitions]
        msgspec.msgpack.encode(
            ([transition.event for transition in transitions], followed)
        )  # raises an error for integers of more than 64 bits
        _ = [transition.forms for transition in transitions]  # raises an error for malformed commands
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
    """Return a transition with its hidden values filled in, and their salts.

    The values are filled in by their order, without a look at their paths. If a value gets into a wrong place, the line
    that is written again differs.
    """
    if not opened:
        return _steps.decode(core), []
    entries = _entries.decode(opened).values()
    values = iter(entries)
    filled = _HASHED.sub(lambda _: bytes(next(values)[1]), core)
    return _steps.decode(filled), [salt for salt, _ in entries]


_HASH = re.compile("[0-9a-f]{64}")


def check_header(record: Record, *, is_fixed: bool) -> None:
    """Check that the seats, seed, nonces and tournament in the header fit each other, and that starts fit the header.

    Args:
        record: a whole record, or a redacted one with placeholders for hidden fields.
        is_fixed: True if the header has a seed, whether hidden or not.

    Raises:
        RecordError: the header contradicts itself, or a line contradicts the header.
    """
    header, setup = record.header, record.header.setup
    seats = len(setup.names)
    shares_deal = not setup.nonces and not is_fixed
    if header.programs is not None and len(header.programs) != seats:
        raise _wrong(record, f"programs of {seats} seats", show_json(header.programs, 140))
    if is_fixed and setup.nonces:
        raise _wrong(record, "no nonces, because the seed was fixed beforehand", "nonces true")
    if shares_deal != (setup.seed_opens != "at-end"):
        expected = (
            "a seed that is revealed after the last leg"
            if shares_deal
            else "seed_opens at-end, because no other match has its deal"
        )
        raise _wrong(record, expected, f"seed_opens {setup.seed_opens}, nonces {show_json(setup.nonces)}")
    if shares_deal and header.context is None:
        raise _wrong(record, "a tournament, because this is a leg of a duplicate deal", "none")
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
        raise _wrong(record, f"the name {name}, which follows from the fixture", f"{setup.match} and {fixture.match}")
    if len(fixture.entrants) != len(setup.names) or len({*fixture.entrants}) != len(fixture.entrants):
        raise _wrong(record, f"{len(setup.names)} entrants, one for each seat", show_json(fixture.entrants))
    if fixture.leg >= len(setup.names) or (fixture.leg and setup.nonces):
        raise _wrong(record, "a leg of a duplicate deal, one for each seat at most", f"leg {fixture.leg}")
    if setup.lot or min(fixture.entrants) < 0 or not _HASH.fullmatch(context.head):
        contradiction = f"lot {show_json(setup.lot)}, entrants {show_json(fixture.entrants)}, head {context.head}"
        raise _wrong(record, "a match that a tournament opened, without a lot for the seats", contradiction)


def _check_starts(record: Record, number: int, starts: tuple[int, ...]) -> None:
    """Check that only matches of a tournament report starts of programs, one per seat, and 0 for a remote player."""
    header, seats = record.header, len(record.header.setup.names)
    if not starts:
        return
    if header.context is None:
        raise RecordError(record.path, number, "no starts, because only tournaments keep programs", show_json(starts))
    remote = [seat for seat, given in enumerate(header.programs or ()) if given == REMOTE]
    if len(starts) != seats or min(starts) < 0 or any(starts[seat] for seat in remote):
        expected = "a start for each seat: at least 1, or 0 if the seat has no program"
        raise RecordError(record.path, number, expected, show_json(starts))


def _wrong(record: Record, expected: str, found: str) -> RecordError:
    return RecordError(record.path, 0, expected, found)


def check_ranking(record: Record) -> None:
    """Check that every seat has one rank, that seats with a foul share the last rank, and that the best seats win.

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
    """Return the possible lists of winners.

    Usually the seats of the best rank win. Nobody wins if all seats fouled. If a seat was expelled while the end was
    confirmed, both are possible.
    """
    if is_deserted:
        return [[]]
    best = sorted(result.ranking[0])
    kinds = [form.command for transition in record.transitions for form in transition.forms]
    is_lost_at_the_end = "end-seat" in kinds and "expel-seat" in kinds[kinds.index("end-seat") :]
    return [best, []] if is_lost_at_the_end else [best]
