"""Requests of organisers and entrants to a tournament that has begun; each request is a file in its folder.

If a referee runs the tournament, it takes the request in at once; if not, the next one does. The file is deleted only
once the tournament's record has the request.
"""

import re
import secrets
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from protocol.limits import NAME_FORM, NAME_PATTERN

from ...clock import wall_clock
from ...errors import BadRequest
from ...files.whole import write_json
from ...text import is_blank
from ...tournament import events as e
from ...tournament.machine import ImpossibleEvent, Tournament
from ...tournament.rulings import ENTRANT_RULINGS, FREEZE, LIFT, MOST_BY, MOST_REASON, TOURNAMENT_RULINGS, Kind, Ruling
from ...tournament.spec import REMOTE, Participant
from ..players import find_folder, find_player
from ..report import read_summary
from .beginning import hash_programs, is_locked

# Requests are files and not messages to a running referee, because often no referee runs: an organiser may
# rule on a match after the tournament was stopped. A file waits until a referee takes it in, survives a crash of the
# machine, and needs no port that somebody else could connect to.
FOLDER = "requests"
_MOST_BYTES = 1 << 16


class TournamentRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request: either a ruling of an organiser, or an entrant that wants to join."""

    ruling: Ruling | None = None
    joining: Participant | None = None

    def __post_init__(self) -> None:
        if (self.ruling is None) == (self.joining is None):
            raise ValueError("a request is either a ruling or an entrant that wants to join")


class BadRequestFile(BadRequest):
    """A file in the folder of requests that is no request; the text says what to do."""


def new_id() -> str:
    """Return a unique name for a request; later names come later in alphabetical order."""
    return f"{time.time_ns():020}-{secrets.token_hex(4)}"


def ask(folder: Path, request: TournamentRequest) -> Path:
    """Hand in a request.

    Args:
        folder: folder of the tournament.
        request: the request.

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


def frozen_path(folder: Path) -> Path:
    """Return the file that exists while the standings of a tournament are frozen, next to the folder of its records.

    The ruling in the record says who froze them and why. The file makes a contest's site obey at once, even while no
    referee takes rulings in.
    """
    return folder.with_name(f"{folder.name}.frozen")


def pending(folder: Path) -> list[Path]:
    """Return the files of the requests that nobody has taken in yet, the oldest first.

    Raises:
        OSError: the folder can't be read.
    """
    return sorted((folder / FOLDER).glob("*.json"))


def read_request(path: Path) -> TournamentRequest:
    """Read a request.

    Raises:
        BadRequestFile: the file is no request, or can't be read.
    """
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_MOST_BYTES), type=TournamentRequest)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequestFile(f"{path} is no request: {error}; the file was renamed, and not carried out") from None


class Asked(Struct, frozen=True, kw_only=True):
    """A request that was handed in."""

    tournament: str
    request: Path
    """Its file, until it is on record."""
    is_running: bool
    """True if a referee runs the tournament now."""


def rule(folder: Path, kind: Kind, subject: str | None, to: str | None, reason: str, by: str) -> Asked:
    """Hand in a ruling.

    Args:
        folder: folder of the tournament.
        kind: kind of ruling.
        subject: entrant or match that the ruling is about; None: the whole tournament.
        to: entrant that a match is awarded to.
        reason: reason of the ruling, which everybody can read.
        by: name of the person who rules.

    Raises:
        BadRequest: the folder has no tournament, or the ruling makes no sense as it stands.
        RecordError: the tournament's record does not hold.
        OSError: the request can't be written.
    """
    entrant, match = (subject, None) if kind in ENTRANT_RULINGS else (to, subject)
    if (subject is None) != (kind in TOURNAMENT_RULINGS):
        about = "the whole tournament: name nothing" if subject else "one entrant or match: name it"
        raise BadRequest(f"{kind} is about {about}")
    if kind == "award" and to is None:
        raise BadRequest("award needs --to: the entrant that the match is awarded to")
    if kind != "award" and to is not None:
        raise BadRequest(f"--to goes with award, not with {kind}")
    for option, text, most in (("--reason", reason, MOST_REASON), ("--by", by, MOST_BY)):
        if is_blank(text) or not text.isprintable() or len(text) > most:
            raise BadRequest(f"{option} takes one line of 1 to {most} characters, for everybody to read")
    ruling = Ruling(id=new_id(), kind=kind, entrant=entrant, match=match, reason=reason.strip(), by=by.strip())
    tournament = read_summary(folder).tournament
    tournament.handle(e.Ruled(at=wall_clock(), ruling=ruling))
    asked = _hand_over(folder, tournament, TournamentRequest(ruling=ruling))
    if kind == FREEZE:
        frozen_path(folder).touch()
    elif kind == LIFT:
        frozen_path(folder).unlink(missing_ok=True)
    return asked


def join_tournament(folder: Path, player: str, name: str | None) -> Asked:
    """Hand in a request to join.

    Args:
        folder: folder of the tournament.
        player: how the program is given: a folder, `cmd:COMMAND`, `house:NAME`, or `remote`.
        name: name of the entrant; None: the name that the program gives itself.

    Raises:
        BadRequest: the folder has no tournament, nobody can join it, or the player can't be started.
        PlayerError: the player can't be started.
        RecordError: the tournament's record does not hold.
        OSError: the request can't be written.
    """
    tournament = read_summary(folder).tournament
    if player == REMOTE:
        raise BadRequest("a remote entrant needs a token: add it to the tournament's file, and run that again")
    if name is not None and not re.match(NAME_PATTERN, name):
        raise BadRequest(f"{name} is no name: {NAME_FORM}")
    launch = find_player(player, tournament.spec.game, name=name or "entrant")
    where = find_folder(player)
    given = player if where is None else str(where.absolute())
    joining = Participant(name=name or launch.name, player=given)
    digest = hash_programs([joining]).get(joining.name)
    try:
        tournament.handle(e.EntrantJoined(at=wall_clock(), participant=joining, digest=digest))
    except ImpossibleEvent as error:
        raise BadRequest(str(error)) from None
    return _hand_over(folder, tournament, TournamentRequest(joining=joining))


def _hand_over(folder: Path, tournament: Tournament, request: TournamentRequest) -> Asked:
    return Asked(tournament=tournament.spec.name, request=ask(folder, request), is_running=is_locked(folder))
