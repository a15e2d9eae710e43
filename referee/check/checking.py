"""One whole check: the request, the steps that are run, and the report."""

# The steps form one list. Each relies on the steps before it: a program that can't say hello is not asked to play. So
# after a failed basic step all others are skipped, and a program fails at the step that names its mistake.

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
from . import steps_ends, steps_games, steps_start, steps_wire
from .context import CheckContext, CheckRequest, CheckStep
from .findings import CheckReport, Failed, Finding, Skipped, StepVerdict, Trouble
from .scripted_match import ScriptedTerms


def all_steps(games: Sequence[str]) -> tuple[CheckStep, ...]:
    """Return all steps; their numbers are their positions, from 1.

    Args:
        games: names of all games, even of those that the program does not play: so a step's number is always the same.
    """
    names = tuple(games)
    return (
        *steps_start.STEPS,
        *steps_ends.MATCH_STEPS,
        *steps_games.steps(names),
        *steps_wire.STEPS,
        *steps_ends.CONNECTION_STEPS,
        *steps_games.match_steps(names),
    )


def walk(steps: Sequence[CheckStep], context: CheckContext, only: Collection[int] = ()) -> Iterator[Finding]:
    """Run the steps one after the other.

    Args:
        steps: all steps.
        context: the program under check.
        only: numbers of the steps to run; empty: all.

    Yields:
        The finding of each step, as soon as it is known. After a basic step that failed, all others are skipped. A step
        that fails for the same cause as an earlier step counts as skipped, so that one mistake is one failure.
    """
    skip: Skipped | None = None
    causes: dict[str, int] = {}
    for number, step in enumerate(steps, 1):
        if only and number not in only:
            continue
        finding = _run_step(number, step, context, skip)
        if step.is_basic and finding.verdict is StepVerdict.FAILED and not only:
            skip = Skipped(f"step {number} failed: fix that first")
        if finding.trouble is not None and (first := causes.setdefault(finding.trouble.cause, number)) != number:
            note = f"it fails for the same cause as step {first}"
            finding = replace(finding, verdict=StepVerdict.SKIPPED, note=note, trouble=None)
        yield finding


def _run_step(number: int, step: CheckStep, context: CheckContext, skip: Skipped | None) -> Finding:
    """Run a step, unless there is a reason to skip it, and return its finding."""
    began_s = time.monotonic()
    verdict, note, trouble = StepVerdict.OK, "", None
    try:
        if skip is not None:
            raise skip
        note = _run_twice(step, context) or ""
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


def _run_twice(step: CheckStep, context: CheckContext) -> str | None:
    """Run a step; if it fails in a program that has played other matches, start the program again and repeat the step.

    Otherwise a mistake that an earlier match has caused would be reported under the wrong title.
    """
    context.has_reused = False
    try:
        return step.run(context)
    except Failed:
        if not context.has_reused:
            raise
        return step.run(context)


def run_check(
    request: CheckRequest, registry: Registry, confinement: Confinement, on_finding: Callable[[Finding], None]
) -> list[Finding]:
    """Check a player program.

    Args:
        request: the program, and how to check it.
        registry: the plugins.
        confinement: sandbox and limits of the program.
        on_finding: called with the finding of each step, as soon as it is known.

    Returns:
        All findings.

    Raises:
        BadRequest: there is no such player, game or step.
        OSError: the builds or the program's output can't be written.
    """
    games = registry.games
    steps = all_steps(tuple(games))
    numbers = _find_numbers(request.only, steps)
    for name in request.games:
        if name not in games:
            raise BadRequest(f"there is no game {name!r}{nearest(name, games)}")
    player, findings = _find_player(request.player, registry), []
    with scratch("check") as folder:
        context = CheckContext(request, player, games, confinement, folder)
        try:
            for finding in walk(steps, context, numbers):
                findings.append(finding)
                on_finding(finding)
        finally:
            context.close()
    return findings


def try_program(
    launch: Launch, terms: ScriptedTerms, request: CheckRequest, confinement: Confinement, turns: int
) -> Trouble | None:
    """Start a program once and play some turns with it; return why that failed, or None if it went well.

    Args:
        launch: the program.
        terms: terms of the match.
        request: time limits, and the folder of builds.
        confinement: sandbox and limits of the program.
        turns: number of the program's turns to play.

    Raises:
        OSError: the build or the program's output can't be written.
    """
    with scratch("check") as folder:
        context = CheckContext(request, launch, {terms.game.name: terms.game}, confinement, folder)
        try:
            with context.match(terms) as match:
                match.finish(turns)
        except Failed as failure:
            return failure.trouble
    return None


def report(player: str, findings: Sequence[Finding]) -> CheckReport:
    """Return the report of a check."""
    counts = Counter(finding.verdict for finding in findings)
    return CheckReport(
        player=player,
        passes=not counts[StepVerdict.FAILED],
        ok=counts[StepVerdict.OK],
        failed=counts[StepVerdict.FAILED],
        skipped=counts[StepVerdict.SKIPPED],
        steps=findings,
    )


def _find_numbers(only: Sequence[str], steps: Sequence[CheckStep]) -> set[int]:
    """Return the numbers of the steps that are given by number or by name."""
    keys = [step.key for step in steps]
    every = f": the steps go from 1 to {len(keys)}; --list shows them"
    numbers = set()
    for text in only:
        if text in keys:
            numbers.add(keys.index(text) + 1)
        elif text.isascii() and text.isdecimal() and 0 < int(text) <= len(keys):
            numbers.add(int(text))
        else:
            raise BadRequest(f"there is no step {text!r}{near(text, keys) or every}")
    return numbers


def _find_player(player: str, registry: Registry) -> Path | Launch:
    """Return the folder or the launch to check. The content of the folder is checked later, by the steps."""
    spec = parse_player(player)
    if spec.kind is PlayerKind.FOLDER:
        folder = Path(spec.value)
        if not folder.is_dir():
            forms = "" if folder.exists() else "; a player is a folder, cmd:'COMMAND' or house:NAME"
            raise BadRequest(explain_no_folder(folder) + forms)
        return folder
    if spec.kind is PlayerKind.PERSON:
        raise BadRequest(f"{player} is a person; only a program can be checked")
    try:
        games = registry.player(spec.value).games if spec.kind is PlayerKind.HOUSE else ()
        return replace(spec.launch(), games=games)
    except RefereeError as error:
        raise BadRequest(str(error)) from None
