"""The pages of entrants as text: their content, their links, and harmless names."""

import re
import shutil
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from referee.pages import entrant_page as module
from referee.pages.columns import MEANINGS
from referee.record.folder import output_path
from referee.tournament.tie_breaks import TIE_BREAKS

from .matches import IMAGE, SCRIPT
from .reports import entrant_page, header, page, read, report, section
from .tournaments import Cast, Stage, spec


def addresses(text: str) -> list[str]:
    """Return the targets of a page's links."""
    return [unescape(found) for found in re.findall(r'<a [^>]*href="([^"]*)"', text)]


def test_every_link_leads_somewhere(ruled_cup: Stage, tmp_path: Path) -> None:
    """Links of the report, even in another folder, and of each entrant's page: file and place exist."""
    elsewhere = tmp_path / "a b" / "page.html"
    elsewhere.parent.mkdir()
    report(ruled_cup, html=elsewhere)
    for start in (ruled_cup.folder / "report.html", elsewhere):
        pages = [start, *(start.parent / "entrants").iterdir()]
        assert len(pages) == 1 + len(ruled_cup.spec.entrants)
        for path in pages:
            for address in addresses(path.read_text(encoding="utf-8")):
                way, _, place = address.partition("#")
                way = way.partition("?")[0]
                target = (path.parent / unquote(way)).resolve() if way else path
                assert target.is_file(), (path, address)
                assert not place or f'id="{place}"' in target.read_text(encoding="utf-8"), (path, address)


def test_a_page_tells_all_of_an_entrant(ruled_cup: Stage) -> None:
    """It has place, opponents, seats, time and matches, with links to the matches."""
    for line in ruled_cup.tournament.standings():
        text = entrant_page(ruled_cup, ruled_cup.spec.entrants[line.entrant].name)
        met = ruled_cup.tournament.table.opponents(line.entrant)
        assert f"{line.place}. of 10" in header(text)
        assert len(re.findall(r'<tr id="v\d+"', text)) == len(met)
        mine = [entry for entry in ruled_cup.entries if line.entrant in entry.fixture.entrants]
        assert re.findall(r"<tr><td[^>]*>(cup-[\w.]+)(?:(?!</tr>).)*>record<", text, re.DOTALL) == [
            entry.match for entry in mine[::-1]
        ]
        has_fouled = any(entry.fixture.entrants[foul.seat] == line.entrant for entry in mine for foul in entry.fouls)
        assert ('id="fouls"' in text) == has_fouled


def test_what_happened_besides_is_told(ruled_cup: Stage) -> None:
    """The page has rulings with their reasons, late entrants, changed programs, and the runs of the tournament."""
    text = page(ruled_cup)
    assert "2026-01-01 02:30 UTC withdraw bot05 its author asked for it jury" in section(text, "rulings")
    assert f"disqualify bot06 {SCRIPT} jury" in section(text, "rulings")
    assert "latecomer joined at 2026-01-01 02:30 UTC" in section(text, "joined")
    assert "bot03 has played with a new program since 2026-01-01 02:30 UTC" in section(text, "changed")
    assert "bot05 withdrawn: its author" in section(text, "suspended")
    assert "bot06 disqualified: " in section(text, "suspended")
    assert "2026-01-01 00:00 UTC 2026-01-01 02:30 UTC" in section(text, "runs")
    assert "joined at 2026-01-01 02:30 UTC" in header(entrant_page(ruled_cup, "latecomer"))
    assert "award cup-00001 to " in section(entrant_page(ruled_cup, ruled_cup.entries[0].names[0]), "rulings")


def test_a_page_tells_which_version_played_what(ruled_cup: Stage) -> None:
    """Each version has its digest, first time, and matches by round; each match has the version's number."""
    text = entrant_page(ruled_cup, "bot03")
    assert section(text, "versions").startswith(
        "Versions version since matches rounds digest "
        "1 2026-01-01 00:00 UTC 2 1 to 2 none "
        f"2 2026-01-01 02:30 UTC 4 3 to 6 {'0' * 64}"
    )
    numbers = re.findall(r'bot03.html">bot03</a> <small>version (\d)<', text)
    assert list(dict.fromkeys(numbers)) == ["2", "1"]


def test_a_ruling_stands_beside_what_it_changed(ruled_cup: Stage) -> None:
    """The standings and each list of matches have its reason; the crosstable has a mark."""
    text, entry = page(ruled_cup), ruled_cup.entries[0]
    loser, winner = entry.names
    award = f"awarded to {winner}: the room was dark jury, 2026-01-01 02:30 UTC"
    table = text.partition('id="standings-table"')[2].partition("</table>")[0]
    lines = [read(line) for line in re.findall(r'<th scope="row" class="entrant">(.*?)</th>', table, re.DOTALL)]
    beside = {name: told for name, _, told in (line.partition(" ") for line in lines) if "jury" in told}
    assert beside == {
        loser: f"cup-00001 {award}",
        "bot05": f"withdrawn withdrawn: its author asked for it jury, 2026-01-01 02:30 UTC cup-00001 {award}",
        "bot06": f"disqualified disqualified: {SCRIPT} jury, 2026-01-01 02:30 UTC",
    }
    assert text.count(f'title="cup-00001 awarded to {winner}: the room was dark">2</a></sup>') == 2
    assert text.count('id="ruling-2"') == 1
    assert award in read(text.partition('id="match-list"')[2].partition("</table>")[0])
    assert award in section(entrant_page(ruled_cup, loser), "matches")


def test_what_a_program_printed_is_linked_if_it_is_there(tmp_path: Path) -> None:
    """The link is at the foul, in the report and on the entrant's page, if the file is next to the record."""
    stage = Stage(spec(3, "roundrobin"), tmp_path, Cast(cheats={0: 1, 1: 2})).play()
    first, second = (
        (entry.match, foul.seat, entry.names[foul.seat]) for entry in stage.entries for foul in entry.fouls
    )
    path = output_path(tmp_path, *first)
    path.write_text("Traceback")
    report(stage)
    assert f"../{path.name}" in addresses(entrant_page(stage, first[2]))
    assert f'"{path.name}"' in page(stage)
    assert page(stage).count(".stderr") == 1
    assert ".stderr" not in entrant_page(stage, second[2])


def test_hostile_names_are_text_and_lead_nowhere_else(hostile_cup: Stage) -> None:
    """No name is markup or a path; an entrant with an invalid name has a page by number."""
    pages = list((hostile_cup.folder / "entrants").iterdir())
    assert {path.name for path in pages} == {f"entrant-{number}.html" for number in range(4)}
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert SCRIPT not in text
        assert IMAGE not in text
        assert "\x1b" not in text
        assert len(re.findall("<script", text)) == len(re.findall("</script", text)) == 2
        assert "default-src 'none'" in text
        assert re.findall(r"<(?:link|img|iframe|object|embed|base|form)\b", text) == []


def test_a_long_list_is_cut(cup: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has the newest matches, with a link to all of them."""
    monkeypatch.setattr(module, "MOST_MATCHES", 2)
    target = tmp_path / "page.html"
    report(cup, html=target)
    played = [entry.match for entry in cup.entries if 0 in entry.fixture.entrants]
    text = (tmp_path / "entrants" / "bot00.html").read_text(encoding="utf-8")
    assert re.findall(r"<tr><td[^>]*>(cup-[\d.]+)", text) == played[:-3:-1]
    assert f'<a href="../matches.html?entrant=bot00">{len(played)} matches, by opponent' in text
    assert "Here are the newest 2." in text


def test_every_number_says_what_it_means(cup: Stage) -> None:
    """The head of each column of the standings has a title, for every tie-break."""
    heads = re.findall(r"<th ([^>]*)>([^<]*)</th>", page(cup).partition('id="crosstable"')[0])
    assert [title for attributes, title in heads if "title=" not in attributes] == ["entrant"]
    assert {name.replace("-", " ") for name in TIE_BREAKS} <= MEANINGS.keys()


def test_pages_are_written_anew(cup: Stage, tmp_path: Path) -> None:
    """A report that is made again replaces the pages of entrants."""
    folder = Path(shutil.copytree(cup.folder, tmp_path / "copy"))
    (folder / "entrants" / "bot00.html").write_text("old")
    report(cup, html=folder / "report.html")
    assert (folder / "entrants" / "bot00.html").read_text(encoding="utf-8") != "old"


def test_a_page_says_why_a_program_that_fouled_is_ahead_of_others(tmp_path: Path) -> None:
    """In a bracket, a foul is a loss: with two fouls after a win, it is fifth, ahead of those that lost at once."""
    stage = Stage(spec(8, "doubleelimination"), tmp_path, Cast(rude={0: 2}, cheats={0: 3})).play()
    report(stage)
    line = next(line for line in stage.tournament.standings() if line.entrant == 0)
    fouls = [
        entry.fixture.round for entry in stage.entries for foul in entry.fouls if entry.fixture.entrants[foul.seat] == 0
    ]
    assert (line.place, len(fouls)) == (5, 2)
    went_out = f"went out in round {fouls[-1]}; entrants that went out later have a better place"
    assert went_out in header(entrant_page(stage, "bot00"))
    winner = next(line for line in stage.tournament.standings() if line.place == 1)
    assert "went out" not in header(entrant_page(stage, stage.spec.entrants[winner.entrant].name))
