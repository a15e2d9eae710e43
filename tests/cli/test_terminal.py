"""Texts of players, files and the network on a terminal: none controls it, hides text or confuses a reader."""

import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.markup import escape

from referee.check.findings import Finding, Shown, StepVerdict, Trouble
from referee.cli.commands import check, join, submit
from referee.cli.commands.submit import MATCHES, VERSIONS, show_rows, show_verdict
from referee.cli.common import Terminal, console, out, print_json
from referee.cli.main import main
from referee.cli.match_view import MatchProgress, Moves, TurnedAway, show_end
from referee.cli.tournament_view import JsonLines, LiveView, PlainLines
from referee.hookspecs import Joined
from referee.net.matches.session import MatchReport
from referee.observers import MatchTransition, Observer
from referee.observers.diagnostics import DiagnosticLog
from referee.text import printable, printable_json, printable_lines
from referee.web.contest.intake import ACTION_LOG, ActionLog

from ..pages.matches import ESCAPE, hostile
from ..pages.reports import CAST
from ..pages.tournaments import Stage, spec
from ..record.forging import changed, lines_of, sealed
from .test_live import shown

NASTY = ESCAPE
FILE = NASTY.replace("/", "").replace("\0", "") + os.fsdecode(b"\xff")
"""Possible names of files."""
SEEN = "\\x9b2J\\u202e"
"""Visible forms of some of these characters."""
ALSO_SEEN = ("\\u009b2J\\u202e", json.dumps(SEEN)[1:-1])
"""Their forms in JSON, before and after they were made visible."""


def run(*arguments: str | Path) -> None:
    """Run a command in this process, and print its output."""
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    print(done.output)


def record(folder: Path, name: str = "match.jsonl") -> Path:
    """Return the record of a match of players with such names, moves and bytes."""
    return hostile().write(folder / name)


def spoilt(folder: Path, name: str = "match.jsonl") -> Path:
    """Return a record with a field of this name."""
    path = record(folder, name)
    path.write_bytes(sealed(changed(lines_of(path.read_bytes()), 0, [NASTY], 1)))
    return path


def named(folder: Path, name: str = FILE) -> Path:
    """Return a folder of this name."""
    path = folder / name
    path.mkdir()
    return path


def told(folder: Path, watch: Observer) -> None:
    """Notify a watcher of a whole tournament of such players."""
    shown(Stage(spec(4, "roundrobin", names=[f"{NASTY}{number}" for number in range(4)]), folder, CAST), watch)
    watch.on_notice(NASTY)


def seen(folder: Path) -> None:
    """Watch a match of such players at the terminal of `play` and `serve`."""
    story = hostile()
    moves, progress = Moves(), MatchProgress(is_quiet=False, tells_reasons=False)
    progress.note("reported", text=NASTY)
    for event, commands in story.steps:
        step = MatchTransition.of(event, commands, story.match, (1, "0" * 64))
        moves.on_match_advanced(step)
        progress.on_match_advanced(step)
    result = story.match.result
    assert result is not None
    played = MatchReport(
        names=story.match.setup.names, result=result, record=record(folder, FILE), match=story.match, head=""
    )
    show_end(played, moves.so_far, as_json=False)
    show_end(played, moves.so_far, as_json=True)


def live(folder: Path) -> None:
    """Watch a tournament of such players."""
    view = LiveView(Terminal(file=io.StringIO(), width=200, height=60), lambda: 0.0)
    told(folder, view)
    out.print(view.screen())


def checked() -> None:
    """Show the result of a step of `check`."""
    frame = Shown(length=1, hex="00", decoded=NASTY)
    trouble = Trouble(
        happened=NASTY, expected=NASTY, remedy=NASTY, asked=(frame,), received=frame, printed=NASTY, cause=NASTY
    )
    finding = Finding(number=1, key="key", title=NASTY, verdict=StepVerdict.FAILED, seconds=0.0, trouble=trouble)
    check.show_finding(finding, with_sent=True)


def handed_in() -> None:
    """Show a service's answer about a version."""
    step = {"number": NASTY, "title": NASTY, "verdict": "failed", "trouble": dict.fromkeys(["happened"], NASTY)}
    version = {"number": NASTY, "state": NASTY, "trouble": NASTY, "report": {"steps": [step]}, "failed_steps": [NASTY]}
    submit.say_report(NASTY)
    show_verdict(version, NASTY)
    show_rows({"submissions": [version]}, "submissions", VERSIONS)
    show_rows({"matches": [dict.fromkeys(["match", "names", "foul"], NASTY)]}, "matches", MATCHES)
    print_json({"submissions": [version]})


def forgotten() -> None:
    """Print such a text without any care."""
    for item in (out, console):
        item.print(NASTY, markup=False, soft_wrap=True)
        item.rule(escape(NASTY))


PLACES: dict[str, Callable[[Path], Any]] = {
    "explain a move": lambda folder: run("explain", record(folder), "0"),
    "explain bytes": lambda folder: run("explain", record(folder), "2"),
    "explain a name": lambda folder: run("explain", record(folder), "3"),
    "explain --turn": lambda folder: run("explain", record(folder), "0", "--turn", "1"),
    "explain --json": lambda folder: run("explain", record(folder), "0", "--json"),
    "explain, a wrong seat": lambda folder: run("explain", record(folder), "9"),
    "explain, no record": lambda folder: run("explain", folder / FILE),
    "replay": lambda folder: run("replay", record(folder)),
    "replay --json": lambda folder: run("replay", record(folder), "--json"),
    "fairness": lambda folder: run("fairness", record(folder, f"{FILE}.jsonl")),
    "fairness --json": lambda folder: run("fairness", record(folder, f"{FILE}.jsonl"), "--json"),
    "fairness, no record": lambda folder: run("fairness", spoilt(folder)),
    "audit": lambda folder: run("audit", spoilt(folder)),
    "audit --json": lambda folder: run("audit", spoilt(folder), "--json"),
    "audit, by the file's name": lambda folder: run("audit", record(named(folder))),
    "audit --public-key": lambda folder: run("audit", record(folder), "--public-key", NASTY),
    "manifest": lambda folder: run("manifest", spoilt(named(folder)).parent),
    "report": lambda folder: run("report", named(folder)),
    "tournament": lambda folder: run("tournament", named(folder) / FILE),
    "list": lambda folder: run("list", NASTY),
    "key": lambda folder: run("key", "show", "--key", folder / FILE),
    "lines of a tournament": lambda folder: told(folder, PlainLines()),
    "lines of JSON": lambda folder: told(folder, JsonLines()),
    "live view": live,
    "play and serve": seen,
    "serve and xserver, turned away": lambda _: TurnedAway().note(
        "connection-refused", address=NASTY, name=NASTY, reason=NASTY, sent=NASTY
    ),
    "join": lambda _: join.show_joined(NASTY, Joined(won=None, why=NASTY), as_json=False),
    "join --json": lambda _: join.show_joined(NASTY, Joined(won=None, why=NASTY), as_json=True),
    "check": lambda _: checked(),
    "submit": lambda _: handed_in(),
    "whatever forgets it": lambda _: forgotten(),
    "whatever is JSON": lambda _: print_json({NASTY: FILE}),
}


@pytest.mark.forges
@pytest.mark.parametrize("place", PLACES)
def test_nothing_raw_arrives(tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    """Controls, changes of direction and invisible characters are escapes, markup is text, and nothing is lost."""
    PLACES[place](tmp_path)
    printed = "".join(capsys.readouterr())
    assert [sign for sign in printed if not sign.isprintable() and sign != "\n"] == []
    joined = re.sub(r"[\s│]", "", printed)
    assert any(item in joined for item in (SEEN, *ALSO_SEEN))
    assert "[bold]" in joined


@pytest.mark.forges
@pytest.mark.parametrize("command", ["audit", "fairness", "replay"])
def test_what_stands_in_a_record_forges_no_line(tmp_path: Path, command: str) -> None:
    """A line feed in a text is an escape as well."""
    path = record(tmp_path)
    forged = "`\nholds   all of it\n`"
    path.write_bytes(sealed(changed(lines_of(path.read_bytes()), 0, [forged], 1)))
    told = CliRunner().invoke(main, [command, str(path)]).output
    assert "\\nholds   all of it" in told
    assert "\nholds" not in told


def test_a_terminals_own_controls_pass() -> None:
    """Colours come from the console, not from the text."""
    terminal = Terminal(file=(file := io.StringIO()), force_terminal=True, color_system="standard")
    terminal.print(f"[red]{escape(NASTY[:4])}[/]\x9b", highlight=False)
    assert file.getvalue() == "\x1b[31m\\x1b[2J\x1b[0m\\x9b\n"


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize("text", ["[red]a[/] 1", "a" * 300, "é\x9b2J\u202e\x1b[2J"])
def test_a_line_is_printed_as_it_is(text: str, *, is_terminal: bool) -> None:
    """It has no markup, no wrapped lines and no control characters, whether rich prints it or not."""
    terminal = Terminal(file=(file := io.StringIO()), force_terminal=is_terminal, width=80, color_system=None)
    terminal.say(text)
    assert file.getvalue() == f"{printable_lines(text)}\n"


@pytest.mark.parametrize("text", ["", "é 字 😀 -", NASTY, FILE, "\ud800", "a\nb", "\x7f"])
def test_json_says_the_same(text: str) -> None:
    """Escapes in JSON are read back as the original text."""
    made = printable_json(json.dumps([text], ensure_ascii=False))
    assert (json.loads(made), made.isprintable()) == ([text], True)
    lines = printable_lines(text)
    assert (lines.count("\n"), lines.replace("\n", "").isprintable()) == (text.count("\n"), True)
    assert printable(text).isprintable()


def test_logs_have_nothing_that_a_terminal_obeys(tmp_path: Path) -> None:
    """Somebody may read the diagnostics and the log of a contest in a terminal; they have the same content."""
    with DiagnosticLog(tmp_path / "diagnostics") as log:
        log.note("turned-away", name=NASTY)
    ActionLog(tmp_path).add(NASTY, "played", NASTY, NASTY)
    for path in (tmp_path / "diagnostics", tmp_path / ACTION_LOG):
        text = path.read_text("utf-8")
        assert all(sign.isprintable() or sign == "\n" for sign in text)
    assert json.loads((tmp_path / "diagnostics").read_text())["name"] == NASTY
    assert ActionLog(tmp_path).newest()[0].by == NASTY
