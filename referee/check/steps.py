"""The table of all steps, in their order, and how they are run. Knows no single step."""

from collections.abc import Collection, Iterator, Sequence

from . import steps_ends, steps_games, steps_start, steps_wire
from .context import CheckContext
from .findings import Failed, Finding, Skipped, StepVerdict, StepWatch
from .step import CheckStep


def all_steps(games: Sequence[str]) -> tuple[CheckStep, ...]:
    """Return the steps; their numbers are their places, from 1.

    Args:
        games: the names of all games there are, whether the program plays them or not.
    """
    return (
        *steps_start.STEPS,
        *steps_ends.OF_MATCHES,
        *steps_games.steps(tuple(games)),
        *steps_wire.STEPS,
        *steps_ends.OF_CONNECTIONS,
    )


def walk(steps: Sequence[CheckStep], bench: CheckContext, only: Collection[int] = ()) -> Iterator[Finding]:
    """Run the steps one after the other.

    Args:
        steps: all of them.
        bench: what they work on.
        only: numbers of the steps to run; empty: all.

    Yields:
        What each step found, as soon as it is known. Behind a basic step that failed all others are skipped.
    """
    barred: Skipped | None = None
    for number, step in enumerate(steps, 1):
        if only and number not in only:
            continue
        watch = StepWatch(number, step.key, step.title)
        found = _found(step, bench, watch) if barred is None else watch.skipped(barred)
        if is_bar(found, steps) and not only:
            barred = behind(found)
        yield found


def is_bar(found: Finding, steps: Sequence[CheckStep]) -> bool:
    """Tell whether nothing behind a step makes sense any more."""
    is_basic = found.number <= len(steps) and steps[found.number - 1].is_basic
    return is_basic and found.verdict is StepVerdict.FAILED


def behind(found: Finding) -> Skipped:
    """Return why the steps behind one that failed are skipped."""
    return Skipped(f"step {found.number} failed: mend that first")


def _found(step: CheckStep, bench: CheckContext, watch: StepWatch) -> Finding:
    bench.has_reused = False
    try:
        return watch.passed(_run(step, bench))
    except Skipped as skipped:
        return watch.skipped(skipped)
    except Failed as failure:
        return watch.failed(failure)


def _run(step: CheckStep, bench: CheckContext) -> str:
    """Run a step; if it fails in a program that had played before, what counts is whether a new one passes."""
    try:
        return step.run(bench)
    except Failed:
        if not bench.has_reused:
            raise
        return step.run(bench)
