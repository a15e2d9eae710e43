"""Records are verified in the browser: with the same verdict as Node.js, and as readers see it."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import pytest
from selenium.webdriver.common.keys import Keys

from referee.pages.rendering import shared_files
from referee.pages.replay_frames import fold_record
from referee.pages.replay_page import replay_page, with_record
from referee.pages.replays import ReplayNotes, make_replay
from referee.pages.summary import MatchNotes
from referee.pages.verifying import PAGE, verifier_script, verifying_page
from referee.plugins import load
from referee.record.reader import read_record
from referee.record.redacted_record import redact

from ..match.folding import SEED
from ..record.forging import WAYS, changed, lines_of, sealed
from ..record.records import SEALER, record_of
from ..sample_players.test_deals import GAMES, played, with_draws
from ..sample_players.verifying import VERIFIER, run_node
from .browser import Page
from .matches import ordinary

GOLDEN = Path(__file__).parents[1] / "golden"
COMPARE = Path(__file__).with_name("compare_verifiers.js")


@pytest.mark.forges
def test_pages_and_node_judge_records_alike(tmp_path: Path) -> None:
    """Golden and damaged records have the same verdicts: the replacement for Node.js changes nothing."""
    records = {path.stem: path.read_bytes() for path in GOLDEN.glob("*.jsonl")}
    intact = len(records)
    for way in WAYS:
        for number in range(12):
            records[f"{way.__name__}-{number}"] = way(Random(number), record_of("bad frame"))
    folder, bundle = tmp_path / "records", tmp_path / "bundle.js"
    folder.mkdir()
    for name, data in records.items():
        (folder / f"{name}.jsonl").write_bytes(data)
    bundle.write_text(verifier_script())
    done = run_node("--no-warnings", COMPARE, bundle, VERIFIER.parent, folder)
    assert done.stderr == ""
    assert intact <= int(done.stdout) < len(records), "no other line: nothing is judged otherwise"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record; the page of its match, and the one that verifies, are in the folder below, as in a report."""
    path = ordinary(6).write(tmp_path_factory.mktemp("verified") / "match.jsonl")
    pages = path.with_name("replays")
    pages.mkdir()
    for name, text in shared_files("replay", "").items():
        (pages / name).write_text(text, encoding="utf-8")
    noted = ReplayNotes(report="", site="", matches={"match": MatchNotes()})
    make_replay("match", path.parent, noted, load().game)
    (pages / PAGE).write_text(verifying_page(), encoding="utf-8")
    return path


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(record: Path) -> Iterator[str]:
    """Serve the folder of the record, and return the address of its page."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=record.parent)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/replays/match.html"
        server.shutdown()


def told(page: Page) -> dict[str, str]:
    """Wait for the verdict, and return its lines by their labels."""
    page.wait_until("document.querySelector('#verified dd, #verified p:only-child:not(:empty)')?.tagName === 'DD'")
    return dict(zip(page.texts("#verified dt"), page.texts("#verified dd"), strict=True))


def test_a_page_verifies_its_record(browser: Page, record: Path, address: str) -> None:
    """A click leads to a page that all matches share. It names its checks, head and key, and no policy stops it."""
    whole, head = record.read_bytes(), read_record(record).chain.head
    browser.emulate(1366, 768)
    browser.visit(address)
    assert "verifyRecord" not in browser.run("return document.documentElement.innerHTML")
    browser.follow(f"a[href^='{PAGE}']")
    assert browser.run("return document.querySelector('#asked a').href") == address
    found = told(browser)
    assert list(found) == ["holds", "head", "key"]
    assert "chain, seal, time, shuffle, tiles in" in found["holds"]
    assert found["head"] == f"{head}: the head that the page names"
    assert found["key"].startswith(SEALER.public)
    at = whole.index(b'"event":"move-received"') + 10
    record.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    browser.click("verify")
    browser.wait_until("document.querySelector('#verified dt')?.textContent === 'does not hold'")
    record.write_bytes(whole)
    line = whole[:at].count(b"\n")
    assert told(browser)["does not hold"].startswith(f"line {line}: line {line + 1} holds another hash of it")
    browser.visit(address)
    browser.follow("#deal-again")
    assert dealt(browser).startswith("Equal: ")
    assert told(browser)["head"] == f"{head}: the head that the page names"
    assert browser.complaints() == []


def dealt(page: Page) -> str:
    """Wait until a match was dealt again, and return the message."""
    page.wait_until("document.querySelector('#dealt p')")
    return page.text("#dealt p")


@pytest.mark.forges
def test_a_page_that_holds_its_record_deals_it_again(browser: Page, tmp_path: Path) -> None:
    """A button does it, in every game, without a server. A change is named, whatever the seal says."""
    game_of = load().game
    for game in GAMES:
        record = played(game).write(tmp_path / f"{game}.jsonl")
        page = replay_page(fold_record(read_record(record), game_of))
        (tmp_path / f"{game}.html").write_text(with_record(page, record.read_bytes()), encoding="utf-8")
        browser.open(tmp_path / f"{game}.html")
        browser.click("deal")
        assert dealt(browser).startswith("Equal: ")
        rows = browser.texts(".dealt td:nth-child(3)")
        assert rows[:2] == ["the same, in line 5, by its digest"] * 2
        assert {row.partition(",")[0] for row in rows} == {"the same"}
        assert browser.complaints() == []
    lines = lines_of((tmp_path / "quincy.jsonl").read_bytes())
    lies = {"lie": with_draws(lines), "elsewhere": changed(lines, -2, ("result", "turns"), 0)}
    page = replay_page(fold_record(read_record(tmp_path / "quincy.jsonl"), game_of))
    for name, told_lines in lies.items():
        held = with_record(page, sealed(told_lines))
        (tmp_path / f"{name}.html").write_text(held, encoding="utf-8")
    browser.open(tmp_path / "elsewhere.html")
    browser.click("deal")
    assert dealt(browser).startswith("Equal: ")
    assert "But another part of the record does not hold: line" in browser.text("#dealt")
    browser.open(tmp_path / "lie.html")
    browser.click("deal")
    assert "was handed 0,9, but the shuffle gives it" in dealt(browser)
    assert any(row.startswith("DIFFERENT, in line 6: 0,9") for row in browser.texts(".dealt td:nth-child(3)"))


def test_a_page_in_an_archive_brings_its_record_along(browser: Page, record: Path) -> None:
    """The page that verifies and deals is another one, which can't read the record without a server."""
    page = record.parent / "replays" / "archived.html"
    replay = page.with_name("match.html").read_text(encoding="utf-8")
    page.write_text(with_record(replay, record.read_bytes()), encoding="utf-8")
    for button, label in (("#deal-again", "#dealt p"), ("#verify-it", "#verified dt")):
        browser.open(page)
        browser.follow(button)
        browser.wait_until(f"document.querySelector('{label}')")
        assert list(told(browser)) == ["holds", "head", "key"]
        assert browser.complaints() == []
    browser.click("deal")
    assert dealt(browser).startswith("Equal: ")


@pytest.fixture
def alone(record: Path) -> Path:
    """Give a match's page that stands alone."""
    path = record.with_suffix(".html")
    path.write_text(replay_page(fold_record(read_record(record), load().game)), encoding="utf-8")
    return path


def test_a_page_that_stands_alone_verifies_a_file(browser: Page, record: Path, alone: Path) -> None:
    """A page that was opened without a server can't fetch its record, so its reader chooses the file."""
    other = record.with_name("other.jsonl")
    other.write_bytes(record_of("clean"))
    browser.open(alone)
    assert browser.run("return document.getElementById('verify').hidden")
    browser.choose("verify-file", record)
    assert list(told(browser)) == ["holds", "head", "key"]
    browser.choose("verify-file", other)
    browser.wait_until("document.querySelector('#verified p')?.textContent.startsWith('other.jsonl, by')")
    assert "the page was made from another record" in told(browser)["head"]


def test_a_deal_that_is_not_made_again_says_why(browser: Page, alone: Path, tmp_path: Path) -> None:
    """A redacted record needs the seed that its player was sent; an unfinished one has none."""
    whole = played("quincy").write(tmp_path / "whole.jsonl")
    records = {"unfinished": b"".join(whole.read_bytes().splitlines(keepends=True)[:9])}
    for opens in ("at-end", "after-last-leg"):
        kept = played("quincy", seed_opens=opens).write(tmp_path / f"{opens}-whole.jsonl")
        records[opens] = b"".join(line + b"\n" for line in redact(kept, load().game, 1))
    told = {
        "unfinished": "seed is still secret",
        "at-end": "`end` told it",
        "after-last-leg": "opens after the last leg",
    }
    browser.emulate(1366, 768)
    browser.open(alone)
    for name, data in records.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(data)
        browser.choose("verify-file", path)
        browser.wait_until(f"document.querySelector('#verified p')?.textContent.startsWith('{path.name}, by')")
        browser.click("deal")
        assert told[name] in dealt(browser)
        assert browser.run("return document.getElementById('seed-asked').hidden") == (name == "unfinished")
    browser.write("seed", SEED.hex() + Keys.TAB)
    browser.wait_until("document.querySelector('#dealt p').textContent.startsWith('Equal: ')")
    rows = browser.texts("#dealt td:nth-child(3)")
    assert (rows[0], rows[1].partition(":")[0]) == ("not shown", "the same, in line 3")


def test_a_browser_without_ed25519_says_so(browser: Page, record: Path) -> None:
    """All the rest is checked, also where the page that all matches share was opened without a server."""
    browser.open(record.parent / "replays" / PAGE)
    browser.run("SubtleCrypto.prototype.importKey = () => Promise.reject(new Error('no such algorithm'))")
    browser.choose("verify-file", record)
    found = told(browser)
    assert found["seal"].startswith("NOT JUDGED: this browser lacks Ed25519")
    assert "chain, time, shuffle, tiles in" in found["holds"]
