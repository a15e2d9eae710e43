"""`referee new`: a folder that plays at once, from files that every installation has."""

import configparser
import json
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import sample_players
from protocol.limits import NAME_FORM
from referee.cli.commands.new import TEMPLATES, make_player, sample_files
from referee.cli.main import main
from referee.programs.player_spec import read_folder

from .calling import referee

GAMES = ("q", "quadominos", "quincala", "quincy")
ROOT = Path(sample_players.__file__).parent
LEFT_OUT = {
    "javascript": {
        *("check_shuffle.js", "shuffle.js"),
        "verify.js",
        *(f"verify_{part}.js" for part in ("evidence", "lines", "record", "tiles", "time", *GAMES)),
    }
}
"""Files in a sample's folder that do not belong to it."""
MADE = {"player", "classes", "target", "__pycache__"}
"""Files that builds and runs leave there."""


def kept_files(folder: Path) -> set[str]:
    """Return the files of a sample's folder that are under version control."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if not MADE & set(path.parts)}


def new(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> Result:
    """Run the command in a folder."""
    monkeypatch.chdir(folder)
    return CliRunner().invoke(main, ["new", *arguments])


@pytest.mark.parametrize("language", TEMPLATES)
def test_the_whole_sample_is_made(tmp_path: Path, language: str) -> None:
    """A new player has every file of its sample and nothing else, under its own name."""
    folder = ROOT / TEMPLATES[language].folder
    files = make_player(language, tmp_path / "ada")
    assert kept_files(folder) - LEFT_OUT.get(language, set()) == set(files) == kept_files(tmp_path / "ada")
    assert TEMPLATES[language].edit in files
    launch = read_folder(tmp_path / "ada")
    assert (launch.name, launch.games) == ("ada", ("q", "quincy", "quincala", "quadominos"))


@pytest.mark.parametrize("language", TEMPLATES)
def test_a_wheel_has_the_sample(language: str) -> None:
    """Each file of a sample is one that setup.cfg puts into a wheel."""
    config = configparser.ConfigParser()
    config.read(ROOT.parent / "setup.cfg")
    patterns = config["options.package_data"]["sample_players"].split()
    with sample_files(TEMPLATES[language]) as files:
        paths = [path.relative_to(ROOT) for path in files.values()]
    assert [path for path in paths if not any(path.match(pattern) for pattern in patterns)] == []


def test_the_python_of_the_library_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the Python of PATH is not the referee's, the player is started with the referee's."""
    monkeypatch.setenv("PATH", str(tmp_path))
    make_player("python", tmp_path / "ada")
    assert (sys.executable, "player.py") == read_folder(tmp_path / "ada").argv
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    make_player("python", tmp_path / "bob")
    assert read_folder(tmp_path / "bob").argv == ("python3", "player.py")


def test_a_name_of_every_kind_of_sign_plays(tmp_path: Path) -> None:
    """Folders with the manual's examples of names give players that play, under these names and with their files."""
    referee("new", "python-socket", "my_1st-player_", cwd=tmp_path)
    told = referee("play", "q", "my_1st-player_/", "house:random", cwd=tmp_path).stdout
    assert "my_1st-player_" in told
    assert "was expelled" not in told


def test_the_next_steps_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """People are shown what to edit and how to play; programs get a list of the files."""
    told = new(monkeypatch, tmp_path, "go", "ada")
    assert told.exit_code == 0
    for words in ("ada/main.go", "referee play q house:random ada/", "referee check ada/", "golang-go"):
        assert words in told.stdout
    found = json.loads(new(monkeypatch, tmp_path, "python-socket", "bob", "--json").stdout)
    assert (found["folder"], found["language"]) == ("bob", "python-socket")
    assert tomllib.loads((tmp_path / "bob" / "player.toml").read_text())["name"] == "bob"
    assert set(found["files"]) == kept_files(tmp_path / "bob")


WRONG = [
    ("cobol", "ada", "the languages are c, go, java"),
    ("c", "", NAME_FORM),
    ("c", "a" * 21, NAME_FORM),
    ("c", "../ada", NAME_FORM),
    ("c", "ädä", NAME_FORM),
    ("c", "_ada", NAME_FORM),
    ("c", "ada.py", NAME_FORM),
    ("c", "taken", "taken exists here already"),
]
"""(language, name, the error)."""


@pytest.mark.parametrize(("language", "name", "said"), WRONG)
def test_what_can_not_be_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, name: str, said: str
) -> None:
    """An unknown language, an invalid name and an existing folder are errors, and nothing is changed."""
    (tmp_path / "taken").write_text("mine")
    done = new(monkeypatch, tmp_path, language, name)
    assert done.exit_code == 2
    assert said in " ".join(done.output.replace("│", "").split())
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    assert (tmp_path / "taken").read_text() == "mine"
