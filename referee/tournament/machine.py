"""The fold of a tournament: the only code that changes its state. `Tournament.handle(event)` returns the commands.

The fold uses no clock, file, process or log. The same code runs a tournament, audits its record and resumes it. It
alone decides which match is played next, which results count, and who gets which place.
"""

# A match is a fold of events, and so is a tournament. Events come from outside: a match was opened, a match was closed,
# a round was paired, the organiser ruled. Commands go out: play this match, pair this round, this entrant is suspended.
# The runner in net/ carries them out, and reports the consequences as the next events. It writes an event and its
# commands to the record before it carries the commands out. So if the referee is killed at any moment, it can fold its
# record again and continue.
#
# Two folds are nested here. The inner one is the pairing format (pairing/base.py). It knows entrants, pairings and
# results, and decides who meets whom. The outer one, this class, knows what is the same in all formats: names of
# matches, legs of one deal, matches that are played again, suspensions, rulings, standings. The outer one asks the
# inner one after each event which pairings are due, compares them with those that were due before (`_settle`), and
# issues commands for the difference. So a format never has to report what has changed.
#
# A pairing goes through these states. Its matches are called legs; without duplicate deals, it has only one leg:
#
#                 due in the format       opened           last leg closed
#        unknown ----------------> due ----------> playing ----------------> decided
#                                   ^  ^             |                          |
#                                   |  +-- void -----+                          |
#                                   |      (the leg is played again)            |
#                                   +---- ruling: replay, or another result ----+
#
#        due, playing --- an entrant withdraws, or the tournament stops ---> cancelled (perhaps a bye for the other one)
#
# The result of a decided pairing is kept in two places: in the format's state, and in the crosstable with the ratings
# (decisions.py). A ruling takes it back from both. The format does not issue the pairing again, because then it would
# have to forget all later pairings. So the number of the pairing stays in `taken_back` until the pairing has a new
# result, and only this result goes to the format.
#
# Matches at several tables can end in any order, and this order must not matter. Each format takes care of this for its
# pairings, and failures.py for suspensions. One case needs both: a result that suspends one of its entrants. The format
# gets the result and the withdrawal at once (`PairingFormat.conclude`), so that it can't pair a round in between.
#
# Two other designs would be possible. A queue of pending commands in the fold would need repairs after each ruling, but
# the comparison in `_settle` needs none. Or a result could be undone by folding the whole record again without it. That
# would be exact, but it would change all later pairings, even those that have been played.

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from msgspec.structs import replace

from ..chance import Dealer
from ..errors import RefereeError
from . import commands as c
from . import events as e
from .crosstable import Crosstable
from .decisions import Books, Decided, Decisions
from .failures import Failure, Failures
from .match_context import DuePairings, Fixture, MatchEntry, combine_legs, is_free
from .pairing.base import BadPairing, BadRuling, BracketPlace, Pairing, PairingFormat, PlayedPairing, RoundToPair, bye
from .ratings.multi_seat import SkillBook
from .rulings import FREEZE, LIFT, STOP, Ruling, check_decidable, find_entrant, make_ruled_entry, parse_match_name
from .spec import Participant, TournamentSpec
from .standings import Standing, place_groups, standings


class ImpossibleEvent(RefereeError):
    """An event can't happen in this state, which is a mistake of the caller. The tournament is unchanged."""


class Tournament:
    """One tournament, from its first event to its last.

    Args:
        spec: the settings of the tournament.
        format_: the pairing format that the spec names.
        shuffle: the only source of random numbers; the format uses it.

    Raises:
        BadFormat: the format does not accept these options or entrants.
    """

    def __init__(self, spec: TournamentSpec, format_: PairingFormat[Any], shuffle: Dealer) -> None:
        self.spec = spec
        """The settings. The entrants include those that joined late."""
        self._format = format_
        field = spec.field()
        self._state = format_.new(format_.parse_options(dict(spec.format_options)), field, shuffle)
        self.suspended: dict[int, c.SuspendEntrant] = {}
        """Entrants that no longer play, each with the command that suspended it."""
        self.disqualified: set[int] = set()
        self.failures = Failures(spec.suspend_after)
        self.played = 0
        """Number of matches that count."""
        self.voided = 0
        """Number of matches that do not count because the referee failed."""
        self.awards: dict[tuple[int, int], MatchEntry] = {}
        """Number and leg of a pairing -> the result that a ruling awarded, as long as the ruling is valid."""
        self.rulings: list[Ruling] = []
        self.stopped: Ruling | None = None
        """The ruling that stopped the tournament: no further pairing begins, and those that have begun are finished."""
        self.playing: dict[str, Fixture] = {}
        """Name of each match that was opened and is not closed -> its fixture."""
        self._due = DuePairings(spec.name, spec.legs)
        self._order: tuple[int, ...] = ()
        """Numbers of the pairings that are due, in the order of the format."""
        self.taken_back: set[int] = set()
        """Numbers of the pairings that a ruling has made due again. For the format, they are still finished."""
        self.concluded: list[PlayedPairing] = []
        """Pairings that the last event finished, including byes."""
        skills = SkillBook(field, spec.scoring) if spec.seats > 2 else None
        self._decided = Decisions(Books(Crosstable(field, spec.scoring), skills))
        self._settled: Any = None
        """The format's state for which `_settle` ran last."""
        self._last_asked_round = 0
        """The last round for which PairRound was issued."""
        self._commands: list[c.TournamentCommand] = []

    def handle(self, event: e.TournamentEvent) -> tuple[c.TournamentCommand, ...]:
        """Handle an event.

        Returns:
            The commands that follow, in order.

        Raises:
            ImpossibleEvent: the event can't happen now; the tournament is unchanged.
            BadRuling: the ruling can't be carried out; the text says why, and the tournament is unchanged.
        """
        self._commands, self.concluded = [], []
        self._take(event)
        if self._state is not self._settled:
            self._settle()
        return tuple(self._commands)

    # --- how it stands

    @property
    def table(self) -> Crosstable:
        """The crosstable, from which the standings follow."""
        return self._decided.books.table

    @property
    def skills(self) -> SkillBook | None:
        """The results from which the ratings follow if matches have more than two seats; None for matches of two."""
        return self._decided.books.skills

    @property
    def state(self) -> Any:
        """The state of the format, for callers that know which format it is."""
        return self._state

    @property
    def is_over(self) -> bool:
        """True if no further match will be opened."""
        is_through = self._format.is_over(self._state) or (self.stopped is not None and not self._due)
        return is_through and not self.taken_back

    @property
    def given_up(self) -> int:
        """Number of matches that will not be played because an entrant has withdrawn, as far as the format knows."""
        return max(self._format.count_cancelled_pairings(self._state) * self.spec.legs - self._due.given_up_legs, 0)

    @property
    def total(self) -> int | None:
        """Least number of matches that the whole tournament will have, including those so far; None if it is unknown.

        It is computed from the present state. So it grows when a draw is played again or an entrant joins, and shrinks
        when a match is cancelled or decided by a ruling.
        """
        later = self._format.later(self._state) if self.stopped is None else 0
        if later is None:
            return self.played if self.is_over else None
        due = {pairing.number for pairing in self._list_due() if not pairing.is_bye}.union(self._due)
        legs = (len(self._due.fixtures(number)) if number in self._due else self.spec.legs for number in due)
        return self.played + sum(legs) + later * self.spec.legs

    @property
    def to_pair(self) -> RoundToPair | None:
        """The round that the caller must pair before further matches become due; None if there is none."""
        return self._format.to_pair(self._state) if self.stopped is None else None

    @property
    def due(self) -> list[Pairing]:
        """The pairings that are being played or may be played now."""
        return [self._due[number] for number in self._due]

    def fixtures(self) -> Iterator[Fixture]:
        """Yield the matches without a result that are being played or may be opened now, in the order of pairings."""
        # A format can be over while pairings are still due: a sequential test ends when it has decided. Then matches
        # that are being played may be finished, but no further match begins.
        order = () if self._format.is_over(self._state) else self._order
        fixtures = chain.from_iterable(map(self._due.fixtures, (*order, *sorted(self.taken_back))))
        return (fixture for fixture in fixtures if is_free(fixture, self.playing.values(), self.taken_back))

    def is_last_leg(self, fixture: Fixture) -> bool:
        """Return whether no other match of a fixture's pairing may be opened or is being played."""
        return sum(other.number == fixture.number for other in self.fixtures()) <= 1

    def places(self) -> tuple[tuple[int, ...], ...] | None:
        """Return groups of entrants from best to worst as the format itself decides; None if points decide."""
        return self._format.places(self._state)

    def explain_order(self) -> str:
        """Return a sentence that explains the order of the standings."""
        return self._format.explain_order()

    def placing_ratings(self) -> tuple[float, ...] | None:
        """Return the rating of each entrant that decides its place, on Elo's scale; None if ratings don't decide."""
        return self._format.placing_ratings(self._state)

    def bracket(self) -> tuple[BracketPlace, ...] | None:
        """Return the places of the bracket; see PairingFormat.bracket for an empty result and for None."""
        return self._format.bracket(self._state)

    def standings(self, *, has_tie_breaks: bool = True) -> tuple[Standing, ...]:
        """Return the entrants in the order that the format decides or, if it does not, by points and tie-breaks.

        Args:
            has_tie_breaks: True to use the tie-breaks. In a large field they take a tenth of a second.

        Returns:
            All entrants, from first to last. If the format leaves entrants equal, points decide. Disqualified entrants
            are last, even if they have won matches.

        Raises:
            UnknownTieBreak: the spec names an unknown tie-break.
        """
        lines = standings(self.table, self.spec.tie_breaks if has_tie_breaks else ())
        return place_groups(lines, self.places(), self.disqualified)

    def joined(self, participant: Participant) -> Any:
        """Return the state that the format would have with one more entrant. The tournament does not change.

        Raises:
            BadRuling: nobody can join now, or the name is taken.
        """
        if any(other.name == participant.name for other in self.spec.entrants):
            raise BadRuling(f"{participant.name} takes part already")
        self._check_running()
        spec = replace(self.spec, entrants=(*self.spec.entrants, participant))
        return self._format.join(self._state, spec.field())

    def _list_due(self) -> Sequence[Pairing]:
        """Return the pairings that are due; in a stopped tournament, only those that were due before."""
        due = self._format.due(self._state)
        return due if self.stopped is None else [pairing for pairing in due if pairing.number in self._due]

    def _check_running(self) -> None:
        if self.stopped is not None:
            raise BadRuling(f"{self.spec.name} was stopped for good: {self.stopped.reason}")

    # --- events

    def _take(self, event: e.TournamentEvent) -> None:
        match event:
            case e.MatchOpened():
                self._open_match(event)
            case e.MatchClosed():
                self._close_match(event)
            case e.RoundPaired():
                self._pair_round(event)
            case e.EntrantJoined():
                self._join(event)
            case e.ProgramChanged():
                self._change_program(event)
            case e.Ruled():
                self._rule(event)
            case e.Finished():
                self._finish()

    def _open_match(self, event: e.MatchOpened) -> None:
        fixture = event.fixture
        if fixture.match in self.playing:
            raise ImpossibleEvent(f"{fixture.match} is being played already")
        if fixture not in self.fixtures():
            raise ImpossibleEvent(f"{fixture.match} is not to be played now, or was opened for something else")
        self.playing[fixture.match] = fixture

    def _close_match(self, event: e.MatchClosed) -> None:
        entry = event.entry
        fixture = self.playing.get(entry.match)
        if fixture is None:
            raise ImpossibleEvent(f"{entry.match} is not being played")
        if entry.fixture != fixture:
            raise ImpossibleEvent(f"{entry.match} was opened for something else")
        if {len(entry.names), len(entry.scores), len(entry.used_ms)} != {len(fixture.entrants)}:
            raise ImpossibleEvent(f"{entry.match} has a result of another number of seats")
        del self.playing[entry.match]
        if fixture not in self._due.fixtures(fixture.number):
            self._command(c.DisregardMatch(match=entry.match, why="somebody withdrew before it was over"))
        elif entry.void is not None:
            self.voided += 1
            self._play_again(fixture)
        else:
            self._count(entry)

    def _pair_round(self, event: e.RoundPaired) -> None:
        request = self.to_pair
        if request is None or request.round != event.round:
            raise ImpossibleEvent(f"round {event.round} is not to be paired now")
        try:
            if event.output is None:
                self._state = self._format.take_round(self._state, event.tables)
            else:
                self._state = self._format.take_printed_round(self._state, event.tables, event.output)
        except BadPairing as error:
            raise ImpossibleEvent(f"round {event.round}: {error}") from None

    def _join(self, event: e.EntrantJoined) -> None:
        self._state = self.joined(event.participant)
        self.spec = replace(self.spec, entrants=(*self.spec.entrants, event.participant))
        self._decided.join(self.spec.field())

    def _change_program(self, event: e.ProgramChanged) -> None:
        if not 0 <= event.entrant < len(self.spec.entrants):
            raise ImpossibleEvent(f"there is no entrant {event.entrant}")
        self.failures.forgive(event.entrant)
        self._state = self._format.renew(self._state, event.entrant)
        self._decided.renew(event.entrant)

    def _finish(self) -> None:
        if not self.is_over or self.playing:
            raise ImpossibleEvent("matches are still to be played")
        self._command(c.EndTournament(standings=self.standings()))

    # --- rulings

    def _rule(self, event: e.Ruled) -> None:
        ruling = event.ruling
        if any(earlier.id == ruling.id for earlier in self.rulings):
            raise ImpossibleEvent(f"the ruling {ruling.id} was carried out before")
        if ruling.kind == STOP:
            self._stop(ruling)
        elif ruling.kind in (FREEZE, LIFT):
            self._check_freeze(ruling.kind)
        elif ruling.match is not None:
            self._rule_on_match(ruling, ruling.match)
        elif ruling.entrant is not None:
            self._rule_on_entrant(ruling, find_entrant(ruling.entrant, self.spec))
        self.rulings.append(ruling)

    def _stop(self, ruling: Ruling) -> None:
        """Stop the tournament: no further pairing begins. Pairings that have begun are played to their last leg."""
        self._check_running()
        if self.is_over:
            raise BadRuling(f"{self.spec.name} is over: there is nothing to stop")
        self.stopped = ruling
        for number in self._due.find_idle(self.playing.values()):
            self._call_off(number)
            self.taken_back.discard(number)
        self._settled = None  # the due pairings have changed, though the format's state has not

    @property
    def is_frozen(self) -> bool:
        """True if the organiser has frozen the standings, and has not lifted the freeze."""
        kinds = (ruling.kind for ruling in reversed(self.rulings) if ruling.kind in (FREEZE, LIFT))
        return next(kinds, LIFT) == FREEZE

    def _check_freeze(self, kind: str) -> None:
        """Check that the standings can be frozen, or shown again. A freeze has no other effect on the tournament."""
        if self.is_frozen == (kind == FREEZE):
            raise BadRuling(f"the standings of {self.spec.name} are {'' if self.is_frozen else 'not '}frozen")
        if kind == FREEZE and self.is_over:
            raise BadRuling(f"{self.spec.name} is over: there is nothing to freeze")

    def _rule_on_entrant(self, ruling: Ruling, entrant: int) -> None:
        if ruling.kind == "reinstate":
            if entrant not in self.suspended:
                raise BadRuling(f"{ruling.entrant} takes part: there is nothing to reinstate")
            self._state = self._format.reinstate(self._state, entrant)
            del self.suspended[entrant]
            self.disqualified.discard(entrant)
            self.failures.forgive(entrant)
            self._decided.reinstate(entrant, self._format.count_rounds(self._state))
            return
        if entrant in self.suspended and (ruling.kind == "withdraw" or entrant in self.disqualified):
            raise BadRuling(f"{ruling.entrant} plays no more already: {self.suspended[entrant].why}")
        if ruling.kind == "disqualify":
            self.disqualified.add(entrant)
        self._withdraw(entrant, ruling.reason)

    def _rule_on_match(self, ruling: Ruling, match: str) -> None:
        number, leg = parse_match_name(match, self.spec.name)
        standing = self._decided.fixture(number, leg) or self._due.fixture(number, leg)
        fixture = check_decidable(match, standing, self.playing)
        winner = None if ruling.entrant is None else find_entrant(ruling.entrant, self.spec)
        if winner is not None and winner not in fixture.entrants:
            raise BadRuling(f"{ruling.entrant} does not play {match}")
        if ruling.kind == "replay":
            self._check_running()
            if fixture in self._due.fixtures(number):
                raise BadRuling(f"{match} is to be played anyway")
        self._take_back(fixture, ruling.reason)
        if ruling.kind == "replay":
            self._play_again(fixture)
        else:
            names = tuple(self.spec.entrants[entrant].name for entrant in fixture.entrants)
            entry = make_ruled_entry(fixture, names, winner)
            if winner is not None:
                self.awards[fixture.number, fixture.leg] = entry
            self._count(entry)

    def _take_back(self, fixture: Fixture, why: str) -> None:
        """Take back the result of a match, if it has one. Then its pairing is due again."""
        decided = self._decided.get(fixture.number)
        if decided is not None:
            state = self._format.revise(self._state, decided.played, None)
            due = {pairing.number for pairing in self._format.due(state)} | self.taken_back
            self._due.check_no_match_depends(self.playing, due)
            self._state = state
            self._decided.take_back(fixture.number)
            self._due.add(decided.played.pairing, decided.legs)
            self.taken_back.add(fixture.number)
        self.awards.pop((fixture.number, fixture.leg), None)
        entry = self._due.results(fixture.number).get(fixture.leg)
        if entry is not None:
            self.played -= entry.head != ""
            self._command(c.DisregardMatch(match=entry.match, why=why))

    # --- what follows

    def _command(self, command: c.TournamentCommand) -> None:
        self._commands.append(command)

    def _play_again(self, fixture: Fixture) -> None:
        self._command(c.PlayMatch(fixture=self._due.play_again(fixture)))

    def _count(self, entry: MatchEntry) -> None:
        """Count the result of a match, whether it was played or ruled."""
        pairing = self._due[entry.fixture.number]
        if entry.head:
            self.played += 1
        if self._due.close(entry):
            self._conclude(pairing)

    def _conclude(self, pairing: Pairing) -> None:
        """Pass the result of a pairing to the format and the crosstable, and suspend entrants that failed too often."""
        number, legs = pairing.number, self._due.results(pairing.number)
        entries = [legs[leg] for leg in sorted(legs)]
        played = combine_legs(pairing, entries, self.spec.scoring)
        self.failures.note(number, entries)
        before = self._format.first_open(self._state, pairing)
        leaving = [failed.entrant for failed in self.failures.find_suspensions(before) if failed.number == number]
        is_again = number in self.taken_back
        if is_again:
            self.taken_back.remove(number)
            self._state = self._format.revise(self._state, None, played)
        else:
            self._state = self._format.conclude(self._state, played, leaving)
        self.concluded.append(played)
        self._decided.add(Decided(played, legs))
        self._due.forget(number)
        self._suspend_failing(pairing, is_again=is_again)

    def _suspend_failing(self, through: Pairing, *, is_again: bool = False) -> None:
        """Suspend the entrants whose programs have failed to start too often, now that a pairing is decided."""
        while failing := self.failures.find_suspensions(self._format.first_open(self._state, through)):
            self._suspend(failing[0], is_again=is_again)

    def _suspend(self, failed: Failure, *, is_again: bool) -> None:
        """Suspend an entrant whose program has failed to start too often.

        If the entrant has already finished later pairings, their results are taken back and become walkovers. This can
        happen only if it plays several matches at a time. It does not happen after a replay that a ruling ordered.
        """
        entrant, why = failed.entrant, failed.why
        self.failures.settle(entrant)
        if entrant in self.suspended:
            return
        for decided in () if is_again else self._decided.later(entrant, failed.number):
            self._reopen(decided, f"{self.spec.entrants[entrant].name} had {why}")
        self._withdraw(entrant, why)

    def _reopen(self, decided: Decided, why: str) -> None:
        """Take back a result, so that the format issues the pairing again."""
        pairing = decided.played.pairing
        self._forget_awards(pairing.number)
        self._decided.take_back(pairing.number)
        self.failures.take_back(pairing.number)
        for entry in decided.legs.values():
            self.played -= entry.head != ""
            self._command(c.DisregardMatch(match=entry.match, why=why))
        self._state = self._format.reopen(self._state, pairing)
        self.concluded.append(replace(decided.played, ranking=(), legs=()))

    def _forget_awards(self, number: int) -> None:
        for leg in range(self.spec.legs):
            self.awards.pop((number, leg), None)

    def _withdraw(self, entrant: int, why: str) -> None:
        suspension = c.SuspendEntrant(entrant=entrant, why=why)
        is_new = entrant not in self.suspended
        self.suspended[entrant] = suspension
        self._command(suspension)
        if is_new:
            self._decided.withdraw(entrant)
            self._state = self._format.withdraw(self._state, entrant)

    def _settle(self) -> None:
        """Give all due byes, and issue commands for pairings that have become due or are no longer due."""
        # A bye can end a round, and the format may then pair the next round, with another bye. So the list of due
        # pairings is read again after each bye.
        due = self._list_due()
        while (pairing := next((pairing for pairing in due if pairing.is_bye), None)) is not None:
            self._give_bye(pairing)
            self._suspend_failing(pairing)
            due = self._list_due()
        now = {pairing.number: pairing for pairing in due}
        for number in self._due.find_obsolete(now):
            if number not in self.taken_back:
                self._call_off(number)
        for pairing in due:
            if pairing.number not in self._due:
                for fixture in self._due.add(pairing):
                    self._command(c.PlayMatch(fixture=fixture))
        self._order, self._settled = tuple(now), self._state
        request = self.to_pair
        if request is not None and request.round != self._last_asked_round:
            self._last_asked_round = request.round
            self._command(c.PairRound(round=request.round))

    def _give_bye(self, pairing: Pairing) -> None:
        (entrant,) = pairing.seats
        number, round_, table, against = pairing.number, pairing.round, pairing.table, pairing.against
        self._command(c.GiveBye(number=number, round=round_, entrant=entrant, table=table, against=against))
        if number in self._due:
            self._call_off(number)
        played = bye(pairing)
        self._state = self._format.record(self._state, played)
        self.concluded.append(played)
        self._decided.add(Decided(played, {}))

    def _call_off(self, number: int) -> None:
        """Cancel a pairing that is no longer due or has become a bye."""
        self._forget_awards(number)
        for fixture in self._due.call_off(number):
            self._command(c.CallOff(match=fixture.match))
