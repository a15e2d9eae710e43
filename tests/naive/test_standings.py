"""Standings and their naive second implementation agree over simulated Swiss tournaments on record.

`python -m tests.naive.test_standings 500` compares 500 tournaments.
"""

import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from referee.record.key import Sealer
from referee.record.tournament_record import TournamentWriter
from referee.tournament import events as e
from referee.tournament.machine import ImpossibleEvent, Tournament
from referee.tournament.pairing.base import BadRuling
from referee.tournament.points import Scoring
from referee.tournament.rulings import Ruling
from referee.tournament.spec import Participant
from referee.tournament.standings import DEFAULT_SWISS

from ..tournament.playing import AT, SALT, Troubles, events_of, spec_of, tournament_of
from . import standings as naive

TOURNAMENTS = 30
"""Number of tournaments in the regular suite, which take a few seconds."""
TROUBLES = Troubles(void=0.03, failed=0.08)
ASKED = 0.08
"""Share of the events before which somebody makes a request."""
SCORINGS = (Scoring(), Scoring(bye=0.5), Scoring(late_bye=0.0), Scoring(bye=0.5, late_bye=1.0))


def asked(tournament: Tournament, random: Random, number: int) -> e.TournamentEvent:
    """Return a request of an organiser or an entrant, which may be impossible."""
    name = random.choice(tournament.spec.entrants).name
    match = f"cup-{random.randrange(1, 30):05}"
    about: dict[Any, dict[str, str]] = {
        "withdraw": {"entrant": name},
        "disqualify": {"entrant": name},
        "reinstate": {"entrant": name},
        "void": {"match": match},
        "replay": {"match": match},
        "award": {"match": match, "entrant": name},
        "stop": {},
    }
    kind = random.choice(["join", *about, "award", "award"])
    if kind == "join":
        return e.EntrantJoined(at=AT, participant=Participant(name=f"late{number}", player="house:dag"), digest=None)
    return e.Ruled(at=AT, ruling=Ruling(id=f"{number}", kind=kind, reason="so", by="the organiser", **about[kind]))


def written(folder: Path, seed: int) -> Path:
    """Play a tournament with all kinds of events, and return its record."""
    random = Random(seed)
    spec = spec_of(
        random.randrange(5, 14),
        "swiss",
        format_options={"rounds": random.randrange(3, 7)},
        tie_breaks=DEFAULT_SWISS,
        suspend_after=2,
        scoring=random.choice(SCORINGS),
    )
    tournament = tournament_of(spec)
    path = folder / "cup.jsonl"
    with closing(TournamentWriter(path, Sealer.new())) as writer:
        writer.write_header(spec, SALT, {}, referee="test", opened=AT)
        writer.write_transition(e.Begun(at=AT), tournament.handle(e.Begun(at=AT)))
        for number, event in enumerate(events_of(tournament, random, troubles=TROUBLES)):
            writer.write_transition(event, tournament.handle(event))
            if random.random() < ASKED:
                with suppress(BadRuling, ImpossibleEvent):
                    wish = asked(tournament, random, number)
                    writer.write_transition(wish, tournament.handle(wish))
        writer.write_transition(e.Finished(at=AT), tournament.handle(e.Finished(at=AT)))
        writer.seal()
    return path


@pytest.mark.parametrize("seed", range(TOURNAMENTS))
def test_standings_are_those_of_a_second_program(tmp_path: Path, seed: int) -> None:
    """Points, byes, late entrants, withdrawals, rulings and every tie-break are the same from the record alone."""
    assert naive.differences(written(tmp_path, seed)) == []


def test_a_changed_result_changes_the_standings(tmp_path: Path) -> None:
    """The second program really reads the record."""
    text = written(tmp_path, 1).read_text()
    assert '"ranking":[[0],[1]]' in text
    changed = tmp_path / "changed"
    changed.write_text(text.replace('"ranking":[[0],[1]]', '"ranking":[[1],[0]]'))
    assert naive.differences(changed)


def main(count: int) -> int:
    """Compare a number of tournaments, and print the differences."""
    wrong = 0
    for seed in range(count):
        with tempfile.TemporaryDirectory() as folder:
            for text in naive.differences(written(Path(folder), seed)):
                print(f"tournament {seed}: {text}")
                wrong += 1
    print(f"{count} tournaments, {wrong} lines differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TOURNAMENTS))
