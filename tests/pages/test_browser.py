"""The replay in a browser: buttons and keys, boards and points as on record, and harmless hostile players."""

from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from referee.match.machine import Match
from referee.pages.replay_frames import ReplayFrame, fold_record
from referee.pages.replay_page import replay_page
from referee.pages.words import move_words
from referee.plugins import load
from referee.record.audit.match import open_match, refold
from referee.record.reader import read_record
from referee.text import plain_text

from ..match.folding import lost
from ..record.records import Story, cut
from .browser import Page
from .matches import HOSTILE_MOVE, HOSTILE_NAMES, IMAGE, NAMES, SCRIPT, hostile, ordinary

STORIES: dict[str, Callable[[], Story]] = {"ordinary": lambda: ordinary(6), "hostile": hostile}
THEMES = {"light": False, "dark": True}
SIZES = {
    "phone": (360, 740),
    "half a screen": (800, 900),
    "tall half": (800, 1000),
    "laptop": (1366, 768),
    "projector": (1920, 1080),
}


@pytest.fixture(scope="module", params=STORIES)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record; its page is next to it."""
    return written(STORIES[request.param](), tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the record of an ordinary match; its page is next to it."""
    return written(ordinary(6), tmp_path_factory.mktemp("plain"))


def written(told: Story, folder: Path) -> Path:
    """Write a story's record and its page."""
    path = told.write(folder / "match.jsonl")
    path.with_suffix(".html").write_text(replay_page(fold_record(read_record(path), load().game)), encoding="utf-8")
    return path


def opened(browser: Page, record: Path, width: int = 1366, height: int = 768, *, is_dark: bool = False) -> Page:
    """Open a record's page again."""
    browser.emulate(width, height, is_dark=is_dark)
    browser.open(record.with_suffix(".html"))
    return browser


def frames_of(record: Path) -> tuple[ReplayFrame, ...]:
    """Return the frames that a record's page must show."""
    return fold_record(read_record(record), load().game).frames


def winners_of(record: Path) -> tuple[int, ...]:
    """Return the seats that won a record's match."""
    result = fold_record(read_record(record), load().game).match.result
    assert result is not None
    return result.winners


def turn(page: Page) -> str:
    """Return the page's text about the present turn."""
    return page.text("#turn")


# --- what is shown


def test_points_and_boards_are_those_of_the_record(browser: Page, story: Path) -> None:
    """For each frame: each seat's points, in the table and on the board, and the number of tiles on the map."""
    page = opened(browser, story)
    for frame in frames_of(story):
        points = [str(score) for score in frame.state.scores]
        assert points == page.texts("#seats .points")
        assert points == page.texts("#board text[data-seat] + text")
        shown = page.run("return document.querySelectorAll('#board svg > use:not([href=\"#q-fresh\"])').length")
        assert len(frame.state.board) == shown
        if frame.took_ms is not None:
            assert page.text("#move").startswith(move_words(load().game("q"), frame.move))
        page.press(Keys.ARROW_RIGHT)
    assert page.complaints() == []


def test_the_list_of_turns_leads_and_follows(browser: Page, plain: Path) -> None:
    """A line shows its board, and the line of the board is marked and within sight."""
    page = opened(browser, plain)
    frames = frames_of(plain)
    assert len(page.texts("#turns tbody tr")) == len(frames)
    page.run("document.querySelectorAll('#turns tbody tr')[arguments[0]].click()", len(frames) - 1)
    assert turn(page).startswith(f"turn {frames[-1].turn} /")
    page.press(Keys.ARROW_LEFT)
    assert page.texts(".now-shown td:first-child") == [str(frames[-2].turn)]
    place = "document.querySelector('.now-shown').getBoundingClientRect()"
    box = "document.querySelector('.turns .wide').getBoundingClientRect()"
    assert page.run(f"return {place}.top >= {box}.top && {place}.bottom <= {box}.bottom + 1")
    assert page.run("return document.documentElement.scrollTop") == 0


def test_the_points_are_those_of_the_fold(browser: Page, plain: Path) -> None:
    """The points are compared with a count that does not use the page's own code for reading a record."""
    record = read_record(plain)
    match = open_match(record, load().game)
    assert isinstance(match, Match)
    page = opened(browser, plain)
    page.press(Keys.END)
    for _ in refold(record, match):
        pass
    assert match.result is not None
    assert [str(points) for points in match.result.scores] == page.texts("#seats .points")
    ranked = [seat for level in match.result.ranking for seat in level]
    assert [str(seat) for seat in ranked] == page.texts("#ranking td:nth-child(2)")
    assert [str(match.result.scores[seat]) for seat in ranked] == page.texts("#ranking td:nth-child(4)")


def test_an_expulsion_is_told_with_its_reason(browser: Page, tmp_path: Path) -> None:
    """Cause, the rule's id and text, the detail and the move are next to the board, and the seat is struck out."""
    page = opened(browser, written(hostile(), tmp_path))
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    reasons = dict(zip(page.texts("#reasons dt"), page.texts("#reasons dd"), strict=True))
    assert (reasons["cause"], reasons["rule"]) == ("illegal-move", "q.place.owned")
    assert reasons["it says"] == "Only tiles in the player's own hand may be placed, each once."
    assert reasons["detail"] == "not in hand: 1 x red-star"
    assert page.text("#move").startswith("red star at row 99, column 99")
    assert [name[:9] for name in page.texts("#seats .out .name")] == [SCRIPT[:9], IMAGE[:9]]


def test_an_expulsion_has_an_address(browser: Page, tmp_path: Path) -> None:
    """It has rule, bytes and time, a link to its turn, and advice for somebody who doubts it."""
    record = written(hostile(), tmp_path)
    foul = next(frame.foul for frame in frames_of(record) if frame.foul is not None)
    page = opened(browser, record)
    labels = page.texts(f"#expulsion-{foul.seat} dt")
    assert {"cause", "detail", "time", "is it wrong?"} <= set(labels)
    assert "referee audit match.jsonl" in page.text(f"#expulsion-{foul.seat}")
    page.run(f"document.querySelector('#expulsion-{foul.seat} a').click()")
    page.wait_until(f"document.getElementById('turn').textContent.startsWith('turn {foul.turn} ')")


def test_a_match_without_a_deal_has_a_page(browser: Page, tmp_path: Path) -> None:
    """If all seats were lost before the deal, the page says so and works."""
    whole = ordinary(1, nonces=False)
    told = cut(whole, 1, lost(0, 0.1), lost(1, 0.2))
    page = opened(browser, written(told, tmp_path))
    assert page.text("#board") == "nothing was dealt yet"
    page.press(Keys.END)
    assert page.text("#head") == "bob is expelled"
    assert page.complaints() == []


def test_charts_show_every_seat(browser: Page, plain: Path) -> None:
    """Each chart has all seats; the cursor moves with the turns, and a click leads to its turn."""
    page = opened(browser, plain)
    seats = {f"seat{seat}" for seat in range(4)}
    for chart in ("points", "answers", "clock"):
        found = page.run(
            f"return [...document.querySelectorAll('#chart-{chart} [class*=seat]')].map((shape) => shape.classList[1])"
        )
        assert set(found) == seats
    cursor = "return document.querySelector('#chart-answers .cursor').getAttribute('d')"
    before = page.run(cursor)
    page.press(Keys.END)
    assert before != page.run(cursor)
    page.run(
        "const chart = document.querySelector('#chart-points svg'); const box = chart.getBoundingClientRect();"
        "chart.dispatchEvent(new MouseEvent('click', {clientX: box.left + 57, clientY: box.top + 20, bubbles: true}))"
    )
    assert turn(page).startswith("turn 0 /")


# --- moving


@pytest.mark.parametrize(
    ("steps", "index"),
    [
        ((Keys.ARROW_RIGHT,), 1),
        ((Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT), 1),
        ((Keys.ARROW_LEFT,), 0),
        ((Keys.END,), -1),
        ((Keys.END, Keys.ARROW_RIGHT), -1),
        ((Keys.END, Keys.ARROW_LEFT), -2),
        ((Keys.END, Keys.HOME), 0),
        (("forward",), 1),
        (("forward", "forward", "back"), 1),
        (("last",), -1),
        (("last", "back"), -2),
        (("last", "first"), 0),
        (("forward", Keys.ARROW_RIGHT), 2),
        ((Keys.TAB, Keys.ARROW_RIGHT), 1),
    ],
)
def test_steps(browser: Page, plain: Path, steps: tuple[str, ...], index: int) -> None:
    """Buttons and keys lead to a frame, never beyond the first and the last."""
    page = opened(browser, plain)
    for step in steps:
        if step.isalpha() and step.isascii():
            page.click(step)
        else:
            page.press(step)
    frames = frames_of(plain)
    assert turn(page) == f"turn {frames[index].turn} / {frames[-1].turn}"
    assert page.run("return [document.getElementById('first').disabled, document.getElementById('last').disabled]") == [
        index == 0,
        index == -1,
    ]


def test_the_board_changes(browser: Page, plain: Path) -> None:
    """Two turns have two boards, and going back shows the first one again."""
    page = opened(browser, plain)
    board = "return document.getElementById('board').innerHTML"
    first = page.run(board)
    page.press(Keys.ARROW_RIGHT)
    second = page.run(board)
    page.press(Keys.ARROW_LEFT)
    assert first != second
    assert first == page.run(board)


@pytest.mark.parametrize("start", ["key", "button"])
def test_playing(browser: Page, plain: Path, start: str) -> None:
    """It plays to the end and stops there; then it begins again. A second press pauses."""
    page = opened(browser, plain)
    page.press("+", "+", "+")
    assert page.run("return document.getElementById('speed').value") == "8"
    last = f"turn {frames_of(plain)[-1].turn} /"
    _start(page, start)
    page.wait_until(f"document.getElementById('turn').textContent.startsWith('{last}')")
    page.wait_until("document.getElementById('play').getAttribute('aria-label') === 'Play'")
    page.press("-", "-", "-", "-", "-")
    _start(page, start)
    page.wait_until("document.getElementById('turn').textContent.startsWith('turn 0 /')")
    assert page.run("return document.getElementById('play').getAttribute('aria-label')") == "Pause"
    _start(page, start)
    assert page.run("return document.getElementById('play').getAttribute('aria-label')") == "Play"
    assert page.complaints() == []


def _start(page: Page, how: str) -> None:
    if how == "key":
        page.press(" ")
    else:
        page.click("play")


def test_the_slider(browser: Page, plain: Path) -> None:
    """The slider leads to any frame, and follows the steps."""
    page = opened(browser, plain)
    page.run(
        "const slider = document.getElementById('slider'); slider.value = 3; slider.dispatchEvent(new Event('input'))"
    )
    assert turn(page).startswith("turn 3 /")
    page.press(Keys.ARROW_RIGHT)
    assert page.run("return document.getElementById('slider').value") == "4"


# # --- hostile players


def test_hostile_players_have_no_effect(browser: Page, tmp_path: Path) -> None:
    """Names, moves, details and evidence are text: they never run, load or become an element."""
    page = opened(browser, written(hostile(), tmp_path))
    elements = "return document.querySelectorAll('img, iframe, [onload], [onerror], #board script').length"
    for _ in range(6):
        assert page.run("return window.broken") is None
        assert page.run(elements) == 0
        assert page.run("return document.scripts.length") == 2
        page.press(Keys.ARROW_RIGHT)
    page.press(Keys.HOME, Keys.ARROW_RIGHT)
    assert page.text("#move").startswith(plain_text(HOSTILE_MOVE))
    assert page.texts("#seats .name")[:3] == list(HOSTILE_NAMES[:3])
    assert page.run("return performance.getEntriesByType('resource').length") == 0
    assert page.complaints() == []


def test_the_policy_stops_what_gets_in(browser: Page, plain: Path) -> None:
    """If markup of a player became an element, it could still not run or load."""
    page = opened(browser, plain)
    page.run(
        "const bad = document.createElement('script'); bad.textContent = 'window.broken = 1';"
        "document.body.append(bad);"
        "document.body.insertAdjacentHTML('beforeend', arguments[0]); document.getElementById('bad').click()",
        '<b onclick="window.broken=2" id=bad>b</b><img src="a.png">',
    )
    assert page.run("return window.broken") is None
    refused = [entry["message"] for entry in page.complaints()]
    assert sum("Content Security Policy" in message for message in refused) == 3


# # --- screens and views


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
def test_it_fits(browser: Page, plain: Path, size: str, theme: str) -> None:
    """On every screen nothing is wider; board, move and controls are visible together, and none covers another."""
    width, height = SIZES[size]
    page = opened(browser, plain, width, height, is_dark=THEMES[theme])
    for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.END):
        page.press(key)
        assert page.run("return document.documentElement.scrollWidth") <= width
        boxes = {selector: box(page, selector) for selector in ("#now", "#board", "#board svg", ".controls", "#play")}
        for left, top, right, bottom in boxes.values():
            assert 0 <= left < right <= width
            assert 0 <= top < bottom <= height
        assert boxes["#board"][3] <= boxes[".controls"][1]
        if width <= 860:
            assert boxes["#now"][3] <= boxes["#board"][1]


def box(page: Page, selector: str) -> list[float]:
    """Return left, top, right and bottom of an element in the window."""
    found = page.run(
        "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [box.left, box.top, box.right, box.bottom]",
        selector,
    )
    return [float(edge) for edge in found]


def test_a_monstrous_move_leaves_room_for_the_board(browser: Page, tmp_path: Path) -> None:
    """On a phone long names and texts scroll in their place: title line, board and controls stay visible."""
    page = opened(browser, written(hostile(), tmp_path), 360, 740)
    for _ in range(4):
        page.press(Keys.ARROW_RIGHT)
        now, board, controls = (box(page, selector) for selector in ("#now", "#board", ".controls"))
        title = box(page, "header")  # the header scrolls a result of four such names
        assert 0 <= title[1] < title[3] <= now[1] < now[3] <= board[1] < board[3] - 90 < board[3] <= controls[1]


def test_it_is_seen_through_the_eyes_of_a_seat(browser: Page, plain: Path) -> None:
    """Its own hand is shown, and the others' are not; then everybody's again."""
    page = opened(browser, plain)
    shown = "return [...document.querySelectorAll('#board [data-hand]')].map((hand) => hand.dataset.hand)"
    everybody = [str(seat) for seat in range(len(NAMES))]
    for chosen, expected in (("", everybody), ("1", ["1"]), ("0", ["0"]), ("", everybody)):
        page.run("eyes.value = arguments[0]; eyes.dispatchEvent(new Event('change'))", chosen)
        assert page.run(shown) == expected
    assert page.texts("#eyes option") == ["everybody", *NAMES]


def test_an_address_names_a_turn(browser: Page, plain: Path) -> None:
    """The page opens there, and follows a change of the address; an unknown turn opens it at the beginning."""
    frames = frames_of(plain)
    for name, turn in (("#turn-3", 3), ("#turn-0", 0), (f"#turn-{10**8}", frames[-1].turn), ("#turn-x", 0)):
        page = opened(browser, plain)
        page.run("location.hash = arguments[0]", name)
        page.wait_until(f"document.getElementById('turn').textContent.startsWith('turn {turn} ')")


def test_the_end_says_who_won(browser: Page, plain: Path) -> None:
    """The title line names the winners, and so does the last move."""
    page = opened(browser, plain)
    winners = page.text("header b")
    assert winners.startswith(f"{' and '.join(NAMES[seat] for seat in winners_of(plain))}, then ")
    assert page.text("#ending") == ""
    page.press(Keys.END)
    assert page.text("#ending") == winners
    page.press(Keys.ARROW_LEFT)
    assert page.text("#ending") == ""


def test_an_unfinished_match_has_no_winner(browser: Page, tmp_path: Path) -> None:
    """If the record ends before the match, the last turn says so."""
    page = opened(browser, written(cut(ordinary(6, nonces=False), 9), tmp_path))
    page.press(Keys.END)
    assert page.text("header b") == ""
    assert page.text("#ending") == "the match was not finished"


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read(browser: Page, plain: Path, theme: str) -> None:
    """In both themes, ordinary and faint text have WCAG's contrast of 4.5 to 1."""
    page = opened(browser, plain, is_dark=THEMES[theme])
    ground = page.run("return getComputedStyle(document.getElementById('now')).backgroundColor")
    for selector in ("#head", "#when", "#seats td", "#board text[data-seat]", "#chart-points text"):
        ink = page.run(
            "const style = getComputedStyle(document.querySelector(arguments[0]));"
            "return arguments[0].includes('text') ? style.fill : style.color",
            selector,
        )
        dark, light = sorted((_luminance(ink), _luminance(ground)))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{selector}: {ink} on {ground}"


def _luminance(color: str) -> float:
    """Return the relative luminance of `rgb(r, g, b)`."""
    parts = [int(part) / 255 for part in color.partition("(")[2].rstrip(")").split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)))
