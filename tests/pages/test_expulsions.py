"""The part of a page that explains an expulsion, in a browser."""

from pathlib import Path
from random import Random

import pytest

from referee.match.machine import Match
from referee.plugins import load

from ..driving import drive, random_chooser
from ..match.folding import SEED, setup_of
from ..record.records import FAULTY, FaultySeat, Story
from ..sample_players.test_deals import GAMES
from .browser import Page
from .test_browser import frames_of, opened, written


@pytest.mark.parametrize("game", GAMES)
def test_an_expulsion_is_seen_where_an_address_names_it(browser: Page, tmp_path: Path, game: str) -> None:
    """In each game it has the position before the foul, the bytes in words, and the time; also from one seat's view."""
    match = Match(load().game(game), setup_of(2, game=game, nonces=True), SEED)
    pick = random_chooser(match.game, Random(1), match)
    seats = [FaultySeat(pick, seat) for seat in range(2)]
    seats[FAULTY].choose = lambda view: {"action": "fly"} if match.turn > 3 else pick(view)
    path = written(Story(match, tuple(drive(match, seats)), is_fixed=False), tmp_path)
    (frame,) = (frame for frame in frames_of(path) if frame.foul is not None)
    page = opened(browser, path)
    page.run("location.hash = arguments[0]", f"#expulsion-{FAULTY}")
    page.wait_until(f"document.getElementById('turn').textContent .startsWith('turn {frame.turn} /')")
    facts = dict(zip(page.texts(".expulsion dt"), page.texts(".expulsion dd"), strict=True))
    assert frame.foul is not None
    assert facts["evidence (hex)"] == frame.foul.evidence
    assert facts["read as"] == f'{{"type": "move", "match": "m", "turn": {frame.turn}, "move": {{"action": "fly"}}}}'
    assert "complete after 1.2 ms (first byte after 1.2 ms), including 0.0 ms of the referee's own" in facts["time"]
    hands = "return [...document.querySelectorAll(arguments[0])].map((hand) => hand.dataset.hand)"
    for chosen, seen in (("", ["0", "1"]), (str(FAULTY), [str(FAULTY)])):
        page.run("eyes.value = arguments[0]; eyes.dispatchEvent(new Event('change'))", chosen)
        for place in ("#board", ".position"):
            assert page.run(hands, f"{place} [data-hand]") == ([] if game == "quincala" else seen)
    assert page.run("return document.querySelectorAll('.position svg').length") == 1
    assert browser.complaints() == []
