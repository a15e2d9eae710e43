"""Rogues at a real table: each foul hits only its author, at once, and the others play on to the end."""

import threading

import pytest
from click.testing import CliRunner

from protocol.messages import Offer, Reveal, Start, Turn
from referee.cli.main import main
from referee.match import events as e

from ..counting import count
from . import offences, offences_made
from .match_server import MatchServer, Outcome
from .offences import Offence, Stage
from .offences_made import POSITION
from .rogues import Honest, Rogue

OFFENCES = (*offences.OFFENCES, *offences_made.OFFENCES)
PROMPT_MS = 100.0
"""Time from the instant at which a foul is due, without the referee's own standstills."""
MAX_GROWTH_KIB = 64 * 1024
COUNT = iter(range(1_000_000))
SEATS = 3


def played(server: MatchServer, offence: Offence) -> tuple[Outcome, Rogue]:
    """Play a match of a rogue and two honest players, and wait until the honest ones have ended."""
    is_waiting = offence.stage is Stage.WAITING
    settings = {"position": POSITION, "acknowledge": offence.stage is Stage.TO_CONFIRM, **offence.settings}
    address = server.open(f"rogue-{next(COUNT)}", "q", SEATS, **settings)
    gate = threading.Event()
    players = [Honest(address, "ada", gate=gate)] if is_waiting else []
    rogue = Rogue(address)
    rogue.hello()
    players += [Honest(address, name, gate=gate) for name in ("ada", "bob")[len(players) :]]
    for player in players:
        player.start()
    bring(rogue, offence.stage)
    offence.do(rogue)
    rogue.last_words()
    gate.set()
    for player in players:
        player.finish()
    return server.outcome(), rogue


def bring(rogue: Rogue, stage: Stage) -> None:
    """Bring a rogue to the place of its offence."""
    rogue.until(Offer)
    if stage is Stage.OFFERED:
        return
    rogue.accept()
    if stage is Stage.TO_REVEAL:
        rogue.until(Reveal)
    else:
        rogue.open_nonce()
        rogue.until(Turn if stage is Stage.ASKED else Start)


def late_ms(outcome: Outcome, rogue: Rogue, offence: Offence) -> float:
    """Return how long after it was due the foul was found, without the referee's own standstills."""
    foul = outcome.result.fouls[0]
    due_ms = (rogue.sent_s - outcome.opened_s) * 1000
    if offence.is_late:
        step = next(
            step
            for step in outcome.record.transitions
            if any(command["command"] == "expel-seat" for command in step.commands)
        )
        event = step.event
        assert isinstance(event, e.DeadlinePassed | e.MoveReceived)
        due_ms = event.at_ms - e.used_ms(event) + next(iter(offence.settings.values()))
    return float(foul.at_ms - due_ms - outcome.stalled_ms(due_ms, foul.at_ms))


@pytest.mark.parametrize("offence", OFFENCES, ids=lambda offence: offence.name)
def test_a_foul_hits_its_author_alone_and_at_once(server: MatchServer, offence: Offence) -> None:
    """Only the rogue is expelled, for its deed, in time, and the record proves it."""
    outcome, rogue = played(server, offence)
    seat = 1 if offence.stage is Stage.WAITING else 0
    assert outcome.fouls == [(seat, str(offence.cause), offence.code)]
    assert outcome.result.void is None
    assert seat not in outcome.result.winners
    assert outcome.result.winners
    assert late_ms(outcome, rogue, offence) <= PROMPT_MS
    explained = CliRunner().invoke(main, ["explain", str(outcome.record.path), "rogue"])
    assert f"expelled in turn {outcome.result.fouls[0].turn}: {offence.cause}" in explained.output
    assert offence.code is None or offence.code in explained.output
    assert server.grown_kib <= MAX_GROWTH_KIB


def test_who_reads_nothing_is_expelled_before_the_referee_is_full(server: MatchServer) -> None:
    """Messages pile up to a limit; the player that reads plays on to the end."""
    options = {"alone": True, "talk": 100, "limit": 40}
    address = server.open("deaf", "counting", 2, options=options)
    player = Honest(address, "ada", choose=count)
    rogue = Rogue(address, buffer_bytes=4096)
    rogue.hello()
    player.start()
    rogue.until(Offer)
    rogue.accept()
    rogue.open_nonce()
    end = player.finish()
    outcome = server.outcome()
    assert outcome.fouls == [(1, "not-reading", "not-reading")]
    assert end.winners == [0]
    assert outcome.result.turns == options["limit"]
    assert server.grown_kib <= MAX_GROWTH_KIB
    rogue.sock.close()
