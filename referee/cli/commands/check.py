"""`referee check`: walk a player program through the protocol, step by step, for its author."""

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import rich_click as click
from click import get_current_context
from click.core import ParameterSource
from msgspec import structs
from rich.padding import Padding
from rich.table import Column
from rich.table import Table as RichTable
from rich.text import Text

from ...app.services import RefereeOptions, find_confinement
from ...check.checking import all_steps, report, run_check
from ...check.context import CheckRequest, CheckStep
from ...check.findings import Finding, Shown, StepVerdict, Trouble
from ...check.session import Times
from ...errors import RefereeError
from ...pages.words import duration
from ...plugins import installed
from ...settings import word_options
from ...text import counted, printable_lines
from ..common import console, group_options, harmless, json_option, out, print_json
from ..completion import complete_games, complete_players
from ..errors import FAILED, FINE
from ..options import confinement_options, logs_option, seconds_option
from ..strength import Strength, Trial, find_games, measure

_COLOURS = {StepVerdict.OK: "green", StepVerdict.FAILED: "red", StepVerdict.SKIPPED: "yellow"}
_SHOWN_HEX_CHARS = 3 * 200
"""Most hexadecimal characters in a terminal; --json has more."""
_SHOWN_TEXT_CHARS = 1000

# This interpreter and this package: the first `referee` of the PATH may be another installation.
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
        help="Check with this game; repeatable. Default: all games of the player.",
    ),
    click.option("--only", multiple=True, metavar="STEP", help="Run only this step, by number or name; repeatable."),
    _limit("--time", "move_s", default=Times().move_s, what="Limit for each move and each ack, in seconds."),
    _limit(
        "--start-time",
        "start_s",
        default=Times().start_s,
        what="Limit for the program to start and get ready, in seconds.",
    ),
    logs_option("for builds"),
)


@click.command(epilog="Example:  referee check my_player/ --game q")
@click.argument("player", required=False, shell_complete=complete_players)
@_request_options
@click.option("--list", "is_list", is_flag=True, help="List the steps.")
@click.option("--called", metavar="PLAYER", hidden=True, help="Name of PLAYER in the output; for `submit`.")
@click.option(
    "--no-strength", "without_strength", is_flag=True, help="Do not measure the strength of a program that passes."
)
@click.option("--sent", "with_sent", is_flag=True, help="Also show what the referee sent before a failure.")
@confinement_options
@json_option
def check(
    player: str | None,
    ask: Callable[..., CheckRequest],
    is_list: bool,
    called: str | None,
    without_strength: bool,
    with_sent: bool,
    running: RefereeOptions,
    as_json: bool,
) -> None:
    """Walk PLAYER through the protocol, step by step, and say what it does wrong and how to fix it.

    PLAYER is a folder with a player.toml, cmd:'COMMAND', or house:NAME. A player.toml needs two lines, name = "ada" and
    run = "python3 player.py", and may have games, build and version. The program is started again for most steps, in
    the same way as in a tournament.

    If the program passes, the check measures its strength: 20 quick games against house:random and 20 against
    house:greedy, for each game, within a minute.

    Exit status: 0 it passes, 1 a step failed, 2 usage error.
    """
    if is_list:
        _list(all_steps(tuple(installed().games)), as_json=as_json)
        return
    if player is None:
        raise click.UsageError("PLAYER is missing, e.g. `referee check my_player/`; --list shows the steps")
    request = ask(player=player)
    findings = _findings(request, running, _CheckView(is_quiet=as_json, with_sent=with_sent))
    plain = structs.asdict(report(called or player, findings))
    if not as_json:
        _conclude(called or player, findings)
    # Games of a program that breaks the protocol would be lost by expulsion, and say nothing of its strength.
    if not (without_strength or request.only or _list_failures(findings)):
        plain["strength"] = list(_strengths(request, running, is_quiet=as_json))
    if as_json:
        print_json(plain)
    sys.exit(FAILED if _list_failures(findings) else FINE)


def _findings(request: CheckRequest, running: RefereeOptions, view: "_CheckView") -> list[Finding]:
    try:
        return run_check(request, installed(), find_confinement(running, request.logs), view.tell)
    finally:
        view.flush_skips()


def _strengths(request: CheckRequest, running: RefereeOptions, *, is_quiet: bool) -> Iterator[Strength]:
    """Yield the strength of the player, and show it. A failure to measure it does not fail the check."""
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
    """Return a strength in one line: never bare counts, which twenty games make look surer than they are."""
    against = f"{strength.game} against {strength.opponent}"
    late = f"of {strength.planned} games in {strength.limit_s:.0f} s"
    if not strength.matches:
        return f"{against}: no pair {late} was finished"
    expelled = f", expelled in {counted(strength.expelled, 'game')}" if strength.expelled else ""
    short_of = f" ({strength.matches} {late})" if strength.matches < strength.planned else ""
    return f"{strength.game}: {strength.sentence}{expelled}, {duration(strength.turn_ms)} a turn{short_of}"


def _list_failures(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.verdict is StepVerdict.FAILED]


class _CheckView:
    """Shows findings as they come in. Consecutive steps that are skipped for one reason share a line.

    A cause is explained once: later failures for the same cause name the first step.
    """

    def __init__(self, *, is_quiet: bool, with_sent: bool) -> None:
        self._is_quiet = is_quiet
        self._with_sent = with_sent
        self._explained: dict[str, int] = {}
        """Cause of a failure -> the first step that failed for it."""
        self._skipped: list[Finding] = []
        """Skipped steps that are not shown yet."""

    def tell(self, finding: Finding) -> None:
        """Show a finding."""
        if self._is_quiet:
            return
        is_skipped = finding.verdict is StepVerdict.SKIPPED
        if not is_skipped or (self._skipped and self._skipped[0].note != finding.note):
            self.flush_skips()
        if is_skipped:
            self._skipped.append(finding)
        else:
            self._show(finding)

    def _show(self, finding: Finding) -> None:
        trouble = finding.trouble
        if trouble is None:
            _print_finding(finding, f" ({finding.note})" if finding.note else "")
            return
        first = self._explained.setdefault(trouble.cause, finding.number)
        if first == finding.number:
            _print_finding(finding, "")
            out.print(_lay_out_trouble(trouble, with_sent=self._with_sent))
        else:
            _print_finding(finding, f" (for the cause of step {first})")

    def flush_skips(self) -> None:
        """Show the skipped steps that are not shown yet."""
        if self._skipped:
            numbers = [finding.number for finding in self._skipped]
            steps = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
            what = self._skipped[0].key if len(numbers) == 1 else f"{len(numbers)} steps"
            _print_line(steps, StepVerdict.SKIPPED, "", what, self._skipped[0].note)
            self._skipped = []


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


def _print_finding(finding: Finding, note: str) -> None:
    seconds = f"{finding.seconds:.2f} s"
    _print_line(str(finding.number), finding.verdict, seconds, finding.key, f"{finding.title}{note}")


def _print_line(steps: str, verdict: StepVerdict, seconds: str, key: str, text: str) -> None:
    mark = f"[{_COLOURS[verdict]}]{verdict:<7}[/]"
    out.print(f"{steps:>5} {mark} {seconds:>8}  {key:<18} {harmless(text)}", highlight=False, soft_wrap=True)


def _lay_out_trouble(trouble: Trouble, *, with_sent: bool) -> Padding:
    rows = [
        ("what happened", trouble.happened),
        ("expected", trouble.expected),
        ("how to fix it", trouble.remedy),
        *(row for frame in (trouble.asked if with_sent else ()) for row in _bytes("the referee sent", frame)),
        *_bytes("your program sent", trouble.received),
        *((("it printed", trouble.printed),) if trouble.printed else ()),
    ]
    table = RichTable("", Column(overflow="fold"), show_header=False, show_edge=False, box=None)
    for label, text in rows:
        table.add_row(label, Text(printable_lines(text.rstrip())))
    return Padding(table, (0, 0, 1, 6), expand=False)


def _bytes(title: str, shown: Shown | None) -> list[tuple[str, str]]:
    if shown is None:
        return []
    hex_ = shown.hex[:_SHOWN_HEX_CHARS].strip()
    more = " ..." if len(hex_) < 3 * shown.length - 1 else ""
    decoded = shown.decoded[:_SHOWN_TEXT_CHARS] + (" ..." if len(shown.decoded) > _SHOWN_TEXT_CHARS else "")
    return [(title, f"{counted(shown.length, 'byte')}: {hex_}{more}"), ("  which reads", decoded)]


def _conclude(player: str, findings: Sequence[Finding]) -> None:
    counts = Counter(finding.verdict for finding in findings)
    plain = ", ".join(f"{counts[verdict]} {verdict}" for verdict in StepVerdict)
    out.print(f"\n{plain}", highlight=False)
    if failed := _list_failures(findings):
        causes = {finding.trouble.cause for finding in failed if finding.trouble is not None}
        out.print(f"The failures have {counted(len(causes), 'cause')}.", highlight=False)
        first = failed[0].number
        again = shlex.join(("referee", "check", player, *_given_options(get_current_context()), "--only", str(first)))
        out.say(f"To try step {first} again:  {again}")


def _given_options(context: click.Context) -> Iterator[str]:
    """Yield the words of the given options, except for the steps and what `submit` added."""
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
