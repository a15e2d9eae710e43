"""The file of a contest: valid content, mistakes, and the example."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from referee.app.tournament_file.plan import rename_plan
from referee.app.tournament_file.sheet import BadTournamentFile, Section
from referee.cli.main import main
from referee.errors import BadRequest
from referee.plugins import load
from referee.web.contest.contest_file import CONTEST, read_contest, write_example

CUP = '[[tournaments]]\nfile = "cup.toml"\n'
MISTAKES = {
    "no text": ("title = 7", "contest.toml:1: title: takes a text of one line, not 7"),
    "two lines": (r'title = "a\nb"', "title: takes a text of one line"),
    "unknown key": ('titel = "x"', 'titel: there is no such key; did you mean "title"?'),
    "unknown key of a tournament": (f'{CUP}name = "x"', "tournaments.name: there is no such key"),
    "no file named": ("[[tournaments]]\n", "tournaments.file: this key is missing"),
    "no such file": ('[[tournaments]]\nfile = "no.toml"', "tournaments.file: there is no file"),
    "a time without its zone": (f"{CUP}start = 2026-12-01T18:00:00", "tournaments.start: takes a time with its zone"),
    **{
        f"a start of {start}": (f"{CUP}start = {start}", "tournaments.start: takes a time in the years 2000 to 9000")
        for start in (
            "9999-12-31T23:59:59-23:59",
            "0001-01-01T00:00:00+23:59",
            "9999-12-31T00:00:00Z",
            "1999-01-01T00:00:00Z",
        )
    },
    **{
        f"a start of {start}": (f"{CUP}start = {start}", "tournaments.start: takes a time with its zone")
        for start in ("2026-12-01", "18:00:00", "1e308", "nan", "-1")
    },
    "a start of every day": (
        f'{CUP}start = 9999-12-31T23:59:59Z\nevery = "day"',
        "tournaments.start: takes a time in the years 2000 to 9000",
    ),
    "keys of no cluster": (f'{CUP}keys = "keys"', "keys: keys are for a cluster, but no cluster is set"),
    "no time": (f'{CUP}start = "soon"', "tournaments.start: takes a time with its zone"),
    "twice": (CUP + CUP, "there are two tournaments with the name cup"),
    "a delay of no time": ('spectators = "delay 0"', 'spectators: takes "after", "board only", or "delay SECONDS"'),
    "a long delay": ('spectators = "delay 601"', "with at most 600 of them"),
    "eyes of nobody": ('spectators = "all"', 'spectators: takes "after"'),
    "sign-up of a kind that is none": ("sign_up = true", 'sign_up: takes "open", "invitation" or "closed"'),
    "workers and a cluster": (f'{CUP}workers = 2\ncluster = "tls://h:1"', "workers and cluster exclude each other"),
    "no workers": (f"{CUP}workers = 0", "workers: takes a number of processes, 1 to 256"),
    "every night": (f'{CUP}every = "night"', 'every: takes "day"'),
    "every day without a start": (
        f'{CUP}every = "day"',
        "every: this key needs `start`, the time on the first day",
    ),
    "no TOML": ("title", "this is not TOML"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of the example."""
    write_example(tmp_path / "contest")
    return tmp_path / "contest"


def test_the_example_can_be_played(folder: Path) -> None:
    """Its tournaments are valid, and their records lie in the contest's folder."""
    contest = read_contest(folder, load())
    assert [scheduled.name for scheduled in contest.tournaments] == ["cup", "league"]
    assert {scheduled.plan.run_settings.folder.parent for scheduled in contest.tournaments} == {folder / "logs"}


def test_reading_makes_nothing(folder: Path) -> None:
    """If the folder of versions is missing, only house players take part."""
    cup = folder / "cup.toml"
    cup.write_text(f'entrants_from = "submissions"\n{cup.read_text()}')
    before = sorted(folder.rglob("*"))
    contest = read_contest(folder, load())
    assert len(contest.tournaments[0].plan.spec.entrants) == 3
    assert sorted(folder.rglob("*")) == before
    cup.write_text(cup.read_text().replace("submissions", "elsewhere"))
    with pytest.raises(BadTournamentFile, match="elsewhere: No such file"):
        read_contest(folder, load())


def test_what_a_contest_may_say(folder: Path) -> None:
    """Times are in their zone."""
    (folder / CONTEST).write_text(f'title = "T"\n{CUP}start = 2026-12-01T18:00:00+01:00')
    contest = read_contest(folder, load())
    assert (contest.title, contest.about) == ("T", "")
    assert [scheduled.start for scheduled in contest.tournaments] == [datetime(2026, 12, 1, 17, tzinfo=UTC)]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", []),
        ("workers = 2", ["--workers=2"]),
        ('cluster = "tls://h:1"\nkeys = "keys"', ["--cluster=tls://h:1", "--keys={folder}/keys"]),
    ],
)
def test_where_matches_are_played(folder: Path, text: str, options: list[str]) -> None:
    """They are played in the tournament's own process, in workers, or on the hosts of a cluster."""
    (folder / CONTEST).write_text(CUP + text)
    (scheduled,) = read_contest(folder, load()).tournaments
    assert [*scheduled.options] == [option.format(folder=folder) for option in options]


@pytest.mark.parametrize(
    ("text", "said", "delay_s"),
    [
        ("", "after", 0.0),
        ('spectators = "after"', "after", 0.0),
        ('spectators = "board only"', "board only", 0.0),
        ('spectators = "delay 90"', "delay 90", 90.0),
        ('spectators = "delay 600"', "delay 600", 600.0),
    ],
)
def test_what_spectators_see(folder: Path, text: str, said: str, delay_s: float) -> None:
    """By default, spectators see no boards."""
    (folder / CONTEST).write_text(text)
    found = read_contest(folder, load()).spectators
    assert (found.said, found.delay_s) == (said, delay_s)


@pytest.mark.parametrize(("text", "told"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(folder: Path, text: str, told: str) -> None:
    """Each message has the key, and what to do."""
    (folder / CONTEST).write_text(text)
    with pytest.raises(BadTournamentFile) as caught:
        read_contest(folder, load())
    assert told in str(caught.value)


def test_a_wrong_start_is_one_mistake(folder: Path) -> None:
    """The start is not reported as missing, too."""
    (folder / CONTEST).write_text(f'{CUP}start = 9999-12-31T23:59:59-23:59\nevery = "day"')
    with pytest.raises(BadTournamentFile) as caught:
        read_contest(folder, load())
    assert "every" not in str(caught.value)


def test_mistakes_of_a_tournament_are_named(folder: Path) -> None:
    """The file that has them is named."""
    (folder / "cup.toml").write_text('game = "chess"')
    with pytest.raises(BadTournamentFile, match=r"cup\.toml:1: game: there is no game \"chess\""):
        read_contest(folder, load())


def test_a_folder_without_a_contest_says_how_to_make_one(tmp_path: Path) -> None:
    """The error says how, and making the example overwrites nothing."""
    with pytest.raises(BadRequest, match="referee host --example"):
        read_contest(tmp_path, load())
    (tmp_path / "cup.toml").touch()
    with pytest.raises(BadRequest, match=r"cup\.toml exists"):
        write_example(tmp_path)
    assert not (tmp_path / CONTEST).exists()


DAILY = f'{CUP}start = 2026-12-01T23:30:00-02:00\nevery = "day"'
FIRST = datetime(2026, 12, 2, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "kept", "due"),
    [
        (FIRST - timedelta(days=9), (), ["01"]),
        (FIRST - timedelta(seconds=1), (), ["01"]),
        (FIRST, (), ["01", "02"]),
        (FIRST + timedelta(days=3, hours=23), (), ["04", "05"]),
        (FIRST + timedelta(days=3), ("02", "04"), ["02", "04", "05"]),
    ],
)
def test_a_daily_tournament_is_one_of_its_own_each_day(
    folder: Path, now: datetime, kept: tuple[str, ...], due: list[str]
) -> None:
    """The next one is announced, the last one is played if it was not, and those with records stay.

    Days are those of the tournament's time zone.
    """
    (folder / CONTEST).write_text(DAILY)
    (daily,) = read_contest(folder, load()).daily
    for day in kept:
        (folder / "logs" / f"cup-2026-12-{day}").mkdir(parents=True)
    found = list(daily.due(now))
    assert [each.name for each in found] == [f"cup-2026-12-{day}" for day in due]
    assert daily.upcoming(now).name == found[-1].name
    for each in found:
        assert each.start == FIRST + timedelta(days=int(each.name[-2:]) - 1)
        assert (each.options, each.series) == ((f"--name={each.name}",), "cup")
        assert each.plan.run_settings.folder == folder / "logs" / each.name


def test_another_offset_moves_a_daily_tournament_by_hours(folder: Path) -> None:
    """When clocks are put forward, an organiser changes the offset: it begins an hour earlier, on the same days."""
    (folder / "logs" / "cup-2026-12-01").mkdir(parents=True)
    found: list[dict[str, datetime]] = []
    for offset in ("-02:00", "-01:00"):
        (folder / CONTEST).write_text(DAILY.replace("-02:00", offset))
        (daily,) = read_contest(folder, load()).daily
        due = daily.due(FIRST + timedelta(days=3))
        found.append({each.name: each.start for each in due if each.start is not None})
    before, after = found
    assert before.keys() == after.keys() == {f"cup-2026-12-{day}" for day in ("01", "04", "05")}
    assert all(start == before[name] - timedelta(hours=1) for name, start in after.items())


def test_a_name_leaves_room_for_the_day(folder: Path) -> None:
    """The day takes eleven of the forty characters."""
    name = "c" * 30
    (folder / "cup.toml").write_text(
        f'name = "{name}"\ngame = "q"\nentrants = ["house:dag", "house:dag"]\nformat.name = "gauntlet"'
    )
    (folder / CONTEST).write_text(DAILY)
    with pytest.raises(BadTournamentFile, match="is longer than 29 characters: the date is added to it"):
        read_contest(folder, load())


@pytest.mark.parametrize("name", ["../cup", "", "c" * 41, ".cup"])
def test_what_is_no_name_of_a_tournament_is_refused(folder: Path, name: str) -> None:
    plan = read_contest(folder, load()).tournaments[0].plan
    with pytest.raises(BadRequest, match="a tournament can't be called"):
        rename_plan(plan, name)


def test_a_contest_without_tournaments_is_told(tmp_path: Path) -> None:
    """There is only a note: programs may be handed in before there is a tournament."""
    (tmp_path / CONTEST).write_text('title = "x"\n')
    done = CliRunner().invoke(main, ["host", str(tmp_path), "--check"])
    assert (done.exit_code, "names no tournament" in done.output) == (0, True)


def test_what_has_no_effect_in_a_tournament_s_file_is_told_with_the_contest(tmp_path: Path) -> None:
    """Each file is reported once, however many days it is played on."""
    (tmp_path / CONTEST).write_text('[[tournaments]]\nfile = "cup.toml"\nstart = 2026-01-01T00:00:00Z\nevery = "day"\n')
    text = 'game = "q"\nformat = "roundrobin"\nentrants = ["house:dag", "house:dag"]\n[scoring]\nlate_bye = 0.5\n'
    (tmp_path / "cup.toml").write_text(text)
    done = CliRunner().invoke(main, ["host", str(tmp_path), "--check"])
    assert (done.exit_code, done.output.count("cup: scoring.late_bye has no effect")) == (0, 1)


def test_the_manual_has_every_key_and_its_default(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its table has the keys that are read, and those defaults that are values; others are in words."""
    manual = (Path(__file__).parents[3] / "docs/organisers/contest-file.md").read_text()
    table = manual.partition("| key | value | default |")[2].partition("\n\n")[0]
    told = dict(re.findall(r"^\| `([\w.]+)` \| .* \| (.+) \|$", table, re.MULTILINE))
    defaults: dict[str, Any] = {}
    take = Section.take

    def _note(section: Section, key: str, kind: Any, default: Any = None) -> Any:
        name = ".".join((*(part for part in section.where if isinstance(part, str)), key))
        if section.sheet.path.name == CONTEST:
            defaults[name] = default
        return take(section, key, kind, default)

    monkeypatch.setattr(Section, "take", _note)
    (folder / CONTEST).write_text(f'{CUP}[mail]\nserver = "smtp.example.org:587"\nsender = "cup@example.org"\n')
    read_contest(folder, load())
    assert told.keys() == defaults.keys()
    for key, default in defaults.items():
        assert ("`" in told[key]) == (default is not None), key
        assert default is None or told[key] == f"`{json.dumps(default)}`"
