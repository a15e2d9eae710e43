"""Small tournaments, played in folds and recorded as a referee would: without network, programs and clock.

They are always valid.
"""

from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Self

from msgspec.structs import replace

from referee import chance
from referee.app.tournaments.beginning import hash_programs
from referee.match.events import MatchOpened
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.net.tournaments.play import Recorder
from referee.observers import Observers
from referee.plugins import find_game, load
from referee.record.key import Sealer
from referee.record.tournament_record import TournamentWriter, read_tournament, record_path, refold
from referee.record.writer import RecordWriter
from referee.testing import Choose, ScriptedSeat
from referee.tournament import events as e
from referee.tournament.history import new_tournament
from referee.tournament.machine import Tournament
from referee.tournament.match_context import Fixture, MatchContext, MatchEntry, make_entry
from referee.tournament.rulings import Kind, Ruling
from referee.tournament.spec import TournamentSpec

from ..driving import drive, random_chooser
from ..tournament.playing import AT, paired, spec_of
from .records import SEALER

FORMATS = load().formats
ROUNDS = 3


def cup(size: int = 7, **more: Any) -> TournamentSpec:
    """Return the spec of a Swiss of Quincy."""
    given: dict[str, Any] = {"game": "quincy", "format_options": {"rounds": ROUNDS}, **more}
    return spec_of(size, "swiss", **given)


class Organiser:
    """Runs a tournament in a folder, one match at a time; used as a context, it seals the record at the end.

    Args:
        folder: a new folder, or the folder of a tournament to continue.
        spec: what is played.
        random: decides who wins, and all deals.
        sealer: the key.
    """

    def __init__(self, folder: Path, spec: TournamentSpec, random: Random, sealer: Sealer = SEALER) -> None:
        self.folder = folder
        self.random = random
        self.sealer = sealer
        folder.mkdir(parents=True, exist_ok=True)
        path, salt = record_path(folder, spec.name), random.randbytes(16).hex()
        record = read_tournament(path) if path.exists() else None
        salt = salt if record is None else record.header.salt
        self.process = f"process {0 if record is None else len(record.transitions)}"
        self.clock_ms = 0.0
        self.tournament: Tournament = new_tournament(spec, FORMATS[spec.format], salt)
        self.writer = TournamentWriter(path, sealer, None if record is None else record.chain.end)
        self.recorder = Recorder(self.tournament, self.writer, Observers(), clock=lambda: AT)
        if record is None:
            self.writer.write_header(spec, salt, hash_programs(spec.entrants), referee="0.0", opened=AT)
            self.recorder.take(e.Begun(at=AT, processes=(self.process,)))
        else:
            for _ in refold(record, self.tournament.handle):
                pass
            self.recorder.take(e.TournamentResumed(at=AT, referee="0.0", processes=(self.process,)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with closing(self.writer):
            self.recorder.seal()

    def rule(self, kind: Kind, *, entrant: str | None = None, match: str | None = None) -> None:
        """Decide something."""
        number = len(self.tournament.rulings) + 1
        ruling = Ruling(id=f"{number:08x}", kind=kind, entrant=entrant, match=match, reason="so decided", by="Ada")
        self.recorder.take(e.Ruled(at=AT, ruling=ruling))

    def due(self) -> list[Fixture]:
        """Return the matches that may be opened now, after pairing a round if one is due."""
        while (asked := self.tournament.to_pair) is not None:
            self.recorder.take(paired(asked))
        return [fixture for fixture in self.tournament.fixtures() if fixture.match not in self.tournament.playing]

    def play(self, most: int | None = None, at_once: int = 2) -> int:
        """Play matches, some of them at the same time, as long as any is due; return how many."""
        played = 0
        while (most is None or played < most) and (fixtures := self.due()[:at_once]):
            contexts = [self.recorder.open(fixture) for fixture in fixtures]
            self.random.shuffle(contexts)
            for context in contexts:
                self.recorder.close(self.record_match(context))
            played += len(fixtures)
        return played

    def record_match(self, context: MatchContext, **changes: Any) -> MatchEntry:
        """Play an opened match, record it, and return its result."""
        match, writer = self.begin_match(context, **changes)
        setup, choose = match.setup, self.chooser(match)
        for event, commands in drive(match, [ScriptedSeat(choose) for _ in setup.names]):
            began = isinstance(event, MatchOpened)
            told = {"process": self.process, "clock_ms": self.clock_ms} if began else {}
            writer.write_transition(replace(event, **told), commands)
        self.clock_ms = round(self.clock_ms + event.at_ms, 3)
        assert match.result is not None
        writer.end(match)
        writer.close()
        return make_entry(context.fixture, setup.names, match.result, writer.sealed_head)

    def chooser(self, match: Match) -> Choose:
        """Return how the players of a match choose their moves."""
        return random_chooser(match.game, self.random, match)

    def begin_match(self, context: MatchContext, **changes: Any) -> tuple[Match, RecordWriter]:
        """Write the first line of a match's record; return the match and its writer."""
        spec, fixture = self.tournament.spec, context.fixture
        seed, entrants = self.random.randbytes(32), [spec.entrants[entrant] for entrant in fixture.entrants]
        told: dict[str, Any] = {"durability": None, "programs": [entrant.player for entrant in entrants]}
        told = {name: changes.pop(name, value) for name, value in told.items()}
        setup = MatchSetup(
            match=fixture.match,
            game=spec.game,
            options=spec.options,
            names=tuple(entrant.name for entrant in entrants),
            time=spec.time,
            lag_margin_ms=spec.lag_margin_ms,
            default_margin=spec.scoring.default_margin,
            commitment=chance.commitment(seed),
            nonces=not spec.duplicate,
            seed_opens="after-last-leg" if spec.duplicate else "at-end",
        )
        match = Match(find_game(spec.game), replace(setup, **changes), seed)
        writer = RecordWriter(self.folder / f"{fixture.match}.jsonl", self.sealer)
        writer.write_header(match.setup, seed, is_fixed=False, context=context, referee="0.0", opened=AT, **told)
        return match, writer

    def finish(self) -> None:
        """Play all remaining matches, and end the tournament."""
        self.play()
        self.recorder.take(e.Finished(at=AT))


def play_cup(folder: Path, seed: int, size: int = 7) -> None:
    """Play a Swiss with a stop in the first round, then a withdrawal, and an awarded match."""
    with Organiser(folder, cup(size), Random(seed)) as first:
        first.play(2)
        first.recorder.take(e.Stopped(at=AT, why="it was asked to"))
    with Organiser(folder, cup(size), Random(seed + 1)) as second:
        second.play(1, at_once=1)
        second.rule("withdraw", entrant=f"e{size - 1}")
        second.play(2)
        second.rule("award", match=(match := first_match(folder)), entrant=_loser(second, match))
        second.finish()


def first_match(folder: Path) -> str:
    """Return the name of the match in a folder that has the lowest number."""
    return min(path.stem for path in folder.glob("cup-*.jsonl"))


def _loser(organiser: Organiser, match: str) -> str:
    """Return the entrant that came last in a match that is over."""
    record = read_tournament(record_path(organiser.folder, organiser.tournament.spec.name))
    closings = (step.event.entry for step in record.transitions if isinstance(step.event, e.MatchClosed))
    entry = next(entry for entry in closings if entry.match == match)
    return entry.names[entry.ranking[-1][0]]
