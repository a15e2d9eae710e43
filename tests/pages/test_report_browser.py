"""A tournament's report in a browser: it fits, sorts, searches, and hostile players are harmless."""

import re
from pathlib import Path

import pytest

from referee.pages.match_list import MOST_SHOWN, MatchQuery, answer_query
from referee.pages.replays import ReplayPages

from .browser import Page
from .matches import IMAGE, QUOTES, SCRIPT
from .reports import read, report, rows
from .tournaments import Stage, spec

MANY = 53
"""A number of matches larger than one page of a list."""


QUERIES = (
    MatchQuery(),
    MatchQuery(page=2),
    MatchQuery(page=99),
    MatchQuery(entrant="bot03"),
    MatchQuery(entrant="bot03", opponent="bot05"),
    MatchQuery(entrant="nobody"),
    *(MatchQuery(result=result) for result in ("won", "drawn", "lost", "uncounted", "other")),
    *(MatchQuery(entrant="bot01", result=result) for result in ("won", "drawn", "lost")),
    *(MatchQuery(foul=foul) for foul in ("any", "malformed-message", "other")),
    MatchQuery(entrant="bot02", foul="any"),
    *(MatchQuery(version=version) for version in ("1", "2", "x")),
)


def opened(browser: Page, stage: Stage, width: int = 1366, *, is_dark: bool = False) -> Page:
    """Open a tournament's page again."""
    browser.emulate(width, 900, is_dark=is_dark)
    browser.open(stage.folder / "report.html")
    return browser


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [400, 1600])
def test_the_page_fits_its_window(browser: Page, cup: Stage, width: int, is_dark: bool) -> None:  # noqa: FBT001  # a table
    """On a phone and on a projector nothing is wider than the page, and all text has contrast."""
    page = opened(browser, cup, width, is_dark=is_dark)
    assert page.run("return document.documentElement.scrollWidth") == width
    outside = """
        return [...document.querySelectorAll("section, .fact, h1, h2, p")]
            .filter((box) => box.getBoundingClientRect().right > innerWidth + 1).map((box) => box.textContent)"""
    assert page.run(outside) == []
    ink, ground = page.run("const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    assert abs(brightness(ink) - brightness(ground)) > 120
    assert page.complaints() == []


def test_a_phone_shows_the_chart_and_who_is_suspended(browser: Page, cup: Stage) -> None:
    """At 400 pixels the chart needs no scrolling, its text can be read, and the mark is next to the name."""
    page = opened(browser, cup, 400)
    chart = "[...document.querySelectorAll('.chart text')].filter((shown) => shown.getClientRects().length)"
    outside = f"""
        return {chart}.filter((label) => {{
            const box = label.getBoundingClientRect(), frame = label.closest('.chart').getBoundingClientRect();
            return box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
        }}).map((label) => label.textContent)"""
    assert page.run(outside) == []
    assert page.run(f"return {chart}.length") > 8
    assert page.run(f"return Math.min(...{chart}.map((shown) => shown.getBoundingClientRect().height))") >= 12
    marks = page.run(
        "return [...document.querySelectorAll('.mark')].map((shown) => shown.getBoundingClientRect().right)"
    )
    assert len(marks) == len(cup.tournament.suspended) > 0
    assert max(marks) <= 400
    assert page.run("return [...document.querySelectorAll('.mark')].every((shown) => shown.closest('th'))")


def brightness(color: str) -> float:
    """Return the mean of a colour's parts, 0 to 255."""
    parts = [int(part) for part in re.findall(r"\d+", color)[:3]]
    return sum(parts) / 3


def column(page: Page, table: str, number: int) -> list[str]:
    """Return a column of a table, from 1."""
    return page.texts(f"{table} tbody tr > :nth-child({number})")


def test_a_table_whose_columns_are_cut_says_so(browser: Page, cup: Stage) -> None:
    """On a phone, it says so above the table; on a desk, where all columns are visible, it does not."""
    said = "[...document.querySelectorAll('.cut')].filter((note) => !note.hidden).length"
    cut = "[...document.querySelectorAll('.wide, .tall')].filter((box) => box.scrollWidth > box.clientWidth + 1).length"
    page = opened(browser, cup, 390)
    assert page.run(f"return [{said} === {cut}, {said} > 0]") == [True, True]
    page = opened(browser, cup, 2560)
    assert page.run(f"return [{said}, {cut}]") == [0, 0]


def test_tables_sort(browser: Page, cup: Stage) -> None:
    """A click on a head sorts by it, numbers from the largest; another click reverses the order; names from a to z."""
    page = opened(browser, cup)
    names = column(page, "#standings-table", 2)
    page.run("document.querySelector('#times-table th:nth-child(2) button').click()")
    moves = [int(text) for text in column(page, "#times-table", 2)]
    assert moves == sorted(moves, reverse=True)
    page.run("document.querySelector('#times-table th:nth-child(2) button').click()")
    assert [int(text) for text in column(page, "#times-table", 2)] == moves[::-1]
    page.run("document.querySelector('#standings-table th:nth-child(2) button').click()")
    assert column(page, "#standings-table", 2) == sorted(names)
    page.run("document.querySelector('#standings-table th:nth-child(1) button').click()")
    assert column(page, "#standings-table", 2) == names
    assert page.complaints() == []


def test_a_part_that_is_fetched_anew_stays_sorted(browser: Page, cup: Stage) -> None:
    """It is sorted by the same column, in the same direction, and its heads still sort."""
    page = opened(browser, cup)
    page.run("document.querySelector('#times-table th:nth-child(2) button').click()")
    fetched = """
        const anew = document.createElement("section");
        const table = document.querySelector("#times-table").cloneNode(true);
        for (const head of table.querySelectorAll("thead th")) head.replaceChildren(head.textContent);
        table.querySelector("[aria-sort]").removeAttribute("aria-sort");
        table.tBodies[0].append(...[...table.tBodies[0].rows].reverse());
        anew.append(table);
        Sorting.tables(anew, Sorting.orders(document.querySelector("#time")));
        document.querySelector("#time").replaceChildren(anew);"""
    page.run(fetched)
    moves = [int(text) for text in column(page, "#times-table", 2)]
    assert moves == sorted(moves, reverse=True)
    assert page.texts("#time [aria-sort=descending] button") == ["moves"]


def test_the_crosstable_sorts_by_the_keyboard(browser: Page, cup: Stage) -> None:
    """Its heads are buttons that name column and direction; empty cells are last."""
    page = opened(browser, cup)
    for key, state in (("\ue007", "descending"), (" ", "ascending")):
        page.run("document.querySelector('#cross-table th:nth-child(4) button').focus()")
        page.press(key)
        assert page.run("return document.querySelector('#cross-table [aria-sort]').cellIndex") == 3
        assert page.run("return document.querySelector('#cross-table [aria-sort]').ariaSort") == state
        cells = column(page, "#cross-table", 4)
        points = [float(cell.partition(" ")[0]) for cell in cells if cell.strip()]
        assert points == sorted(points, reverse=state == "descending")
        assert not any(cell.strip() for cell in cells[len(points) :])


def test_one_curve_stands_out(browser: Page, cup: Stage) -> None:
    """The focused curve shows its interval, and the arrow keys go from one to the next, the best first."""
    page = opened(browser, cup)
    shown = "getComputedStyle(document.activeElement.querySelector('.band')).opacity"
    told = f"return [document.activeElement.querySelector('title').textContent, Number({shown})]"
    titles = page.run("return [...document.querySelectorAll('#history .broad title')].map((each) => each.textContent)")
    assert page.run("return document.querySelectorAll('#history .broad .curve[tabindex=\"0\"]').length") == 1
    page.press("\ue004")  # only then the page has the focus
    page.run("document.querySelector('#history .broad .curve[tabindex=\"0\"]').focus()")
    for at in (-1, -2, -3):
        assert page.run(told) == [titles[at], 0.3]
        page.press("\ue015")
    hidden = "[...document.querySelectorAll('#history .broad .curve:not(:focus) .band')]"
    assert page.run(f"return {hidden}.every((band) => getComputedStyle(band).opacity === '0')")


def test_the_matches_are_filtered_and_paged(browser: Page, tmp_path: Path) -> None:
    """In a folder without a server, one page of the list is shown at a time, newest first; the form filters."""
    stage = Stage(spec(12, "roundrobin"), tmp_path).play(MANY)
    report(stage, replays=ReplayPages.NONE)
    browser.emulate(1366, 900)
    browser.open(tmp_path / "matches.html")
    shown = [entry.match for entry in stage.entries[::-1]]
    assert column(browser, "#match-list", 1) == shown[:MOST_SHOWN]
    browser.follow("#pages a")
    assert column(browser, "#match-list", 1) == shown[MOST_SHOWN:]
    assert browser.texts("#pages a") == ["newer"]
    browser.run(
        "document.forms[0].elements.entrant.value = 'bot03'; document.forms[0].elements.opponent.value = 'bot01'"
    )
    browser.follow("form button")
    both = [entry.match for entry in stage.entries[::-1] if {"bot03", "bot01"} <= set(entry.names)]
    assert column(browser, "#match-list", 1) == both != []
    assert browser.text("#count") == f"1 to {len(both)} of {len(both)}, newest first"
    assert browser.run("return document.forms[0].elements.entrant.value") == "bot03"
    assert browser.complaints() == []


@pytest.mark.parametrize("query", QUERIES)
def test_the_script_finds_what_a_site_finds(browser: Page, ruled_cup: Stage, query: MatchQuery) -> None:
    """The same matches, in the same words."""
    path = ruled_cup.folder / "matches.html"
    browser.visit(path.as_uri() + query.address(query.page))
    found = browser.texts("#match-list tbody tr")
    answer = answer_query(path, query).decode()
    rows = re.findall(r"<tr>(<td.*?)</tr>", answer.partition("<tbody>")[2], re.DOTALL)
    as_read = [" ".join(text.split()) for text in map(read, rows)]
    assert [re.sub(r"\W", "", without_times(text)) for text in found] == [
        re.sub(r"\W", "", without_times(text)) for text in as_read
    ]
    assert browser.text("#count").strip() == read(re.findall(r'id="count">(.*?)<', answer)[0])


def without_times(text: str) -> str:
    """Return a text without the time of day of a ruling, which a script shows in the reader's time zone."""
    return re.sub(r"jury, .*?(?=\d+ *(?:replay|record|$))", "jury ", text)


def test_a_foul_links_to_its_match(browser: Page, cup: Stage) -> None:
    """Each foul has its cause, its rule, its detail, and existing addresses of a record and a replay."""
    page = opened(browser, cup)
    assert len(column(page, "#foul-list", 1)) == len(rows(cup, "fouls"))
    addresses = page.run("return [...document.querySelectorAll('#foul-list a')].map((shown) => shown.href)")
    addresses = [address.partition("#")[0] for address in addresses]
    files = {(cup.folder / f"{row['match']}.jsonl").as_uri() for row in rows(cup, "fouls")}
    files |= {(cup.folder / "replays" / f"{row['match']}.html").as_uri() for row in rows(cup, "fouls")}
    files |= {(cup.folder / "entrants" / f"{row['name']}.html").as_uri() for row in rows(cup, "fouls")}
    assert files == set(addresses)
    assert all(Path(file.removeprefix("file://")).is_file() for file in files)


def test_a_phone_shows_a_foul_and_its_replay(browser: Page, cup: Stage) -> None:
    """At 390 pixels a foul's detail and the link to its replay are on the screen."""
    page = opened(browser, cup, 390)
    shown = """
        return [...document.querySelectorAll('#foul-list tbody tr')].map((row) =>
            [...row.querySelectorAll('.free, a')].map((part) => part.getBoundingClientRect().right))"""
    lines = page.run(shown)
    assert len(lines) == len(rows(cup, "fouls")) > 0
    assert all(len(line) >= 4 and max(line) <= 390 for line in lines)


def test_times_are_the_readers_own(browser: Page, ruled_cup: Stage) -> None:
    """In the report, on an entrant's page and in a replay: with the zone, and UTC as a tooltip."""
    replay = next((ruled_cup.folder / "replays").glob("cup-*.html"))
    browser.move_to("Asia/Kolkata")
    for path in (ruled_cup.folder / "report.html", ruled_cup.folder / "entrants" / "bot03.html", replay):
        browser.open(path)
        told = browser.run(
            "return [...document.querySelectorAll('time')].map((time) => [time.title, time.textContent])"
        )
        shown = {"2026-01-01 00:00 UTC": "Jan 1, 2026, 05:30 AM GMT+5:30"}
        shown["2026-01-01 02:30 UTC"] = "Jan 1, 2026, 08:00 AM GMT+5:30"
        assert told
        assert all(text == shown[title] for title, text in told)
    browser.move_to("")


def test_the_list_of_matches_tells_rulings(browser: Page, ruled_cup: Stage) -> None:
    """They are next to the match that they changed, as in the list without the script."""
    browser.open(ruled_cup.folder / "matches.html")
    told = browser.texts("#match-list .ruled")
    assert len(told) == 2  # the match that does not count any more, and the result in its place
    assert all(text.startswith("awarded to bot05: the room was dark jury, ") for text in told)
    page = opened(browser, ruled_cup)
    assert any(SCRIPT in text for text in page.texts("#standings-table .ruled"))
    assert page.run("return window.broken") is None


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_of_an_entrant_fits_its_window(browser: Page, ruled_cup: Stage, width: int) -> None:
    """On a phone and on a desk nothing is wider than the page, and its tables sort."""
    browser.emulate(width, 900)
    for name in ("bot01", "latecomer"):
        browser.open(ruled_cup.folder / "entrants" / f"{name}.html")
        assert browser.run("return document.documentElement.scrollWidth") == width
        outside = """
            return [...document.querySelectorAll("section, .fact, h1, h2, p, .fouls a")]
                .filter((box) => box.getBoundingClientRect().right > innerWidth + 1).map((box) => box.textContent)"""
        assert browser.run(outside) == []
        browser.run("document.querySelector('#opponents-table th:nth-child(2) button').click()")
        names = column(browser, "#opponents-table", 2)
        assert names == sorted(names)
        assert browser.complaints() == []


def test_hostile_players_do_nothing(browser: Page, hostile_cup: Stage) -> None:
    """Names and details are readable text, in tables, lists and titles."""
    page = opened(browser, hostile_cup)
    assert page.run("return window.broken") is None
    assert {SCRIPT, IMAGE, QUOTES} <= set(column(page, "#standings-table", 2))
    assert any(SCRIPT in text for text in column(page, "#foul-list", 5))
    assert page.run("return document.querySelectorAll('img, [onload], [onerror]').length") == 0
    assert page.complaints() == []
