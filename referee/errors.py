"""Errors of the whole program, in two kinds: a request is wrong in itself, or the situation does not allow it."""

# Each module derives its own errors from these. A text says what is wrong, where, and what to do about it, so that a
# command or a page can show it as it is. cli/errors.py maps the kinds to exit statuses.


class RefereeError(Exception):
    """A request can't be carried out, or a check fails; the text says why."""


class RemediableError(RefereeError):
    """Something must be changed first; problem and remedy are apart, for pages that show them apart.

    Args:
        what: problem and its place.
        remedy: what to do about it.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


class BadRequest(RefereeError):
    """A request is wrong in itself; the text says what to ask for instead."""


class BadMove(RefereeError):
    """A game does not accept a move."""


class Interrupted(RefereeError):
    """The user stopped what was running; the text says how to continue."""


class DoesNotHold(RefereeError):
    """A check has failed; the text says where, what was expected, and what is there."""
