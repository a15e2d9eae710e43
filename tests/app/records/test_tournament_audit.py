"""The audit of tournaments in folders and files: what was verified, what was not, and contradictory records."""

import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.app.records.audit import audit_paths
from referee.app.records.audit_reports import (
    AuditReport,
    BrokenTournament,
    Demands,
    Equivocation,
    MissingHeads,
    SoundTournament,
)
from referee.match.events import RefereeFailed
from referee.observers.heads import PublishedHead
from referee.plugins import find_game, installed
from referee.record.key import Sealer
from referee.record.reader import read_chain
from referee.record.redacted_record import redact
from referee.record.resume import reopen
from referee.record.tournament_record import read_tournament
from referee.tournament import events as e

from ...record.forging import changed
from ...record.records import SEALER, cut, record_of, tell
from ...record.tournament_forging import bind_matches, chain, course_of
from ...record.tournaments import Organiser, cup, play_cup
from ...tournament.playing import AT


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small tournament."""
    folder = tmp_path_factory.mktemp("played") / "cup"
    play_cup(folder, 1)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    """Return a copy of this folder."""
    return Path(shutil.copytree(played, tmp_path / "logs" / "cup"))


def audited(*paths: Path, **demanded: Any) -> AuditReport:
    """Audit files and folders."""
    return audit_paths(paths, Demands(**demanded), 1, lambda *_: None)


def sound(report: AuditReport) -> SoundTournament:
    """Return the only tournament of an audit; it holds."""
    (tournament,) = report.tournaments
    assert isinstance(tournament, SoundTournament)
    return tournament


def broken(report: AuditReport) -> BrokenTournament:
    """Return the only tournament of an audit; it does not hold."""
    (tournament,) = report.tournaments
    assert isinstance(tournament, BrokenTournament)
    assert not report.holds
    return tournament


def test_a_whole_folder_is_verified(folder: Path) -> None:
    """The report names what the record can't prove, and counts the stop and the rulings."""
    (folder / ".builds" / "e0").mkdir(parents=True)
    for name in ("report.html", "cup-00001.seat0.e0.stderr", "tournament.sqlite", ".builds/e0/log"):
        (folder / name).touch()
    report = audited(folder.parent, keys=(SEALER.public,))
    found, record = sound(report), read_tournament(folder / "cup.jsonl")
    assert (report.holds, report.unlisted, len(report.records)) == (True, [], found.matches)
    assert (found.state, found.playing, found.rulings, found.key) == ("finished", 0, 2, SEALER.public)
    assert (found.without_proof, found.taken_on_trust) == ((), ())
    assert found.head == record.chain.lines[-2].hash
    assert found.unverified == (".builds/", "cup-00001.seat0.e0.stderr", "report.html", "tournament.sqlite")


def test_of_single_files_only_they_are_verified(folder: Path) -> None:
    """The report says that the results without a record were not verified; no record counts as missing."""
    alone = audited(folder / "cup.jsonl")
    contexts = tuple(read_tournament(folder / "cup.jsonl").contexts)
    assert (alone.holds, set(sound(alone).without_proof), alone.records) == (True, set(contexts), [])
    assert sound(alone).unverified == ()
    some = audited(folder / "cup.jsonl", folder / f"{contexts[0]}.jsonl")
    assert (some.holds, set(sound(some).without_proof)) == (True, set(contexts[1:]))
    one = audited(folder / f"{contexts[0]}.jsonl")
    assert (one.holds, one.tournaments) == (True, [])


def test_a_redacted_record_proves_no_result(folder: Path) -> None:
    """The tournament's record has its hash, which proves that it is a redaction of that record; the report says so."""
    path = folder / "cup-00002.jsonl"
    path.write_bytes(b"\n".join([*redact(path, find_game, 0, find_wire=installed().wire), b""]))
    report = audited(folder)
    assert (report.holds, report.redacted, sound(report).without_proof) == (True, 1, ("cup-00002",))


@pytest.mark.forges
def test_a_redacted_record_of_another_match_is_named(folder: Path, tmp_path: Path) -> None:
    """The tournament's record has the hash of its result line."""
    play_cup(tmp_path / "again", 7)
    other = tmp_path / "again" / "cup-00002.jsonl"
    path = folder / "cup-00002.jsonl"
    path.write_bytes(b"\n".join([*redact(other, find_game, 0, find_wire=installed().wire), b""]))
    assert broken(audited(folder)).expected == "the record of cup-00002 that line 4 of cup.jsonl opened"
    assert broken(audited(folder)).record == str(path)


def test_a_folder_without_its_tournaments_record_is_named(folder: Path) -> None:
    """The matches name their tournament."""
    (folder / "cup.jsonl").unlink()
    missing = broken(audited(folder))
    assert (missing.record, missing.line) == (str(folder / "cup.jsonl"), None)
    assert missing.expected == "the record of the tournament whose matches lie next to it"


@pytest.mark.forges
def test_tournaments_may_lie_in_each_other(folder: Path) -> None:
    """Each tournament has its own matches; a record below them that belongs to none is one too many."""
    play_cup(folder / "below", 5)
    report = audited(folder)
    assert report.holds
    assert [(audited.holds, Path(audited.tournament).parent.name) for audited in report.tournaments] == [
        (True, "below"),
        (True, "cup"),
    ]
    (folder / "deep").mkdir()
    shutil.copy(folder / "cup-00001.jsonl", folder / "deep" / "cup-00001.jsonl")
    assert not audited(folder).holds


@pytest.mark.forges
def test_names_and_files_that_are_none_are_told(folder: Path) -> None:
    """A pipe is not opened, a broken link is not followed, and a name need not be valid text."""
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/\xff\n.txt"))
    odd.touch()
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.jsonl").symlink_to("nowhere")
    (folder / "folder.jsonl").mkdir()
    assert set(sound(audited(folder)).unverified) == {odd.name, "pipe.jsonl", "link.jsonl", "folder.jsonl/"}
    assert not audited(folder / "pipe.jsonl").holds
    (folder / "cup-00001.jsonl").unlink()
    os.mkfifo(folder / "cup-00001.jsonl")
    assert broken(audited(folder)).expected == "the record of cup-00001, which was played"


def test_heads_are_looked_for_in_all_records(folder: Path) -> None:
    """Heads that players were sent, and that of the tournament; the report names a head that no record has."""
    record = read_tournament(folder / "cup.jsonl")
    of_match = course_of(folder / "cup-00001.jsonl")[5]["prev"]
    heads = (record.chain.head, of_match, next(iter(record.contexts.values())).head)
    assert audited(folder, heads=heads).holds
    assert audited(folder / "cup.jsonl", heads=(record.chain.head,)).holds
    report = audited(folder, heads=(*heads, "a" * 64))
    assert (report.holds, report.missing_heads) == (False, ["a" * 64])
    assert audited(folder / "cup.jsonl", heads=(of_match,)).missing_heads == [of_match]


def published_of(folder: Path) -> dict[str, list[PublishedHead]]:
    """Return all heads of a folder's records in the form in which they are published."""
    return {
        path.stem: [
            PublishedHead(at=AT, record=path.stem, line=number, head=line.hash)
            for number, line in enumerate(read_chain(path).lines)
        ]
        for path in folder.glob("*.jsonl")
    }


def test_published_heads_are_looked_for_in_their_records(folder: Path) -> None:
    """In a folder all heads are compared; with single files, only the heads of these files."""
    published = published_of(folder)
    report = audited(folder, published=published)
    assert (report.holds, report.published) == (True, sum(map(len, published.values())))
    report = audited(folder / "cup.jsonl", published=published)
    assert (report.holds, report.published) == (True, len(published["cup"]))


def test_a_record_that_was_written_anew_shows_against_published_heads(folder: Path) -> None:
    """The report names the first line that differs, a missing record, and a record under another name."""
    published = published_of(folder)
    kept = published["cup-00001"]
    other = [replace(head, head="a" * 64) if head.line in (3, 5) else head for head in kept]
    for path in (folder, folder / "cup-00001.jsonl"):
        report = audited(path, published=published | {"cup-00001": other})
        assert not report.holds
        assert report.missing_published == [
            MissingHeads(record="cup-00001", missing=2, published=len(kept), first=other[3])
        ]
    for name in ("cup-00009", "cup-00002"):
        report = audited(folder, published={name: kept})
        assert [(missing.record, missing.missing) for missing in report.missing_published] == [(name, len(kept))]


@pytest.mark.forges
def test_what_goes_on_is_taken_if_that_is_asked_for(tmp_path: Path) -> None:
    """With `--unsealed`, matches that are still being played need no record."""
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        one, two = (organiser.recorder.open(fixture) for fixture in organiser.due()[:2])
        organiser.begin_match(one)[1].close()
        assert broken(audited(tmp_path)).found.startswith("the end of a record whose referee crashed or still runs")
        found = sound(audited(tmp_path, unsealed=True))
        assert (found.state, found.matches, found.playing) == ("unfinished", 2, 2)
        organiser.recorder.close(organiser.record_match(two))
        organiser.recorder.take(e.Stopped(at=AT, why="it was asked to"))
    found = sound(audited(tmp_path, unsealed=True))
    assert (found.state, found.matches, found.playing, found.without_proof) == ("stopped", 2, 1, ())


def test_another_key_is_named(folder: Path) -> None:
    """The keys of the tournament's record and of its matches are compared."""
    report = audited(folder, keys=(Sealer.new().public,))
    assert broken(report).line == 0
    assert report.broken == len(report.records)


# # --- contradictory records


def test_a_tournament_that_is_played_again_contradicts_nothing(folder: Path, tmp_path: Path) -> None:
    """Its matches have the same names and the same key. An earlier copy of a record is no contradiction, either."""
    play_cup(tmp_path / "logs" / "again", 5)
    early = tmp_path / "early.jsonl"
    early.write_bytes(b"".join((folder / "cup.jsonl").read_bytes().splitlines(keepends=True)[:-2]))
    report = audited(tmp_path / "logs", early, unsealed=True)
    assert (report.holds, report.equivocations) == (True, [])


@pytest.mark.forges
def test_two_courses_of_one_tournament_are_named(folder: Path, tmp_path: Path) -> None:
    """Each version holds by itself, but the organiser has sealed two."""
    other = Path(shutil.copytree(folder, tmp_path / "told" / "cup"))
    lines = changed(course_of(other / "cup.jsonl"), 1, ["event", "at"], "2001-01-01T00:00:00.000+00:00")
    (other / "cup.jsonl").write_bytes(chain(bind_matches(other, lines, SEALER), SEALER))
    assert audited(other).holds
    report = audited(folder, other)
    assert not report.holds
    records = (str(folder / "cup.jsonl"), str(other / "cup.jsonl"))
    assert report.equivocations == [Equivocation(match="cup", records=records)]


@pytest.mark.forges
def test_two_records_of_one_match_are_named(folder: Path, tmp_path: Path) -> None:
    """The same line of the tournament's record opened both."""
    context = read_tournament(folder / "cup.jsonl").contexts["cup-00001"]
    with Organiser(tmp_path / "aside", cup(), Random(9)) as organiser:
        organiser.record_match(context)
    records = (folder / "cup-00001.jsonl", tmp_path / "aside" / "cup-00001.jsonl")
    report = audited(*records)
    assert not report.holds
    assert report.equivocations == [Equivocation(match="cup-00001", records=tuple(map(str, records)))]


@pytest.mark.forges
def test_two_records_of_a_match_of_no_tournament_are_named(tmp_path: Path) -> None:
    """They begin with the same line, and its salts are never drawn twice."""
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_bytes(record_of("clean"))
    other.write_bytes(b"".join(record_of("clean").splitlines(keepends=True)[:4]))
    resumed = reopen(other, find_game, SEALER)
    failed = RefereeFailed(at_ms=resumed.last_ms, detail="the disk is full")
    resumed.writer.write_transition(failed, resumed.match.handle(failed))
    assert resumed.match.result is not None
    resumed.writer.end(resumed.match)
    resumed.writer.close()
    assert audited(other).holds
    assert audited(one, other).equivocations == [Equivocation(match="m", records=(str(one), str(other)))]


@pytest.mark.forges
def test_two_records_of_one_secret_seed_are_named(tmp_path: Path) -> None:
    """Its commitment was published first, so a record with the same first line is the same match, whole or redacted."""
    whole = tell("whole deal")
    one, other, shown = tmp_path / "one.jsonl", tmp_path / "other.jsonl", tmp_path / "shown.jsonl"
    whole.write(one)
    cut(whole, 20, RefereeFailed(at_ms=whole.steps[19][0].at_ms, detail="the disk is full")).write(other)
    shown.write_bytes(b"".join(line + b"\n" for line in redact(one, find_game, 0)))
    assert audited(one, shown).holds
    for path in (one, shown):
        report = audited(path, other)
        assert report.broken == 0
        assert report.equivocations == [Equivocation(match="m", records=(str(path), str(other)))]


# # --- reports on broken, swapped and unfinished records


@pytest.mark.forges
@pytest.mark.parametrize("damage", ["changed", "cut"])
def test_no_tournament_holds_above_a_record_that_does_not(folder: Path, damage: str) -> None:
    """The results of a tournament follow from its matches: if one record is changed or cut off, it does not hold."""
    path = folder / "cup-00003.jsonl"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"turn":2', b'"turn":3', 1) if damage == "changed" else data[: len(data) // 2])
    report = audited(folder)
    assert (report.broken, report.unfinished) == ((1, 0) if damage == "changed" else (0, 1))
    assert (broken(report).record, broken(report).state) == (str(path), "broken")


@pytest.mark.forges
def test_a_swapped_file_is_called_by_what_it_holds(folder: Path) -> None:
    """Of two swapped files, the report says which record each holds, and nothing else."""
    one, three, other = (folder / f"{name}.jsonl" for name in ("cup-00001", "cup-00003", "other"))
    one.rename(other)
    three.rename(one)
    other.rename(three)
    found = broken(audited(folder))
    assert (found.record, found.found) == (str(one), "a file that holds the record of cup-00003")
    assert found.expected == "the record of cup-00001 that line 3 of cup.jsonl opened"


@pytest.mark.forges
def test_a_redacted_file_is_called_by_what_it_holds(folder: Path) -> None:
    """Its header is visible, so it is compared with the line that opened the match, like that of a whole record."""
    lines = redact(folder / "cup-00003.jsonl", find_game, 0, find_wire=installed().wire)
    (folder / "cup-00001.jsonl").write_bytes(b"\n".join([*lines, b""]))
    assert broken(audited(folder)).found == "a file that holds the record of cup-00003"


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_tournament_without_its_last_seal_is_unfinished(tmp_path: Path, *, is_killed: bool) -> None:
    """This is a running tournament or one whose referee was killed; with `--unsealed`, it holds as far as it goes."""
    organiser = Organiser(tmp_path, cup(), Random(1))
    organiser.play(2)
    (context,) = (organiser.recorder.open(fixture) for fixture in organiser.due()[:1])
    organiser.begin_match(context)[1].close()
    if is_killed:
        organiser.writer.close()
    report = audited(tmp_path)
    assert (broken(report).state, report.broken, report.unfinished, report.holds) == ("unfinished", 0, 1, False)
    assert audited(tmp_path, unsealed=True).holds
    organiser.writer.close()


@pytest.mark.forges
def test_what_is_wrong_is_named_before_that_it_is_unfinished(tmp_path: Path) -> None:
    """A tournament that also lacks its seal is reported as broken."""
    organiser = Organiser(tmp_path, cup(), Random(1))
    organiser.play(2)
    organiser.writer.close()
    path = tmp_path / "cup.jsonl"
    lines = course_of(path)
    last = max(n for n, line in enumerate(lines) if line["kind"] == "tournament-step")
    path.write_bytes(chain(changed(lines, last, ["event", "entry", "used_ms", 0], 1.0), SEALER))
    assert broken(audited(tmp_path)).state == "broken"


# --- what a record claims


def test_the_claim_of_a_lone_record_is_told(folder: Path) -> None:
    """A lone record can't prove that it belongs to a tournament, and the report says so."""
    path = folder / "cup-00001.jsonl"
    seen = folder.parent.parent / "seen.jsonl"
    seen.write_bytes(b"\n".join([*redact(path, find_game, 0, find_wire=installed().wire), b""]))
    assert [getattr(report, "tournament", "") for report in audited(path, seen).records] == ["cup", "cup"]
    assert {getattr(report, "tournament", "") for report in audited(folder).records} == {None}
    assert {getattr(report, "tournament", "") for report in audited(path, folder / "cup.jsonl").records} == {None}
