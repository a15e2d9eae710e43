"""Tournament files, valid and invalid, and the folder that they lie in."""

from pathlib import Path

from referee.app.tournament_file.plan import TournamentPlan, read_tournament
from referee.app.tournament_file.sheet import BadTournamentFile
from referee.plugins import load

ROOT = Path(__file__).parents[2]
REGISTRY = load()
HASH = "0" * 63
MINIMAL = 'game = "q"\nentrants = ["house:greedy", "house:random"]\nformat = "roundrobin"\n'
WHOLE = """\
name = "autumn-1.0"
game = "quincala"
duplicate = false
tables = 4
acknowledge = true
seed = 7
tie_breaks = ["wins"]
suspend_after = 0
logs = "kept"
sandbox = "required"
durability = "turn"
min_free_mib = 1.5
entrants_from = "submissions"

[options]
sizes = 3
layout = "board.toml"

[format]
name = "swiss"
rounds = 2

[time]
per_move = 0.5
bank = 60
increment = 1
start = 10
lag_margin = 0

[limits]
memory_mib = 300

[scoring]
by_rank = [[2, 0.5]]
bye = 0
late_bye = 0.25
default_margin = 12

[remote]
listen = "tcp:7777"
tokens = "players.toml"
come_back = 0
show_up = 5.5

[[entrants]]
player = "house:random"
rating = 1500

[[entrants]]
name = "ada"
player = "remote"

[[entrants]]
name = "carl"
player = "remote"
token = "bob"

[[entrants]]
name = "shell"
player = "cmd:sh -c 'exit 1'"

[[entrants]]
player = "mine"
"""


def player(folder: Path, content: str = 'name = "mine"\nrun = "true"\n') -> Path:
    """Make a player's folder."""
    folder.mkdir(parents=True)
    (folder / "player.toml").write_text(content)
    return folder


def furnished(folder: Path) -> Path:
    """Fill a folder with all that the whole file names, and with some invalid entries."""
    player(folder / "mine")
    player(folder / "unnamed", 'name = "my bot"\nrun = "true"\n')
    player(folder / "quincy", 'name = "mine"\nrun = "true"\ngames = ["quincy"]\n')
    player(folder / "submissions" / "zoe")
    (folder / "bare").mkdir()
    (folder / "board.toml").write_bytes((ROOT / "referee" / "games" / "quincala" / "boards.toml").read_bytes())
    (folder / "wrong.toml").write_text("a = 1\nb = \n")
    (folder / "players.toml").write_text(f'ada = "{HASH}a"\nbob = "{HASH}b"\n')
    return folder


def read(folder: Path, text: str | bytes, name: str = "cup.toml") -> TournamentPlan:
    """Read a file of some content."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_tournament(path, REGISTRY)


def outcome(folder: Path, text: str | bytes, name: str = "cup.toml") -> TournamentPlan | BadTournamentFile:
    """Read a file with some content, or return the error."""
    try:
        return read(folder, text, name)
    except BadTournamentFile as error:
        return error


def mistakes(folder: Path, text: str | bytes, name: str = "cup.toml") -> list[tuple[int, str]]:
    """Return line and text of every mistake of a file."""
    found = outcome(folder, text, name)
    assert isinstance(found, BadTournamentFile)
    return [(mistake.line, mistake.text.replace(str(folder), "FOLDER")) for mistake in found.mistakes]
