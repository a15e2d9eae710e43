"""The manual's pages are short, and their links work."""

import re
from pathlib import Path

import pytest

from tests.docs.manual import ROOT, blocks, pages

MAX_LINES = 250
MOST_WORDS = 35
"""Longest sentence, or row of a table."""
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PATH = re.compile(r"`((?:referee|protocol|sample_players|tests|docs|examples)/[\w./-]*)`")
_NAMES_IN = re.compile(r"`((?:referee|protocol)/[\w./-]+\.py)`: (`\w+`(?:, `\w+`)*)")
MANUAL = [page for page in pages() if page.is_relative_to(ROOT / "docs")]
BY_NAME = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


@BY_NAME
def test_a_page_is_short(page: Path) -> None:
    lines = page.read_text().splitlines()
    assert len(lines) <= MAX_LINES
    assert [line for line in lines if len(line) > 140 and not line.startswith("|")] == []


@BY_NAME
def test_links_lead_to_files(page: Path) -> None:
    """A link inside the repository leads to an existing file."""
    links = [link for link in _LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@BY_NAME
def test_named_paths_exist(page: Path) -> None:
    """If a page names a file or folder of the repository, it exists."""
    assert [path for path in _PATH.findall(page.read_text()) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["architecture.md", "where-to-change.md", "what-a-turn-costs.md"])
def test_named_modules_exist(page: str) -> None:
    """A file that a page for developers names without its folder exists somewhere in the repository."""
    folders = (ROOT / name for name in ("referee", "protocol", "sample_players", "tests"))
    known = {path.name for folder in folders for path in folder.rglob("*.*")}
    text = (ROOT / "docs/develop" / page).read_text()
    assert [name for name in re.findall(r"`([\w-]+\.(?:py|js|css|html))`", text) if name not in known] == []


@BY_NAME
def test_named_functions_and_constants_exist(page: Path) -> None:
    """If a page names something in a module, the module has it."""
    found = [(path, name) for path, names in _NAMES_IN.findall(page.read_text()) for name in re.findall(r"\w+", names)]
    assert [
        pair for pair in found if not re.search(rf"^ *(def |class |){pair[1]}\b", source(pair[0]), re.MULTILINE)
    ] == []


def source(path: str) -> str:
    """Return the source of a module; empty if it is missing, which another test reports."""
    return (ROOT / path).read_text() if (ROOT / path).exists() else ""


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short(page: Path) -> None:
    """No sentence of the manual has more than 35 words, or an odd word."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[])|\n\s*\n|\n[-|#]", text)
    assert [" ".join(sentence.split()) for sentence in sentences if len(sentence.split()) > MOST_WORDS] == []
    assert re.findall(r"\b(?:whoever|meanwhile|mend|beside|thereby|hence|therein)\b", text, re.IGNORECASE) == []


def test_code_is_marked_as_such() -> None:
    """Commands are in blocks with a language, so that they are run, and not in indented text."""
    indented = re.compile(r"^ {4}referee ", re.MULTILINE)
    assert [page.name for page in pages() if indented.search(page.read_text())] == []


def test_every_page_is_in_the_site() -> None:
    """Each folder's index links to its pages at the beginning of a line.

    Docs/conf.py makes the site's menu from that.
    """
    for page in (*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")):
        if "_build" in page.parts or page == ROOT / "docs/index.md":
            continue
        index = page.parent / "index.md" if page.name != "index.md" else ROOT / "docs/index.md"
        link = re.escape(page.relative_to(index.parent).as_posix())
        assert re.search(rf"^(?:- |\| )\[[^\]]*\]\({link}\)", index.read_text(), re.MULTILINE), f"{page} is in no menu"


def test_no_page_is_an_include_or_a_list_of_directives() -> None:
    """A code host shows no directive of Sphinx, so pages have their own text, and at most one kind of directive."""
    allowed = {"{eval-rst}"}  # made from docstrings, on pages that say so
    for page in pages():
        text = page.read_text()
        directives = {block.language.split()[0] for block in blocks(page) if block.language.startswith("{")}
        assert directives <= allowed, page
        assert len(re.sub(r"```\{.*?```", "", text, flags=re.DOTALL).split()) > 50, page
