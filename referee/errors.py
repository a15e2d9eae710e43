"""What can't be done, in two kinds: whoever asks for it has asked wrongly, or what is there does not allow it.

Each module has errors of its own below these. Their texts say what is wrong, where, and what to do about it, so that
whoever shows them, a command or a page, adds no words: cli/errors.py says what each kind means for a command.
"""


class RefereeError(Exception):
    """Something that was asked for can't be done or does not hold; the text says why."""


class RemediableError(RefereeError):
    """Something that doesn't do as it is, told in two parts for whoever shows them apart.

    Args:
        what: is wrong or missing, and where.
        remedy: what to do about it.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


class BadRequest(RefereeError):
    """What was asked for is wrong in itself; the text says what to ask for instead."""


class BadMove(RefereeError):
    """A move that a game does not take."""


class Interrupted(RefereeError):
    """What was going on was stopped by whoever runs it; the text says what there is to go on from."""


class DoesNotHold(RefereeError):
    """What was checked is not what it should be; the text says where, what was expected, and what is there."""
