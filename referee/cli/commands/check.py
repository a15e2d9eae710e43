"""`referee check`: test one player program for its author, or the programs of a whole class, step by step."""

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import rich_click as click
from click import get_current_context
from click.core import ParameterSource
from msgspec import Struct, structs
from rich.padding import Padding
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from ...app.pool import map_in_processes
from ...app.services import RefereeOptions, find_confinement
from ...check.checking import all_steps, report, run_check
from ...check.context import CheckRequest, CheckStep
from ...check.findings import CheckReport, Finding, Shown, StepVerdict, Trouble
from ...check.session import Times
from ...errors import RefereeError
from ...files.whole import write_whole
from ...pages.exports import defuse, join_csv
from ...pages.words import duration
from ...plugins import installed
from ...programs.player_spec import PlayerKind, parse_player
from ...settings import RunTerms, word_options
from ...text import counted, printable_lines
from ..common import (
    FILE,
    console,
    group_options,
    harmless,
    jobs_option,
    json_option,
    out,
    print_json,
    progress,
)
from ..completion import complete_games, complete_players, complete_steps
from ..errors import FAILED, FINE
from ..options import confinement_options, logs_option, seconds_option
from ..strength import Strength, Trial, find_games, measure

_COLOURS = {StepVerdict.OK: "green", StepVerdict.FAILED: "red", StepVerdict.SKIPPED: "yellow"}
_SHOWN_HEX_CHARS = 3 * 200
"""Most hexadecimal characters to show; --json has more."""
_SHOWN_TEXT_CHARS = 1000

# Use this interpreter and this package: the first `referee` in PATH may be another installation.
PROGRAM = (sys.executable, "-m", __name__.partition(".")[0])
_limit = partial(seconds_option, least=0.05, most=600)


def _make_request(move_s: float, start_s: float, **values: Any) -> Callable[..., CheckRequest]:
    return partial(CheckRequest, times=Times(start_s=start_s, move_s=move_s), **values)


_request_options = group_options(
    "ask",
    _make_request,
    click.option(
        "--game",
        "games",
        multiple=True,
        shell_complete=complete_games,
        help="Check with this game; repeatable. (Default: all games of the player)",
    ),
    click.option(
        "--only",
        multiple=True,
        metavar="STEP",
        shell_complete=complete_steps,
        help="Run only this step, by number or name; repeatable. (Default: all steps)",
    ),
    _limit("--time", "move_s", default=Times().move_s, what="Limit for each move and each ack, in seconds."),
    _limit(
        "--start-time",
        "start_s",
        default=Times().start_s,
        what="Limit for the program to start and to get ready, in seconds.",
    ),
    logs_option("for builds"),
)


@click.command(epilog="Example:  referee check my_player/ --game q")
@click.argument("players", nargs=-1, metavar="PLAYER...", shell_complete=complete_players)
@_request_options
@click.option("--list", "is_list", is_flag=True, help="List the steps.")
@click.option("--called", metavar="PLAYER", hidden=True, help="Name of PLAYER in the output; for `submit`.")
@click.option(
    "--no-strength", "without_strength", is_flag=True, help="Do not measure the strength of a program that passes."
)
@click.option("-v", "--verbose", "is_verbose", is_flag=True, help="Show every step, not only steps that fail.")
@click.option("--sent", "with_sent", is_flag=True, help="Also show what the referee sent before a failure.")
@click.option("--csv", type=FILE, help="Also write a table to FILE, with a line for each player, for grading.")
@jobs_option("Check this many players")
@confinement_options
@json_option
def check(
    players: tuple[str, ...],
    ask: Callable[..., CheckRequest],
    is_list: bool,
    called: str | None,
    without_strength: bool,
    is_verbose: bool,
    with_sent: bool,
    csv: Path | None,
    jobs: int,
    running: RefereeOptions,
    as_json: bool,
) -> None:
    """Walk each PLAYER through the protocol, step by step, and show what it does wrong and how to fix it.

    PLAYER is a folder with a player.toml, cmd:'COMMAND', or house:NAME. A player.toml needs two lines, name = "ada" and
    run = "python3 player.py", and may have games, build and version. The program is started again for most steps, in
    the same way as in a tournament.

    If the program passes, the check measures its strength: for each game, 20 quick games against house:random and 20
    against house:greedy, all within a minute.

    With several players, the check prints one line for each, and does not measure strength. A folder of players stands
    for all folders in it.

    Exit status: 0 all pass, 1 a step failed, 2 usage error.
    """
    if is_list:
        _list(all_steps(tuple(installed().games)), as_json=as_json)
        return
    if not players:
        raise click.UsageError("PLAYER is missing, e.g. `referee check my_player/`; --list shows the steps")
    every = [player for given in players for player in _list_players(given)]
    if len(every) > 1 or csv is not None:
        reports = _check_many([ask(player=player) for player in every], running, jobs, is_quiet=as_json)
        if csv is not None:
            write_whole(csv, [_make_table(reports).encode()])
        _conclude_many(reports, as_json=as_json)
        sys.exit(FINE if all(each.passes for each in reports) else FAILED)
    request = ask(player=every[0])
    is_verbose = is_verbose or bool(request.only)
    findings = _run_steps(request, running, is_quiet=as_json, is_verbose=is_verbose, with_sent=with_sent)
    name = called or request.player
    plain = structs.asdict(report(name, findings))
    if not as_json:
        _conclude(name, findings)
    # A program that breaks the protocol would lose its games by expulsion, which says nothing about its strength.
    if not (without_strength or request.only or _list_failures(findings)):
        plain["strength"] = list(_strengths(request, running, is_quiet=as_json))
    if as_json:
        print_json(plain)
    sys.exit(FAILED if _list_failures(findings) else FINE)


def _run_steps(
    request: CheckRequest, running: RefereeOptions, *, is_quiet: bool, is_verbose: bool, with_sent: bool
) -> list[Finding]:
    """Run the steps; show the steps that fail, or all steps if `is_verbose`."""
    steps = len(all_steps(tuple(installed().games)))

    def _show(finding: Finding) -> None:
        advance(len(set(request.only)) or steps)
        if not is_quiet and (is_verbose or finding.trouble is not None):
            show_finding(finding, with_sent=with_sent)

    with progress("steps", is_quiet) as advance:
        return run_check(request, installed(), find_confinement(running, request.logs), _show)


def _strengths(request: CheckRequest, running: RefereeOptions, *, is_quiet: bool) -> Iterator[Strength]:
    """Show and yield the strength of the player in each game. If it can't be measured, the check does not fail."""
    limits = word_options(running.terms)
    times = ("--time", f"{request.times.move_s:g}", "--start-time", f"{request.times.start_s:g}")
    trial = Trial(command=(*PROGRAM, "compare", *limits, *times), player=request.player, logs=request.logs)
    console.say("How strong is it? (--no-strength skips this)")
    try:
        for strength in measure(trial, find_games(trial.player, request.games, installed())):
            if not is_quiet:
                out.say(_word_strength(strength))
            yield strength
    except (RefereeError, OSError) as error:
        console.say(f"the strength could not be measured: {error}")


def _word_strength(strength: Strength) -> str:
    """Return a strength in one line. It includes the interval, because twenty games say little."""
    against = f"{strength.game} against {strength.opponent}"
    late = f"of {strength.planned} games in {strength.limit_s:.0f} s"
    if not strength.matches:
        return f"{against}: no pair of games was finished ({late})"
    expelled = f", expelled in {counted(strength.expelled, 'game')}" if strength.expelled else ""
    short_of = f" ({strength.matches} {late})" if strength.matches < strength.planned else ""
    return f"{strength.game}: {strength.sentence}{expelled}, {duration(strength.turn_ms)} a turn{short_of}"


def _list_failures(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.verdict is StepVerdict.FAILED]


# --- many players


class ClassReport(Struct, frozen=True, kw_only=True):
    """Report of a check of several players."""

    version: Literal[1] = 1
    """Version of this object's form."""
    passing: int
    """Number of players that pass."""
    failing: int
    """Number of players that fail."""
    players: Sequence[CheckReport]
    """Report of each player, in the order of the command."""


def _list_players(given: str) -> list[str]:
    """Return the players that one argument stands for: itself, or all folders in a folder of players."""
    player = parse_player(given)
    folder = Path(player.value)
    if player.kind is not PlayerKind.FOLDER or (folder / "player.toml").exists() or not folder.is_dir():
        return [given]
    # A single player.toml one level down is a program that was packed with its folder. The check reports the mistake.
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    is_class = sum((path / "player.toml").exists() for path in inner) > 1
    return [f"{path}/" for path in inner] if is_class else [given]


def _check_many(
    requests: Sequence[CheckRequest], running: RefereeOptions, jobs: int, *, is_quiet: bool
) -> list[CheckReport]:
    """Check players in parallel, and show a line for each, in their order."""
    find_confinement(running, requests[0].logs).close()  # warn once here; each process makes its own confinement
    check_one = partial(_check_quietly, terms=running.terms)
    reports = []
    width = max(len(request.player) for request in requests)
    with progress("checked", is_quiet) as advance:
        for each in map_in_processes(check_one, requests, jobs, is_slow=True):
            reports.append(each)
            advance(len(requests))
            if not is_quiet:
                _print_verdict(each, width)
    return reports


def _check_quietly(request: CheckRequest, terms: RunTerms) -> CheckReport:
    confinement = find_confinement(RefereeOptions(terms=terms), request.logs)
    try:
        return report(request.player, run_check(request, installed(), confinement, lambda _: None))
    finally:
        confinement.close()


def _print_verdict(checked: CheckReport, width: int) -> None:
    name = f"{harmless(checked.player):<{width}}"
    if checked.passes:
        out.print(f"[green]passes[/]  {name.rstrip()}", highlight=False, soft_wrap=True)
        return
    first = _first_failure(checked)
    others = f" (and {counted(checked.failed - 1, 'other cause')})" if checked.failed > 1 else ""
    text = harmless(f"step {first.number}, {first.key}: {_say_what_happened(first)}{others}")
    out.print(f"[red]FAILED[/]  {name}  {text}", highlight=False, soft_wrap=True)


def _first_failure(checked: CheckReport) -> Finding:
    return next(finding for finding in checked.steps if finding.verdict is StepVerdict.FAILED)


def _say_what_happened(finding: Finding) -> str:
    return "" if finding.trouble is None else " ".join(finding.trouble.happened.split())


def _make_table(reports: Sequence[CheckReport]) -> str:
    """Return the reports as CSV, for a spreadsheet of grades."""
    titles = ["player", "passes", "ok", "failed", "skipped", "first_failure", "what_happened", "how_to_fix"]
    rows = []
    for each in reports:
        first = None if each.passes else _first_failure(each)
        words = ("", "", "")
        if first is not None and first.trouble is not None:
            words = (first.key, _say_what_happened(first), first.trouble.remedy)
        counts = (each.ok, each.failed, each.skipped)
        rows.append([defuse(each.player), "yes" if each.passes else "no", *counts, *map(defuse, words)])
    return join_csv(titles, rows)


def _conclude_many(reports: Sequence[CheckReport], *, as_json: bool) -> None:
    passing = sum(each.passes for each in reports)
    if as_json:
        print_json(ClassReport(passing=passing, failing=len(reports) - passing, players=reports))
        return
    out.say(f"{passing} of {counted(len(reports), 'player')} pass")
    if failing := [each.player for each in reports if not each.passes]:
        again = shlex.join(("referee", "check", failing[0]))
        out.say(f"To see all about one of them:  {again}")


# --- what is shown


def _list(steps: Sequence[CheckStep], *, as_json: bool) -> None:
    rows = [{"number": number, "key": step.key, "title": step.title} for number, step in enumerate(steps, 1)]
    if as_json:
        print_json({"steps": rows})
        return
    table = RichTable(show_header=False, show_edge=False, box=None)
    for row in rows:
        table.add_row(*map(str, row.values()))
    out.print(table)


def show_finding(finding: Finding, *, with_sent: bool) -> None:
    """Show a step. A failed step begins with what happened, because its title may name another mistake."""
    trouble = finding.trouble
    note = f" ({finding.note})" if finding.note else ""
    text = f"{finding.title}{note}" if trouble is None else trouble.happened
    mark = f"[{_COLOURS[finding.verdict]}]{finding.verdict:<7}[/]"
    seconds = f"{finding.seconds:.2f} s"
    line = f"{finding.number:>5} {mark} {seconds:>8}  {finding.key:<18} {harmless(text)}"
    out.print(line, highlight=False, soft_wrap=True)
    if trouble is not None:
        _show_trouble(finding.title, trouble, with_sent=with_sent)


def _show_trouble(title: str, trouble: Trouble, *, with_sent: bool) -> None:
    rows = [
        ("in the step", title),
        ("expected", trouble.expected),
        ("how to fix it", trouble.remedy),
        *(row for frame in (trouble.asked if with_sent else ()) for row in _bytes("the referee sent", frame)),
        *_bytes("your program sent", trouble.received),
        *((("it printed", trouble.printed),) if trouble.printed else ()),
    ]
    if not out.is_terminal:  # in a file, lines may have any width
        for label, text in rows:
            out.say(f"      {label:<17}  " + printable_lines(text.rstrip()).replace("\n", "\n" + " " * 25))
        out.say("")
        return
    table = RichTable("", Column(overflow="fold"), show_header=False, show_edge=False, box=None)
    for label, text in rows:
        table.add_row(label, Text(printable_lines(text.rstrip())))
    out.print(Padding(table, (0, 0, 1, 6), expand=False))


def _bytes(title: str, shown: Shown | None) -> list[tuple[str, str]]:
    if shown is None:
        return []
    hex_ = shown.hex[:_SHOWN_HEX_CHARS].strip()
    more = " ..." if len(hex_) < 3 * shown.length - 1 else ""
    decoded = shown.decoded[:_SHOWN_TEXT_CHARS] + (" ..." if len(shown.decoded) > _SHOWN_TEXT_CHARS else "")
    return [(title, f"{counted(shown.length, 'byte')}: {hex_}{more}"), ("  which reads", decoded)]


def _conclude(player: str, findings: Sequence[Finding]) -> None:
    counts = Counter(finding.verdict for finding in findings)
    out.say(", ".join(f"{counts[verdict]} {verdict}" for verdict in StepVerdict))
    skipped = Counter(finding.note for finding in findings if finding.verdict is StepVerdict.SKIPPED)
    for reason, number in skipped.items():
        out.say(f"  {counted(number, 'step')} skipped: {reason}")
    if failed := _list_failures(findings):
        first = failed[0].number
        again = shlex.join(("referee", "check", player, *_given_options(get_current_context()), "--only", str(first)))
        out.say(f"To try step {first} again:  {again}")


def _given_options(context: click.Context) -> Iterator[str]:
    """Yield the options that the user gave, as words; leave out `--only` and the options that `submit` added."""
    left_out = ("only", "called", "logs", "without_strength") if context.params["called"] else ("only",)
    for option in context.command.params:
        name = option.name or ""
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not isinstance(option, click.Option) or not is_given or name in left_out:
            continue
        value = context.params[name]
        if option.is_flag:
            yield option.opts[0]
        else:
            for word in value if option.multiple else (value,):
                yield from (option.opts[0], f"{word:g}" if isinstance(word, float) else str(word))
