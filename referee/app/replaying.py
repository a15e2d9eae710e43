"""Shows a record: one turn or all, as a drawing or as a page."""

import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from ..errors import BadRequest, RefereeError
from ..files.scratch import remove
from ..pages.replay_frames import FoldedRecord, ReplayFrame
from ..pages.replay_page import replay_page, with_record
from ..pages.words import with_names


def select_frames(folded: FoldedRecord, turn: int | None) -> Sequence[ReplayFrame]:
    """Return the frames of one turn, or of all turns.

    Raises:
        BadRequest: there is no such turn.
    """
    if turn is None:
        return folded.frames
    frames = [frame for frame in folded.frames if frame.turn == turn]
    if not frames:
        raise BadRequest(f"the match has {folded.match.turn} turns, there is no turn {turn}")
    return frames


def draw_board(folded: FoldedRecord, turn: int | None) -> str:
    """Return the board after a turn, or after the last one, as SVG with the players' names.

    Raises:
        BadRequest: there is no such turn, or nothing had been dealt.
    """
    frames = select_frames(folded, turn)
    if not frames or frames[-1].state is None:
        by = "yet" if turn is None else f"by turn {turn}"
        raise BadRequest(f"nothing was dealt {by}, there is no board")
    return with_names(folded.match.game.draw_svg(frames[-1].state), folded.match.setup.names)


def write_page(folded: FoldedRecord, html: Path | None, *, is_forced: bool, is_opened: bool) -> Path:
    """Write the page of a match, and open it in a browser if asked.

    Args:
        folded: the record.
        html: path of the file; None: a temporary file.
        is_forced: whether an existing file is overwritten.
        is_opened: whether a browser opens the page.

    Raises:
        BadRequest: the file exists and is not overwritten, or can't be written.
        RefereeError: there is no browser.
    """
    target = html or Path(tempfile.mkdtemp(prefix="referee-")) / f"{folded.match.setup.match}.html"
    held = with_record(replay_page(folded), folded.record.path.read_bytes())
    written = write_text(target, held, is_forced=is_forced)
    if is_opened and not webbrowser.open(written.resolve().as_uri()):
        remedy = f"open {written} in a browser"
        if html is None:
            remove(written.parent)
            remedy = "write the page to a file with --html FILE, and open the file in a browser"
        raise RefereeError(f"no browser was found here: {remedy}")
    return written


def write_text(path: Path, text: str, *, is_forced: bool) -> Path:
    """Write a file, and return its path.

    Raises:
        BadRequest: it exists and is not overwritten, or can't be written.
    """
    try:
        with path.open("w" if is_forced else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise BadRequest(f"{path} exists; --force writes over it") from None
    except OSError as error:
        raise BadRequest(f"can't write {path}: {error.strerror or error}") from None
    return path
