"""Who becomes an author of a contest by signing up, and by which names: none that another one looks like."""

import re
from collections.abc import Iterator
from http import HTTPStatus

from protocol.limits import NAME_FORM, NAME_PATTERN

from ...net.links.tokens import BadTokens, add_tokens
from ...plugins import installed
from ..cards import SignUp
from ..guarded_routes import RequestRefused
from .contest_file import Contest
from .intake import Intake

MOST_AUTHORS = 1000
"""Organisers may let in more."""
_ALIKE = str.maketrans("01i-", "oll_")
"""Of characters that look alike, the one that stands for both."""


class NewAuthors:
    """Makes authors of those who sign up.

    Args:
        contest: what its file says.
        intake: has the files of those who may sign in.
    """

    def __init__(self, contest: Contest, intake: Intake) -> None:
        self.mode = contest.sign_up
        self._contest = contest
        self._intake = intake

    def sign_up(self, name: str, invitation: str) -> str:
        """Make an author, and return its token; called in a thread, by one at a time.

        Args:
            name: as it came.
            invitation: as it came; empty: none did.

        Raises:
            RequestRefused: nobody may now, or not with this name or invitation.
        """
        invited = self._invited(invitation)
        if not re.match(NAME_PATTERN, name):
            raise RequestRefused(HTTPStatus.CONFLICT, "that is no name", f"it takes {NAME_FORM}")
        if _look(name) in set(map(_look, self._taken())):
            text = "somebody has this name, or one that looks like it"
            raise RequestRefused(HTTPStatus.CONFLICT, text, "take another one; if it is yours, ask the organiser")
        if len(self._intake.authors.names()) >= MOST_AUTHORS:
            text = f"there are {MOST_AUTHORS} authors, and no more may sign up"
            raise RequestRefused(HTTPStatus.CONFLICT, text, "ask the organiser for a token")
        try:
            token = add_tokens(self._intake.authors_file, [name], may_renew=False)[name]
        except BadTokens:  # the organiser let somebody of this name in just now, or has broken the file
            text = "the file of authors does not take you in"
            raise RequestRefused(HTTPStatus.CONFLICT, text, "ask the organiser for a token") from None
        self._intake.actions.add(name, "sign up", f"as an author{invited}")
        return token

    def _invited(self, invitation: str) -> str:
        """Return by whom somebody comes, in words."""
        if self.mode is SignUp.OPEN:
            return ""
        if self.mode is SignUp.CLOSED:
            text = "nobody can sign up for this contest"
            raise RequestRefused(HTTPStatus.FORBIDDEN, text, "ask the organiser for a token")
        found = self._intake.invitations.named(invitation)
        if found is None:
            text = "that is no invitation code, or not any more"
            raise RequestRefused(
                HTTPStatus.FORBIDDEN, text, "ask the organiser for one; it has letters and digits only"
            )
        return f", by the invitation {found}"

    def _taken(self) -> Iterator[str]:
        """Yield the names that are somebody's: those of people, of programs, and of who was an author once."""
        yield from self._intake.authors.names()
        yield from self._intake.organisers.names()
        yield from self._intake.store.authors()
        yield from installed().players
        for scheduled in self._contest.tournaments:
            yield from (entrant.name for entrant in scheduled.plan.spec.entrants)


def _look(name: str) -> str:
    """Return what names have in common that look alike."""
    return name.casefold().translate(_ALIKE)
