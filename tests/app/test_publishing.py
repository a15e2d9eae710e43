"""`referee report --publish`: what everybody may see, in a folder that stands alone."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from referee.record.folder import output_path

from ..cli.calling import played, referee
from ..pages.tournaments import Cast, Stage, spec

SECRET = "what only one author may read"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Return the folder of a tournament in which a player fouled, with every kind of file that may be in it."""
    folder = tmp_path / "logs"
    stage = Stage(spec(4, "roundrobin"), folder, Cast(rude={0: 1})).play()
    for entry in stage.entries:
        for seat, name in enumerate(entry.names):
            output_path(folder, entry.match, seat, name).write_text(f"{SECRET}: {name}\n")
    (folder / "requests").mkdir()
    (folder / "requests" / "ruling.json").write_text(SECRET)
    (folder / "cup.tokens").write_text(SECRET)
    return folder


def find_dead_links(folder: Path) -> list[tuple[str, str]]:
    """Return the links of all pages in a folder that lead to no file in it."""
    links = [
        (page, link) for page in folder.rglob("*.html") for link in re.findall(r'href="([^"#?]+)', page.read_text())
    ]
    targets = [(page.name, link, (page.parent / unquote(link)).resolve()) for page, link in links if "://" not in link]
    inside = folder.resolve()
    return [(page, link) for page, link, target in targets if not (target.exists() and target.is_relative_to(inside))]


def test_what_is_published_stands_alone(logs: Path, tmp_path: Path) -> None:
    """It has valid records and pages with working links, but no output of programs, no requests and no secrets."""
    played(referee("report", str(logs), "--publish", "public", "--json", cwd=tmp_path))
    public = tmp_path / "public"
    logs.rename(tmp_path / "gone")
    assert find_dead_links(public) == []
    assert len([*public.glob("replays/cup-*.html")]) == 6
    records = sorted(path.name for path in public.glob("*.jsonl"))
    assert records == [*(f"cup-0000{number}.jsonl" for number in range(1, 7)), "cup.jsonl"]
    assert played(referee("audit", *records[:-1], "--json", cwd=public))["broken"] == 0
    assert [path for path in public.rglob("*") if path.is_file() and SECRET in path.read_text()] == []


def test_an_author_gets_the_own_matches_explained(logs: Path, tmp_path: Path) -> None:
    """The first page leads to the author's own matches and output, and to those of nobody else."""
    referee("report", str(logs), "--publish", "for bot00", "--for", "bot00", cwd=tmp_path)
    own = tmp_path / "for bot00"
    assert find_dead_links(own) == []
    assert len([*own.glob("own/cup-*.html")]) == len([*own.glob("own/*.output.txt")]) == 3
    printed = [path.read_text() for path in own.rglob("*") if path.is_file() and SECRET in path.read_text()]
    assert printed
    assert not any(f"{SECRET}: {name}" in text for text in printed for name in ("bot01", "bot02", "bot03"))
    assert any("Expelled in turn" in path.read_text() for path in own.glob("own/*.html"))
    assert (own / "index.html").read_text().count('<a href="own/') == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--publish", "logs"), "logs is not empty"),
        (("--publish", "new", "--for", "bot09"), "there is no entrant 'bot09'"),
        (("--for", "bot00"), "--for needs --publish"),
        (("--publish", "new", "--csv", "tables"), "leave out --csv"),
    ],
)
def test_wrong_use_writes_nothing(logs: Path, tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    """An error says what to do, and no folder is left."""
    done = referee("report", str(logs), *options, "--json", cwd=tmp_path, status=2)
    assert said in played(done)["error"]
    assert not (tmp_path / "new").exists()


def test_a_running_tournament_is_not_published(tmp_path: Path) -> None:
    """The deals of its open matches are secret."""
    Stage(spec(4, "roundrobin"), tmp_path / "logs").play(2)
    done = referee("report", "logs", "--publish", "new", "--json", cwd=tmp_path, status=2)
    assert "cup is not over" in played(done)["error"]
