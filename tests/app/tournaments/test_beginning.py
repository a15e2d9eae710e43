"""A tournament that is loaded: what its record says about earlier runs."""

from contextlib import closing
from pathlib import Path
from random import Random

from referee.app.tournaments.beginning import load_or_begin
from referee.observers import Observers
from referee.plugins import installed
from referee.tournament import events as e
from referee.tournament.hosts import Calibration

from ...record.records import SEALER
from ...record.tournaments import Organiser, cup
from ...tournament.playing import AT


def test_where_the_legs_of_a_pairing_were_played(tmp_path: Path) -> None:
    """The host that has played one of two legs also plays the other; if the first leg's record is gone, any may."""
    spec = cup(8, game="q", duplicate=True)
    calibration = Calibration(tables=1, wall_ms=9.0, processor_ms=8.0)
    with Organiser(tmp_path, spec, Random(1)) as organiser:
        came = e.HostCame(at=AT, host="lab1-a1", process=organiser.process, calibration=calibration)
        organiser.recorder.take(came)
        organiser.play(2)
        first_legs = [fixture for fixture in organiser.due() if fixture.leg == 0]
        for fixture in first_legs:
            organiser.recorder.close(organiser.record_match(organiser.recorder.open(fixture)))
    (tmp_path / f"{first_legs[-1].match}.jsonl").unlink()
    loaded = load_or_begin(tmp_path, spec, installed().format(spec.format), SEALER, Observers())
    with closing(loaded.writer):
        assert loaded.where(tmp_path) == {fixture.number: "lab1-a1" for fixture in first_legs[:-1]}
