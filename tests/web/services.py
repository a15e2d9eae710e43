"""A stand-in for the organisers' service: all its texts are hostile, and it keeps each action."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from msgspec.structs import replace

from referee.errors import BadRequest
from referee.web.contest.intake import LoggedAction
from referee.web.contest.notices import Notices
from referee.web.contest.organising import AuthorLine, Machine, ProcessLine, TournamentLine
from referee.web.contest.queue import NextMatch, QueueLine
from referee.web.contest_json import SignUp
from referee.web.http import RequestRefused
from referee.web.person.seat import Act
from referee.web.submissions.challenges import Challenge, ChallengeRefused, PracticeRules


class StandInOrganiserService:
    """Has one tournament, called cup.

    Args:
        payload: stands in each text.
        notices: announcements and appeals.
    """

    def __init__(self, payload: str, notices: Notices) -> None:
        self._payload = payload
        self.notices = notices
        self.asked = list[tuple[str, ...]]()
        self.more_waits = list[QueueLine]()
        self.is_refusing = False
        """Whether nothing is paused."""

    def tournaments(self) -> Sequence[TournamentLine]:
        """Return the one."""
        line = TournamentLine(
            name="cup",
            game=self._payload,
            format=self._payload,
            state=self._payload,
            may_start=True,
            may_pause=True,
            may_stop=True,
            is_frozen=False,
            played=1,
            open_matches=1,
            entrants=[self._payload],
            requests=1,
            said=[self._payload],
        )
        return [line]

    def list_next(self, author: str) -> Sequence[NextMatch]:
        """Return the next match, of every author."""
        return [NextMatch(tournament="cup", names=[self._payload, author], why=self._payload, at=None)]

    def authors(self) -> Sequence[AuthorLine]:
        """Return one."""
        return [AuthorLine(name=self._payload, versions=1, last="passed", plays=1)]

    def machine(self) -> Machine:
        """Return one."""
        return Machine(load=0.5, cores=2, memory_free_mib=None, disk_free_mib=7, lag_ms=0.1)

    def processes(self) -> Sequence[ProcessLine]:
        """Return two, one of which is a host with a match."""
        payload = self._payload
        own = ProcessLine(
            tournament="cup",
            name="own",
            state=payload,
            tables=None,
            matches=[],
            lag_ms=0.25,
            heard="2026-11-01T10:00:00Z",
        )
        return [own, replace(own, name=payload, tables=2, matches=[payload])]

    def queue(self) -> Sequence[QueueLine]:
        """Return entries of ada, of bob, and two common ones: one waits for a time, one for the organiser."""
        payload, now = self._payload, "2026-11-01T10:00:00Z"
        mine = QueueLine(
            what=f"ada's {payload}", author="ada", why=payload, since=now, until=None, waits_for_organiser=False
        )
        cup = replace(mine, what="cup", author=None, until=now)
        paused = replace(cup, what="league", until=None, waits_for_organiser=True)
        return [mine, replace(mine, what="bob's", author="bob"), cup, paused, *self.more_waits]

    def actions(self) -> Sequence[LoggedAction]:
        """Return one."""
        payload = self._payload
        return [LoggedAction(at="2026-11-01T10:00:00Z", by=payload, what=payload, about=payload, reason=payload)]

    def start(self, by: str, name: str) -> None:
        """Keep it."""
        self.asked.append((by, "start", name))

    def pause(self, by: str, name: str) -> None:
        """Keep the action, or refuse it."""
        if self.is_refusing:
            raise BadRequest(self._payload)
        self.asked.append((by, "pause", name))

    def rule(self, by: str, name: str, kind: str, subject: str, to: str, reason: str) -> None:
        """Keep it."""
        self.asked.append((by, name, kind, subject, to, reason))

    def add_author(self, by: str, name: str, *, may_renew: bool) -> str:
        """Keep it."""
        self.asked.append((by, "renew" if may_renew else "add", name))
        return "token" * 9

    def shut_out(self, by: str, name: str) -> None:
        """Keep the action, unless the author is unknown."""
        if not name:
            raise BadRequest(self._payload)
        self.asked.append((by, "shut out", name))

    def archive(self, by: str) -> Iterator[bytes]:
        """Return three parts, one of them empty."""
        self.asked.append((by, "archive"))
        return iter([b"a", b"", b"b"])


class StandInSeat:
    """A seat of ada's with little state, which keeps the actions."""

    title, name = "The Q game", "ada"

    def __init__(self) -> None:
        self.done = list[Act]()

    def watch(self, request: Any) -> None:
        """Say so."""
        request.write(b"data: {}")

    def do(self, act: Act) -> None:
        """Keep it."""
        self.done.append(act)

    def snapshot(self) -> bytes:
        """Return an object."""
        return b"{}"


class StandInPractice:
    """Has three challenges: one that waits, one that was not played, one that was.

    Args:
        payload: stands in each text.
    """

    def __init__(self, payload: str) -> None:
        self._payload = payload
        self.asked = list[tuple[str | None, ...]]()
        self.own_seat = StandInSeat()
        self.left = list[str]()

    def rules(self) -> Sequence[PracticeRules]:
        """Return one."""
        return [PracticeRules(tournament=self._payload, game=self._payload, houses=[self._payload])]

    def challenges(self, author: str) -> Sequence[Challenge]:
        """Return the three."""
        payload, now = self._payload, "2026-11-01T10:00:00Z"
        waits = Challenge(author=author, number=3, tournament=payload, version=None, opponent=payload, asked=now)
        return [waits, replace(waits, number=2, ended=now, trouble=payload), replace(waits, number=1, ended=now)]

    def until(self, _challenge: Challenge) -> datetime:
        """Return a time."""
        return datetime(2026, 11, 1, 10, tzinfo=UTC)

    def waiting(self) -> Sequence[tuple[Challenge, str]]:
        """Return the first one, and a similar one of another author."""
        first = self.challenges("ada")[0]
        return [(first, self._payload), (replace(first, author="bob"), self._payload)]

    async def challenge(self, author: str, tournament: str, version: str | None, opponent: str) -> int:
        """Keep the action, or refuse it if it names no tournament."""
        if not tournament:
            raise ChallengeRefused(self._payload, self._payload)
        self.asked.append((author, tournament, version, opponent))
        return 7

    def give_up(self, author: str, number: str) -> None:
        """Keep the action, if it is about the third."""
        if number != "3":
            raise ChallengeRefused(self._payload, self._payload)
        self.asked.append((author, "give up", number))

    def replay(self, author: str, number: str) -> str | None:
        """Return the one of ada's seventh."""
        return "<p>replay</p>" if (author, number) == ("ada", "7") else None

    def seat(self, author: str, number: str) -> StandInSeat | None:
        """Return that in ada's seventh."""
        return self.own_seat if (author, number) == ("ada", "7") else None

    def leave(self, author: str) -> None:
        """Keep it."""
        self.left.append(author)


class StandInSignUp:
    """Accepts everybody with the code.

    Args:
        payload: stands in what it refuses.
    """

    CODE = "code"

    def __init__(self, payload: str) -> None:
        self._payload = payload
        self.mode = SignUp.INVITATION
        self.asked = list[str]()

    def sign_up(self, name: str, invitation: str) -> str:
        """Keep the name."""
        if invitation != self.CODE:
            raise RequestRefused(HTTPStatus.FORBIDDEN, self._payload, self._payload)
        self.asked.append(name)
        return "token" * 9
