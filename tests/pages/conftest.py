"""Common parts of the tests of pages: a browser, and tournaments with their reports."""

from collections.abc import Iterator

import pytest

from referee.tournament.events import EntrantJoined, ProgramChanged, TournamentResumed
from referee.tournament.spec import Participant

from .browser import Page, start_browser
from .matches import ESCAPE, HOSTILE_NAMES, SCRIPT
from .reports import CAST, SWISS, report
from .tournaments import LATER, Cast, Stage, spec


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Give all tests of pages one browser."""
    driver = start_browser(tmp_path_factory.mktemp("profile"))
    yield Page(driver)
    driver.quit()


@pytest.fixture(scope="session")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Return a Swiss tournament of nine with fouls, byes, a void match and a suspension, with its report."""
    stage = Stage(spec(9, **SWISS), tmp_path_factory.mktemp("cup"), CAST).play()
    report(stage)
    return stage


@pytest.fixture(scope="session")
def ruled_cup(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Return a Swiss tournament with a stop, a late entrant, a change and rulings."""
    stage = Stage(spec(9, format_options={"rounds": 6}), tmp_path_factory.mktemp("ruled"), CAST).play(9)
    stage.take(TournamentResumed(at=LATER, referee="0.0"))
    stage.take(EntrantJoined(at=LATER, participant=Participant(name="latecomer", player="house:dag"), digest=None))
    stage.take(ProgramChanged(at=LATER, entrant=3, digest="0" * 64))
    stage.rule("withdraw", "its author asked for it", entrant="bot05")
    honest = next(entry for entry in stage.entries if entry.void is None and not entry.fouls)
    stage.rule("award", "the room was dark", match=honest.match, entrant=honest.names[-1])
    stage.play(6)
    stage.take(TournamentResumed(at=LATER, referee="0.0"))
    stage.rule("disqualify", SCRIPT, entrant="bot06")
    report(stage.play())
    return stage


@pytest.fixture(scope="session")
def hostile_cup(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Return a tournament whose entrants have names that look like markup, with its report."""
    cast = Cast(rude={0: 1, 1: 1, 2: 1}, junk="=1+1" + SCRIPT + ESCAPE)
    stage = Stage(spec(4, "roundrobin", names=HOSTILE_NAMES), tmp_path_factory.mktemp("hostile"), cast).play()
    report(stage)
    return stage
