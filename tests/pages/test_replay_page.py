"""The replay as text: its content and its size. test_browser.py looks at it in a browser."""

import base64
import configparser
import hashlib
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from referee.pages.replay_frames import fold_record
from referee.pages.replay_page import join_lines, pool_lines, replay_page, with_record
from referee.pages.verifying import verifying_page
from referee.pages.words import with_names
from referee.plugins import load
from referee.record.reader import read_record

from ..record.records import Story
from .matches import HOSTILE_NAMES, IMAGE, SCRIPT, hostile, ordinary, stepped
from .reports import at_turn, data_of, raw_data_of

ROOT = Path(__file__).parents[2]


def page(told: Story, folder: Path) -> str:
    """Return the page of a story's record."""
    return replay_page(fold_record(read_record(told.write(folder / "match.jsonl")), load().game))


def test_a_page_tells_all_of_the_match(tmp_path: Path) -> None:
    """Ranking and facts are in the page itself, readable without its script."""
    told = ordinary(3)
    text = unescape(re.sub(r"<[^>]*>", " ", page(told, tmp_path)))
    result = told.match.result
    assert result is not None
    for fact in ("ada · bob · cleo · dan", told.match.setup.commitment, told.match.seed.hex(), "The Q game", "holds"):
        assert fact in text
    assert "q.end.idle-round: The game ends after a round" in text
    places = [seat for level in result.ranking for seat in level]
    rows = [told.match.setup.names[seat] + f" {result.scores[seat]}" for seat in places]
    ranking = " ".join(text.partition("Final ranking")[2].split())
    assert sorted(rows, key=ranking.index) == rows


@pytest.mark.parametrize(("tell", "has_steps"), [(ordinary, False), (stepped, True)])
def test_turns_of_several_steps_are_told(tell: Callable[[], Story], tmp_path: Path, *, has_steps: bool) -> None:
    """The page knows for each turn whether it is a step of a player's turn."""
    assert data_of(page(tell(), tmp_path))["hasSteps"] is has_steps


def test_nothing_in_a_page_comes_from_elsewhere(tmp_path: Path) -> None:
    """The only address is SVG's own name, and the policy allows exactly this script and this style."""
    text = page(ordinary(1), tmp_path)
    assert set(re.findall(r"\w+://[^\s\"'<>\\]+", text)) == {"http://www.w3.org/2000/svg"}
    assert re.findall(r"<(?:link|img|iframe|object|embed|base|form)\b|@import|\bsrc=|\burl\(", text) == []
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert inside is not None
        assert rules.pop(rule) == f"'sha256-{base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()}'"
    assert rules == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}


def test_hostile_text_is_never_markup(tmp_path: Path) -> None:
    """Players' texts are escaped, or in the page's data, where no element can begin or end."""
    text = page(hostile(), tmp_path)
    assert SCRIPT not in text
    assert IMAGE not in text
    assert "\x1b" not in text
    assert len(re.findall("<script", text)) == len(re.findall("</script", text)) == 2
    assert re.findall(r"[<>&']|[^ -~]", raw_data_of(text)) == []
    assert data_of(text)["names"][:3] == list(HOSTILE_NAMES[:3])
    assert text.count("{{data}}") == unescape(text).count("{{data}}")  # a name that looks like a slot stays a name


def test_a_long_match_makes_a_small_page(tmp_path: Path) -> None:
    """A hundred turns of four players stay far below 3 MB, with each definition once."""
    text = page(ordinary(100), tmp_path)
    data = data_of(text)
    assert len(data["frames"]) > 100
    assert len(text) < 400_000
    assert sum('id="q-red-star"' in line for line in data["lines"]) == 1


def test_boards_come_back_whole(tmp_path: Path) -> None:
    """The lines of a frame are its drawing, with the names in it."""
    told = ordinary(4)
    data = data_of(page(told, tmp_path))
    *_, last = join_lines(data["lines"], [frame["board"] for frame in data["frames"]])
    assert "\n".join(last or ()) == with_names(told.match.game.draw_svg(told.match.state), told.match.setup.names)


def test_turns_are_listed_and_drawn_without_a_script(tmp_path: Path) -> None:
    """It has all turns as lines and the last board. A site has the board of each turn, with links to the neighbours."""
    told = ordinary(4)
    text = page(told, tmp_path)
    data = data_of(text)
    still = re.findall("<noscript>(.*?)</noscript>", text, re.DOTALL)
    listed = text.partition('<table id="turns">')[2].partition("</table>")[0]
    assert len(re.findall("<tr[ >]", listed)) == len(data["frames"]) + 1
    last = with_names(told.match.game.draw_svg(told.match.state), told.match.setup.names)
    assert last in still[0]
    boards = list(join_lines(data["lines"], [frame["board"] for frame in data["frames"]]))
    for turn in (0, 2, data["turns"], data["turns"] + 9):
        asked = at_turn(text, turn)
        frame, board = [pair for pair in zip(data["frames"], boards, strict=True) if pair[0]["turn"] <= turn][-1]
        drawn = asked.partition('<figure class="drawn">')[2].partition("</figure>")[0]
        assert "\n".join(board or ()) in drawn
        assert f"Turn {frame['turn']} of {data['turns']}" in drawn
        scores = frame["scores"]
        assert scores is None or f"points {' : '.join(map(str, scores))}" in drawn
        links = re.findall(r'href="\?turn=(\d+)"', asked)
        assert {str(each["turn"]) for each in data["frames"]} == set(links)
    assert at_turn(verifying_page(), 1) == verifying_page()
    assert 'href="?turn=' not in with_record(text, b"the record")


@pytest.mark.parametrize(
    ("texts", "lines", "edits"),
    [
        ([], [], []),
        ([None, "a"], ["a"], [None, [[0, 0, 0, 1]]]),
        (["a\nb\nc", "a\nb\nd\nc"], ["a", "b", "c", "d"], [[[0, 0, 0, 3]], [[2, 0, 3, 1]]]),
        (["a\nb\nc", None, "c"], ["a", "b", "c"], [[[0, 0, 0, 3]], None, [[0, 2]]]),
        (["a\nb", "b\nc\na"], ["a", "b", "c"], [[[0, 0, 0, 2]], [[0, 0, 1, 2], [1, 1]]]),
        (["a\na\na"] * 2, ["a"], [[[0, 0, 0, 1, 0, 1, 0, 1]], []]),
        ([""], [""], [[[0, 0, 0, 1]]]),
    ],
)
def test_lines_are_kept_once(texts: list[str | None], lines: list[str], edits: list[list[list[int]] | None]) -> None:
    """Equal lines are stored once, and each text is stored as its changes since the text before."""
    assert pool_lines(texts) == (lines, edits)
    assert [text and "\n".join(text) for text in join_lines(lines, edits)] == texts


def test_a_board_costs_what_changed() -> None:
    """One additional tile on a board of a hundred lines costs only a few numbers, at every turn."""
    texts = ["\n".join(["head", *map(str, range(100 + turn)), "foot"]) for turn in range(50)]
    _, edits = pool_lines(texts)
    assert all(edit and len(edit) == 1 and len(edit[0]) == 4 for edit in edits)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("ada", "bob"), "ada"),
        (("<script>'\"&",), "&lt;script&gt;&#x27;&quot;&amp;"),
        (("\\1\\g<0>",), "\\1\\g&lt;0&gt;"),
        (("\x1b[2J\x00",), "\\x1b[2J\\x00"),
        (("x" * 21,), "x" * 19 + "…"),
        ((), "?"),
    ],
)
def test_names_in_drawings_are_escaped(names: tuple[str, ...], shown: str) -> None:
    """A stand-in becomes its seat's name, as text; everything else stays."""
    svg = '<svg><text x="1" data-seat="0" y="2">seat 0</text><text>seat 0</text></svg>'
    assert with_names(svg, names) == f'<svg><text x="1" data-seat="0" y="2">{shown}</text><text>seat 0</text></svg>'


def test_the_pages_parts_are_installed() -> None:
    """The package lists every kind of file that makes a page."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    patterns = setup["options.package_data"]["referee"].replace(",", " ").split()
    package = ROOT / "referee"
    listed = {path for pattern in patterns for path in package.glob(pattern)}
    assert set((package / "pages" / "templates").iterdir()) <= listed
