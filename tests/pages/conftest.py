"""What the tests of pages share: tournaments with their reports."""

import pytest

from .matches import ESCAPE, HOSTILE_NAMES, SCRIPT
from .reports import CAST, SWISS, report
from .tournaments import Cast, Stage, spec


@pytest.fixture(scope="session")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Give a Swiss tournament of nine with fouls, byes, a void match and a suspension, and its report."""
    stage = Stage(spec(9, **SWISS), tmp_path_factory.mktemp("cup"), CAST).play()
    report(stage)
    return stage


@pytest.fixture(scope="session")
def hostile_cup(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Give a tournament whose entrants are called what no page may take for markup, and its report."""
    cast = Cast(rude={0: 1, 1: 1, 2: 1}, junk="=1+1" + SCRIPT + ESCAPE)
    stage = Stage(spec(4, "roundrobin", names=HOSTILE_NAMES), tmp_path_factory.mktemp("hostile"), cast).play()
    report(stage)
    return stage
