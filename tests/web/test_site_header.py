"""The header of the site's pages, their titles, and files that crawlers and browsers request on their own."""

import json
import re
from html import unescape
from urllib.parse import urlencode

import pytest
from msgspec.structs import replace

from referee.pages.contest_page import contest_page
from referee.pages.rendering import without_site
from referee.pages.verifying import verifying_page

from .sites import CARD, PAYLOAD, TestSite

PUBLIC = ("/", "/live", "/standings", "/search?q=bob")


@pytest.mark.parametrize("path", [*PUBLIC, "/author", "/author/queue"])
def test_every_page_has_the_same_header(contest: TestSite, path: str) -> None:
    """It leads to the first page, the live tables, the search, and one's own desk or the sign-in page."""
    ada = contest.signed_in("ada").ask("GET", path).body.decode()
    header = ada[ada.index('<nav class="site-bar" aria-label="Site">') : ada.index("</nav>")]
    for link, text in (("live", "Live"), ("standings", "Standings"), ("search", "Search"), ("author", "ada")):
        assert re.search(rf'<a href="[./]*{link}">{text}</a>', header)
    assert "<button>Sign out</button>" in header
    visitor = contest.visitor().ask("GET", path).body.decode()
    assert (">ada</a>" in visitor, "Sign out" in visitor) == (False, False)
    assert ('sign-in">Sign in</a>' in visitor) == (path in PUBLIC)


@pytest.mark.parametrize("path", PUBLIC)
def test_a_member_signs_out_on_a_public_page(contest: TestSite, path: str) -> None:
    """The form there has the token of the session."""
    ada = contest.signed_in("ada")
    assert ada.fill_in(path, "/sign-out").status == 303
    assert ada.ask("GET", "/author").headers["location"].startswith("/sign-in")


def test_pages_made_once_ask_who_looks(contest: TestSite) -> None:
    """A refusal has everybody's header; its script asks for the name, the desk and the token to sign out."""
    ada = contest.signed_in("ada")
    page = ada.ask("GET", "/nowhere/at/all").body.decode()
    assert '<nav class="site-bar" aria-label="Site" data-site="../../">' in page
    assert 'href="../../sign-in">Your desk</a>' in page
    answer = json.loads(ada.ask("GET", "/visitor").body)
    assert (answer["title"], answer["visitor"]["name"], answer["visitor"]["desk"]) == (
        contest.content.title,
        "ada",
        "author",
    )
    form = urlencode({"form_token": answer["visitor"]["form_token"]}).encode()
    assert ada.ask("POST", "/sign-out", form).status == 303
    assert json.loads(ada.ask("GET", "/visitor").body)["visitor"] is None


def test_the_first_page_leads_to_the_desk(contest: TestSite) -> None:
    """An author hands in there, an organiser runs the contest; a stranger is offered to sign up."""
    pages = {name: contest.signed_in(name).ask("GET", "/").body.decode() for name in ("ada", "ann")}
    assert '<a href="./author">Your desk' in pages["ada"]
    assert '<a href="./organiser">Your desk' in pages["ann"]
    stranger = contest.visitor().ask("GET", "/").body.decode()
    assert ("Your desk" in stranger, 'href="sign-up"' in stranger) == (False, True)


def test_empty_lists_are_not_shown() -> None:
    """A tournament that has not begun has no last results, and no running matches."""
    begun = contest_page(CARD, "")
    waits = contest_page(replace(CARD, tournaments=[replace(CARD.tournaments[0], last=[], open_matches=[])]), "")
    assert [len(re.findall("<table hidden>", text)) for text in (begun, waits)] == [0, 2]


def test_titles_name_the_page_and_the_contest(contest: TestSite) -> None:
    """So tabs and bookmarks can be distinguished."""
    page = contest.signed_in("ada").ask("GET", "/author/queue").body.decode()
    title = re.search("<title>(.*?)</title>", page, re.DOTALL)
    assert title is not None
    assert unescape(title[1]).startswith("The queue · ")
    assert len(unescape(title[1])) > len("The queue · "), PAYLOAD


@pytest.mark.parametrize("path", [*PUBLIC, "/tournaments/cup/report.html"])
def test_a_shared_link_has_a_preview(contest: TestSite, path: str) -> None:
    """Title, words and a picture, whose address is the public one of the site: services take no relative one."""
    (contest.folder / "logs" / "cup" / "report.html").write_text(verifying_page(site="../../"))
    shown = contest.visitor().ask("GET", path).body.decode()
    preview = dict(re.findall(r'property="og:(\w+)" content="([^"]*)"', shown))
    assert preview["image"] == "https://contest.example.org/preview.png"
    assert preview["title"] == re.findall("<title>(.*?)</title>", shown, re.DOTALL)[0]
    assert preview["description"]
    picture = contest.visitor().ask("GET", "/preview.png")
    assert (picture.status, picture.headers["content-type"], picture.body[:4]) == (200, "image/png", b"\x89PNG")
    assert len(picture.body) < 100_000


def test_a_page_in_an_archive_names_no_picture() -> None:
    """The archive contains no picture."""
    shown = verifying_page(site="../../")
    assert "preview.png" in shown
    assert "preview.png" not in without_site(shown)


def test_crawlers_stay_away_from_the_pages_of_members(contest: TestSite) -> None:
    """Browsers find an icon."""
    robots = contest.visitor().ask("GET", "/robots.txt")
    assert (robots.status, robots.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert b"Disallow: /author\n" in robots.body
    icon = contest.visitor().ask("GET", "/favicon.ico")
    assert (icon.status, icon.headers["content-type"], icon.body[:4]) == (200, "image/png", b"\x89PNG")
