"""`referee replay`: watch a recorded match again, in the terminal, as drawings or as a page.

Frames are made in referee.pages, the interactive player is playback.py.
"""

import os
import sys
from pathlib import Path

import rich_click as click
from rich.markup import escape

from ...pages.drawing import with_names
from ...pages.frames import Kind, StillSecret, Watched, watch
from ...pages.replay_page import page_of
from ...plugins import PluginError
from ...record.reader import RecordError, read_record
from ...text import printable
from ..common import Count, console, json_option, monotonic, out, print_json, record_argument, registry
from ..errors import FAILED
from ..views.playback import board_of, told, watch_live
from ..views.results import result_table

EXAMPLES = """Example:  referee replay logs/MATCH.jsonl

Example:  referee replay logs/MATCH.jsonl | less -R

Example:  referee replay logs/MATCH.jsonl --turn 12

Example:  referee replay logs/MATCH.jsonl --turn 12 --svg board.svg

Example:  referee replay logs/MATCH.jsonl --html match.html
"""

STDOUT = Path("-")


@click.command(epilog=EXAMPLES)
@record_argument
@click.option("--turn", metavar="N", type=Count(min=0), help="Show this turn only; 0 is the deal.")
@click.option(
    "--svg",
    metavar="FILE",
    type=click.Path(path_type=Path, allow_dash=True),
    help="Write the board after the last turn, or after that of --turn, as SVG; - is stdout.",
)
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Write the match as a page of its own.")
@click.option("--force", is_flag=True, help="Write even over a file that exists.")
@json_option
def replay(
    record: Path,
    turn: int | None,
    svg: Path | None,
    html: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Watch a recorded match again: every turn with its player, its move or its expulsion, and the board.

    On a terminal: space plays and pauses, left and right step, home and end jump, + and - change the speed, up and down
    (and h and l) scroll a board that is larger than the screen, q quits. Elsewhere all turns are printed.

    The page of --html is one file that shows the boards, the verdicts, charts of points and time, and the record's
    facts in any browser; it loads nothing. No file that exists is overwritten without --force, and the record never.

    Exit status: 0 shown, 1 the record does not hold, 2 used wrongly.
    """
    _check_use(record, turn, svg, html, is_json=as_json)
    watched = _held(record)
    written = None
    if html is not None:
        written = _write(html, page_of(watched), is_forced=force)
    elif svg == STDOUT:
        print(_drawing(watched, turn))
    elif svg is not None:
        written = _write(svg, _drawing(watched, turn), is_forced=force)
    elif not as_json:
        _show(watched, turn)
    if as_json:
        _print_json(watched, turn, written)
    elif written is not None:
        out.print(f"written: {written}", markup=False, highlight=False, soft_wrap=True)


def is_watched() -> bool:
    """Tell whether a person sits at a terminal that can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _check_use(record: Path, turn: int | None, svg: Path | None, html: Path | None, *, is_json: bool) -> None:
    """Refuse options that do not go together.

    Raises:
        click.UsageError: they don't, or there is no record.
    """
    if not record.is_file():
        raise click.UsageError(f"there is no record {record}")
    if html is not None and not (turn is None and svg is None):
        raise click.UsageError("--html shows all turns: it goes without --turn and --svg")
    if svg is not None and svg.name.isdecimal():
        raise click.UsageError(f"--svg takes a file, not a turn: --turn {svg.name} --svg board.svg")
    if is_json and svg == STDOUT:
        raise click.UsageError("--svg and --json can't both go to stdout: give --svg a file")
    target = html or svg
    if target is not None and target.exists() and target.samefile(record):
        raise click.UsageError(f"{target} is the record itself")


def _held(path: Path) -> Watched:
    """Read a record and fold it again, or end with what does not hold."""
    try:
        return watch(read_record(path), registry().game)
    except (RecordError, PluginError) as error:
        console.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(FAILED)
    except StillSecret as error:
        raise click.ClickException(str(error)) from None


def _write(path: Path, text: str, *, is_forced: bool) -> Path:
    """Write a file.

    Raises:
        click.UsageError: it exists and that is not forced, or it can't be written.
    """
    try:
        with path.open("w" if is_forced else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise click.UsageError(f"{path} exists; --force writes over it") from None
    except OSError as error:
        raise click.UsageError(f"can't write {path}: {error.strerror or error}") from None
    return path


def _frames_of(watched: Watched, turn: int) -> list[int]:
    """Return the numbers of the frames that show what happened in a turn.

    Raises:
        click.UsageError: there is no such turn.
    """
    found = [index for index, frame in enumerate(watched.frames) if frame.turn == turn]
    if not found:
        raise click.UsageError(f"the match has {watched.match.turn} turns, there is no turn {turn}")
    return found


def _drawing(watched: Watched, turn: int | None) -> str:
    """Return the board after a turn, or else after the last one, as SVG, with the players' names.

    Raises:
        click.UsageError: there is no such turn, or nothing was dealt by then.
    """
    frames = watched.frames if turn is None else [watched.frames[index] for index in _frames_of(watched, turn)]
    if not frames or frames[-1].state is None:
        by = "yet" if turn is None else f"by turn {turn}"
        raise click.UsageError(f"nothing was dealt {by}, there is no board")
    return with_names(watched.match.game.draw_svg(frames[-1].state), watched.match.setup.names)


def _show(watched: Watched, turn: int | None) -> None:
    """Let a person at a terminal watch; print the turns elsewhere."""
    if turn is not None:
        for index in _frames_of(watched, turn):
            _print_frame(watched, index)
    elif watched.frames and is_watched():
        watch_live(watched, out, monotonic)
    else:
        for index, frame in enumerate(watched.frames):
            if frame.kind is not Kind.DEAL:
                _print_frame(watched, index)
        if watched.match.result is None:
            out.print("the match was not finished")
        else:
            out.print(result_table(watched.match.setup.names, watched.match.result))


def _print_frame(watched: Watched, index: int) -> None:
    """Print what happened, then the board."""
    frame, match = watched.frames[index], watched.match
    seat = "the deal" if frame.seat is None else f"seat {frame.seat}, {printable(match.setup.names[frame.seat])}"
    out.rule(escape(f"turn {frame.turn}: {seat}"), align="left")
    if frame.foul is not None:
        out.print("expelled", style="red")
    for line in told(watched, index)[1:]:
        out.print(line, highlight=False, soft_wrap=True)
    for line in board_of(frame, match):
        out.print(line, highlight=False, soft_wrap=True)


def _print_json(watched: Watched, turn: int | None, written: Path | None) -> None:
    """Print the match as one object; with a turn, of that turn alone."""
    numbers = range(len(watched.frames)) if turn is None else _frames_of(watched, turn)
    answers = (frame for frame in map(watched.frames.__getitem__, numbers) if frame.took_ms is not None)
    print_json(
        {
            "match": watched.match.setup.match,
            "names": watched.match.setup.names,
            "turns": [{"turn": frame.turn, "seat": frame.seat, "move": frame.move} for frame in answers],
            "result": watched.match.result,
            **({} if written is None else {"written": str(written)}),
        }
    )
