"""One check from its beginning to its end: what was asked for, the steps that are run, and the report."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from ..errors import BadRequest, RefereeError
from ..files.scratch import scratch
from ..plugins import Registry
from ..programs.confining import Confinement
from ..programs.player_spec import Launch, PlayerKind, explain_no_folder, parse_player
from ..text import near, nearest
from . import real_matches, steps_ends, steps_games, steps_start, steps_wire
from .context import CheckContext, CheckRequest, CheckStep
from .findings import CheckReport, Failed, Finding, Skipped, StepVerdict


def all_steps(games: Sequence[str]) -> tuple[CheckStep, ...]:
    """Return the steps; their numbers are their places, from 1.

    Args:
        games: the names of all games there are, whether the program plays them or not.
    """
    names = tuple(games)
    return (
        *steps_start.STEPS,
        *steps_ends.OF_MATCHES,
        *steps_games.steps(names),
        *steps_wire.STEPS,
        *steps_ends.OF_CONNECTIONS,
        *real_matches.steps(names),
    )


def walk(steps: Sequence[CheckStep], context: CheckContext, only: Collection[int] = ()) -> Iterator[Finding]:
    """Run the steps one after the other.

    Args:
        steps: all of them.
        context: what they work on.
        only: numbers of the steps to run; empty: all.

    Yields:
        What each step found, as soon as it is known. Behind a basic step that failed all others are skipped.
    """
    barred: Skipped | None = None
    for number, step in enumerate(steps, 1):
        if only and number not in only:
            continue
        found = _found(number, step, context, barred)
        if step.is_basic and found.verdict is StepVerdict.FAILED and not only:
            barred = Skipped(f"step {number} failed: mend that first")
        yield found


def _found(number: int, step: CheckStep, context: CheckContext, barred: Skipped | None) -> Finding:
    """Run a step, unless it is barred, and return how it went."""
    began_s = time.monotonic()
    verdict, note, trouble = StepVerdict.OK, "", None
    try:
        if barred is not None:
            raise barred
        note = _run(step, context) or ""
    except Skipped as skipped:
        verdict, note = StepVerdict.SKIPPED, str(skipped)
    except Failed as failure:
        verdict, trouble = StepVerdict.FAILED, failure.trouble
    return Finding(
        number=number,
        key=step.key,
        title=step.title,
        verdict=verdict,
        seconds=round(time.monotonic() - began_s, 3),
        note=note,
        trouble=trouble,
    )


def _run(step: CheckStep, context: CheckContext) -> str | None:
    """Run a step; if it fails in a program that had played before, what counts is whether a new one passes."""
    context.has_reused = False
    try:
        return step.run(context)
    except Failed:
        if not context.has_reused:
            raise
        return step.run(context)


def run_check(
    request: CheckRequest, registry: Registry, confinement: Confinement, tell: Callable[[Finding], None]
) -> list[Finding]:
    """Check a player program.

    Args:
        request: which one, and how.
        registry: the plugins.
        confinement: what the program is held to.
        tell: called with what each step found, as soon as it is known.

    Returns:
        All findings.

    Raises:
        BadRequest: there is no such player, game or step.
        OSError: the disk can't take what is to be kept.
    """
    games = registry.games
    steps = all_steps(tuple(games))
    numbers = _numbers(request.only, steps)
    for name in request.games:
        if name not in games:
            raise BadRequest(f"there is no game {name!r}{nearest(name, games)}")
    given, findings = _given(request.player, registry), []
    with scratch("check") as folder:
        context = CheckContext(request, given, games, confinement, folder)
        try:
            for finding in walk(steps, context, numbers):
                findings.append(finding)
                tell(finding)
        finally:
            context.close()
    return findings


def report(player: str, findings: Sequence[Finding]) -> CheckReport:
    """Return what a check found."""
    counts = Counter(finding.verdict for finding in findings)
    return CheckReport(
        player=player,
        passes=not counts[StepVerdict.FAILED],
        ok=counts[StepVerdict.OK],
        failed=counts[StepVerdict.FAILED],
        skipped=counts[StepVerdict.SKIPPED],
        steps=findings,
    )


def _numbers(only: Sequence[str], steps: Sequence[CheckStep]) -> set[int]:
    """Return the numbers of the steps that are named by number or by name."""
    keys = [step.key for step in steps]
    every = f": they go from 1 to {len(keys)}; --list shows them"
    numbers = set()
    for text in only:
        if text in keys:
            numbers.add(keys.index(text) + 1)
        elif text.isascii() and text.isdecimal() and 0 < int(text) <= len(keys):
            numbers.add(int(text))
        else:
            raise BadRequest(f"there is no step {text!r}{near(text, keys) or every}")
    return numbers


def _given(player: str, registry: Registry) -> Path | Launch:
    """Return what is checked; whether a folder is right is for the steps to say."""
    spec = parse_player(player)
    if spec.kind is PlayerKind.FOLDER:
        folder = Path(spec.value)
        if not folder.is_dir():
            forms = "" if folder.exists() else "; a player is a folder, cmd:'COMMAND' or house:NAME"
            raise BadRequest(explain_no_folder(folder) + forms)
        return folder
    if spec.kind is PlayerKind.PERSON:
        raise BadRequest(f"{player} is a person, and no program that could be checked")
    try:
        games = registry.player(spec.value).games if spec.kind is PlayerKind.HOUSE else ()
        return replace(spec.launch(), games=games)
    except RefereeError as error:
        raise BadRequest(str(error)) from None
