"""The table of all steps, in their order, and how they are run."""

import time
from collections.abc import Collection, Iterator, Sequence

from . import real_matches, steps_ends, steps_games, steps_start, steps_wire
from .context import CheckContext
from .findings import Failed, Finding, Skipped, StepVerdict
from .step import CheckStep


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
