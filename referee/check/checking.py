"""One check from its beginning to its end: what was asked for, the steps that are run, and the report."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from ..errors import BadRequest, RefereeError
from ..files.scratch import scratch
from ..launch import Confinement, Launch, PlayerKind, no_folder, parse_player
from ..plugins import Registry
from ..text import near, nearest
from .context import CheckContext, CheckRequest
from .findings import CheckReport, Finding, StepVerdict
from .step import CheckStep
from .steps import all_steps, walk


def run_check(
    request: CheckRequest, registry: Registry, confinement: Confinement, tell: Callable[[Finding], None]
) -> list[Finding]:
    """Check a player program.

    Args:
        tell: called with what each step found, as soon as it is known.

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
            raise BadRequest(no_folder(folder) + forms)
        return folder
    if spec.kind is PlayerKind.PERSON:
        raise BadRequest(f"{player} is a person, and no program that could be checked")
    try:
        games = registry.player(spec.value).games if spec.kind is PlayerKind.HOUSE else ()
        return replace(spec.launch(), games=games)
    except RefereeError as error:
        raise BadRequest(str(error)) from None
