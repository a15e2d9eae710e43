"""The tournament's file: its meaning, its defaults, folders of entrants, the printed plan, and the examples."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.messages import TimeControl
from referee.app.tournament_file.plan import read_tournament
from referee.cli.commands.tournament import describe_plan
from referee.match.setup import DEFAULT_TIME
from referee.net.tournaments.play import RunSettings
from referee.settings import Durability, RunTerms, SandboxMode
from referee.tournament.pairing.base import Extent
from referee.tournament.points import Scoring
from referee.tournament.spec import Participant, TournamentSpec
from referee.tournament.standings import DEFAULT, DEFAULT_SWISS

from .tournament_files import HASH, MINIMAL, REGISTRY, ROOT, WHOLE, furnished, mistakes, player, read


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with everything that the complete file names."""
    return furnished(tmp_path_factory.mktemp("folder"))


def test_a_short_file_is_enough(folder: Path) -> None:
    """Game, entrants and format are enough; everything else has the defaults of a single match."""
    plan = read(folder, MINIMAL, "my cup!.toml")
    two = (Participant(name="greedy", player="house:greedy"), Participant(name="random", player="house:random"))
    expected = TournamentSpec(
        name="my-cup", game="q", entrants=two, seats=2, format="roundrobin", time=DEFAULT_TIME, tie_breaks=DEFAULT
    )
    assert plan.spec == expected
    assert plan.run_settings == RunSettings(folder=folder / "logs" / "my-cup")
    assert (plan.extent, plan.warnings) == (Extent(fewest=1, most=1, rounds=1), ())


def test_a_whole_file_says_everything(folder: Path) -> None:
    """Every key has its effect: seconds become milliseconds, paths absolute, files are replaced by their content."""
    plan = read(folder, WHOLE)
    spec = plan.spec
    assert spec.name == "autumn-1.0"
    assert (spec.game, spec.seats, spec.options["sizes"]) == ("quincala", 2, 3)
    assert spec.options["layout"]["start"].keys() >= {"3"}
    assert (spec.format, spec.format_options) == ("swiss", {"rounds": 2})
    assert spec.entrants == (
        Participant(name="random", player="house:random", rating=1500.0),
        Participant(name="ada", player="remote"),
        Participant(name="carl", player="remote"),
        Participant(name="shell", player="cmd:sh -c 'exit 1'"),
        Participant(name="mine", player=str(folder.resolve() / "mine")),
        Participant(name="zoe", player=str(folder.resolve() / "submissions" / "zoe")),
    )
    assert spec.time == TimeControl(per_move_ms=500.0, bank_ms=60_000.0, increment_ms=1000.0, start_ms=10_000.0)
    assert spec.lag_margin_ms == 0.0
    assert spec.scoring == Scoring(by_rank=((2.0, 0.5),), bye=0.0, late_bye=0.25, default_margin=12)
    assert (spec.duplicate, spec.acknowledge, spec.durability, spec.seed) == (False, True, "turn", 7)
    assert (spec.tie_breaks, spec.suspend_after, spec.memory_mib) == (("wins",), 0, 300)
    assert plan.run_settings == RunSettings(
        folder=folder / "kept" / "autumn-1.0",
        tables=4,
        listen="tcp:7777",
        tokens={"ada": f"{HASH}a", "carl": f"{HASH}b"},
        come_back_s=0.0,
        show_up_s=5.5,
        min_free_mib=1.5,
    )
    assert plan.terms == RunTerms(sandbox=SandboxMode.REQUIRED, memory_mib=300, durability=Durability.TURN)
    assert plan.warnings == ()


def test_a_spec_survives_being_written_down(folder: Path) -> None:
    """The spec in a tournament's folder is read back as the same spec, so the tournament can go on."""
    spec = read(folder, WHOLE).spec
    assert msgspec.json.decode(msgspec.json.encode(spec), type=TournamentSpec) == spec


@pytest.mark.parametrize(("form", "expected"), [("swiss", DEFAULT_SWISS), ("ladder", DEFAULT)])
def test_tie_breaks_suit_the_format(folder: Path, form: str, expected: tuple[str, ...]) -> None:
    """By default, they suit a field in which everybody meets everybody, or in which everybody meets a few."""
    assert read(folder, MINIMAL.replace("roundrobin", form)).spec.tie_breaks == expected


FOUR = 'game = "quincy"\nseats = 4\nentrants = ["house:greedy", "house:greedy", "house:random", "house:random"]\n'


def test_partners_win_together(folder: Path) -> None:
    """A game in teams has the points of two sides, so each row has two numbers."""
    text = FOUR + 'format = "roundrobin"\nduplicate = true\n'
    plan = read(folder, text + "[scoring]\nby_rank = [[3, 1]]\n")
    assert plan.spec.scoring == Scoring(by_rank=((3, 1),), teams=((0, 2), (1, 3)))
    assert plan.warnings == ()
    plan = read(folder, text + "[scoring]\nby_rank = [[3, 2, 1, 0]]\n")
    rest = "a match of 2 teams is worth the share of opponents beaten"
    assert plan.warnings == (f"scoring.by_rank has no row of 2 numbers, so {rest}",)


def test_partners_that_would_change_are_no_partners(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deal is not played from all seats if that would separate partners."""
    text = FOUR + 'format = "roundrobin"\nduplicate = true\n'
    monkeypatch.setattr(type(REGISTRY.games["quincy"]), "teams", lambda *_: ((0, 1), (2, 3)))
    assert mistakes(folder, text) == [(5, "duplicate: partners would change from leg to leg; take duplicate = false")]


@pytest.mark.parametrize("text", [b"\xef\xbb\xbf" + MINIMAL.encode(), MINIMAL.replace("\n", "\r\n").encode()])
def test_files_of_other_editors_are_read(folder: Path, text: bytes) -> None:
    """A byte order mark or other line ends make no difference."""
    assert read(folder, text).spec.game == "q"


@pytest.mark.parametrize(
    ("entrants", "expected"),
    [
        (["house:greedy"] * 3, ["greedy1", "greedy2", "greedy3"]),
        (["house:dag", "house:greedy", "house:dag"], ["dag1", "greedy", "dag2"]),
        (["house:dag", ("dag", "house:dag")], ["dag1", "dag"]),
        (["house:dag", "house:dag", ("dag1", "house:greedy")], ["dag2", "dag3", "dag1"]),
        ([("x" * 20, "house:dag"), "mine", "mine"], ["x" * 20, "mine1", "mine2"]),
    ],
)
def test_names_differ(folder: Path, entrants: list[Any], expected: list[str]) -> None:
    """Names in the file stay; if several programs have the same name, they get numbers."""
    tables = [("", entrant) if isinstance(entrant, str) else entrant for entrant in entrants]
    lines = [f'[[entrants]]\nplayer = "{one}"' + (f'\nname = "{name}"' if name else "") for name, one in tables]
    text = 'game = "q"\nformat = "ladder"\n' + "\n".join(lines)
    assert [entrant.name for entrant in read(folder, text).spec.entrants] == expected


SUBMITTED = 'game = "q"\nformat = "ladder"\nentrants_from = "submissions"\n'


def test_a_folder_of_folders_is_a_field(tmp_path: Path) -> None:
    """Each player's folder takes part under its own name, made legal and unique; hidden ones and files are ignored."""
    for name in (
        "team-1",
        "team_1",
        "_zoe",
        "zoe",
        "Ärger",
        "übung 3",
        "übung3",
        "日本",
        "☃_-x",
        "a-very-long-name-of-more-than-twenty-1",
    ):
        player(tmp_path / "submissions" / name)
    player(tmp_path / "submissions" / ".git")
    (tmp_path / "submissions" / "notes.txt").write_text("none of them")
    plan = read(tmp_path, SUBMITTED)
    named = {Path(entrant.player).name: entrant.name for entrant in plan.spec.entrants}
    assert named == {
        "a-very-long-name-of-more-than-twenty-1": "a-very-long-name-of-",
        "team-1": "team-1",
        "team_1": "team_1",
        "_zoe": "zoe1",
        "zoe": "zoe2",
        "Ärger": "Arger",
        "übung 3": "ubung31",
        "übung3": "ubung32",
        "☃_-x": "x",
        "日本": "player",
    }
    assert list(named) == sorted(named)
    assert plan.warnings == ()


def test_a_listed_folder_takes_part_once(tmp_path: Path) -> None:
    """A submission that the file lists as well, for its rating, plays with the settings of the list."""
    for name in ("ada", "bob"):
        player(tmp_path / "submissions" / name)
    text = SUBMITTED + '[[entrants]]\nname = "first"\nplayer = "submissions/ada"\nrating = 1\n'
    assert [(entrant.name, entrant.rating) for entrant in read(tmp_path, text).spec.entrants] == [
        ("first", 1.0),
        ("bob", None),
    ]


BROKEN: list[tuple[str, bytes | None, str]] = [
    ("empty", None, "there is no player.toml in "),
    ("no-toml", b"name = ", "is no TOML: Invalid value"),
    ("bytes", b"\xff", "line 1, column 1: the byte 0xff is no UTF-8"),
    ("digits", b"name = " + b"9" * 5000, "is no TOML: Exceeds the limit"),
    ("deep", b"a = " + b"[" * 5000, "is no TOML: maximum recursion depth"),
    ("type", b"name = 3", "`name` takes a text in quotation marks, not 3; `run` is missing"),
    ("key", b'name = "a"\nrun = "a"\nx = 1', "there is no key `x`; there are: name, run, games"),
    ("run", b'name = "a"\nrun = ""', "`run` is empty"),
    ("game", b'name = "a"\nrun = "a"\ngames = ["quincy"]', "a plays quincy, not q"),
    ("control", b'name = "a"\nrun = "a"\ngames = ["\\u001b[2J"]', "`games` has the character '\\x1b'"),
]


@pytest.mark.parametrize(("content", "why"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_broken_program_stops_nobody_else(tmp_path: Path, content: bytes | None, why: str) -> None:
    """A broken entrant in a folder of folders is left out, with a line that names it and is safe to print."""
    player(tmp_path / "submissions" / "ada")
    player(tmp_path / "submissions" / "zoe")
    (tmp_path / "submissions" / "bob").mkdir()
    if content is not None:
        (tmp_path / "submissions" / "bob" / "player.toml").write_bytes(content)
    plan = read(tmp_path, SUBMITTED)
    assert [entrant.name for entrant in plan.spec.entrants] == ["ada", "zoe"]
    (warning,) = plan.warnings
    assert warning.startswith("bob is left out: ")
    assert why in warning
    assert warning.isprintable()


def test_what_is_no_file_and_what_leads_outside_is_left_out(tmp_path: Path) -> None:
    """A pipe in place of player.toml blocks nobody; links to other places and names that are no text are refused."""
    for name in ("ada", "eve"):
        player(tmp_path / "submissions" / name)
    for name in ("bob", "carl"):
        (tmp_path / "submissions" / name).mkdir()
    os.mkfifo(tmp_path / "submissions" / "bob" / "player.toml")
    (tmp_path / "submissions" / "carl" / "player.toml").symlink_to(tmp_path / "submissions" / "ada" / "player.toml")
    player(Path(os.fsdecode(os.fsencode(tmp_path) + b"/submissions/dan\xff")))
    plan = read(tmp_path, SUBMITTED)
    assert [entrant.name for entrant in plan.spec.entrants] == ["ada", "eve"]
    for warning, why in zip(plan.warnings, ("is no file", "is a link to", "its path is not UTF-8"), strict=True):
        assert why in warning
        assert warning.isprintable()


@pytest.mark.parametrize(
    ("index", "entrants"), [(0, ["dag", "greedy", "random"]), (1, ["greedy", "ada", "shell", "bob", "eve"])]
)
def test_the_examples_of_the_manual_are_read(tmp_path: Path, index: int, entrants: list[str]) -> None:
    """With its folders and tokens in place, each example of the manual is a valid file."""
    section = (ROOT / "docs/organisers/tournament-file.md").read_text()
    text = section.split("```toml\n")[1 + index].partition("```")[0]
    player(tmp_path / "submissions" / "eve")
    player(tmp_path / "players" / "ada")
    (tmp_path / "players.toml").write_text(f'bob = "{HASH}b"\n')
    plan = read(tmp_path, text.replace("# seed", "seed"))
    assert [entrant.name for entrant in plan.spec.entrants] == entrants
    assert plan.warnings == ()


@pytest.mark.parametrize("name", sorted(REGISTRY.formats))
def test_every_format_has_an_example(tmp_path: Path, name: str) -> None:
    """Each example is read without a warning, and is short."""
    plan = read(tmp_path, (ROOT / "sample_players" / "tournaments" / f"{name}.toml").read_text(), f"{name}.toml")
    assert plan.warnings == ()
    assert (plan.spec.name, plan.spec.format) == (name, name)
    assert all(entrant.player.startswith("house:") for entrant in plan.spec.entrants)
    assert plan.extent is not None
    assert plan.extent.most * plan.spec.legs <= 14


def test_a_plan_is_told_in_words(folder: Path) -> None:
    """Game, format, matches, time, records and entrants are printed; markup in a path is printed as it is."""
    text = WHOLE.replace('logs = "kept"', 'logs = "[red]kept"')
    lines = list(describe_plan(read(folder, text)))
    assert [line.strip() for line in lines] == [
        "autumn-1.0",
        "game        quincala, 2 seats, sizes = 3, layout as in its file",
        "format      swiss, rounds = 2",
        "matches     6 in 2 rounds",
        "at a time   4",
        "time        0.5 s for each move, 60 s for all of a seat's moves and 1 s more for each move, 10 s to start",
        "memory      300 MiB a program",
        "deals       fixed by seed 7, so anybody can predict them",
        "tie-breaks  wins",
        f"records     {folder}/[red]kept/autumn-1.0",
        "remote      2 entrants at tcp:7777",
        "entrants    6",
        "random                house:random  1500",
        "ada                   remote",
        "carl                  remote",
        "shell                 cmd:sh -c 'exit 1'",
        f"mine                  {folder.resolve()}/mine",
        f"zoe                   {folder.resolve()}/submissions/zoe",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (MINIMAL.replace("roundrobin", "knockout"), "matches     1 to 2 in 1 round"),
        (MINIMAL.replace("roundrobin", "ladder"), "matches     1000"),
        (
            MINIMAL.replace('"roundrobin"', '{ name = "ladder", matches = "endless" }'),
            "matches     as many as the format needs",
        ),
        ("duplicate = true\n" + MINIMAL, "matches     2 in 1 round"),
        ("duplicate = true\n" + MINIMAL, "deals       secret; each is played from all 2 seats"),
        ("tie_breaks = []\n" + MINIMAL, "tie-breaks  none"),
    ],
)
def test_a_plan_tells_how_much_is_played(folder: Path, text: str, line: str) -> None:
    """The number of matches is printed as far as it is known, with all legs."""
    assert line in list(describe_plan(read(folder, text)))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("[scoring]\nlate_bye = 0.5", "scoring.late_bye has no effect: in the format"),
        ("[remote]\nshow_up = 5", "remote.show_up has no effect: no entrant is remote"),
        ('[remote]\nlisten = "tcp:0"', "remote.listen has no effect"),
    ],
)
def test_keys_without_effect_are_told(tmp_path: Path, more: str, says: str) -> None:
    """Such keys lead to a warning, and the file is read."""
    path = tmp_path / "cup.toml"
    path.write_text(f'game = "q"\nformat = "roundrobin"\nentrants = ["house:dag", "house:dag"]\n{more}\n')
    (warning,) = read_tournament(path, REGISTRY).warnings
    assert says in warning


def warnings_of(folder: Path, top: str, tables: str = "") -> tuple[str, ...]:
    """Return the warnings about a tournament of four entrants."""
    path = folder / "cup.toml"
    entrants = "" if "entrants" in top + tables else 'entrants = ["house:dag", "house:dag", "house:dag", "house:dag"]\n'
    path.write_text(f'game = "q"\n{entrants}{top}\n{tables}\n')
    return read_tournament(path, REGISTRY).warnings


RATED = '[[entrants]]\nplayer = "house:dag"\nrating = 1500\n[[entrants]]\nplayer = "house:greedy"\n'
REMOTE = '[[entrants]]\nname = "ada"\nplayer = "remote"\n[[entrants]]\nname = "bob"\nplayer = "remote"\n'
TOKENS = f'[remote]\ntokens = "players.toml"\n{REMOTE}'


@pytest.mark.parametrize(
    ("top", "tables", "says"),
    [
        ('format = "ladder"', "[scoring]\nbye = 0.5", "scoring.bye has no effect: in the format ladder"),
        ('format = "roundrobin"', RATED, "entrants.rating has no effect: the format roundrobin does not seed"),
        ('format = "gauntlet"', RATED, "entrants.rating has no effect"),
        ("", '[format]\nname = "swiss"\npairing_limit = 5', "format.pairing_limit has no effect: it is for a pairing_"),
        ("", '[format]\nname = "roundrobin"\nrounds = 3', "format.rounds has no effect: everybody has met everybody"),
        ("", '[format]\nname = "roundrobin"\nrounds = 9\ncycles = 3', "after 9 of them"),
        ("seats = 3", '[format]\nname = "roundrobin"\nrounds = 9\ncycles = 3', "format.cycles has no effect"),
        ('format = "roundrobin"\ntie_breaks = ["wins", "buchholz"]', "", "buchholz in tie_breaks has no effect"),
        (
            'entrants = ["house:dag", "house:dag"]',
            '[format]\nname = "knockout"\nthird_place = true',
            "format.third_place has no effect: 2 entrants play no two semi-finals",
        ),
    ],
)
def test_keys_that_the_format_does_not_ask_about_are_named(tmp_path: Path, top: str, tables: str, says: str) -> None:
    """Each warning has a reason."""
    (warning,) = warnings_of(tmp_path, top, tables)
    assert says in warning


@pytest.mark.parametrize("line", ['sandbox = "off"', 'programs = "kept"', "limits = { memory_mib = 99 }"])
def test_keys_about_programs_have_no_effect_if_all_entrants_are_remote(tmp_path: Path, line: str) -> None:
    """The referee starts no program then."""
    (tmp_path / "players.toml").write_text("".join(f'{name} = "{name[0] * 64}"\n' for name in ("ada", "bob")))
    (warning,) = warnings_of(tmp_path, f'format = "swiss"\n{line}', TOKENS)
    assert "has no effect: all entrants are remote" in warning


@pytest.mark.parametrize(
    ("top", "tables"),
    [
        ('format = "knockout"', "[scoring]\nbye = 0.5"),
        ('format = "ladder"', RATED),
        ("", '[format]\nname = "swiss"\npairing_limit = 5\npairing_program = ["pair", "{trf}"]'),
        ('tie_breaks = ["buchholz"]', '[format]\nname = "roundrobin"\nrounds = 2'),
        ("", '[format]\nname = "roundrobin"\nrounds = 3\ncycles = 2'),
        ("", '[format]\nname = "knockout"\nthird_place = true'),
        ('sandbox = "off"\nformat = "swiss"', ""),
    ],
)
def test_keys_with_an_effect_are_not_named(tmp_path: Path, top: str, tables: str) -> None:
    """The same keys cause no warning where they have an effect."""
    assert warnings_of(tmp_path, top, tables) == ()


def test_late_byes_of_a_swiss_have_an_effect(tmp_path: Path) -> None:
    """There is no warning."""
    path = tmp_path / "cup.toml"
    path.write_text('game = "q"\nformat = "swiss"\nentrants = ["house:dag", "house:dag"]\n[scoring]\nlate_bye = 0.5\n')
    assert read_tournament(path, REGISTRY).warnings == ()


def test_records_that_cannot_be_written_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write everywhere, so the test replaces the system's answer."""
    monkeypatch.setattr(os, "access", lambda path, _mode: path != tmp_path)
    path = tmp_path / "cup.toml"
    path.write_text('game = "q"\nformat = "swiss"\nentrants = ["house:dag", "house:dag"]\n')
    (warning,) = read_tournament(path, REGISTRY).warnings
    assert f"records can't be written: you may not write into {tmp_path}" in warning
