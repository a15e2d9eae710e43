"""The course's programs and players: `serve --dialect`, `xserver`, `xclients` and `join`, on real sockets."""

import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from referee.cli.main import main
from referee.cli.match_view import MAX_TOLD, TurnedAway
from referee.dialects.cs4500.clients import Actor, read_clients
from referee.dialects.cs4500.configs import ActorSpec, parse_actor
from referee.dialects.cs4500.forms import MalformedValue
from referee.dialects.cs4500.server import read_server
from referee.plugins import load
from referee.record.audit.match import audit

from .. import warm
from ..peers.course_player import CoursePlayer
from ..ports import free_port
from ..q_processes import play_case
from .calling import played, referee
from .test_serving import LOCAL, header_of, serving

RED_STAR = {"color": "red", "shape": "star"}
BLUE_DIAMOND = {"color": "blue", "shape": "diamond"}
JOIN = ("--dialect", "cs4500", "--sandbox", "off", "--json")
PLAYER = """
from protocol.client import run
run(lambda view: {"action": "exchange" if len(view["hand"]) <= view["tiles_left"] else "pass"})
"""


def state_of(*hands: list[Any]) -> dict[str, Any]:
    """Return a JState with one tile on the map and four in the pile."""
    players = [{"score": 0, "name": f"n{seat}", "tile*": hand} for seat, hand in enumerate(hands)]
    return {"map": [[0, [0, RED_STAR]]], "tile*": [RED_STAR] * 4, "players": players}


def server_of(state: Any, **changes: Any) -> dict[str, Any]:
    """Return a ServerConfig."""
    spec = {"state0": state, "quiet": True, "config-s": {"qbo": 8, "fbo": 4}, "per-turn": 6, "observe": False}
    waits = {"server-tries": 1, "server-wait": 6, "wait-for-signup": 2}
    return {"port": 45678, "quiet": True, "ref-spec": spec, **waits, **changes}


def case_of(state: Any, *actors: list[Any], **changes: Any) -> dict[str, Any]:
    """Return a case in the form of the public ones."""
    client = {"port": 45678, "host": LOCAL, "quiet": True, "players": actors}
    return {"id": "own", "actors": actors, "client": client, "server": server_of(state, **changes)}


TWO = state_of([RED_STAR], [BLUE_DIAMOND])
A, B = ["A", "dag"], ["B", "ldasg"]
RAISING, CHEATING = ["R", "dag", "setup"], ["C", "ldasg", "a cheat", "no-fit"]


@pytest.mark.parametrize(
    ("hands", "actors", "expected"),
    [
        (([BLUE_DIAMOND], [BLUE_DIAMOND], [BLUE_DIAMOND], [RED_STAR]), (RAISING, CHEATING, A, B), [["B"], ["R", "C"]]),
        (([RED_STAR], [], [BLUE_DIAMOND]), (A, B, CHEATING, RAISING), [[], []]),
    ],
    ids=["a match", "more players than the state has"],
)
def test_the_programs_of_the_course(tmp_path: Path, hands: Any, actors: Any, expected: Any) -> None:
    """`xserver` prints the winners and the misbehaved of a match with `xclients`, and writes a record that holds."""
    assert play_case(case_of(state_of(*hands), *actors), tmp_path) == expected


def test_nobody_comes(tmp_path: Path) -> None:
    """A server without enough players prints that nobody won, and that nobody is to blame."""
    config = server_of(TWO, **{"server-tries": 2, "server-wait": 0.1})
    done = warm.run(["xserver", str(free_port())], cwd=tmp_path, stdin=json.dumps(config).encode())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[], []]


def test_course_players_play_a_whole_match(tmp_path: Path) -> None:
    """Players with nothing but sockets and JSON play with four seats; the record holds, and blames only one.

    All players are in one program, which ends with the first closed connection. So the expelled player's stays open.
    """
    port = free_port()
    listen = f"tcp:{port}:interface={LOCAL}"
    with serving(tmp_path, "--listen", listen, "--dialect", "cs4500", "--max", "4", "--seed", "3"):
        players = [CoursePlayer(port, name) for name in ("ada", "bob", "carl")]
        rogue = CoursePlayer(port, "rogue", {"new-tiles": b"void"}, players)
        for player in (*players, rogue):
            player.join(60)
    header = header_of(tmp_path)
    assert (set(header.setup.names), header.setup.acknowledge) == ({"ada", "bob", "carl", "rogue"}, True)
    (path,) = (tmp_path / "logs").glob("*.jsonl")
    record = audit(path, load().game, find_wire=load().wire)
    assert record.result is not None
    (foul,) = record.result.result.fouls
    told = (header.setup.names[foul.seat], foul.code, bytes.fromhex(foul.evidence))
    assert told == ("rogue", "not-json", b"void")
    winners = {header.setup.names[seat] for seat in record.result.result.winners}
    assert {"ada": players[0].won, "bob": players[1].won, "carl": players[2].won} == {
        name: name in winners for name in ("ada", "bob", "carl")
    }
    assert (rogue.calls[:2], rogue.won) == (["setup", "take-turn"], None)
    assert {"setup", "take-turn", "new-tiles", "win"} == set(players[0].calls)
    assert "winner" in referee("replay", str(path), cwd=tmp_path).stdout
    assert "not-json" in referee("explain", str(path), "rogue", cwd=tmp_path).stdout


def test_players_of_this_project_join(tmp_path: Path) -> None:
    """A house player and a program play for a course's referee, and print its last message."""
    (tmp_path / "mine.py").write_text(PLAYER)
    port = free_port()
    command = [warm.program()]
    state = state_of([RED_STAR] * 2, [RED_STAR] * 2, [BLUE_DIAMOND], [BLUE_DIAMOND])
    server = started(tmp_path, server_of(state, **{"server-wait": 60}), "xserver", str(port))
    joined = [
        subprocess.Popen(
            [*command, "join", f"{LOCAL}:{port}", player, "--name", name, *JOIN],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, player in (("dag", "house:dag"), ("mine", f"cmd:{sys.executable} mine.py"))
    ]
    clients = {"port": port, "host": LOCAL, "players": [A, B]}
    subprocess.run([*command, "xclients"], cwd=tmp_path, input=json.dumps(clients), text=True, check=True, timeout=100)
    told = [json.loads(item.communicate(timeout=60)[0]) for item in joined]
    winners, misbehaved = json.loads(server.communicate(timeout=60)[0])
    assert (misbehaved, [item.returncode for item in joined]) == ([], [0, 0])
    assert [item["name"] for item in told if item["won"]] == [name for name in winners if name in ("dag", "mine")]


def test_a_player_that_fails_leaves_the_course(tmp_path: Path) -> None:
    """The course's referee sees the connection end, and nobody waits."""
    failing = tmp_path / "failing.py"
    failing.write_text("from protocol.client import run\nrun(lambda view: {'action': 'dance'})\n")
    port = free_port()
    listen = f"tcp:{port}:interface={LOCAL}"
    with serving(tmp_path, "--listen", listen, "--dialect", "cs4500", "--max", "2"):
        other = CoursePlayer(port, "ada")
        at = f"{LOCAL}:{port}"
        done = referee("join", at, f"cmd:{sys.executable} failing.py", *JOIN, cwd=tmp_path, status=1)
        other.join(60)
    assert played(done)["won"] is None
    assert "sent a malformed move" in played(done)["why"]
    assert other.won


# --- turned away


@pytest.mark.parametrize("command", [("serve", "q", "--dialect", "cs4500", "--json", "--listen"), ("xserver",)])
def test_who_is_turned_away_is_told(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Even with --quiet, stderr says who was turned away and why; a stranger's text can do no harm there."""
    port = free_port()
    where = f"tcp:{port}:interface={LOCAL}" if command[0] == "serve" else str(port)
    one = {"port": port, "host": LOCAL, "players": [A, A], "wait": 0}
    server = started(tmp_path, server_of(TWO, **{"server-wait": 60}), *command, where)
    with server, started(tmp_path, one, "xclients") as clients:
        try:
            assert server.stderr is not None
            told = (line for line in server.stderr if line.startswith("turned away"))
            assert next(told) == f"turned away: {LOCAL} A: there is a player named A already\n"
            with socket.create_connection((LOCAL, port)) as stranger:
                stranger.sendall('"[red]\x1b\x9b2J\u202e"'.encode())
                assert 'it sent "[red]\\x1b\\x9b2J\\u202e"\n' in next(told)
        finally:
            server.kill()
            clients.kill()


def started(cwd: Path, config: Any, *command: str) -> "subprocess.Popen[str]":
    """Start a command with a configuration on stdin."""
    with tempfile.TemporaryFile("w+") as given:
        json.dump(config, given)
        given.seek(0)
        whole = [warm.program(), *command]
        return subprocess.Popen(whole, cwd=cwd, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_who_comes_again_and_again_fills_no_screen(capsys: pytest.CaptureFixture[str]) -> None:
    """The same message is printed once, and only the first of many different ones."""
    refusals = TurnedAway()
    for number in [*[1] * 10, *range(10 * MAX_TOLD)]:
        facts = {"address": LOCAL, "name": f"n{number}", "code": "name-taken", "reason": "x" * 1000, "sent": ""}
        refusals.note("connection-refused", **facts)
        refusals.note("connection-opened", address=LOCAL)
    told = capsys.readouterr().err
    assert len(told.splitlines()) == len(set(told.splitlines())) == MAX_TOLD + 1
    assert "too many to list" in told.splitlines()[-1]


# --- used wrongly


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("quincy",), "is only for the game q"),
        (("q", "--players", "players.toml"), "has no tokens"),
        (("q", "--come-back", "3"), "has no tokens"),
        (("q", "--resume", __file__), "has no tokens"),
    ],
)
def test_a_dialect_has_its_limits(arguments: tuple[str, ...], said: str) -> None:
    """Moves that the course's protocol can't express are refused before anybody connects."""
    done = CliRunner().invoke(main, ["serve", *arguments, "--dialect", "cs4500"])
    assert (done.exit_code, said in " ".join(done.output.split())) == (2, True)


def test_the_course_has_its_own_names() -> None:
    """An invalid name is refused before anybody connects; another one can be given."""
    done = CliRunner().invoke(main, ["join", f"{LOCAL}:1", "house:dag", "--dialect", "cs4500", "--name", "my_player"])
    told = " ".join(done.output.replace("│", " ").split())
    assert (done.exit_code, "cs4500 takes names of 1 to 20 letters or digits" in told) == (2, True)


SERVER = server_of(TWO)
SPEC = SERVER["ref-spec"]
CLIENT = {"port": 45678, "host": LOCAL, "wait": 0, "quiet": True, "players": [A, B]}


@pytest.mark.parametrize(
    ("command", "data", "said"),
    [
        ("xserver", "", "0 JSON values"),
        ("xserver", json.dumps(SERVER) * 2, "2 JSON values"),
        ("xserver", json.dumps(SERVER)[:-1], "middle of a JSON value"),
        ("xserver", "void", "not JSON"),
        ("xserver", "[]", "it takes a table, not a list"),
        ("xserver", json.dumps({**SERVER, "more": 1}), "there is no key more"),
        ("xserver", json.dumps({**SERVER, "server-tries": 0}), "server-tries"),
        ("xserver", json.dumps({**SERVER, "port": None}), "no port"),
        ("xserver", json.dumps({**SERVER, "ref-spec": {**SPEC, "per-turn": 0}}), "per-turn"),
        ("xserver", json.dumps({**SERVER, "ref-spec": {**SPEC, "state0": {**TWO, "map": []}}}), "state0"),
        ("xserver", json.dumps({**SERVER, "ref-spec": {**SPEC, "state0": {**TWO, "map": [["x"]]}}}), "state0"),
        ("xclients", json.dumps({**CLIENT, "players": [["A"]]}), "players[0] takes 2 to 4 elements, not 1"),
        ("xclients", json.dumps({**CLIENT, "players": [["A", "bold"]]}), "players[0][1] can't be 'bold'"),
        ("xclients", json.dumps({**CLIENT, "players": [["A", "dag", "sleep"]]}), "players"),
        ("xclients", json.dumps({**CLIENT, "players": [["A", "dag", "a cheat", "luck"]]}), "players"),
        ("xclients", json.dumps({**CLIENT, "players": [["A", "dag", "win", 8]]}), "players[0][3] takes a whole number"),
        ("xclients", json.dumps({**CLIENT, "port": None}), "no port"),
    ],
)
def test_what_is_no_configuration(command: str, data: str, said: str) -> None:
    """The error says what is wrong and where."""
    done = CliRunner().invoke(main, [command], input=data)
    assert (done.exit_code, said in " ".join(done.output.replace("│", " ").split())) == (2, True), done.output


@pytest.mark.parametrize("port", [123240984, 0, -1, "45678", 1.5, None, []], ids=repr)
def test_a_port_that_is_given_wins_over_any_other(port: Any, tmp_path: Path) -> None:
    """The port of the configuration is not used then. Without the option, a wrong one is refused."""
    config = {**SERVER, "port": port}
    data = json.dumps(config).encode()
    assert read_server(data, tmp_path, 45678).port == 45678
    assert read_clients(json.dumps({**CLIENT, "port": port}).encode(), 45678).port == 45678
    done = CliRunner().invoke(main, ["xserver", "--logs", str(tmp_path)], input=data)
    said = "give PORT, or" if port is None else f"whole number from 1 to 65535, not {json.dumps(port)}; or give PORT"
    assert (done.exit_code, said in " ".join(done.output.replace("│", " ").split())) == (2, True)


@pytest.mark.parametrize("address", ["45678", "localhost:", ":1", "host:port", "host:70000"])
def test_an_address_to_join(address: str) -> None:
    """It has a host and a port."""
    done = CliRunner().invoke(main, ["join", address, "house:dag", "--dialect", "cs4500"])
    assert (done.exit_code, "give HOST:PORT" in " ".join(done.output.replace("│", " ").split())) == (2, True)


# --- actors


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (A, ActorSpec(name="A", strategy="dag")),
        (["A", "ldasg", "setup"], ActorSpec(name="A", strategy="ldasg", raises_in="setup")),
        (["A", "dag", "new-tiles", 7], ActorSpec(name="A", strategy="dag", loops_in="new-tiles", count=7)),
        (["A", "dag", "a cheat", "no-fit"], ActorSpec(name="A", strategy="dag", cheat="no-fit")),
    ],
)
def test_actors_are_told_apart(spec: list[Any], expected: ActorSpec) -> None:
    """The kind follows from the number of words in the description, and from the third word."""
    assert parse_actor(spec) == expected
    assert Actor(expected).spec is expected


@pytest.mark.parametrize("spec", [[], ["A"], [1, "dag"], ["A", "dag", 1], ["A", "dag", "win", "x"], [*A, "win", 1, 1]])
def test_what_is_no_actor(spec: list[Any]) -> None:
    with pytest.raises(MalformedValue):
        parse_actor(spec)


def test_a_configuration_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """Editors on Windows write one."""
    assert read_server(b"\xef\xbb\xbf" + json.dumps(SERVER).encode(), tmp_path, 45678).port == 45678
