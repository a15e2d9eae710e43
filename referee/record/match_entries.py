"""What the records of a tournament say: what came of each match, and in which order.

The order stands in the headers: each says how many matches were opened before its own, and which results were taken
since the opening before. So a record that is missing, or there twice, or contradicts another shows.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType

from ..errors import RefereeError
from ..match.commands import Result
from ..tournament.match_context import FoulEntry, MatchContext, MatchEntry
from .reader import Record, RecordError

_NONE: Mapping[str, MatchContext] = MappingProxyType({})


class BadCourse(RefereeError):
    """Records that are not all those of one tournament, or contradict each other; the text names them."""


def entry_of(record: Record) -> MatchEntry:
    """Return what came of a recorded match.

    Raises:
        RecordError: its match is none of a tournament, or the record is not sealed.
    """
    context, line = record.header.context, record.result
    if context is None:
        raise RecordError(record.path, 1, "an context, as in the matches of a tournament", "none")
    if line is None or record.seal is None:
        raise RecordError(
            record.path, len(record.chain.lines) + 1, "a result and its seal", f"a record that is {record.state}"
        )
    return outcome(record.header.setup.match, context, record.header.setup.names, line.result, record.seal.prev)


def outcome(match: str, context: MatchContext, names: tuple[str, ...], result: Result, head: str) -> MatchEntry:
    """Return what is kept of a match.

    Args:
        match: its name.
        context: what it was opened for.
        names: of the players by seat.
        result: how it ended.
        head: hash of the record's result line.
    """
    fouls = tuple(
        FoulEntry(
            seat=foul.seat, cause=str(foul.cause), turn=foul.turn, rule=foul.rule, code=foul.code, detail=foul.detail
        )
        for foul in result.fouls
    )
    return MatchEntry(
        match=match,
        context=context,
        names=names,
        void=result.void,
        ranking=result.ranking,
        scores=result.scores,
        fouls=fouls,
        reason=result.reason or "",
        turns=result.turns,
        used_ms=result.used_ms,
        head=head,
    )


def course(entries: Iterable[MatchEntry], unfinished: Mapping[str, MatchContext] = _NONE) -> list[MatchEntry]:
    """Put what came of a tournament's matches into the order in which it was taken.

    Args:
        entries: of all matches that are over, in any order.
        unfinished: match -> what it was opened for, of all others.

    Returns:
        The entries. What was taken after the last opening comes last, by the numbers of the pairings.

    Raises:
        BadCourse: a record is missing or there twice, or contradicts others; the text names it.
    """
    over: dict[str, MatchEntry] = {}
    for entry in entries:
        if entry.match in over or entry.match in unfinished:
            raise BadCourse(f"there are two records of {entry.match}")
        over[entry.match] = entry
    contexts = {**unfinished, **{match: entry.context for match, entry in over.items()}}
    opened = sorted(contexts, key=lambda match: contexts[match].opening)
    _check_openings(contexts, opened)
    if missing := gaps(contexts):
        raise BadCourse("; ".join(missing))
    place = {match: index for index, match in enumerate(_told(contexts, opened, over))}
    rest = sorted((match for match in over if match not in place), key=lambda match: _key(contexts[match]))
    return [over[match] for match in (*place, *rest)]


def gaps(contexts: Mapping[str, MatchContext]) -> list[str]:
    """Return which matches of a tournament are missing among others, a text for each gap.

    What was opened after all others leaves no gap.

    Args:
        contexts: match -> what it was opened for.
    """
    opened = sorted(contexts, key=lambda match: contexts[match].opening)
    found = [
        f"the record of {taken} is missing: {match} was opened after its result was taken"
        for match in opened
        for taken in contexts[match].taken
        if taken not in contexts
    ]
    last, expected = "", 0
    for match in opened:
        opening = contexts[match].opening
        if opening > expected:
            since = f"after {last} and before {match}" if last else f"before {match}"
            found.append(f"{opening - expected} missing: records of what was opened {since}")
        last, expected = match, opening + 1
    return found


def _check_openings(contexts: Mapping[str, MatchContext], opened: list[str]) -> None:
    """Check that all matches are of one tournament, and each was opened at a time of its own.

    Raises:
        BadCourse: they aren't.
    """
    for match, later in pairwise(opened):
        one, other = contexts[match], contexts[later]
        if one.tournament != other.tournament:
            raise BadCourse(f"{match} is of the tournament {one.tournament}, and {later} of {other.tournament}")
        if one.opening == other.opening:
            raise BadCourse(f"{match} and {later} both say that {one.opening} matches were opened before")


def _told(contexts: Mapping[str, MatchContext], opened: list[str], over: Mapping[str, MatchEntry]) -> list[str]:
    """Return the matches whose results were taken before the last opening, in their order.

    Raises:
        BadCourse: one was not yet opened then, is not over, or was taken before.
    """
    before: set[str] = set()
    told: dict[str, str] = {}
    for match in opened:
        for taken in contexts[match].taken:
            if taken not in over:
                raise BadCourse(f"{taken} is not over, and yet its result was taken before {match} was opened")
            if taken not in before:
                raise BadCourse(f"{taken} was opened after {match}, which says that its result was taken before")
            if taken in told:
                raise BadCourse(f"{told[taken]} and {match} both say that the result of {taken} was taken before them")
            told[taken] = match
        before.add(match)
    return list(told)


def _key(context: MatchContext) -> tuple[int, int, int]:
    return context.number, context.leg, context.attempt
