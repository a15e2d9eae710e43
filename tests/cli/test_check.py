"""`referee check`: every fault is found at the step that names it, and good players pass."""

import csv
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import asdict, replace

from referee.app.comparison import compare_pairs
from referee.check.checking import all_steps
from referee.cli.commands import check
from referee.cli.main import main
from referee.cli.strength import Strength, Trial
from referee.errors import RefereeError
from referee.plugins import load

from .calling import played, referee

BROKEN = Path(__file__).parents[1] / "peers" / "broken" / "player.py"
GAMES = tuple(load().games)
QUICK = ("--time", "5", "--start-time", "20", "--sandbox", "off")
SHORT = ("--time", "0.4")
IMPATIENT = ("--start-time", "2")

NO_TOML = (
    "there is no player.toml in class/dan; a player's folder needs that file, "
    'with name = "ada" and run = "python3 player.py"'
)


def command(fault: str) -> str:
    """Return the argument for the player with a fault."""
    return f"cmd:{shlex.join((sys.executable, str(BROKEN), fault))}"


def checked(player: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Check a player in this process; return the exit status and the report."""
    done = CliRunner().invoke(main, ["check", player, *QUICK, *arguments, "--json"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["version"] == 1
    return done.exit_code, report


FAULTS: tuple[tuple[str, str, str, Sequence[str]], ...] = (
    ("exits", "connects", "the program ended before it connected: exit status 3", ()),
    ("prints-frames", "connects", "it did not connect within 2 s", IMPATIENT),
    ("no-hello", "prefix", "nothing came within 2 s", IMPATIENT),
    ("little-endian", "prefix", "announce a body of 1761607680 bytes", ()),
    ("wrong-length", "prefix", "announce a body of 108 bytes, and 105 came", IMPATIENT),
    ("json-lines", "prefix", "its first 4 bytes announce a body of 2065855609 bytes", ()),
    ("json", "body", "not-msgpack", ()),
    ("wrong-type", "hello", "its type is 'Hello'", ()),
    ("no-name", "hello", "it lacks name", ()),
    ("bad-version", "version", "version is '1'", ()),
    ("bad-name", "name", "name is 'Ada Lovelace'", ()),
    ("bad-token", "token", "token is 'secret'", ()),
    ("eager", "waits", "before it was welcomed, without a request", ()),
    ("no-ready", "ready", "nothing came within 2 s", IMPATIENT),
    ("ready-match", "ready", "match is 'another'", ()),
    ("raw-nonce", "commitment", "commitment is '", ()),
    ("no-nonce", "reveal", "nothing came within 0.4 s", SHORT),
    ("no-seat", "opens", "its ready had the commitment", ()),
    ("other-nonce", "opens", "its ready had the commitment", ()),
    ("short-nonce", "nonce", "nonce is '00ff'", ()),
    ("fixed-nonce", "new-nonce", "two matches got the same nonce", ()),
    ("talks", "quiet", "after `start`, before its turn, without a request", ()),
    ("floods", "quiet", "after `start`, before its turn, without a request", ()),
    ("silent", "answers", "nothing came within 0.4 s, or soon after", SHORT),
    ("slow", "answers", "its answer came after", SHORT),
    ("acks-turn", "move", "it answers the turn with 'ack'", ()),
    ("no-answer-type", "move", "unknown-type", ()),
    ("other-match", "move-match", "the `match` of its move is another", ()),
    ("other-turn", "move-turn", "the `turn` of its move is 2", ()),
    ("malformed-move", "move-form", "Expected `object`, got `array`", ()),
    ("illegal-move", "move-rules", "q.place.adjacent", ()),
    ("moves-twice", "move-once", "after its move it sent", ()),
    ("one-match", "two-matches", "the program ended: exit status 0", ()),
    ("old-nonce", "forgets", "two matches on one connection got the same nonce", ()),
    ("old-seat", "forgets", "malformed-message (nonce)", ()),
    ("no-sleeper", "stopped", "where am I?", ()),
    ("no-early-end", "early-end", "it had not begun", ()),
    ("no-end", "ending-q", "is it over?", ()),
    ("large-view", "large-q", "a board of 500 tiles is enough", ()),
    ("twelve-seats", "seats-quadominos", "KeyError: 12", ("--game", "quadominos")),
    ("upset", "leaver-q", "my friend!", ()),
    ("leisurely", "tight-clock", "its answer came after", ()),
    ("no-ack", "ack-start", "nothing came within 0.4 s", SHORT),
    ("one-read", "bytewise", "it crashed: ValueError: Unpack failed", ()),
    ("one-read", "packed", "it crashed: ", ()),
    ("short-forms", "long-forms", "only maps of up to 15 pairs are known here", ()),
    ("deaf", "reads", "it does not read", SHORT),
    ("prints", "prints", "it printed more than 65536 bytes", ()),
    ("hoards", "memory", "its processes used 6", ()),
    ("stays", "expelled", "it still runs 2 s after it was expelled", ()),
    ("insists", "refused", "it still runs 2 s after it was refused", ()),
    ("spins", "lost", "spins: it uses a whole core", ()),
    ("no-resumed", "resumed", "resumed?", ()),
    ("comes-back-wrong", "comes-back", "it connected again with the token", ()),
)
"""Fault, the step that names it, its message, further arguments."""


@pytest.mark.parametrize(("fault", "step", "said", "arguments"), FAULTS, ids=lambda value: str(value)[:40])
def test_a_fault_is_found_at_the_step_that_names_it(
    fault: str, step: str, said: str, arguments: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step fails, and says what happened, what was expected and how to fix it."""
    monkeypatch.chdir(tmp_path)
    game = () if "--game" in arguments else ("--game", "q")
    status, report = checked(command(fault), "--only", step, *game, *arguments)
    (found,) = report["steps"]
    assert (status, report["passes"], found["verdict"]) == (1, False, "failed"), found
    trouble = found["trouble"]
    assert said in trouble["happened"]
    assert trouble["expected"]
    assert trouble["remedy"]


@pytest.mark.parametrize(
    ("fault", "doing", "remedy"),
    [
        ("ponders", "it was still computing", "Look for a loop that does not end"),
        ("silent", "it was waiting", "Is the answer flushed?"),
    ],
)
def test_who_thinks_for_ever_is_told_from_who_waits(
    fault: str, doing: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The remedy of a missing answer depends on the processor time that the program used."""
    monkeypatch.chdir(tmp_path)
    _, report = checked(command(fault), "--only", "answers", "--game", "q", "--time", "1")
    (finding,) = report["steps"]
    assert f"s of processor time: {doing}" in finding["trouble"]["happened"]
    assert remedy in finding["trouble"]["remedy"]


def test_a_good_player_passes(tmp_path: Path) -> None:
    """The same player without a fault passes every step of its game, and skipped steps say why."""
    how = ("--game", "q", "--sandbox", "off", "--no-strength", "--json")
    report = played(referee("check", command("none"), *how, cwd=tmp_path))
    assert report["failed"] == 0, [found for found in report["steps"] if found["verdict"] == "failed"]
    assert len(report["steps"]) == report["ok"] + report["skipped"] == len(all_steps(GAMES))
    reasons = {found["note"] for found in report["steps"] if found["verdict"] == "skipped"}
    others = {f"it does not play {name}" for name in GAMES if name != "q"}
    assert {
        "it was not given as a folder",
        "it does not connect again by itself; it does not have to",
        *others,
    } == reasons
    assert list(tmp_path.iterdir()) == []


def test_a_house_player_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One start of it plays every game: from the start, near the end, and from the largest view."""
    monkeypatch.chdir(tmp_path)
    of_games = [step.key for step in all_steps(GAMES) if step.key.endswith(tuple(f"-{name}" for name in GAMES))]
    keys = ["two-matches", *(key for key in of_games if not key.startswith("match-"))]
    status, report = checked("house:random", *(word for key in keys for word in ("--only", key)))
    assert (status, report["failed"]) == (0, 0), [found for found in report["steps"] if found["verdict"] == "failed"]
    assert {"quincala always has 2 seats"} <= {found["note"] for found in report["steps"]}


FOUND = Strength(
    game="quincy",
    opponent="house:greedy",
    **asdict(compare_pairs("greedy", "ada", (1, 0, 2, 0, 0))),
    expelled=1,
    turn_ms=410.0,
    limit_s=10.0,
)


def _passing(monkeypatch: pytest.MonkeyPatch, found: Sequence[Strength | RefereeError]) -> list[Trial]:
    """Let every check pass at once, with this strength; return the arguments of the trials."""
    trials: list[Trial] = []

    def _measure(trial: Trial, games: Sequence[str]) -> Iterator[Strength]:
        assert games == ["quincy"]
        trials.append(trial)
        for each in found:
            if isinstance(each, RefereeError):
                raise each
            yield each

    monkeypatch.setattr(check, "run_check", lambda *_: [])
    monkeypatch.setattr(check, "measure", _measure)
    return trials


def test_who_passes_is_told_how_strong_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games that did not fit into the time are named, and nobody fails for them."""
    none = replace(FOUND, **asdict(compare_pairs("greedy", "ada", ())), expelled=0)
    trials = _passing(monkeypatch, [FOUND, none, RefereeError("the disk is full")])
    given = ("house:random", "--game", "quincy", "--time", "2", "--sandbox", "off", "--logs", "my logs")
    done = CliRunner().invoke(main, ["check", *given])
    assert done.exit_code == 0
    for told in (
        "quincy: ada may be better or worse than greedy: 33 % of the points, ",
        " Elo, 6 matches, expelled in 1 game, 410 ms a turn (6 of 20 games in 10 s)",
        "quincy against house:greedy: no pair of games was finished (of 20 games in 10 s)",
        "the strength could not be measured: the disk is full",
    ):
        assert told in done.output
    (trial,) = trials
    assert (trial.player, trial.logs) == ("house:random", Path("my logs"))
    assert trial.command[-5:] == ("--sandbox=off", "--time", "2", "--start-time", "30")


@pytest.mark.parametrize(("words", "strength"), [((), 1), (("--no-strength",), None), (("--only", "links"), None)])
def test_strength_is_told_to_programs_and_left_out(
    words: Sequence[str], strength: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check of single steps does not measure strength, and neither does one with `--no-strength`."""
    trials = _passing(monkeypatch, [FOUND])
    status, report = checked("house:random", "--game", "quincy", *words)
    assert (status, report["passes"], len(report.get("strength", [])) or None) == (0, True, strength)
    assert len(trials) == (strength or 0)


def test_what_has_one_cause_is_explained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One mistake is one failure; later steps name the first one. The referee's own bytes are shown on request."""
    monkeypatch.chdir(tmp_path)
    steps = (word for step in ("ack-start", "ack-told", "ack-end") for word in ("--only", step))
    done = CliRunner().invoke(main, ["check", command("no-ack"), "--game", "q", *QUICK, *SHORT, *steps])
    told = " ".join(done.stdout.split())
    assert told.count("in the step") == told.count("55 failed") == 1
    assert told.count("(it fails for the same cause as step 55)") == 2
    assert "0 ok, 1 failed, 2 skipped" in told
    assert "the referee sent" not in told
    sent = CliRunner().invoke(
        main, ["check", command("no-ack"), "--game", "q", *QUICK, *SHORT, "--only", "55", "--sent"]
    )
    assert "the referee sent" in " ".join(sent.stdout.split())


def hand_in(folder: Path, fault: str) -> None:
    """Write the folder of a player that has a fault; without a fault if the text is empty."""
    folder.mkdir(parents=True)
    run = json.dumps(shlex.join((sys.executable, str(BROKEN), fault)))
    (folder / "player.toml").write_text(f'name = "{folder.name}"\nrun = {run}\n')


def test_each_of_many_players_gets_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of players stands for all players in it. Each has the same verdict as alone, in the folder's order."""
    monkeypatch.chdir(tmp_path)
    for name, fault in (("ada", ""), ("bob", "exits"), ("cyd", "")):
        hand_in(tmp_path / "class" / name, fault)
    (tmp_path / "class" / "dan").mkdir()
    steps = ("--only", "name", "--only", "connects", "--game", "q", *QUICK)
    done = referee("check", "class/", *steps, "--csv", "=grades.csv", "--jobs", "2", status=1)
    print(done.stderr)
    assert done.stdout.splitlines() == [
        "passes  class/ada/",
        "FAILED  class/bob/  step 6, connects: the program ended before it connected: exit status 3",
        "passes  class/cyd/",
        f"FAILED  class/dan/  step 6, connects: {NO_TOML}",
        "2 of 4 players pass",
        "To see all about one of them:  referee check class/bob/",
    ]
    with (tmp_path / "=grades.csv").open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [(row["player"], row["passes"], row["first_failure"]) for row in rows] == [
        ("class/ada/", "yes", ""),
        ("class/bob/", "no", "connects"),
        ("class/cyd/", "yes", ""),
        ("class/dan/", "no", "connects"),
    ]
    whole = played(referee("check", "class/ada", "class/bob", *steps, "--json", status=1))
    assert (whole["version"], whole["passing"], whole["failing"]) == (1, 1, 1)
    alone = played(referee("check", "class/bob", *steps, "--json", status=1))
    assert whole["players"][1]["steps"][-1]["trouble"] == alone["steps"][-1]["trouble"]


def test_the_command_that_tries_again_has_what_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command repeats limits and game: without them, the failed step might pass."""
    monkeypatch.chdir(tmp_path)
    given = ("--game", "q", "--time", "0.4", "--logs", "my logs", "--sandbox", "off")
    done = CliRunner().invoke(main, ["check", command("no-ack"), *given, "--only", "ack-start", "--only", "ack-end"])
    _, _, again = done.stdout.partition("To try step 55 again:  ")
    assert shlex.split(again) == ["referee", "check", command("no-ack"), *given, "--only", "55"]


def test_behind_a_basic_fault_all_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The author is shown the step, the bytes and the remedy, and not all consequences."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["check", command("json-lines"), "--game", "q", *QUICK])
    assert done.exit_code == 1
    told = " ".join(done.stdout.split())
    assert "7 failed" in told
    assert "prefix its first 4 bytes announce" in told
    assert '"type": "hello"' in told
    assert "7b 22 74 79" in told
    assert "how to fix it This is JSON without a prefix" in told
    assert f"{len(all_steps(GAMES)) - 7} steps skipped: step 7 failed: fix that first" in told
    assert len(done.stdout.splitlines()) <= 24
    assert "--only 7" in told


def test_a_program_that_does_not_know_a_game_is_told_to_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A player without `games` is taken to play all of them; the advice is to name some."""
    monkeypatch.chdir(tmp_path)
    _, report = checked(command("none"), "--only", "opening-quincy")
    assert "If it does not play quincy, name its games" in report["steps"][0]["trouble"]["remedy"]
    _, report = checked(command("none"), "--only", "opening-quincy", "--game", "quincy")
    assert "If it does not play" not in report["steps"][0]["trouble"]["remedy"]


def player_folder(folder: Path, **changes: Any) -> Path:
    """Make a player's folder."""
    folder.mkdir()
    keys = {"name": "mine", "run": f"{sys.executable} player.py none", "games": ["q"], **changes}
    (folder / "player.py").write_bytes(BROKEN.read_bytes())
    (folder / "player.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()))
    return folder


FOLDERS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("no name", "toml", {"name": 7}, "takes a text in quotation marks, not 7"),
    ("a key too many", "toml", {"langauge": "C"}, "there is no key `langauge`"),
    ("a name of two words", "named", {"name": "Ada Lovelace"}, "its name is 'Ada Lovelace'"),
    ("a game that there is not", "named", {"games": ["chess"]}, "`games` names chess"),
    ("no program", "command", {"run": "./missing"}, "can't start ./missing"),
    ("a build that fails", "build", {"build": "sh -c 'echo no compiler; exit 3'"}, "exit status 3"),
)


@pytest.mark.parametrize(("what", "step", "changes", "said"), FOLDERS, ids=lambda value: str(value)[:30])
def test_a_fault_of_a_folder_is_found(
    what: str, step: str, changes: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is checked before anything is started, in a step of its own."""
    monkeypatch.chdir(tmp_path)
    status, report = checked(str(player_folder(tmp_path / "mine", **changes)))
    failed = [found for found in report["steps"] if found["verdict"] == "failed"]
    assert (status, [found["key"] for found in failed]) == (1, [step])
    assert said in failed[0]["trouble"]["happened"]


def test_a_link_out_of_the_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step names it with its target."""
    monkeypatch.chdir(tmp_path)
    (player_folder(tmp_path / "mine") / "numpy").symlink_to("/usr/lib")
    status, report = checked("mine", "--only", "links")
    assert status == 1
    assert "mine/numpy is a link to /usr/lib" in report["steps"][0]["trouble"]["happened"]


def test_a_folder_that_is_right_is_built_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of the folder pass, and the program is started in it."""
    monkeypatch.chdir(tmp_path)
    folder = player_folder(tmp_path / "mine", build="touch made")
    keys = ("links", "toml", "named", "build", "command", "connects", "move-rules")
    status, report = checked(str(folder), *(word for key in keys for word in ("--only", key)))
    assert (status, [found["verdict"] for found in report["steps"]]) == (0, ["ok"] * len(keys)), report
    assert (folder / "made").exists()


def test_who_plays_one_match_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a program is not offered a second match, and is started again for every step."""
    monkeypatch.chdir(tmp_path)
    folder = player_folder(tmp_path / "mine", run=f"{sys.executable} player.py one-match", matches=1)
    keys = ("two-matches", "forgets", "stopped", "crossed")
    status, report = checked(str(folder), *(word for key in (*keys, "opening-q") for word in ("--only", key)))
    notes = [found["note"] for found in report["steps"] if found["verdict"] == "skipped"]
    assert (status, report["ok"], notes) == (0, 1, ["its player.toml says matches = 1"] * len(keys))


def test_a_match_at_a_real_table_names_the_foul(tmp_path: Path) -> None:
    """The last steps show the cause of the referee's own expulsion, with the bytes."""
    done = referee("check", command("malformed-move"), "--only", "match-q", "--json", cwd=tmp_path, status=1)
    trouble = played(done)["steps"][0]["trouble"]
    assert trouble["happened"].startswith("it was expelled in turn 1: malformed-message (move)")
    assert "a8 65 78 63 68 61 6e 67 65" in trouble["received"]["hex"]


def test_the_steps_are_listed() -> None:
    """There are at least 40 steps, with numbers from 1 and unique names that --only takes."""
    steps = json.loads(CliRunner().invoke(main, ["check", "--list", "--json"]).stdout)["steps"]
    keys = [step["key"] for step in steps]
    assert keys == [step.key for step in all_steps(GAMES)]
    assert len(keys) == len(set(keys)) == steps[-1]["number"]
    assert len(keys) >= 40
    assert {step for _, step, _, _ in FAULTS} <= set(keys)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "PLAYER is missing"),
        (("nowhere",), "there is no folder nowhere"),
        (("house:nobody",), "there is no house player 'nobody'"),
        (("house:dag", "--game", "chess"), "there is no game 'chess'"),
        (("house:dag", "--only", "999"), "there is no step '999': the steps go from 1 to"),
        (("house:dag", "--only", "nonse"), "there is no step 'nonse'; did you mean \"nonce\"?"),
        (("house:dag", "--game", "quinci"), "there is no game 'quinci'; did you mean \"quincy\"?"),
        (("cmd:",), "cmd: needs a command"),
    ],
)
def test_wrong_use_is_told(arguments: Sequence[str], complaint: str) -> None:
    """The exit status is 2, and the message says what to write instead."""
    done = CliRunner().invoke(main, ["check", *arguments])
    assert done.exit_code == 2
    assert complaint in " ".join(done.output.replace("│", " ").split())
