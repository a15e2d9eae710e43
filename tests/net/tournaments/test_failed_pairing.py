"""A tournament whose pairing program fails: open matches are played, and after a ruling it may try again."""

from contextlib import closing
from pathlib import Path

import pytest
from twisted.internet.defer import CancelledError

from referee.net.jobs import tables
from referee.net.tournaments.round_pairing import PairingProgram, PairingProgramError

from ...tournament.playing import spec_of
from .in_memory import Hosts, InMemoryTournament, events_on_record


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> Hosts:
    """Return the hosts of all matches."""
    hosts = Hosts()
    monkeypatch.setattr(tables, "MatchSession", hosts)
    return hosts


def paired(tournament: InMemoryTournament) -> None:
    """Do the work that was handed to threads."""
    while tournament.loop.work:
        tournament.loop.work.pop(0)()


def failing_swiss(tmp_path: Path, script: str) -> InMemoryTournament:
    """Return a Swiss of four whose rounds a shell script must pair."""
    program = PairingProgram(words=("sh", "-c", script, "{trf}"), folder=tmp_path)
    spec = spec_of(4, "swiss", format_options={"rounds": 2, "pairing_program": list(program.words)})
    return InMemoryTournament(tmp_path, spec, tables=2, pairing_program=program)


def test_a_pairing_program_that_fails_stops_no_match_that_is_open(tmp_path: Path, hosts: Hosts) -> None:
    """A match that a ruling repeats is played to its end; then the tournament stops, and the error says why."""
    pairs_once = r"[ -e once ] && exit 9; touch once; printf '2\n1 3\n4 2\n'"
    tournament = failing_swiss(tmp_path, pairs_once)
    with closing(tournament.writer):
        tournament.start()
        paired(tournament)
        hosts.end_all()
        assert len(tournament.loop.work) == 1
        tournament.rule("replay", match="cup-00001")
        paired(tournament)
        assert len(hosts.playing) == 1
        assert not tournament.outcome
        hosts.end_all()
        paired(tournament)
        (failure,) = tournament.outcome
        assert isinstance(failure.value, PairingProgramError)
        assert "round 2 is not paired by sh: it ended with exit status 9" in str(failure.value)
        assert events_on_record(tournament.path).count("match-closed") == 3


def test_a_ruling_that_changes_the_round_has_it_paired_again(tmp_path: Path, hosts: Hosts) -> None:
    """A program that could not pair the round may be able to pair it without an entrant that is withdrawn."""
    lacks_bye = r"grep -q 'Z$' $0 && printf '2\n1 0\n3 2\n' || exit 1"
    tournament = failing_swiss(tmp_path, lacks_bye)
    with closing(tournament.writer):
        tournament.start()
        tournament.rule("withdraw", entrant="e3")
        paired(tournament)
        assert not tournament.outcome
        assert len(hosts.playing) == 1
        tournament.runner.stop(CancelledError())
