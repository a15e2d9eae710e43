"""The output of a host on its terminal."""

import logging
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from referee.cluster.dask_worker import redirect_logs
from referee.cluster.host import Host, versions
from referee.cluster.host_run import HostSettings
from referee.cluster.messages import RunAnswer, RunOffer, decode_message, encode_message
from referee.settings import RunTerms, SandboxMode
from referee.tournament.hosts import Calibration


def test_a_host_says_why_it_does_not_play(tmp_path: Path) -> None:
    """The tournament gets the same message."""
    said: list[str] = []
    unused: Any = None
    calibration = Calibration(tables=1, wall_ms=9.0, processor_ms=9.0)
    settings = HostSettings(folder=tmp_path, hidden=(), sandbox=SandboxMode.OFF, calibration=calibration)
    hello = RunOffer(
        run="r",
        tournament="cup key",
        process="p",
        game="q",
        versions=replace(versions("q"), python="2.7"),
        terms=RunTerms(sandbox=SandboxMode.OFF, memory_mib=64),
        wanted=(),
    )
    welcome = decode_message(
        Host(unused, "a", settings, unused, said.append, unused).enter(encode_message(hello)), RunAnswer
    )
    assert welcome.refused is not None
    assert "python is" in welcome.refused
    assert said == [f"refused to play for a tournament: {welcome.refused}"]


def test_what_dask_logs_goes_into_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is on the terminal."""
    loggers = [logging.root, logging.getLogger("distributed")]
    for logger in loggers:
        monkeypatch.setattr(logger, "handlers", [logging.NullHandler()])
    monkeypatch.setattr(logging.root.manager, "loggerDict", {"distributed": loggers[1]})
    redirect_logs(tmp_path / "dask.log")
    loggers[1].error("lost it")
    loggers[0].handlers[0].close()
    assert (tmp_path / "dask.log").read_text().rstrip().endswith("distributed ERROR lost it")
