"""`referee submit` and the contest behind it, as users run them: real processes, sockets and checks."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from referee.cli.commands.explain import show_explanation
from referee.cli.commands.submit import show_verdict
from referee.cli.main import main
from referee.cli.submission_client import ServiceError, read_explanation
from referee.plugins import load
from referee.record.explain import explain
from referee.record.folder import Printed
from referee.record.reader import read_record
from referee.record.redacted_record import redact
from referee.record.schema import read_line
from referee.web.submissions.archive import unpack
from referee.web.submissions.folder import write
from tests.web.submissions.receptions import Reception, archive, receiving

from .. import warm
from .calling import referee
from .test_serving import certificate


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reception]:
    """Return a contest over TLS whose checks are a stand-in."""
    folder = tmp_path_factory.mktemp("service")
    certificate(folder)
    with receiving(folder, "ssl:0:interface=127.0.0.1:privateKey=key.pem:certKey=cert.pem") as found:
        yield found


def submit(
    service: Reception, author: str, *arguments: str, status: int = 0, **more: str
) -> "subprocess.CompletedProcess[str]":
    """Run the command with an author's token in its environment, and check its exit status."""
    ca = ("--ca", str(service.folder.parent / "cert.pem"))
    environment = {**os.environ, "REFEREE_TOKEN": service.tokens[author], **more}
    done = warm.run(["submit", "--to", service.url, *ca, *arguments], env=environment)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def player(folder: Path, does: str = "pass") -> str:
    """Make a player's folder, and return its path."""
    write(unpack(archive(does)), folder)
    (folder / "__pycache__").mkdir()
    return str(folder)


def test_a_program_is_handed_in(service: Reception, tmp_path: Path) -> None:
    """The output names left-out files, the progress, and the verdict; --status shows all versions."""
    done = submit(service, "ada", player(tmp_path / "good"), "--skip-check")
    assert service.url.startswith("https://127.0.0.1:")
    assert "left out: __pycache__" in done.stderr
    assert "handed in as version 1, SHA-256" in done.stderr
    assert "version 1 passed: it plays from now on" in done.stdout
    failed = submit(service, "ada", player(tmp_path / "bad", "fail"), "--skip-check", status=1)
    for word in (
        "version 2 failed: version 1 still plays",
        "7 it greets",
        "what happened: nothing came from player",
        "how to fix it: python3 runs it",
        "it printed last:\n        first\n        KeyError: 7\n",
    ):
        assert word in failed.stdout
    shown = submit(service, "ada", "--status")
    assert shown.stdout.index("│ passed") < shown.stdout.index("│ failed") < shown.stdout.index("7 it greets")
    found = json.loads(submit(service, "ada", "--status", "--json").stdout)
    assert [version["state"] for version in found["submissions"]] == ["passed", "failed"]
    assert json.loads(submit(service, "bob", "--matches", "--json").stdout) == {"version": 1, "matches": []}


@pytest.mark.parametrize("form", ["zip", "xztar"])
def test_an_archive_is_handed_in(service: Reception, tmp_path: Path, form: str) -> None:
    """The same program is the same version, whether it is packed here or by another program."""
    folder = player(tmp_path / "mine")
    made = shutil.make_archive(str(tmp_path / "made"), form, tmp_path, "mine")
    first, second = (
        json.loads(submit(service, author, given, "--skip-check", "--json").stdout)["sha256"]
        for author, given in (("cyd", made), ("eva", folder))
    )
    assert first == second


def test_a_lone_file_is_refused_with_what_to_do(service: Reception, tmp_path: Path) -> None:
    """The error has the commands that make a player of it, or its folder if that is a player's."""
    (tmp_path / "ada.py").write_text("print()")
    refused = submit(service, "dan", str(tmp_path / "ada.py"), status=2, COLUMNS="200").stderr
    assert f"mkdir ada && cp {tmp_path}/ada.py ada/ada.py" in refused
    assert """printf '%s\\n' 'name = "ada"' 'run = "python3 ada.py"' > ada/player.toml""" in refused
    folder = Path(player(tmp_path / "mine"))
    (folder / "main.py").write_text("print()")
    refused = submit(service, "dan", str(folder / "main.py"), status=2, COLUMNS="200").stderr
    assert "main.py is a file; name its folder, which has the player.toml:" in refused


def test_who_has_no_version_that_passed_is_told_so(service: Reception, tmp_path: Path) -> None:
    """The output says that there is no earlier version that could play."""
    failed = submit(service, "bob", player(tmp_path / "bad", "fail"), "--skip-check", status=1)
    assert "version 1 failed: none of your versions has passed yet\n" in failed.stdout


def test_what_has_one_cause_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    """In the organiser's check, too, a later step that fails for the same cause takes one line."""
    trouble = {"happened": "it crashed", "cause": "crashed", "printed": "KeyError: \x1b[2J\n"}
    steps = [{"number": number, "title": "it plays", "verdict": "failed", "trouble": trouble} for number in (7, 9)]
    show_verdict({"number": 3, "state": "failed", "report": {"steps": steps}}, "version 2 still plays")
    shown = capsys.readouterr().out
    assert shown.splitlines() == [
        "version 3 failed: version 2 still plays",
        "  7 it plays",
        "      what happened: it crashed",
        "      it printed last:",
        "        KeyError: \\x1b[2J",
        "  9 it plays (for the same cause as step 7)",
    ]


def ask_socket(path: Path) -> bytes:
    """Return the metrics that are served on a Unix socket."""
    with socket.socket(socket.AF_UNIX) as end, end.makefile("rb") as answer:
        end.connect(str(path))
        end.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        return answer.read()


def invoked(*arguments: str, token: str = "") -> Result:
    """Run a command in this process that ends before it waits for anything."""
    return CliRunner(env={"REFEREE_TOKEN": token, "COLUMNS": "200"}).invoke(main, arguments)


REFUSED: dict[str, tuple[tuple[str, ...], int, str]] = {
    "nothing asked": ((), 2, "give one of these: a PLAYER"),
    "two things asked": (("--status", "--matches"), 2, "give one of these: a PLAYER"),
    "no folder": (("nowhere",), 2, "there is no folder nowhere"),
    "no address": (("--status", "--to", "ftp://x"), 2, "no address; write the one that you were given"),
    "address with a question": (
        ("--status", "--to", "http://x/y?z"),
        2,
        "no address; write the one that you were given",
    ),
    "nobody there": (("--status", "--to", "http://127.0.0.1:1"), 1, "is --to right, and does the service run?"),
    "no certificate": (("--status", "--ca", __file__), 1, "the file has no certificate in PEM"),
    "match of nobody": (("--explain", "x/../y"), 1, "you have no finished match x/../y; --matches lists them"),
    "no token file": (("--status", "--token-file", "nowhere"), 2, "can't read nowhere"),
    "others read the token": (("--status", "--token-file", __file__), 2, "chmod 600"),
}


@pytest.mark.parametrize(("arguments", "status", "error"), REFUSED.values(), ids=REFUSED)
def test_what_goes_wrong_is_told(service: Reception, arguments: tuple[str, ...], status: int, error: str) -> None:
    """The error says what to do, whether the user or the network is to blame, without a traceback."""
    ca = ("--ca", str(service.folder.parent / "cert.pem"))
    done = invoked("submit", "--to", service.url, *ca, *arguments, token=service.tokens["bob"])
    assert (done.exit_code, done.exception is None or isinstance(done.exception, SystemExit)) == (status, True)
    assert error in " ".join(done.output.replace("│", " ").split())


def test_a_certificate_and_a_token_must_be_right(service: Reception, tmp_path: Path) -> None:
    """A service with a wrong certificate gets no token; a service that does not know the token says so."""
    (tmp_path / "token").write_text(service.tokens["ada"])
    (tmp_path / "token").chmod(0o600)
    to = ("submit", "--to", service.url, "--status", "--token-file", str(tmp_path / "token"))
    assert "name it with --ca FILE" in " ".join(invoked(*to).output.split())
    ca = ("--ca", str(service.folder.parent / "cert.pem"))
    assert invoked(*to, *ca).exit_code == 0
    (tmp_path / "token").write_text("0" * 64)
    assert "does not know your token; check --token-file" in " ".join(invoked(*to, *ca).output.split())


def test_an_explanation_that_came_over_the_wire_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The author reads why its program was expelled; an answer without an explanation is reported as such."""
    path = Path(__file__).parents[1] / "golden" / "illegal-move.jsonl"
    seat = read_record(path).result.result.fouls[0].seat  # type: ignore[union-attr]  # it is finished
    lines = [read_line(line) for line in redact(path, load().game, seat)]
    printed = Printed(path="m.seat0.ada.stderr", lines=("KeyError: 7", "\x1b[2J"))
    told = json.loads(msgspec.json.encode(explain(lines, seat, load().game("q").rules, printed)))
    show_explanation(read_explanation(told))
    shown = capsys.readouterr().out
    assert "illegal-move" in shown
    assert "answers and their times" in shown
    assert not {"--turn", "--json"} & set(shown.split()), "submit has no such options"
    assert "(m.seat0.ada.stderr):\n  KeyError: 7\n  \\x1b[2J\n" in shown
    wrong = [{**told, key: 7} for key in told]
    wrong += [{**told, "result": {**told["result"], key: {}}} for key in ("ranking", "scores", "turns")]
    wrong += [{**told, "verdict": {**told["verdict"], key: {"id": "x"}}} for key in ("foul", "rule")]
    for answer in (*wrong, {}, {**told, "conversation": [7]}, {**told, "names": []}, {**told, "seat": -1}):
        with pytest.raises(ServiceError, match="explains no match"):
            read_explanation(answer)


def test_the_wrong_scheme_is_told(service: Reception, tmp_path: Path) -> None:
    """The error asks whether https:// was meant in place of http://, or the other way round."""
    place = service.url.removeprefix("https://")
    plain = invoked("submit", "--status", "--to", f"http://{place}", token=service.tokens["bob"])
    assert f"is it https://{place}?" in " ".join(plain.output.split())
    with receiving(tmp_path) as other:
        place = other.url.removeprefix("http://")
        secure = invoked("submit", "--status", "--to", f"https://{place}", token=other.tokens["bob"])
    assert f"does not speak TLS; is it http://{place}?" in " ".join(secure.output.split())


def test_the_real_check_of_a_program_that_is_broken(tmp_path: Path) -> None:
    """A program that can't be started fails in the author's check and in the organiser's."""
    (tmp_path / "contest.toml").write_text('title = "Course"\n')
    made = referee("token", "ada", "--file", "authors.toml", "--json", cwd=tmp_path)
    tokens: dict[str, str] = json.loads(made.stdout)["tokens"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "player.toml").write_text('name = "mine"\n')
    command = [sys.executable, "-m", "referee", "host", ".", "--key", "key", "--metrics", "unix:monitor"]
    with subprocess.Popen(
        [*command, "--listen", "tcp:0:interface=127.0.0.1"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        service = Reception(process, "", tokens, tmp_path / "submissions")
        service.url = service.hears("the site is on").split()[-1]
        try:
            here = submit(service, "ada", str(tmp_path / "mine"), status=1)
            assert "was not handed in" in here.stderr
            assert f"referee check {tmp_path / 'mine'} --only 2\n" in here.stdout
            done = submit(service, "ada", str(tmp_path / "mine"), "--skip-check", "--json", status=1)
            found: dict[str, Any] = json.loads(done.stdout)
            assert (found["state"], found["trouble"]) == ("failed", None)
            assert found["failed_steps"]
            assert str(tmp_path) not in done.stdout
            assert b'referee_versions_total{outcome="failed"} 1.0\n' in ask_socket(tmp_path / "monitor")
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        service.hears("stopping; `referee host` will continue")
