"""Verifies the record of a tournament, and checks that the records of its matches belong to it."""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from msgspec import Struct

from ... import chance
from ...games.base import BadSetup, Game
from ...text import is_blank, show_json
from ...tournament import events as e
from ...tournament.history import History, new_tournament
from ...tournament.machine import Tournament
from ...tournament.match_context import Fixture, MatchContext, MatchEntry
from ...tournament.pairing.base import PairingFormat, RoundToPair
from ...tournament.spec import REMOTE, Participant, TournamentSpec
from ..reader import NotSealed, Record, RecordError, check_key, read_entry
from ..schema import Header
from ..tournament_record import TournamentHeader, TournamentRecord, read_tournament, refold
from .match import FindGame

PairRounds = Callable[[Sequence[RoundToPair]], Iterable[tuple[tuple[tuple[int, ...], ...], str]]]
"""Function that pairs several rounds again. It yields each round's tables, and the pairing program with its version.

All rounds are known beforehand, so they can be paired at the same time.
"""
MAX_ROUNDS_TOGETHER = 64
"""Maximum number of rounds that are paired together, because each of them holds all results before it in memory."""


class EventChecks:
    """Checks of a tournament's events that the fold does not make. The fold has already accepted each event.

    Args:
        path: path of the record.
        header: first line of the record.
        tournament: the tournament to which the events are applied.

    Raises:
        RecordError: the header has the digest of a remote program, which the referee can't have read.
    """

    def __init__(self, path: Path, header: TournamentHeader, tournament: Tournament) -> None:
        self._path = path
        self._tournament = tournament
        self._programs: dict[str, str | None] = dict(header.programs)
        self._is_running = False
        self._has_begun = False
        self._lasts: dict[str, set[bool]] = {}
        """Opened match -> for each line since then, whether it was the last leg of its deal without a result."""
        for participant in header.spec.entrants:
            self._check_digest(0, participant, header.programs.get(participant.name))

    def take(self, number: int, event: e.TournamentEvent) -> None:
        """Check the event of a line.

        Raises:
            RecordError: the event contradicts the events before it.
        """
        if isinstance(event, e.MatchOpened):
            self._lasts[event.fixture.match] = set()
        self._check_run(number, event)
        match event:
            case e.RoundPaired() if is_blank(event.by):
                expected = "name and version of the program that paired the round"
                raise RecordError(self._path, number, expected, show_json(event.by))
            case e.EntrantJoined():
                self._check_digest(number, event.participant, event.digest)
                self._programs[event.participant.name] = event.digest
            case e.ProgramChanged():
                self._change(number, event)
        if self._tournament.spec.duplicate:
            for fixture in self._tournament.playing.values():
                self._lasts[fixture.match].add(self._tournament.is_last_leg(fixture))

    def may_be_last(self, match: str) -> frozenset[bool]:
        """Return the possible answers to whether a match began as the last leg of its deal: True, False or both."""
        return frozenset(self._lasts.get(match, ()))

    def _check_run(self, number: int, event: e.TournamentEvent) -> None:
        """Check that the tournament begins once, and that it has no events while no referee runs it."""
        begins = isinstance(event, e.Begun | e.TournamentResumed)
        if isinstance(event, e.Begun) and self._has_begun:
            raise RecordError(self._path, number, "one beginning of the tournament", "another one")
        if not begins and not self._is_running:
            kind = type(event).__struct_config__.tag
            raise RecordError(self._path, number, "the beginning of the tournament, or its continuation", f"{kind}")
        self._has_begun = True
        self._is_running = not isinstance(event, e.Stopped | e.Finished)

    def _change(self, number: int, event: e.ProgramChanged) -> None:
        participant = self._tournament.spec.entrants[event.entrant]
        self._check_digest(number, participant, event.digest)
        if self._programs.get(participant.name) == event.digest:
            expected = f"a program of {participant.name} that differs from the previous one"
            raise RecordError(self._path, number, expected, event.digest)
        self._programs[participant.name] = event.digest

    def _check_digest(self, number: int, participant: Participant, digest: str | None) -> None:
        if digest is not None and participant.player == REMOTE:
            expected = f"no digest of {participant.name}, whose program runs elsewhere"
            raise RecordError(self._path, number, expected, digest)


class MatchProof(Struct, frozen=True, kw_only=True):
    """Facts from the verified record of a match that concern its tournament."""

    path: Path
    header: Header
    entry: MatchEntry | None
    """Entry of the match; None if the match is not over."""
    seed: bytes | None

    @classmethod
    def of(cls, record: Record) -> Self:
        """Extract the facts from a record with a context."""
        entry = None if record.seal is None else read_entry(record)
        return cls(path=record.path, header=record.header, entry=entry, seed=record.seed)


class AuditedTournament:
    """A tournament whose own record was verified. Its methods compare the records of its matches with it.

    Args:
        record: record of the tournament.
        history: history of the tournament after all its events.
        taken_on_trust: rounds that were not paired again.
        events: checks of its events.
    """

    def __init__(
        self, record: TournamentRecord, history: History, taken_on_trust: tuple[int, ...], events: EventChecks
    ) -> None:
        self.record = record
        self.history = history
        self._events = events
        self.taken_on_trust = taken_on_trust
        """Rounds that another program, or another version of it, had paired. Only the rules of pairing were checked."""
        self.contexts = record.contexts
        """Name of a match -> the context that its own record must have."""
        self._none = RecordError if record.is_sealed else NotSealed
        """Error for missing content. If the tournament is not sealed, the referee may just have written it."""
        self._closed = {entry.match: entry for entry in history.entries}
        self._line = {
            transition.event.entry.match: transition.n
            for transition in record.transitions
            if isinstance(transition.event, e.MatchClosed)
        }
        self._opened = {
            transition.event.fixture.match: transition.n
            for transition in record.transitions
            if isinstance(transition.event, e.MatchOpened)
        }
        self._deals: dict[int, bytes] = {}
        self._dealt: dict[bytes, int | str] = {}

    @property
    def spec(self) -> TournamentSpec:
        """Settings of the tournament, including the entrants that joined later."""
        return self.history.tournament.spec

    def check_files(self, files: Collection[Path], *, is_whole: bool) -> None:
        """Check that a folder has the records of all matches that were played, and no others.

        Args:
            files: audited records below the folder, without the tournament's record.
            is_whole: True if these are all records below the folder.

        Raises:
            RecordError: a record is missing, a record does not belong here, or the tournament's file has a wrong name.
        """
        path, folder, there = self.record.path, self.record.path.parent, set(files)
        if is_whole and path.stem != self.spec.name:
            raise RecordError(path, None, f"the record of a tournament called {path.stem}", f"that of {self.spec.name}")
        for match in self._closed if is_whole else ():
            if folder / f"{match}.jsonl" not in there:
                raise self._none(folder / f"{match}.jsonl", None, f"the record of {match}, which was played", "none")
        for file in sorted(there):
            if file.parent != folder or file.stem not in self.contexts:
                raise RecordError(file, None, f"only records of matches that {path.name} lists", "this one")

    def without_proof(self, proofs: Collection[MatchProof]) -> tuple[str, ...]:
        """List the played matches whose records were not verified."""
        proven = {proof.path.stem for proof in proofs}
        return tuple(match for match in self._closed if match not in proven)

    def check_head(self, path: Path, header: Header, head: str) -> None:
        """Check that a redacted record was made from the sealed record of the match.

        Args:
            path: the record. Its file name is the name of an opened match.
            header: first line of the record.
            head: hash of the last line before the seal.

        Raises:
            RecordError: the record was made from another one.
        """
        self._check_opening(path, header)
        self._check_leg(path, header)
        entry = self._closed.get(path.stem)
        if entry is not None and entry.head != head:
            line = self._line[path.stem]
            raise RecordError(path, None, f"head {entry.head}, as in line {line} of {self.record.path.name}", head)

    def check_sealed(self) -> None:
        """Check that the record ends with a seal.

        Raises:
            NotSealed: it does not end with a seal.
        """
        record = self.record
        if not record.is_sealed:
            end = "the end of a record whose referee crashed or still runs"
            last_line = "a torn line" if record.chain.rest else end
            raise NotSealed(record.path, len(record.chain.lines), "a seal", last_line)

    def check_broken(self, path: Path, line: int | None, *, is_unfinished: bool) -> None:
        """Refuse a match's record that does not hold, because the tournament's results depend on it.

        Args:
            path: path of the record.
            line: number of the line that does not hold.
            is_unfinished: True if all lines hold, and only the end with the seal is missing.

        Raises:
            RecordError: always, except for an unfinished match that the tournament has not closed.
        """
        if is_unfinished and path.stem not in self._closed:
            return
        error = self._none if is_unfinished else RecordError
        expected = "a record that holds, because the tournament's result depends on it"
        raise error(path, line, expected, "one that does not")

    def _check_opening(self, path: Path, header: Header) -> None:
        """Check that a match's record names the line of the tournament's record that opened the match."""
        match, name, stated = path.stem, self.record.path.name, header.context
        context = self.contexts.get(match)
        if stated != context or context is None:
            expected = f"the record of {match} that line {self._opened.get(match, 0)} of {name} opened"
            raise RecordError(path, 0, expected, _told_opening(stated, context))
        check_key(path, 0, header.key, (self.record.header.key,))

    def check_match(self, proof: MatchProof, find_game: FindGame) -> None:
        """Check that the record of a match agrees with the tournament's record.

        Raises:
            RecordError: the record belongs to another match or another attempt, or has another setup or result.
            Exception: find_game does not know the game.
        """
        path, header, name = proof.path, proof.header, self.record.path.name
        self._check_opening(path, header)
        context = self.contexts[path.stem]
        _check_setup(proof, self.spec, context.fixture, find_game(self.spec.game))
        self._check_leg(path, header)
        self._check_deal(proof, context.fixture.number)
        entry = self._closed.get(path.stem)
        if entry is not None:
            if proof.entry is None:
                what = f"the result of line {self._line[path.stem]} of {name}, and its seal"
                raise self._none(path, None, what, "none")
            _check_entry(proof, proof.entry, entry, f"line {self._line[path.stem]} of {name}")

    def _check_leg(self, path: Path, header: Header) -> None:
        """Check that only the last leg of a deal reveals the seed at its end."""
        opens, may_be_last = header.setup.seed_opens, self._events.may_be_last(path.stem)
        if opens != "at-end" and (opens == "at-end-unless-void") not in may_be_last:
            legs = "after-last-leg, because other legs followed" if False in may_be_last else "at-end-unless-void"
            raise RecordError(path, 0, f"seed_opens {legs}", f"seed_opens {opens}")

    def _check_deal(self, proof: MatchProof, number: int) -> None:
        """Check that all legs of one pairing have the same deal, and that no other match has it."""
        if proof.seed is None or self.spec.seed is not None:
            return
        deal = self._deals.setdefault(number, proof.seed) if self.spec.duplicate else None
        if deal is not None and deal != proof.seed:
            raise RecordError(proof.path, None, "the deal of the other matches of its pairing", "another one")
        before = self._dealt.setdefault(proof.seed, number if self.spec.duplicate else proof.path.stem)
        if before not in (number, proof.path.stem):
            raise RecordError(proof.path, None, "a deal that no other match has", f"the deal of {before}")


def audit_tournament(
    path: Path,
    find_format: Callable[[str], PairingFormat[Any]],
    find_game: FindGame,
    pair: PairRounds,
    *,
    keys: Collection[str] = (),
    is_strict: bool = True,
) -> AuditedTournament:
    """Verify the record of a tournament, without the records of its matches.

    Args:
        path: the record.
        find_format: function that returns a pairing format, given its name.
        find_game: function that returns the rules of a game, given its name.
        pair: function that pairs rounds again. If another program, or another version of it, had paired a round, only
            the rules of pairing are checked.
        keys: public keys in hex, one of which must have sealed the record. If empty, the key that the record names
            counts.
        is_strict: True to refuse a record that does not end with a seal.

    Raises:
        RecordError: a line does not hold. The error names the first such line.
        NotSealed: all lines hold, the last one is no seal, and is_strict is True.
        Exception: find_format does not know the format, or find_game does not know the game.
    """
    record = read_tournament(path)
    header = record.header
    check_key(path, 0, header.key, keys)
    _check_spec(path, header.spec, find_game(header.spec.game))
    history = History(new_tournament(header.spec, find_format(header.spec.format), header.salt))
    rounds, due_round = _Rounds(path, pair), None
    events = EventChecks(path, header, history.tournament)
    try:
        for transition in refold(record, history.take):
            if isinstance(transition.event, e.RoundPaired) and due_round is not None:
                rounds.add(due_round, transition.event, transition.line)
            events.take(transition.line, transition.event)
            due_round = history.tournament.to_pair
    except RecordError:
        rounds.check()  # it covers earlier lines, so an error in it is reported first
        raise
    rounds.check()
    audited = AuditedTournament(record, history, tuple(sorted(rounds.on_trust)), events)
    if is_strict:
        audited.check_sealed()
    return audited


class _Rounds:
    """Collects the rounds of a tournament, and pairs them again in batches.

    Args:
        path: path of the record.
        pair: function that pairs the rounds.
    """

    def __init__(self, path: Path, pair: PairRounds) -> None:
        self.on_trust: list[int] = []
        """Rounds that were not paired again, because another program, or another version of it, had paired them."""
        self._path = path
        self._pair = pair
        self._waiting: list[tuple[RoundToPair, e.RoundPaired, int]] = []

    def add(self, asked: RoundToPair, event: e.RoundPaired, line: int) -> None:
        """Add a round from a line of the record.

        Raises:
            RecordError: this round or an earlier one must be paired in another way.
        """
        if event.output is not None:
            self.on_trust.append(asked.round)  # the fold has checked the program's output against the rules
            return
        self._waiting.append((asked, event, line))
        if len(self._waiting) == MAX_ROUNDS_TOGETHER:
            self.check()

    def check(self) -> None:
        """Pair the collected rounds again, and compare.

        Raises:
            RecordError: a round must be paired in another way.
        """
        waiting, self._waiting = self._waiting, []
        paired = self._pair([asked for asked, _, _ in waiting])
        for (asked, event, line), (tables, by) in zip(waiting, paired, strict=True):
            if by != event.by:
                self.on_trust.append(asked.round)
            elif tables != event.tables:
                raise RecordError(
                    self._path, line, f"the tables according to {by}: {show_json(tables)}", show_json(event.tables)
                )


def _told_opening(told: MatchContext | None, context: MatchContext | None) -> str:
    """Describe the wrong opening that a match's record states."""
    if told is None:
        return "the record of a match that belongs to no tournament"
    if context is not None and told.tournament != context.tournament:
        return f"a file that holds the record of {told.fixture.match}, a match of {told.tournament}"
    if context is None or told.fixture.match != context.fixture.match:
        return f"a file that holds the record of {told.fixture.match}"
    pairs = [(name, getattr(told.fixture, name)) for name in told.fixture.__struct_fields__]
    others = ", ".join(f"{name} {show_json(value)}" for name, value in pairs if value != getattr(context.fixture, name))
    return f"one with {others}" if others else f"one that a line with the hash {told.head} opened"


def _check_entry(proof: MatchProof, proven: MatchEntry, entry: MatchEntry, where: str) -> None:
    """Check that a match ended as the tournament's record states."""
    for field in entry.__struct_fields__:
        expected, there = getattr(entry, field), getattr(proven, field)
        if expected != there:
            what = f"{field} {show_json(expected, 200)}, as in {where}"
            raise RecordError(proof.path, None, what, show_json(there, 200))


def _check_spec(path: Path, spec: TournamentSpec, game: Game[Any, Any, Any]) -> None:
    """Check the parts of a spec that neither the parser nor the fold checks."""
    names = [entrant.name for entrant in spec.entrants]
    if len(set(names)) < len(names):
        raise RecordError(path, 0, "a different name for each entrant", f"{', '.join(names)}")
    options = _options(path, game, spec.options)
    try:
        teams = game.teams(options, spec.seats)
    except BadSetup as error:
        raise RecordError(path, 0, f"a setup of {game.name}", str(error)) from None
    if spec.scoring.teams != teams:
        raise RecordError(path, 0, f"teams {show_json(teams)}, as in {game.name}", show_json(spec.scoring.teams))


def _check_setup(proof: MatchProof, spec: TournamentSpec, fixture: Fixture, game: Game[Any, Any, Any]) -> None:
    """Check that a match has the setup that the tournament's spec requires."""
    setup, path = proof.header.setup, proof.path
    expected = {
        "match": fixture.match,
        "lot": False,
        "game": spec.game,
        "options": _options(path, game, spec.options),
        "names": tuple(spec.entrants[entrant].name for entrant in fixture.entrants),
        "acknowledge": spec.acknowledge,
        "time": spec.time,
        "lag_margin_ms": spec.lag_margin_ms,
        "default_margin": spec.scoring.default_margin,
        "position": None,
        "nonces": spec.seed is None and not spec.duplicate,
        "programs": [spec.entrants[entrant].player for entrant in fixture.entrants],
    }
    actual = {name: getattr(proof.header if name == "programs" else setup, name) for name in expected}
    actual["options"] = _options(path, game, setup.options)
    for name, value in expected.items():
        if actual[name] != value:
            raise RecordError(path, 0, f"{name} {show_json(value, 140)}, as in the spec", show_json(actual[name], 140))
    shares = spec.duplicate and spec.seed is None
    if shares != (setup.seed_opens != "at-end"):
        seed_use = "a seed that stays secret until the last leg of its deal" if shares else "a seed that is revealed"
        raise RecordError(path, 0, seed_use, f"seed_opens {setup.seed_opens}")
    durability = None if spec.durability == "match" else spec.durability
    if proof.header.durability != durability:
        raise RecordError(
            path, 0, f"durability {show_json(durability)}, as in the spec", show_json(proof.header.durability)
        )
    if spec.seed is not None:
        deal = chance.seed_from_number(chance.deal_number(spec.seed, fixture.number)).hex()
        if proof.header.seed != deal:
            raise RecordError(
                path, 0, f"{deal}, the deal that follows from seed {spec.seed}", show_json(proof.header.seed)
            )


def _options(path: Path, game: Game[Any, Any, Any], options: dict[str, Any]) -> Any:
    """Parse the options of a game, with their defaults."""
    try:
        return game.parse_options(dict(options))
    except BadSetup as error:
        raise RecordError(path, 0, f"options of {game.name}", str(error)) from None
