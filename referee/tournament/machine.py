"""The fold of a tournament: the only place where its state changes. `Tournament.handle(event)` returns the commands.

It knows no clock, file, process or log. The same fold runs a tournament, audits its record and takes it up again, so
nothing else decides what is played next, whose result counts and who is where in the end.
"""

from msgspec.structs import replace

from ..errors import RefereeError
from . import commands as c
from . import events as e
from .decisions import Decided, decidable, entrant_called, place_of, ruled
from .failures import TooMany
from .legs import combined
from .match_context import Fixture, MatchEntry
from .pairing.base import BadPairing, BadRuling, Pairing, bye
from .placing import placed
from .state import TournamentState


class ImpossibleEvent(RefereeError):
    """An event that can't happen as the tournament stands: a mistake of whoever runs it; nothing has changed."""


class Tournament(TournamentState):
    """The course of one tournament.

    Args:
        spec: what was settled.
        format_: of the spec's name.
        shuffle: the only source of chance, for the format.

    Raises:
        BadFormat: the format can't be played with these options and entrants.
    """

    def handle(self, event: e.TournamentEvent) -> tuple[c.TournamentCommand, ...]:
        """Take an event into the tournament.

        Returns:
            What follows from it, in order.

        Raises:
            ImpossibleEvent: it can't happen now; the tournament is unchanged.
            BadRuling: the ruling can't be carried out; the text says why, and the tournament is unchanged.
        """
        self._commands, self.concluded = [], []
        self._take(event)
        if self._state is not self._settled:
            self._settle()
        return tuple(self._commands)

    # --- events

    def _take(self, event: e.TournamentEvent) -> None:
        match event:
            case e.MatchOpened():
                self._opened(event)
            case e.MatchClosed():
                self._closed(event)
            case e.RoundPaired():
                self._paired(event)
            case e.EntrantJoined():
                self._joined(event)
            case e.ProgramChanged():
                self._changed(event)
            case e.Ruled():
                self._ruled(event)
            case e.Finished():
                self._finished()

    def _opened(self, event: e.MatchOpened) -> None:
        fixture = event.fixture
        if fixture.match in self.playing:
            raise ImpossibleEvent(f"{fixture.match} is being played already")
        if fixture not in self.fixtures():
            raise ImpossibleEvent(f"{fixture.match} is not to be played now, or was opened for something else")
        self.playing[fixture.match] = fixture

    def _closed(self, event: e.MatchClosed) -> None:
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
            self._tell(c.DisregardMatch(match=entry.match, why="somebody withdrew before it was over"))
        elif entry.void is not None:
            self.voided += 1
            self._play_again(fixture)
        else:
            self._count(entry)

    def _paired(self, event: e.RoundPaired) -> None:
        asked = self.to_pair
        if asked is None or asked.round != event.round:
            raise ImpossibleEvent(f"round {event.round} is not to be paired now")
        try:
            if event.output is None:
                self._state = self._format.paired(self._state, event.tables)
            else:
                self._state = self._format.paired_by_program(self._state, event.tables, event.output)
        except BadPairing as error:
            raise ImpossibleEvent(f"round {event.round}: {error}") from None

    def _joined(self, event: e.EntrantJoined) -> None:
        self._state = self.joined(event.participant)
        self.spec = replace(self.spec, entrants=(*self.spec.entrants, event.participant))
        self._decided.join(self.spec.field())

    def _changed(self, event: e.ProgramChanged) -> None:
        if not 0 <= event.entrant < len(self.spec.entrants):
            raise ImpossibleEvent(f"there is no entrant {event.entrant}")
        self.failures.forgive(event.entrant)
        self._state = self._format.renew(self._state, event.entrant)
        self._decided.renew(event.entrant)

    def _finished(self) -> None:
        if not self.is_over or self.playing:
            raise ImpossibleEvent("matches are still to be played")
        self._tell(c.EndTournament(standings=placed(self)))

    # --- rulings

    def _ruled(self, event: e.Ruled) -> None:
        ruling = event.ruling
        if any(known.id == ruling.id for known in self.rulings):
            raise ImpossibleEvent(f"the ruling {ruling.id} was carried out before")
        if ruling.kind == e.OF_ALL:
            self._stop(ruling)
        elif ruling.match is not None:
            self._rule_on_match(ruling, ruling.match)
        elif ruling.entrant is not None:
            self._rule_on_entrant(ruling, entrant_called(ruling.entrant, self.spec))
        self.rulings.append(ruling)

    def _stop(self, ruling: e.Ruling) -> None:
        """Let no pairing begin any more; those that have begun are played to their last leg."""
        self._check_goes_on()
        if self.is_over:
            raise BadRuling(f"{self.spec.name} is over: there is nothing to stop")
        self.stopped = ruling
        for number in self._due.not_begun(self.playing.values()):
            self._give_up(number)
            self.taken_back.discard(number)
        self._settled = None  # other pairings are due, though the format's state is the same

    def _rule_on_entrant(self, ruling: e.Ruling, entrant: int) -> None:
        if ruling.kind == "reinstate":
            if entrant not in self.suspended:
                raise BadRuling(f"{ruling.entrant} takes part: there is nothing to reinstate")
            self._state = self._format.reinstate(self._state, entrant)
            del self.suspended[entrant]
            self.disqualified.discard(entrant)
            self.failures.forgive(entrant)
            self._decided.reinstate(entrant, self._format.rounds_paired(self._state))
            return
        if entrant in self.suspended and (ruling.kind == "withdraw" or entrant in self.disqualified):
            raise BadRuling(f"{ruling.entrant} plays no more already: {self.suspended[entrant].why}")
        if ruling.kind == "disqualify":
            self.disqualified.add(entrant)
        self._withdraw(entrant, ruling.reason)

    def _rule_on_match(self, ruling: e.Ruling, match: str) -> None:
        number, leg = place_of(match, self.spec.name)
        found = self._decided.fixture(number, leg) or self._due.fixture(number, leg)
        fixture = decidable(match, found, self.playing)
        winner = None if ruling.entrant is None else entrant_called(ruling.entrant, self.spec)
        if winner is not None and winner not in fixture.entrants:
            raise BadRuling(f"{ruling.entrant} does not play {match}")
        if ruling.kind == "replay":
            self._check_goes_on()
            if fixture in self._due.fixtures(number):
                raise BadRuling(f"{match} is to be played anyway")
        self._take_back(fixture, ruling.reason)
        if ruling.kind == "replay":
            self._play_again(fixture)
        else:
            names = tuple(self.spec.entrants[entrant].name for entrant in fixture.entrants)
            entry = ruled(fixture, names, winner)
            if winner is not None:
                self.awards[fixture.number, fixture.leg] = entry
            self._count(entry)

    def _take_back(self, fixture: Fixture, why: str) -> None:
        """Take the result of a match back, if it has one; its pairing is due again then."""
        decided = self._decided.get(fixture.number)
        if decided is not None:
            state = self._format.revise(self._state, decided.played, None)
            due = {pairing.number for pairing in self._format.due(state)} | self.taken_back
            self._due.check_unplayed(self.playing, due)
            self._state = state
            self._decided.take_back(fixture.number)
            self._due.add(decided.played.pairing, decided.legs)
            self.taken_back.add(fixture.number)
        self.awards.pop((fixture.number, fixture.leg), None)
        entry = self._due.results(fixture.number).get(fixture.leg)
        if entry is not None:
            self.played -= entry.head != ""
            self._tell(c.DisregardMatch(match=entry.match, why=why))

    # --- what follows

    def _tell(self, command: c.TournamentCommand) -> None:
        self._commands.append(command)

    def _play_again(self, fixture: Fixture) -> None:
        self._tell(c.PlayMatch(fixture=self._due.play_again(fixture)))

    def _count(self, entry: MatchEntry) -> None:
        """Count what came of a match, by play or by a ruling."""
        pairing = self._due[entry.fixture.number]
        if entry.head:
            self.played += 1
        if self._due.close(entry):
            self._conclude(pairing)

    def _conclude(self, pairing: Pairing) -> None:
        """Hand a pairing's result to the format and to the table, and suspend whom it is the last one of."""
        number, legs = pairing.number, self._due.results(pairing.number)
        entries = [legs[leg] for leg in sorted(legs)]
        played = combined(pairing, entries, self.spec.scoring)
        self.failures.note(number, entries)
        before = self._format.first_open(self._state, pairing)
        leaving = [failed.entrant for failed in self.failures.reached(before) if failed.number == number]
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
        """Suspend whose program has failed to start too often, now that a pairing is through."""
        while failing := self.failures.reached(self._format.first_open(self._state, through)):
            self._fail(failing[0], is_again=is_again)

    def _fail(self, failed: TooMany, *, is_again: bool) -> None:
        """Suspend a program that has failed to start too often.

        What an entrant with copies has played beyond that pairing meanwhile becomes walkovers, unless this is a match
        that is played again by a ruling.
        """
        entrant, why = failed.entrant, failed.why
        self.failures.settle(entrant)
        if entrant in self.suspended:
            return
        for decided in () if is_again else self._decided.later(entrant, failed.number):
            self._reopen(decided, f"{self.spec.entrants[entrant].name} had {why}")
        self._withdraw(entrant, why)

    def _reopen(self, decided: Decided, why: str) -> None:
        """Take a result back, whose pairing is none of the format's past any more."""
        pairing = decided.played.pairing
        self._forget_awards(pairing.number)
        self._decided.take_back(pairing.number)
        self.failures.take_back(pairing.number)
        for entry in decided.legs.values():
            self.played -= entry.head != ""
            self._tell(c.DisregardMatch(match=entry.match, why=why))
        self._state = self._format.reopen(self._state, pairing)
        self.concluded.append(replace(decided.played, ranking=(), legs=()))

    def _forget_awards(self, number: int) -> None:
        for leg in range(self.spec.legs):
            self.awards.pop((number, leg), None)

    def _withdraw(self, entrant: int, why: str) -> None:
        suspension = c.SuspendEntrant(entrant=entrant, why=why)
        is_new = entrant not in self.suspended
        self.suspended[entrant] = suspension
        self._tell(suspension)
        if is_new:
            self._decided.withdraw(entrant)
            self._state = self._format.withdraw(self._state, entrant)

    def _settle(self) -> None:
        """Give every bye that is due, and note what is to be played, paired, or not any more."""
        due = self._wanted()
        while (pairing := next((pairing for pairing in due if pairing.is_bye), None)) is not None:
            self._give_bye(pairing)
            self._suspend_failing(pairing)
            due = self._wanted()
        now = {pairing.number: pairing for pairing in due}
        for number in self._due.outdated(now):
            if number not in self.taken_back:
                self._give_up(number)
        for pairing in due:
            if pairing.number not in self._due:
                for fixture in self._due.add(pairing):
                    self._tell(c.PlayMatch(fixture=fixture))
        self._order, self._settled = tuple(now), self._state
        asked = self.to_pair
        if asked is not None and asked.round != self._asked_round:
            self._asked_round = asked.round
            self._tell(c.PairRound(round=asked.round))

    def _give_bye(self, pairing: Pairing) -> None:
        (entrant,) = pairing.seats
        number, round_, table, against = pairing.number, pairing.round, pairing.table, pairing.against
        self._tell(c.GiveBye(number=number, round=round_, entrant=entrant, table=table, against=against))
        if number in self._due:
            self._give_up(number)
        played = bye(pairing)
        self._state = self._format.record(self._state, played)
        self.concluded.append(played)
        self._decided.add(Decided(played, {}))

    def _give_up(self, number: int) -> None:
        """Give up a pairing that is not due any more, or has become a bye."""
        self._forget_awards(number)
        for fixture in self._due.give_up(number):
            self._tell(c.CallOff(match=fixture.match))
