"""The table of all steps, in their order, and how they are run."""

from collections.abc import Collection, Iterator, Sequence

from . import real_matches, steps_ends, steps_games, steps_start, steps_wire
from .context import CheckContext
from .findings import Failed, Finding, Skipped, StepVerdict, StepWatch
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
        watch = StepWatch(number, step.key, step.title)
        found = _found(step, context, watch) if barred is None else watch.skipped(barred)
        if step.is_basic and found.verdict is StepVerdict.FAILED and not only:
            barred = Skipped(f"step {number} failed: mend that first")
        yield found


def _found(step: CheckStep, context: CheckContext, watch: StepWatch) -> Finding:
    context.has_reused = False
    try:
        return watch.passed(_run(step, context))
    except Skipped as skipped:
        return watch.skipped(skipped)
    except Failed as failure:
        return watch.failed(failure)


def _run(step: CheckStep, context: CheckContext) -> str:
    """Run a step; if it fails in a program that had played before, what counts is whether a new one passes."""
    try:
        return step.run(context)
    except Failed:
        if not context.has_reused:
            raise
        return step.run(context)
