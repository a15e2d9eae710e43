"""Asks something of a tournament that has begun: an organiser's ruling, or that somebody may join.

What makes no sense as the tournament stands is refused at once. The referee that runs it takes the request in; if none
does, the next one.
"""

import re
from pathlib import Path

from msgspec import Struct

from protocol.limits import NAME_FORM, NAME_PATTERN

from ...clock import wall_clock
from ...errors import BadRequest
from ...text import is_blank
from ...tournament import events as e
from ...tournament.machine import ImpossibleEvent, Tournament
from ...tournament.spec import REMOTE, Participant
from ..players import find_player, folder_of
from ..report import read_summary
from .conducting import is_locked
from .program_changes import digests_of
from .requests import TournamentRequest, ask, new_id


class Asked(Struct, frozen=True, kw_only=True):
    """A request that was handed in."""

    tournament: str
    request: Path
    """Its file, until it is on record."""
    is_running: bool
    """Whether a referee runs the tournament now."""


def rule(folder: Path, kind: e.Kind, subject: str | None, to: str | None, reason: str, by: str) -> Asked:
    """Hand a ruling in.

    Args:
        folder: of the tournament.
        kind: what is decided.
        subject: the entrant or the match that it is about; None: the whole tournament.
        to: the entrant that a match is awarded to.
        reason: for everybody to read.
        by: who decides.

    Raises:
        BadRequest: the folder has no tournament, or the ruling makes no sense as it stands.
        RecordError: the tournament's record does not hold.
        OSError: the request can't be written.
    """
    entrant, match = (subject, None) if kind in e.OF_ENTRANTS else (to, subject)
    if (subject is None) != (kind == e.OF_ALL):
        about = "the whole tournament: name nothing" if subject else "one entrant or match: name it"
        raise BadRequest(f"{kind} is about {about}")
    if kind == "award" and to is None:
        raise BadRequest("award needs --to: the entrant that the match is awarded to")
    if kind != "award" and to is not None:
        raise BadRequest(f"--to goes with award, not with {kind}")
    for option, text, most in (("--reason", reason, e.MOST_REASON), ("--by", by, e.MOST_BY)):
        if is_blank(text) or not text.isprintable() or len(text) > most:
            raise BadRequest(f"{option} takes one line of 1 to {most} characters, for everybody to read")
    ruling = e.Ruling(id=new_id(), kind=kind, entrant=entrant, match=match, reason=reason.strip(), by=by.strip())
    tournament = read_summary(folder).tournament
    tournament.handle(e.Ruled(at=wall_clock(), ruling=ruling))
    return _asked(folder, tournament, TournamentRequest(ruling=ruling))


def join_tournament(folder: Path, player: str, name: str | None) -> Asked:
    """Let somebody ask to join.

    Args:
        folder: of the tournament.
        player: how the program is given: a folder, `cmd:COMMAND`, `house:NAME`, or `remote`.
        name: what it is called; None: as the program says.

    Raises:
        BadRequest: the folder has no tournament, nobody can join it, or the player is not to be had.
        PlayerError: the player is not to be had.
        RecordError: the tournament's record does not hold.
        OSError: the request can't be written.
    """
    tournament = read_summary(folder).tournament
    if player == REMOTE:
        raise BadRequest("a remote entrant needs a token: add it to the tournament's file, and run that again")
    if name is not None and not re.match(NAME_PATTERN, name):
        raise BadRequest(f"{name} is no name: {NAME_FORM}")
    launch = find_player(player, tournament.spec.game, name=name or "entrant")
    where = folder_of(player)
    given = player if where is None else str(where.absolute())
    joining = Participant(name=name or launch.name, player=given)
    digest = digests_of([joining]).get(joining.name)
    try:
        tournament.handle(e.EntrantJoined(at=wall_clock(), participant=joining, digest=digest))
    except ImpossibleEvent as error:
        raise BadRequest(str(error)) from None
    return _asked(folder, tournament, TournamentRequest(joining=joining))


def _asked(folder: Path, tournament: Tournament, request: TournamentRequest) -> Asked:
    return Asked(tournament=tournament.spec.name, request=ask(folder, request), is_running=is_locked(folder))
