"""`referee replay`: show a recorded match as text, as a drawing of its board, or as a page in a browser."""

import sys
from pathlib import Path

import rich_click as click
from rich.markup import escape
from rich.text import Text

from ...app.records.explain import check_is_record
from ...app.replaying import draw_board, select_frames, write_page, write_text
from ...match.machine import Match
from ...pages.replay_frames import FoldedRecord, FrameKind, ReplayFrame, fold_record
from ...pages.words import move_words, reasons
from ...plugins import installed
from ...record.reader import read_record
from ...text import printable
from ..common import PATH, Count, json_option, out, print_json, record_argument
from ..match_view import show_result

_WAYS = ("", " | less -R", " --turn 12", " --turn 12 --svg board.svg", " --open", " --html match.html")
EXAMPLES = "\n\n".join(f"Example:  referee replay logs/MATCH.jsonl{way}" for way in _WAYS)

STDOUT = Path("-")


@click.command(epilog=EXAMPLES)
@record_argument
@click.option("--turn", metavar="N", type=Count(min=0), help="Show only this turn; 0 is the deal. (Default: all turns)")
@click.option(
    "--svg",
    metavar="FILE",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Write the board after the last turn, or after --turn, as SVG; - is stdout.",
)
@click.option("--html", metavar="FILE", type=PATH, help="Write the match as a page to FILE.")
@click.option(
    "--open",
    "is_opened",
    is_flag=True,
    help="Show the page in a browser; without --html, the page is a temporary file.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@json_option
def replay(
    record: Path, turn: int | None, svg: Path | None, html: Path | None, is_opened: bool, force: bool, as_json: bool
) -> None:
    """Show a recorded match: every turn with its player, its move or expulsion, and the board.

    --html and --open make a page for any browser, in one file that loads nothing else. You can step through the match
    there, and see the verdicts, charts of points and time, and the facts of the record. An existing file is overwritten
    only with --force; the record is never overwritten.

    Exit status: 0 shown, 1 the record does not hold or there is no browser, 2 usage error.
    """
    is_page = is_opened or html is not None
    _check_use(record, turn, svg, html, is_page=is_page, is_json=as_json)
    folded = fold_record(read_record(record), installed().game)
    written = None
    if is_page:
        written = write_page(folded, html, is_forced=force, is_opened=is_opened)
    elif svg == STDOUT:
        sys.stdout.buffer.write(f"{draw_board(folded, turn)}\n".encode())  # SVG is UTF-8 by default
        sys.stdout.buffer.flush()
    elif svg is not None:
        written = write_text(svg, draw_board(folded, turn), is_forced=force)
    elif not as_json:
        _show(folded, turn)
    if as_json:
        _print_json(folded, turn, written)
    elif written is not None:
        out.say(f"written: {written}")


def _check_use(
    record: Path, turn: int | None, svg: Path | None, html: Path | None, *, is_page: bool, is_json: bool
) -> None:
    """Refuse options that do not go together.

    Raises:
        BadRequest: the record is a folder.
        click.UsageError: two options contradict each other.
    """
    check_is_record(record, "replay")
    if is_page and not (turn is None and svg is None):
        raise click.UsageError("the page shows all turns: use --html and --open without --turn and --svg")
    if svg is not None and svg.name.isdecimal():
        raise click.UsageError(f"--svg takes a file, not a turn: --turn {svg.name} --svg board.svg")
    if is_json and svg == STDOUT:
        raise click.UsageError("--svg and --json can't both go to stdout: give --svg a file")
    target = html or svg
    if target is not None and target.exists() and target.samefile(record):
        raise click.UsageError(f"{target} is the record itself")


def _show(folded: FoldedRecord, turn: int | None) -> None:
    for frame in select_frames(folded, turn):
        if turn is not None or frame.kind is not FrameKind.DEAL:
            _print_frame(frame, folded.match)
    if turn is None:
        match = folded.match
        if match.result:
            show_result(match.setup.names, match.result, match.teams)
        else:
            out.print("the match was not finished")


def _print_frame(frame: ReplayFrame, match: Match) -> None:
    seat = "the deal" if frame.seat is None else f"seat {frame.seat}, {printable(match.setup.names[frame.seat])}"
    out.rule(escape(f"turn {frame.turn}: {seat}"), align="left")
    if frame.foul is not None:
        out.print("expelled", style="red")
    if frame.took_ms is not None:
        _print(Text(move_words(match.game, frame.move)))
    for label, reason in reasons(frame, match.game.rules):
        _print(Text.assemble((f"{label}: ", "dim"), reason))
    if frame.state is None:
        _print(Text("nothing was dealt yet", style="dim"))
    else:
        _print(Text.from_markup(match.game.draw_text(frame.state)))


def _print(text: Text) -> None:
    out.print(text, highlight=False, soft_wrap=True)


def _print_json(folded: FoldedRecord, turn: int | None, written: Path | None) -> None:
    answers = (frame for frame in select_frames(folded, turn) if frame.took_ms is not None)
    print_json(
        {
            "match": folded.match.setup.match,
            "names": folded.match.setup.names,
            "turns": [{"turn": frame.turn, "seat": frame.seat, "move": frame.move} for frame in answers],
            "result": folded.match.result,
            **({} if written is None else {"written": str(written)}),
        }
    )
