"""Mistakes in a tournament's file: each message has the line, the mistake, and what to do."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.limits import NAME_FORM
from referee.app.tournament_file.plan import read_tournament
from referee.app.tournament_file.sheet import BadTournamentFile, Mistake
from referee.chance import MAX_SEED
from referee.tournament.spec import TournamentSpec

from .tournament_files import MINIMAL, REGISTRY, WHOLE, furnished, mistakes, outcome

Expected = list[tuple[int, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with everything that the complete file names."""
    return furnished(tmp_path_factory.mktemp("folder"))


URLS = 'takes the URL of a database: "sqlite:///FILE" or "postgresql://USER@HOST/NAME"'
NOBODY = 'entrants: nobody takes part; entrants = ["house:greedy", "mine"], or entrants_from = "submissions"'
TOO_FEW = "too few: a match has 2 seats"
LATIN = "line 2, column 9: the byte 0xe4 is no UTF-8; in Latin-1 it is ä; save it as UTF-8 in your editor"
TCP = r"write tcp:PORT, or tcp:PORT:interface=ADDRESS; an address of IPv6 takes tcp6:PORT:interface=\:\:1"
TOML = "; write texts in quotation marks, and tables in brackets"
LIMIT = "a number of seconds from 0.001 to 86400"
MIB = "a whole number of MiB from 64 to 1048576"
PLAYERS = "takes players as texts, or tables: [[entrants]]"
HOUSES = ", ".join(sorted(REGISTRY.players))
NEEDS = """a player's folder needs that file, with name = "ada" and run = "python3 player.py\""""
OTHERS = "cmd:COMMAND or a folder with player.toml"
FORMS = 'a player is "house:NAME", "cmd:COMMAND", a folder with player.toml, or "remote"'
WHOLE_FILES: list[tuple[str, str | bytes, Expected]] = [
    ("value", "game = q\n", [(1, f"this is not TOML: Invalid value{TOML}")]),
    ("twice", MINIMAL + 'game = "q"\n', [(4, "this key or table is in the file twice; keep one of them")]),
    ("open", 'game = "q"\n\nentrants = [\n', [(4, f"this is not TOML: Invalid value (at end of document){TOML}")]),
    ("latin", b'game = "q"\nname = "\xe4"\n', [(2, LATIN)]),
    ("deep", "a = " + "[" * 5000, [(0, "arrays or tables are nested too deeply")]),
    ("huge", MINIMAL + "seed = 0x1" + "0" * 5000, [(4, "seed: whole numbers have 64 bits at most")]),
    ("nobody", 'game = "q"\nentrants = []\nformat = "swiss"\n', [(2, NOBODY)]),
    ("neither", MINIMAL.replace('"house:random"', "3"), [(2, f"entrants: {PLAYERS}, not 3")]),
    ("alone", 'game = "q"\nentrants = ["mine"]\nformat = "swiss"\n', [(2, f"entrants: 1 is {TOO_FEW}")]),
    (
        "empty",
        "",
        [
            (1, NOBODY),
            (
                1,
                (
                    "format.name: this key is missing; it names the format: "
                    "doubleelimination, gauntlet, knockout, ladder, roundrobin, swiss"
                ),
            ),
            (1, "game: this key is missing; it names the game: q, quadominos, quincala, quincy"),
        ],
    ),
]
ADDED: list[tuple[str, str, Expected]] = [
    ("key", "sets = 2", [(4, 'sets: there is no such key; did you mean "seats"?')]),
    ("misplaced", "per_move = 2", [(4, "per_move: there is no such key here; it belongs under [time]")]),
    ("misplaced-option", "q_bonus = 2", [(4, "q_bonus: there is no such key here; it belongs under [options]")]),
    ("below", "[time]\nseats = 2", [(5, "time.seats: there is no such key here; it belongs above the first [table]")]),
    (
        "strange",
        "[time]\nzzz = 2",
        [(5, "time.zzz: there is no such key; there are: bank, increment, lag_margin, per_move, start")],
    ),
    (
        "name",
        'name = "../cup"',
        [
            (
                4,
                (
                    "name: takes a letter or digit, then up to 39 letters, digits, dots, hyphens or underscores, "
                    'not "../cup"'
                ),
            )
        ],
    ),
    ("seats-type", 'seats = "two"', [(4, 'seats: takes a whole number from 2 to 12, not "two"')]),
    ("seats-bool", "seats = true", [(4, "seats: takes a whole number from 2 to 12, not true")]),
    ("seats-game", "seats = 5", [(4, "seats: q is played by 2 to 4, not by 5")]),
    ("entrants-seats", "seats = 3", [(2, "entrants: 2 are too few: a match has 3 seats")]),
    ("tables", "tables = 0", [(4, "tables: takes a whole number from 1 to 1000, not 0")]),
    ("flag", "acknowledge = 1", [(4, "acknowledge: takes true or false, not 1")]),
    ("seed", "seed = 1.5", [(4, f"seed: takes a whole number from 0 to {MAX_SEED}, not 1.5")]),
    ("seed below 0", "seed = -5", [(4, f"seed: takes a whole number from 0 to {MAX_SEED}, not -5")]),
    ("suspend", "suspend_after = -1", [(4, "suspend_after: takes a whole number from 0 up, not -1")]),
    ("programs", 'programs = "keep"', [(4, 'programs: there is no kind of programs "keep"; did you mean "kept"?')]),
    (
        "keep",
        "keep_for = 5",
        [(4, 'keep_for: it needs programs = "kept"; without it, programs are started for every match')],
    ),
    (
        "memory",
        "[limits]\nmemory_mib = 63",
        [(5, f"limits.memory_mib: takes {MIB}, not 63")],
    ),
    ("disk", "min_free_mib = inf", [(4, "min_free_mib: takes a number of MiB from 0 to 1000000000000, not Infinity")]),
    ("sandbox", 'sandbox = "of"', [(4, 'sandbox: takes "required" or "auto" or "off", not "of"')]),
    ("logs", 'logs = "players.toml"', [(4, "logs: FOLDER/players.toml is no folder; records go into one")]),
    ("logs-null", 'logs = "a\\u0000"', [(4, 'logs: takes a text of one line, not "a\\u0000"')]),
    ("table", "time = 2", [(4, "time: takes a table: [time], not 2")]),
    (
        "time",
        '[time]\nper_move = "6 s"',
        [(5, f'time.per_move: takes {LIMIT}, not "6 s"')],
    ),
    ("time-range", "[time]\nstart = 0", [(5, f"time.start: takes {LIMIT}, not 0")]),
    (
        "time-nan",
        "[time]\nlag_margin = nan",
        [(5, "time.lag_margin: takes a number of seconds from 0 to 86400, not NaN")],
    ),
    (
        "increment",
        "[time]\nincrement = 1",
        [(5, "time.increment: it is added to a bank, but there is none; write bank = SECONDS, too")],
    ),
    ("option", "[options]\nq_bonuss = 1", [(5, 'options.q_bonuss: there is no such key; did you mean "q_bonus"?')]),
    ("option-type", '[options]\nq_bonus = "8"', [(5, 'options.q_bonus: takes a whole number from 0 to 1000, not "8"')]),
    (
        "tie-break",
        'tie_breaks = [\n  "wins",\n  "bucholz",\n  "wins",\n]',
        [
            (6, 'tie_breaks: there is no tie-break "bucholz"; did you mean "buchholz"?'),
            (7, "tie_breaks: wins is in the list twice; the second one decides nothing"),
        ],
    ),
    (
        "rows",
        '[scoring]\nby_rank = [\n  [1],\n  [0, 1],\n  ["a"],\n]\nbye = 2\nlate_bye = nan\ndefault_margin = -1',
        [
            (6, "scoring.by_rank: [1.0] is for fewer than two seats"),
            (7, "scoring.by_rank: [0.0, 1.0] does not go down from first place to last"),
            (8, "scoring.by_rank: a row takes points from first place to last: [10, 6, 3, 1]"),
            (10, "scoring.bye: takes a share of a first place, from 0 to 1, not 2"),
            (11, "scoring.late_bye: takes a share of a first place, from 0 to 1, not NaN"),
            (12, "scoring.default_margin: takes a whole number from 0 to 1000000, not -1"),
        ],
    ),
    ("same", "[scoring]\nby_rank = [[1, 0], [2, 1]]", [(5, "scoring.by_rank: two rows for the same number of seats")]),
    (
        "listen",
        '[remote]\nlisten = "tcp:x"',
        [(5, f"remote.listen: 'tcp:x' is no endpoint: it has no port from 0 to 65535; {TCP}")],
    ),
    (
        "tokens",
        '[remote]\ntokens = "none.toml"',
        [
            (
                5,
                (
                    "remote.tokens: FOLDER/none.toml: No such file or directory; "
                    "`referee token NAME... --file FOLDER/none.toml` makes such a file"
                ),
            )
        ],
    ),
    ("folder", 'entrants_from = "none"', [(4, "entrants_from: none: No such file or directory")]),
    ("folder-file", 'entrants_from = "cup.toml"', [(4, "entrants_from: cup.toml: Not a directory")]),
]
FORMATS: list[tuple[str, str, Expected]] = [
    ("name", 'name = "swis"', [(4, 'format.name: there is no format "swis"; did you mean "swiss"?')]),
    ("option", 'name = "swiss"\nround = 3', [(5, 'format.round: there is no such key; did you mean "rounds"?')]),
    ("range", 'name = "swiss"\nrounds = 0', [(5, "format.rounds: takes a whole number from 1 to 10000, not 0")]),
    (
        "field",
        'name = "gauntlet"\nchallengers = 2',
        [(3, "2 challengers of 2 entrants leave no opponents")],
    ),
]
ENTRANTS: list[tuple[str, str, Expected]] = [
    ("none", 'name = "a"', [(4, f"entrants.player: this key is missing; {FORMS}")]),
    ("key", 'plaier = "mine"\nplayer = "mine"', [(5, 'entrants.plaier: there is no such key; did you mean "player"?')]),
    ("house", 'player = "house:gredy"', [(5, "there is no house player 'gredy'; did you mean \"house:greedy\"?")]),
    ("not-house", 'player = "Greedy"', [(5, "there is no folder 'Greedy'; did you mean \"house:greedy\"?")]),
    ("folder", 'player = "xyz"', [(5, f"there is no folder 'xyz'; a player is house:NAME ({HOUSES}), {OTHERS}")]),
    ("bare", 'player = "bare"', [(5, f"there is no player.toml in FOLDER/bare; {NEEDS}")]),
    ("game", 'player = "quincy"', [(5, "FOLDER/quincy/player.toml: mine plays quincy, not q")]),
    ("cmd", 'player = "cmd:\'"', [(5, "cmd:': No closing quotation; it is split into words as a shell would")]),
    ("no-name", 'player = "cmd:true"', [(5, 'a command has no name; give the entrant one: name = "..."')]),
    (
        "own-name",
        'player = "unnamed"',
        [(5, f'"my bot" is no name of {NAME_FORM}; give the entrant one: name = "..."')],
    ),
    (
        "name",
        'player = "mine"\nname = "my bot"',
        [(6, f'entrants.name: takes {NAME_FORM}, not "my bot"')],
    ),
    ("rating", 'player = "mine"\nrating = "high"', [(6, 'entrants.rating: takes a number, not "high"')]),
    (
        "twice",
        'player = "mine"\nname = "a"\n[[entrants]]\nname = "a"\nplayer = "mine"',
        [(8, 'entrants.name: "a" is also the name of the entrant in line 6')],
    ),
    (
        "remote",
        'player = "remote"\nname = "ada"',
        [
            (
                5,
                (
                    "ada is remote and has no token; `referee token ada --file players.toml` makes one; "
                    'then, under [remote]: tokens = "players.toml"'
                ),
            )
        ],
    ),
    ("remote-name", 'player = "remote"', [(5, 'a remote entrant needs a name: name = "..."')]),
    (
        "token",
        'player = "remote"\nname = "adda"\n[remote]\ntokens = "players.toml"',
        [
            (
                5,
                (
                    "adda has no token in FOLDER/players.toml; "
                    '`referee token adda --file FOLDER/players.toml` makes one; did you mean "ada"?'
                ),
            )
        ],
    ),
    (
        "one-token",
        (
            'player = "remote"\nname = "ada"\n[[entrants]]\nplayer = "remote"\nname = "eve"\ntoken = "ada"\n'
            '[remote]\ntokens = "players.toml"'
        ),
        [(9, "entrants.name: ada has the same token; each entrant needs its own")],
    ),
    (
        "idle-token",
        'player = "mine"\ntoken = "ada"',
        [(6, 'entrants.token: only remote entrants have one: player = "remote"')],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in WHOLE_FILES], ids=[row[0] for row in WHOLE_FILES])
def test_a_file_that_is_no_tournament(folder: Path, text: str | bytes, expected: Expected) -> None:
    """Invalid TOML is reported with its line; for an empty file, the message lists all required keys."""
    assert mistakes(folder, text) == expected


@pytest.mark.parametrize(("added", "expected"), [row[1:] for row in ADDED], ids=[row[0] for row in ADDED])
def test_a_mistake_has_its_line_and_its_remedy(folder: Path, added: str, expected: Expected) -> None:
    """One additional or wrong line in a valid file leads to exactly this one message."""
    assert mistakes(folder, MINIMAL + added + "\n") == expected


@pytest.mark.parametrize(("form", "expected"), [row[1:] for row in FORMATS], ids=[row[0] for row in FORMATS])
def test_a_format_that_cannot_be_played(folder: Path, form: str, expected: Expected) -> None:
    """Unknown formats and options are reported, and formats that do not suit the field."""
    assert mistakes(folder, MINIMAL.replace('format = "roundrobin"', f"[format]\n{form}")) == expected


@pytest.mark.parametrize(("entrant", "expected"), [row[1:] for row in ENTRANTS], ids=[row[0] for row in ENTRANTS])
def test_an_entrant_that_cannot_play(folder: Path, entrant: str, expected: Expected) -> None:
    """Each listed entrant must be valid."""
    head = 'game = "q"\nformat = "ladder"\nentrants_from = "submissions"\n[[entrants]]\n'
    short = [(line, text.removeprefix("entrants.player: ")) for line, text in mistakes(folder, head + entrant)]
    assert short == [(line, text.removeprefix("entrants.player: ")) for line, text in expected]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ('layout = "none.toml"', (5, "options.layout: none.toml: it can't be read: No such file or directory")),
        ('layout = "wrong.toml"', (5, f"options.layout: wrong.toml, line 2: this is not TOML: Invalid value{TOML}")),
        ('layout = "bare"', (5, "options.layout: bare: this is no file")),
        ("layout = 3", (5, "options.layout: takes the path of a TOML file, not 3")),
        ('layout = "players.toml"', (5, "options.layout: there is no key ada")),
        ("sizes = 6", (5, "options.sizes: takes 3 or 4 or 5, not 6")),
    ],
)
def test_options_of_a_game_are_held_to_its_rules(folder: Path, options: str, expected: tuple[int, str]) -> None:
    """Files that options name are read at once, and their content is checked."""
    text = MINIMAL.replace('"q"', '"quincala"') + f"[options]\n{options}\n"
    assert mistakes(folder, text) == [expected]


def test_a_deal_that_is_played_twice_is_not_for_remote_programs(folder: Path) -> None:
    """From the first leg, a program that the referee does not start would know the deal of the second."""
    text = WHOLE.replace("duplicate = false", "duplicate = true")
    why = "ada, carl would know each deal from its first leg, being remote"
    remedy = "let their programs be started here, or take duplicate = false"
    assert mistakes(folder, text) == [(3, f"duplicate: {why}; {remedy}")]


def test_options_that_do_not_go_together_are_told_where_they_stand(folder: Path) -> None:
    """A mistake in a combination of options is reported at the header of their table."""
    board = (folder / "board.toml").read_text()
    (folder / "small.toml").write_text(board[: board.index("[start.3]")] + board[board.index("[start.4]") :])
    text = MINIMAL.replace('"q"', '"quincala"') + '[options]\nsizes = 3\nlayout = "small.toml"\n'
    ((line, told),) = mistakes(folder, text)
    assert line == 4
    assert told.startswith("options of quincala: the layout has no start.3")


def test_a_file_without_a_name_needs_one(folder: Path) -> None:
    """If the file's name gives no valid name, the tournament needs one."""
    ((line, told),) = mistakes(folder, MINIMAL, "日本.toml")
    missing = "name: this key is missing, and the name of the file can't replace it"
    assert (line, told.partition(";")[0]) == (1, missing)


@pytest.mark.parametrize(("path", "why"), [("none.toml", "No such file or directory"), ("bare", "this is no file")])
def test_a_file_that_is_not_there(folder: Path, path: str, why: str) -> None:
    """The message is about the file, without a line."""
    with pytest.raises(BadTournamentFile, match=why) as caught:
        read_tournament(folder / path, REGISTRY)
    assert [mistake.line for mistake in caught.value.mistakes] == [0]


def test_all_mistakes_are_told_at_once_by_line(folder: Path) -> None:
    """An organiser fixes a file once, not mistake by mistake. An editor can open the printed places."""
    text = 'gamee = "q"\ntables = 0\nentrants = ["house:x", "nobody"]\n[time]\nbank = 0\n[format]\nname = "x"\n'
    found = outcome(folder, text)
    assert isinstance(found, BadTournamentFile)
    assert [mistake.line for mistake in found.mistakes] == [1, 1, 2, 3, 3, 5, 7]
    assert str(found).splitlines()[2] == f"{folder}/cup.toml:2: tables: takes a whole number from 1 to 1000, not 0"


def test_the_whole_file_is_named_without_a_line() -> None:
    """Line 0 does not exist."""
    error = BadTournamentFile(Path("cup.toml"), [Mistake(3, "b"), Mistake(0, "a"), Mistake(3, "b")])
    assert str(error) == "cup.toml: a\ncup.toml:3: b"


def test_nobody_in_a_folder_can_take_part(folder: Path) -> None:
    """A folder without players is a mistake, and so is one that is itself a player's."""
    text = 'game = "q"\nformat = "ladder"\nentrants_from = "{}"\n'
    remedy = "it needs a folder with a player.toml for each entrant"
    assert mistakes(folder, text.format("bare")) == [(3, f"entrants_from: nobody in bare can take part; {remedy}")]
    remedy = "it is a player's folder itself: list it under entrants"
    assert mistakes(folder, text.format("mine")) == [(3, f"entrants_from: nobody in mine can take part; {remedy}")]


LINES = WHOLE.splitlines(keepends=True)
WORDS = st.sampled_from(
    [
        "0",
        "-1",
        "nan",
        "99999999999",
        '"x"',
        "[]",
        "{}",
        "true",
        "[[1]]",
        '"\\u0000"',
        "1979-05-27",
        "=",
        '"""',
        "[",
        "]]",
    ]
)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(
        st.tuples(
            st.sampled_from(["drop", "repeat", "swap", "value", "insert"]),
            st.integers(0, len(LINES) - 1),
            st.integers(0, len(LINES) - 1),
            WORDS,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_no_file_is_too_strange(folder: Path, edits: list[tuple[str, int, int, str]]) -> None:
    """However a valid file is mangled, it is read, or refused with mistakes on lines that exist."""
    lines = list(LINES)
    for how, one, other, word in edits:
        at, to = one % len(lines), other % len(lines)
        if how == "drop" and len(lines) > 1:
            del lines[at]
        elif how == "repeat":
            lines.insert(to, lines[at])
        elif how == "swap":
            lines[at], lines[to] = lines[to], lines[at]
        elif how == "value":
            lines[at] = f"{lines[at].partition('=')[0].strip()} = {word}\n"
        else:
            lines[at] = lines[at][: other % (len(lines[at]) + 1)] + word + lines[at][other % (len(lines[at]) + 1) :]
    text = "".join(lines)
    found = outcome(folder, text, "mangled.toml")
    if isinstance(found, BadTournamentFile):
        assert found.mistakes
        count = text.count("\n") + 1
        assert all(0 <= mistake.line <= count and mistake.text.isprintable() for mistake in found.mistakes)
    else:
        assert msgspec.json.decode(msgspec.json.encode(found.spec), type=TournamentSpec) == found.spec


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60) | st.text(alphabet="[]{}\"'=.,#\n ab1_-", max_size=40).map(str.encode))
def test_no_bytes_are_too_strange(folder: Path, content: bytes) -> None:
    """Random bytes are refused, and nothing else happens."""
    assert mistakes(folder, content, "bytes.toml")
