"""What organisers and entrants ask of a tournament that has begun: each request a file in its folder.

The referee that runs the tournament takes it in at once; else the next one does. It is done with when the tournament's
record has it, and only then its file goes.
"""

import secrets
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from ...errors import BadRequest
from ...files.whole import write_json
from ...tournament.events import Ruling
from ...tournament.spec import Participant

FOLDER = "requests"
_MOST_BYTES = 1 << 16


class TournamentRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A ruling of an organiser, or somebody who wants to join: one of the two."""

    ruling: Ruling | None = None
    joining: Participant | None = None

    def __post_init__(self) -> None:
        if (self.ruling is None) == (self.joining is None):
            raise ValueError("a request is a ruling or somebody who wants to join")


class BadRequestFile(BadRequest):
    """A file among the requests that is none; the text says what to do."""


def new_id() -> str:
    """Return a text that tells a request from all others; later ones come later in the alphabet."""
    return f"{time.time_ns():020}-{secrets.token_hex(4)}"


def ask(folder: Path, request: TournamentRequest) -> Path:
    """Hand a request in.

    Args:
        folder: of the tournament.
        request: what is asked for.

    Returns:
        Its file, which is gone as soon as the request is on record.

    Raises:
        OSError: it can't be written.
    """
    (folder / FOLDER).mkdir(exist_ok=True)
    name = new_id() if request.ruling is None else request.ruling.id
    path = folder / FOLDER / f"{name}.json"
    write_json(path, request)
    return path


def pending(folder: Path) -> list[Path]:
    """Return the files of the requests that nobody has taken in yet, the oldest first.

    Raises:
        OSError: the folder can't be read.
    """
    return sorted((folder / FOLDER).glob("*.json"))


def read_request(path: Path) -> TournamentRequest:
    """Read a request.

    Raises:
        BadRequestFile: it is none, or can't be read.
    """
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_MOST_BYTES), type=TournamentRequest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequestFile(f"{path} is no request: {error}; it was put aside, and nothing came of it") from None
