"""A tournament's report as text: the content of its pages, and the files next to it."""

import base64
import hashlib
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from msgspec.structs import replace

from referee.pages import report as pages_report
from referee.pages.charts import curves
from referee.pages.charts.curves import rating_drawings, ratings_drawings
from referee.pages.links import PageLinks, report_address
from referee.pages.match_summary import MatchSummary
from referee.pages.rendering import with_shared_files
from referee.pages.replay_frames import fold_record
from referee.pages.replay_page import replay_page
from referee.pages.replays import ReplayPages, make_on_request, page_path, read_names
from referee.pages.report import Titles, report_page
from referee.pages.summary import Summary, host_lines
from referee.pages.words import number, outcome_of_entry, short_cause
from referee.plugins import load
from referee.record.reader import read_record
from referee.record.timing import Timing, fairness
from referee.text import counted, placeless
from referee.tournament.events import HostCame, MatchOpened, TournamentResumed
from referee.tournament.hosts import Calibration, void_reason

from .matches import HOSTILE_NAMES, IMAGE, QUOTES, SCRIPT
from .reports import SWISS, data_of, entrant_page, header, page, raw_data_of, report, rows, section
from .tournaments import AT, START_DETAIL, Cast, Stage, spec


def test_the_page_tells_all_of_the_tournament(cup: Stage) -> None:
    """Standings, ratings, fouls, suspensions, byes and void matches are in the page itself, without its script."""
    text = page(cup)
    lines = cup.tournament.standings()
    names = [cup.spec.entrants[line.entrant].name for line in lines]
    told = section(text, "standings")
    assert sorted(names, key=told.index) == names
    assert f"{names[0]} {number(lines[0].points)}" in told
    assert all(f"{name} " in section(text, "ratings") for name in names)
    assert "malformed-message" in section(text, "fouls")
    why = short_cause(f"failed to start in 2 matches: {START_DETAIL}")
    assert f"bot08 suspended: {why}" in section(text, "suspended")
    assert section(text, "void").endswith("the disk is full")
    assert [name for name in names if name in section(text, "byes")] != []
    assert '<span class="badge">over</span>' in text


def test_standings_say_that_it_was_stopped(tmp_path: Path) -> None:
    """They have the round, the name and the reason as text, and say that the tournament is over."""
    stage = Stage(spec(4, "roundrobin"), tmp_path)
    stage.play_one(next(stage.tournament.fixtures()))
    stage.rule("stop", SCRIPT)
    report(stage.play())
    text = page(stage)
    assert f"Stopped for good after round 1, by jury: {SCRIPT}" in section(text, "standings")
    assert '<span class="badge">over</span>' in text


def test_the_report_tells_what_came_to_each_entrant(tmp_path: Path) -> None:
    """It has waits from when matches could begin, and gaps between them, without impossible times."""
    stage = Stage(spec(3, "roundrobin"), tmp_path).play()
    history = stage.history
    first, second, third = history.waited
    history.waited[first] = "2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z"
    history.waited[second] = "then", "2026-01-01T00:03:00Z"
    history.waited[third] = "2026-01-01T00:09:00Z", "2026-01-01T00:05:00Z"
    history.closed_at.update({first: "2026-01-01T00:02:00Z", second: "2026-01-01T00:04:30Z"})
    seats = {entry.match: entry.fixture.entrants for entry in stage.entries}
    for entrant, found in enumerate(Summary(history, {}).schedules):
        played = [match for match in (first, second, third) if entrant in seats[match]]
        gap = {(first, second): 60.0, (second, third): 30.0, (first, third): 180.0}[played[0], played[1]]
        waits = (45.0, 90.0) if first in played else (0.0, 0.0)
        assert (found.mean_wait_s, found.most_wait_s, found.mean_gap_s, found.most_gap_s) == (*waits, gap, gap)
        assert (found.matches, found.opponents) == (2, 2)
        assert found.seats == [sum(seats[match][seat] == entrant for match in played) for seat in (0, 1)]
    report(stage)
    assert "2 45.00 s 1 min 30 s 1 min 0 s 1 min 0 s 2 1, 1" in section(page(stage), "fairness")


def test_a_cause_stands_in_full_once(cup: Stage) -> None:
    """The page has the whole cause at its first foul, its beginning at others, and no path of the organiser."""
    text = page(cup)
    fouls = [foul for entry in cup.entries for foul in entry.fouls if foul.detail == START_DETAIL]
    assert len(fouls) > 1
    details = re.findall(r'<td class="free">(.*?)</td>', unescape(text).partition('id="foul-list"')[2])
    assert details.count(placeless(START_DETAIL)) == 1
    assert short_cause(START_DETAIL) in details
    assert "/srv/" not in text


def test_the_page_has_the_rules_of_the_game(cup: Stage) -> None:
    """A reader finds every rule with the id that a verdict names."""
    text = section(page(cup), "rules")
    for rule in load().game(cup.spec.game).rules.values():
        assert rule.id in text
        assert rule.text in text


def test_a_running_tournament_has_a_page(tmp_path: Path) -> None:
    """Before the first match and in the middle, the page shows the present state, and that it goes on."""
    stage = Stage(spec(6, "knockout", tie_breaks=()), tmp_path)
    report(stage)
    assert 'class="badge running"' in page(stage)
    assert section(page(stage), "bracket").count("to be played") == 2
    assert 'id="matches"' not in page(stage)
    stage.play(3)
    report(stage)
    assert 'class="badge running"' in page(stage)
    assert 'id="matches"' in page(stage)
    stage.take(TournamentResumed(at=AT, referee="0.0"))
    stage.play()
    report(stage)
    assert '<span class="badge">over</span>' in page(stage)


def test_ratings_over_time_have_their_intervals(cup: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody who met an opponent has a curve with the table's rating, and a band around its end."""
    monkeypatch.setattr(curves, "MOST_LABELS", 2)
    summary = Summary(cup.history, {})
    broad, slim = ratings_drawings(summary)
    met = [entrant for entrant in summary.order if summary.ratings[entrant].played]
    for drawing in (broad, slim):
        assert not drawing.shows_bands
        assert [trace.is_quiet for trace in drawing.traces] == [at >= 2 for at in range(len(met))]
        for entrant, trace in zip(met, drawing.traces, strict=True):
            found = summary.ratings[entrant]
            assert trace.told.startswith(f"{summary.names[entrant]}: {found.rating:.0f} ± {found.error:.0f} after ")
            count = len(trace.points)
            above, (x, y), below = trace.band[count - 1], trace.points[-1], trace.band[count]
            assert (len(trace.band), above[0], below[0]) == (2 * count, round(x), round(x))
            assert above[1] < y < below[1]
            assert all(0 <= each <= drawing.shape.height for _, each in trace.band)
    assert [drawing.shows_bands for drawing in rating_drawings(summary, met[0])] == [True, True]
    assert page(cup).count('class="band"') == 2 * len(met)
    assert f"{summary.rating_history[met[0]][-1].rating:.0f}" in section(
        entrant_page(cup, summary.names[met[0]]), "rating"
    )


def test_the_format_decides_the_places(tmp_path: Path) -> None:
    """In a knockout the winner of the final is first and its loser second, whatever their points."""
    stage = Stage(spec(6, "knockout", tie_breaks=()), tmp_path).play()
    report(stage)
    final = next(entry for entry in stage.entries[::-1] if entry.fixture.table == "final")
    finalists = [final.names[seat] for group in final.ranking for seat in group]
    assert [row["name"] for row in rows(stage, "standings")[:2]] == finalists
    assert [row["place"] for row in rows(stage, "standings")] == ["1", "2", "3", "3", "5", "5"]


def test_more_than_two_at_a_table(tmp_path: Path) -> None:
    """A tournament of four seats has ratings by another model, and every part of the page."""
    stage = Stage(spec(8, "swiss", 4, **SWISS), tmp_path, Cast(void=frozenset({1}))).play()
    report(stage)
    text = page(stage)
    assert "Plackett-Luce" in section(text, "ratings")
    for part in ("standings", "crosstable", "progress", "time", "void", "matches"):
        assert section(text, part) != ""


def test_what_the_hosts_of_a_cluster_did(tmp_path: Path) -> None:
    """The table has matches, void matches, and speed; a host that was put aside may have begun no match."""
    stage = Stage(spec(4, "roundrobin"), tmp_path, Cast(void=frozenset({1})))
    for host, process, wall_ms in (("lab1", "", 12.5), ("lab2", "p2", 11.5)):
        calibration = Calibration(tables=4, wall_ms=wall_ms, processor_ms=9.25)
        stage.take(HostCame(at=AT, host=host, process=process, calibration=calibration))
    stage.play()
    lab1, lab2 = report(stage).summary.hosts
    assert (lab1.host, lab1.matches, lab1.void, lab1.standstills) == ("lab1", 7, 1, 0)
    assert (lab2.host, lab2.matches, lab2.void) == ("lab2", 0, 0)
    assert "lab1 7 1" in section(page(stage), "hosts")
    refused = replace(stage.entries[0], void=void_reason("lab2", "sent a record that does not hold"))
    assert [line.void for line in host_lines(stage.history.hosts, [refused], {})] == [0, 1]


def timing(used_ms: float, stalled_ms: float = 0.0, cause: str | None = None) -> Timing:
    """Return the timing of an answer with a limit of a second; its player's name looks like markup."""
    late = used_ms > 1000.0
    return Timing(
        match="cup-00001",
        line=7,
        seat=0,
        name=SCRIPT,
        turn=3,
        is_answer=True,
        used_ms=used_ms,
        limit_ms=1000.0,
        lag_ms=12.0,
        stalled_ms=stalled_ms,
        cause=cause,
        process="",
        is_voided=late and cause is None,
    )


def test_how_time_was_kept(cup: Stage) -> None:
    """The page has figures for all matches together, and each late answer, judged or not."""
    told = [timing(5.0), timing(950.0), timing(1500.0, cause="timeout"), timing(2500.0, stalled_ms=700.0)]
    entry = cup.entries[0]
    matches = {
        str(at): MatchSummary(entry=entry, opened=AT, times=(), fairness=fairness([one]), moves=())
        for at, one in enumerate(told)
    }
    text = report_page(Summary(cup.history, matches), Titles("Q", "Swiss"), PageLinks(), only=["fairness"])
    shown = section(text, "fairness")
    for part in (
        "longest lag of the referee 12 ms",
        "requests while the referee stood still 1, for 700 ms at most",
        "answers in the last tenth of their limit 1",
        "expulsions for time 1",
        "too late, but not judged 1",
        "2.50 s 1.00 s 12 ms 700 ms none",
        "1.50 s 1.00 s 12 ms 0.0 ms timeout",
    ):
        assert part in shown
    assert SCRIPT not in text


def test_nothing_in_the_page_comes_from_elsewhere(cup: Stage) -> None:
    """There is no address, no element that could load one, and the policy forbids all."""
    text = re.sub(r'(id="data">).*?</script>', r"\1</script>", page(cup), flags=re.DOTALL)
    assert re.findall(r"\w+://[^\s\"'<>\\]+", text) == []
    assert (
        re.findall(r"<(?:link|img|iframe|object|embed|base|form)\b|@import|<[^>]*\b(?:src|style)=|\burl\(", text) == []
    )
    assert "default-src 'none'" in text


def test_hostile_text_is_never_markup(hostile_cup: Stage) -> None:
    """Names and details are escaped, or in the page's data, where no element can begin or end."""
    text = page(hostile_cup)
    assert SCRIPT not in text
    assert IMAGE not in text
    assert "\x1b" not in text
    assert len(re.findall("<script", text)) == len(re.findall("</script", text)) == 2
    assert QUOTES in unescape(text)
    matches = (hostile_cup.folder / "matches.html").read_text(encoding="utf-8")
    assert len(re.findall("<script", matches)) == len(re.findall("</script", matches)) == 2
    assert re.findall(r"[<>&']|[^ -~]", raw_data_of(matches)) == []
    assert data_of(matches)["names"][:3] == list(HOSTILE_NAMES[:3])


def test_links_lead_to_records_and_replays_from_wherever_the_page_is(cup: Stage, tmp_path: Path) -> None:
    """A page in another folder finds the records and the replays of the tournament's folder, if there are any."""
    elsewhere = tmp_path / "a b" / "page.html"
    elsewhere.parent.mkdir()
    report(cup, html=elsewhere, csv=tmp_path, pgn=tmp_path / "all.txt", replays=ReplayPages.NONE)
    data = data_of((elsewhere.parent / "matches.html").read_text(encoding="utf-8"))
    assert data["report"] == "page.html"
    for match in data["matches"]:
        assert (elsewhere.parent / unquote(data["records"]) / f"{match[0]}.jsonl").is_file()
        assert match[11] == (elsewhere.parent / unquote(data["replays"]) / f"{match[0]}.html").is_file()
    assert {match[11] for match in data["matches"]} == {False, True}


def test_replays_are_made_of_what_was_asked(tmp_path: Path) -> None:
    """Replays are made for no match, for those with a foul and void ones, or for all; existing ones stay."""
    stage = Stage(spec(4, "roundrobin"), tmp_path, Cast(cheats={0: 1}, void=frozenset({3}))).play()
    replays = tmp_path / "replays"
    assert report(stage, replays=ReplayPages.NONE).replays == 0
    assert not replays.exists()
    worth = {entry.match for entry in stage.entries if entry.fouls or entry.void}
    assert report(stage).replays == len(worth)
    assert {path.stem for path in replays.iterdir()} == worth | {"verify", "replay"}
    kept = replays / f"{min(worth)}.html"
    kept.write_text("mine")
    assert report(stage, replays=ReplayPages.ALL).replays == len(stage.entries)
    assert kept.read_text() == "mine"


def test_replays_are_made_on_request(tmp_path: Path) -> None:
    """A site is told which matches may have a page, and makes one when it is asked for, the same as at once."""
    stage = Stage(spec(4, "roundrobin"), tmp_path, Cast(cheats={0: 1})).play()
    matches = {entry.match for entry in stage.entries}
    assert report(stage, replays=ReplayPages.ON_REQUEST).replays == len(matches)
    assert read_names(tmp_path) == matches
    assert {path.suffix for path in (tmp_path / "replays").iterdir()} == {".css", ".js", ".json", ".html"}
    assert 'href="replays/' in page(stage)
    made = page_path(tmp_path, max(matches))
    assert not made.exists()
    make_on_request(made.stem, tmp_path, load().game)
    text = made.read_text(encoding="utf-8")
    report(stage, replays=ReplayPages.ALL)
    assert made.read_text(encoding="utf-8") == text
    assert {path.stem for path in (tmp_path / "replays").glob("*.html")} == matches | {"verify"}
    stage.take(TournamentResumed(at=AT, referee="0.0"))
    stage.rule("void", "the room was dark", match=made.stem)
    report(stage, replays=ReplayPages.ON_REQUEST)
    assert not made.exists(), "it says nothing of the ruling"
    make_on_request(made.stem, tmp_path, load().game)
    assert "the room was dark" in made.read_text(encoding="utf-8")
    with pytest.raises(KeyError):
        make_on_request("../secret", tmp_path, load().game)
    (tmp_path / "replays" / "replay.js").write_text("of another release")
    report(stage, replays=ReplayPages.ON_REQUEST)
    assert not made.exists(), "its script is not the one that lies next to it now"


def test_a_replay_shares_its_script_and_can_be_kept_alone(tmp_path: Path) -> None:
    """The page in a folder is small; what a site sends has everything in it, and its policy allows just that."""
    stage = Stage(spec(2, "roundrobin"), tmp_path).play()
    report(stage, replays=ReplayPages.ALL)
    kept = page_path(tmp_path, stage.entries[0].match).read_bytes()
    assert b'src="replay.js"' in kept
    alone = with_shared_files(kept, "replay", "").decode()
    assert len(kept) < len(alone) - 20_000
    script, style = re.findall(r'<script type="module">(.*?)</script>|<style>(.*?)</style>', alone, re.DOTALL)[::-1]
    for text in (script[0], style[1]):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in alone
    assert 'src="' not in alone
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', alone)[0]
    assert re.findall(r"(?:script|style)-src '(?:sha256)-[^']*'; ", policy) == re.findall(
        r"(?:script|style)-src [^;]*; ", policy
    )
    assert "<link" not in alone


def test_a_deal_that_is_still_to_be_played_from_other_seats_is_not_shown(tmp_path: Path) -> None:
    """Before its last leg is over there is no replay of any leg, because it has hands, and no illegal move is shown."""
    stage = Stage(spec(2, "roundrobin", duplicate=True), tmp_path, Cast(dead=frozenset({0})))
    shown = []
    for fixture in list(stage.tournament.fixtures()):
        entry, _ = stage.play_one(fixture)
        assert entry.fouls
        written = report(stage, replays=ReplayPages.ALL)
        pages = "".join(entrant_page(stage, name) for name in written.summary.pages)
        shown.append(
            (written.replays, page(stage).count('<td class="bad">'), placeless(START_DETAIL) in unescape(pages))
        )
    assert shown == [(0, 0, False), (2, 2, True)]


def test_matches_that_count_for_nothing_are_told_with_the_reason(tmp_path: Path) -> None:
    """A leg that went on after its player withdrew is listed with the reason, and is in no table."""
    form = spec(3, "roundrobin", duplicate=True)
    stage = Stage(form, tmp_path, Cast(dead=frozenset({0, 1, 2})))
    fixtures = list(stage.tournament.fixtures())[:2]
    for fixture in fixtures:
        stage.take(MatchOpened(at=AT, fixture=fixture))
    stage.close(fixtures[0])
    stage.rule("withdraw", "it never starts", entrant=form.entrants[fixtures[0].entrants[0]].name)
    stage.close(fixtures[1])
    why = "somebody withdrew before it was over"
    written = report(stage, replays=ReplayPages.NONE)
    first, given_up = (entry.match for entry in stage.entries)
    assert written.summary.history.disregarded == {given_up: why}
    assert f"{given_up} 1 " in section(page(stage), "void")
    assert section(page(stage), "void").endswith(why)
    lines = [row for row in rows(stage, "matches") if row["match"] == given_up]
    assert [(row["place"], row["void"]) for row in lines] == [("", why)] * 2
    assert {row["match"] for row in rows(stage, "fouls")} == {first}
    assert f'[Void "{why}"]' in (tmp_path / "matches.txt").read_text()


def test_the_newest_matches_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list has match, round, players, points, fouls, links to record and replay, and a link to all matches."""
    stage = Stage(spec(4, "roundrobin"), tmp_path, Cast(dead=frozenset({3}))).play()
    report(stage, replays=ReplayPages.FOULS)
    plain = page(stage).partition('<table id="match-list">')[2].partition("</table>")[0]
    lines = plain.partition("<tbody>")[2].split("<tr>")[1:]
    newest = stage.entries[::-1]
    assert [line.partition("</td>")[0].removeprefix("<td>") for line in lines] == [item.match for item in newest]
    for line, entry in zip(lines, newest, strict=True):
        text = " ".join(re.sub(r"<[^>]*>", " ", line).split())
        fouls = {foul.seat for foul in entry.fouls}
        told = outcome_of_entry(entry, stage.tournament.spec.scoring).with_points(entry.scores).replace(";", "")
        replay = "replay " if fouls else ""
        assert text.replace(" )", ")").replace("( ", "(") == (
            f"{entry.match} {entry.fixture.round} {told} {entry.turns} {replay}record"
        )
    monkeypatch.setattr(pages_report, "NEWEST", 2)
    report(stage, replays=ReplayPages.FOULS)
    assert page(stage).count(">record</a>") == 4, "two fouls and two matches"
    assert f'<a href="matches.html">{len(stage.entries)} matches, by entrant' in page(stage)


def test_counts_and_nouns_agree(tmp_path: Path) -> None:
    """A single thing is not named in the plural."""
    stage = Stage(spec(2, "roundrobin", tie_breaks=()), tmp_path).play()
    report(stage)
    assert "2 entrants 1 round 1 match" in header(page(stage))


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 matches"), (1, "1 match"), (2, "2 matches"), (-1, "-1 matches")]
)
def test_a_noun_follows_its_number(count: int, expected: str) -> None:
    """One is singular, everything else is plural."""
    assert expected == counted(count, "match", "matches")


def test_pages_lead_back_to_the_report_and_from_there(tmp_path: Path) -> None:
    """They lead to the page that is given for this purpose; without one, the report has no such link."""
    stage = Stage(spec(3, "roundrobin"), tmp_path, Cast()).play()
    report(stage, replays=ReplayPages.ALL)
    assert ">The contest</a>" not in page(stage) + entrant_page(stage, stage.spec.entrants[0].name)
    report(stage, home="../../index.html")
    assert '<a href="../../index.html">The contest</a>' in page(stage)
    entrant = entrant_page(stage, stage.spec.entrants[0].name)
    assert '<a href="../../../index.html">The contest</a> · <a href="../report.html">' in entrant
    made = report_address(tmp_path, None), report_address(tmp_path, tmp_path / "a b" / "cup.html")
    assert made == ("../report.html", "../a%20b/cup.html")
    folded = fold_record(read_record(tmp_path / f"{stage.entries[0].match}.jsonl"), load().game)
    assert f'<a href="../report.html">{stage.spec.name}</a>' in replay_page(folded, "", "../report.html")
