"""What authors may ask for as practice matches: by whose rules, who plays, and against whom."""

from collections.abc import Callable, Collection, Sequence

from twisted.internet.threads import deferToThread

from ...clock import wall_clock
from ...plugins import installed
from ...submissions.challenges import Challenge, ChallengeRefused, PracticeRules
from ...submissions.store import Store, VersionState
from ..tournament_file.plan import TournamentPlan
from .contest_file import Contest

_DIGITS = 6


class PracticeRequests:
    """Looks at what is asked for."""

    def __init__(self, contest: Contest, store: Store, authors: Callable[[], Collection[str]]) -> None:
        allowed = [each for each in contest.tournaments if contest.practice and _fits(each.plan)]
        self.plans = {each.series or each.name: each.plan for each in allowed}
        self.store = store
        self._authors = authors

    def rules(self) -> Sequence[PracticeRules]:
        """Return by whose rules may be played; none, if the organiser allows no practice matches."""
        return [_rules(name, plan) for name, plan in self.plans.items()]

    def title(self, tournament: str) -> str:
        """Return what is played by the rules of a tournament."""
        plan = self.plans.get(tournament)
        return "Practice match" if plan is None else installed().game(plan.spec.game).title

    async def challenge(
        self, author: str, tournament: str, version: str | None, opponent: str, guest: str = ""
    ) -> Challenge:
        """Return what is asked for, without a number.

        Raises:
            ChallengeRefused: it can't be played.
        """
        plan = self.plans.get(tournament)
        if plan is None:
            raise ChallengeRefused("there is no such tournament to practise for", "choose one of the list")
        if guest and version is not None:
            raise ChallengeRefused("a version plays with nobody else", "play it yourself, or name no other author")
        if guest and (guest == author or guest not in self._authors()):
            raise ChallengeRefused("there is no other author of that name", "write it as in the standings")
        if guest and plan.spec.seats == 2:  # both are theirs
            opponent = ""
        elif opponent.startswith("house:"):
            houses = _rules(tournament, plan).houses
            if opponent.removeprefix("house:") not in houses:
                who = ", ".join(houses) or "none"
                raise ChallengeRefused(f"that house player does not play {plan.spec.game}", f"choose one of: {who}")
        else:
            opponent = str(await deferToThread(self._passed, author, opponent))
        return Challenge(
            author=author,
            number=0,
            tournament=tournament,
            version=None if version is None else await deferToThread(self._passed, author, version),
            guest=guest or None,
            opponent=opponent,
            asked=wall_clock(),
        )

    def _passed(self, author: str, number: str) -> int:
        is_number = number.isascii() and number.isdecimal() and len(number) <= _DIGITS
        version = self.store.version(author, int(number)) if is_number else None
        if version is None or version.state is not VersionState.PASSED:
            raise ChallengeRefused("there is no such version of yours that has passed its check", "choose one that has")
        return version.number


def _fits(plan: TournamentPlan) -> bool:
    """Tell whether a match can be played by a tournament's rules by itself: all its options can be said in a line."""
    return not plan.spec.options.keys() & installed().game(plan.spec.game).file_options


def _rules(name: str, plan: TournamentPlan) -> PracticeRules:
    known, game = installed(), plan.spec.game
    houses = sorted(house.name for house in known.players.values() if game in house.games)
    return PracticeRules(tournament=name, game=known.game(game).title, houses=houses)
