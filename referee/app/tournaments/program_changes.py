"""Tells whose program is not what it was before.

House players come with the referee, and what is behind a command or a remote entrant nobody can look into.
"""

from collections.abc import Iterable
from contextlib import suppress

from ...net.tournaments.play import Recorder
from ...programs.build import content_hash
from ...programs.player_spec import PlayerError
from ...tournament import events as e
from ...tournament.spec import REMOTE, Participant
from ..players import folder_of


def digests_of(entrants: Iterable[Participant]) -> dict[str, str]:
    """Return the SHA-256, in hex, of every entrant's folder, by name; who has none that can be read is left out."""
    found = {}
    for entrant in entrants:
        folder = None if entrant.player == REMOTE else folder_of(entrant.player)
        if folder is not None and folder.is_dir():
            with suppress(PlayerError):  # its build or its start fails for that, and says so
                found[entrant.name] = content_hash(folder)
    return found


def note_changes(recorder: Recorder, programs: dict[str, str]) -> list[str]:
    """Put on record which programs have changed.

    Args:
        recorder: of the tournament.
        programs: entrant -> SHA-256 of its folder as it was; brought up to date.

    Returns:
        The names of those whose programs have.
    """
    entrants = recorder.tournament.spec.entrants
    now = digests_of(entrants)
    names = []
    for index, entrant in enumerate(entrants):
        name, digest = entrant.name, now.get(entrant.name)
        if digest is not None and digest != programs.get(name):
            names.append(name)
            programs[name] = digest
            recorder.take(e.ProgramChanged(at=recorder.clock(), entrant=index, digest=digest))
    return names
