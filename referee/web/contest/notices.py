"""The announcements of organisers, and the appeals of authors with their answers. All of them are read from the log.

An appeal is about a match in which the author's program was expelled. It is answered by a ruling on that match, or by a
rejection with a reason.
"""

# Lines are only added to the log, so it proves who wrote what and when. Nothing else is stored. The announcements and
# appeals are a fold over the log: computed when the site starts, and continued with every action.

from collections.abc import Callable, Sequence
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from ...errors import BadRequest
from ...text import is_blank
from ...tournament.rulings import MOST_REASON, Kind
from ..contest_json import Announcement
from .intake import ActionLog, LoggedAction

ANNOUNCE, TAKE_BACK, APPEAL, REJECT = "announce", "take back the announcement of", "appeal", "reject the appeal of"
"""Words for these actions in the log."""
SHOWN = 10
"""Most announcements to show: the latest ones."""
MOST_OPEN = 20
"""Most unanswered appeals of one author."""


class Appeal(Struct, frozen=True, kw_only=True):
    """An author's appeal against the expulsion of its program."""

    author: str
    match: str
    text: str
    at: str
    """Time of the appeal, ISO 8601 in UTC."""
    answer: str | None = None
    """Ruling or rejection in words; None while the appeal is not answered."""

    @property
    def tournament(self) -> str:
        """Name of the tournament that the match belongs to."""
        return self.match.rpartition("-")[0]


class Notices:
    """Announcements and appeals of a contest.

    Args:
        log: log of the actions.
        changed: called when the announcements have changed.
    """

    def __init__(self, log: ActionLog, changed: Callable[[], None]) -> None:
        self._log = log
        self._changed = changed
        self._announced: dict[str, Announcement] = {}
        """Time -> announcement, the oldest first."""
        self._appeals: dict[tuple[str, str], Appeal] = {}
        """(author, match) -> appeal, the oldest first."""
        for action in reversed(log.newest()):
            self._take(action)

    # --- announcements

    def announcements(self) -> Sequence[Announcement]:
        """Return the latest announcements, the newest first."""
        return list(self._announced.values())[: -SHOWN - 1 : -1]

    def announce(self, by: str, text: str) -> None:
        """Announce something to everybody.

        Raises:
            BadRequest: the text is empty, too long, or has several lines.
        """
        self.record(by, ANNOUNCE, "", check_line(text))
        self._changed()

    def take_back(self, by: str, at: str) -> None:
        """Take an announcement back; it stays in the log.

        Raises:
            BadRequest: there is no such announcement.
        """
        if at not in self._announced:
            raise BadRequest("that announcement is not shown any more")
        self.record(by, TAKE_BACK, at)
        self._changed()

    # --- appeals

    def appeals(self, tournament: str) -> Sequence[Appeal]:
        """Return the appeals in a tournament, unanswered appeals first."""
        appeals = (appeal for appeal in self._appeals.values() if appeal.tournament == tournament)
        return sorted(appeals, key=lambda appeal: appeal.answer is not None)

    def find_appeal(self, author: str, match: str) -> Appeal | None:
        """Return an author's appeal about a match; None if there is none."""
        return self._appeals.get((author, match))

    def appeal(self, author: str, match: str, text: str) -> None:
        """Appeal against an expulsion.

        Args:
            author: author whose program was expelled.
            match: name of the match.
            text: reason, in one line.

        Raises:
            BadRequest: the author has appealed already or has too many unanswered appeals, or the text is not one line.
        """
        if (author, match) in self._appeals:
            raise BadRequest(f"you have appealed about {match} already; the organiser answers on this page")
        if sum(key[0] == author and appeal.answer is None for key, appeal in self._appeals.items()) >= MOST_OPEN:
            raise BadRequest(f"{MOST_OPEN} of your appeals are unanswered; wait for an answer to one of them")
        self.record(author, APPEAL, match, check_line(text))

    def reject(self, by: str, author: str, match: str, reason: str) -> None:
        """Reject an appeal.

        Raises:
            BadRequest: there is no such unanswered appeal, or the reason is not one line.
        """
        appeal = self._appeals.get((author, match))
        if appeal is None or appeal.answer is not None:
            raise BadRequest(f"there is no unanswered appeal of {author} about {match}; load the page again")
        self.record(by, REJECT, f"{author} about {match}", check_line(reason))

    # --- the log

    def record(self, by: str, what: str, about: str, reason: str = "") -> None:
        """Append an action to the log, and apply it."""
        self._take(self._log.add(by, what, about, reason))

    def _take(self, action: LoggedAction) -> None:
        match action.what:
            case "announce":
                self._announced[action.at] = Announcement(at=action.at, by=action.by, text=action.reason)
            case "take back the announcement of":
                self._announced.pop(action.about, None)
            case "appeal":
                appeal = Appeal(author=action.by, match=action.about, text=action.reason, at=action.at)
                self._appeals[action.by, action.about] = appeal
            case "reject the appeal of":
                author, _, match = action.about.partition(" about ")
                self._answer(match, f"rejected by {action.by}: {action.reason}", author)
            case kind if kind in get_args(Kind):
                subject = action.about.partition(" in ")[0]
                self._answer(subject, f"{kind}, ruled by {action.by}: {action.reason}")

    def _answer(self, match: str, answer: str, author: str | None = None) -> None:
        for key, appeal in self._appeals.items():
            if appeal.match == match and appeal.answer is None and author in (None, appeal.author):
                self._appeals[key] = replace(appeal, answer=answer)


def check_line(text: str) -> str:
    """Return a public text without surrounding blanks.

    Raises:
        BadRequest: the text is empty, too long, or has several lines.
    """
    if is_blank(text) or not text.strip().isprintable() or len(text) > MOST_REASON:
        raise BadRequest(f"the text must be one line of 1 to {MOST_REASON} characters")
    return text.strip()
