"""`referee serve` as an organiser of remote players runs it: tokens, TLS, lots, returning players, its monitor."""

import json
import re
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from protocol.client import run
from protocol.messages import Hello, Terms
from referee import chance
from referee.plugins import load
from referee.record.audit.match import audit

from .. import warm
from ..ports import free_port
from .calling import referee

PASS = {"action": "pass"}
LOCAL = "127.0.0.1"


@contextmanager
def serving(cwd: Path, *arguments: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Run `serve q`, and yield the process and its address; it must end by itself, with status 0."""
    command = [warm.program(), "serve", "q", "--wait", "60", *arguments]
    with subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            address, said = "", ""
            while not address:
                said += (line := server.stderr.readline())
                assert line, f"the referee ended before it listened: {said}"
                address = line.split()[-1] if "listens on" in line else ""
            yield server, address
            out, said = server.communicate(timeout=60)
            assert server.returncode == 0, out + said
        finally:
            server.kill()


def playing(address: str, name: str, **options: Any) -> threading.Thread:
    """Let a player that passes play in a thread of its own."""
    options.setdefault("choose", lambda _view: PASS)
    thread = threading.Thread(target=run, kwargs={"address": address, "name": name, "say": None, **options})
    thread.start()
    return thread


def certificate(folder: Path) -> Path:
    """Write a self-signed certificate for this machine, with its key; return its path."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "referee")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOCAL))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    (folder / "cert.pem").write_bytes(made.public_bytes(pem))
    return folder / "cert.pem"


def tokens(cwd: Path, *names: str) -> dict[str, str]:
    """Make tokens with the command, and return them by name."""
    made = json.loads(referee("token", *names, "--file", "players.toml", "--json", cwd=cwd).stdout)
    found: dict[str, str] = made["tokens"]
    return found


def header_of(cwd: Path) -> Any:
    """Return the first line of the one record."""
    (record,) = (cwd / "logs").glob("*.jsonl")
    return audit(record, load().game, find_wire=load().wire).header


def test_known_players_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token decides name and seat, over TLS too. A player without one is refused, which the log says.

    With --json, stderr says where to connect all the same.
    """
    made = tokens(tmp_path, "ada", "bob")
    monkeypatch.setenv("REFEREE_CA", str(certificate(tmp_path)))
    arguments = ("--players", "players.toml", "--diagnostics", "diagnostics.log", "--json")
    listen = f"ssl:0:interface={LOCAL}:privateKey=key.pem:certKey=cert.pem"
    with serving(tmp_path, "--listen", listen, *arguments) as (_, address):
        assert address.startswith("tls:127.0.0.1:")
        with pytest.raises(Exception, match="token"):
            run(lambda _view: PASS, address=address, name="ada", say=None)
        players = [playing(address, "whoever", token=made[name]) for name in ("bob", "ada")]
        for player in players:
            player.join(60)
    assert header_of(tmp_path).setup.names == ("ada", "bob")
    notes = [json.loads(line) for line in (tmp_path / "diagnostics.log").read_text().splitlines()]
    assert [note["code"] for note in notes if note["event"] == "connection-refused"] == ["token"]
    assert {"listening", "connection-welcomed", "match-opened", "match-ended"} <= {note["event"] for note in notes}


def test_seats_by_lot_and_the_monitor(tmp_path: Path) -> None:
    """The record has the lot, which follows from the seed; the monitor counts while the match waits."""
    monitor = f"tcp:{free_port()}:interface={LOCAL}"
    listen = ("--listen", f"tcp:0:interface={LOCAL}", "--max", "3", "--lot", "--metrics", monitor)
    with serving(tmp_path, *listen) as (_, address):
        url = f"http://{LOCAL}:{monitor.split(':')[1]}"
        players = [playing(address, name) for name in ("cyd", "ada")]
        assert urllib.request.urlopen(f"{url}/health", timeout=10).read() == b"ok\n"
        counted = urllib.request.urlopen(f"{url}/metrics", timeout=10).read().decode()
        assert re.search(r'^referee_connections_total\{event="opened"\} \d', counted, re.MULTILINE)
        assert "referee_matches_running 0.0" in counted
        players.append(playing(address, "bob"))
        for player in players:
            player.join(60)
    (record,) = (tmp_path / "logs").glob("*.jsonl")
    whole = audit(record, load().game)
    assert whole.seed is not None
    assert whole.header.setup.lot
    assert whole.header.setup.names == chance.seat_by_lot(whole.seed, ("ada", "bob", "cyd"))


def test_a_player_comes_back(tmp_path: Path) -> None:
    """A connection that breaks during a match is no foul if the organiser lets players return."""
    with serving(tmp_path, "--listen", f"tcp:0:interface={LOCAL}", "--max", "2", "--come-back", "20") as (_, address):
        breaks = iter([True])
        offers: list[Terms] = []

        def make(offer: Terms) -> Any:
            offers.append(offer)
            return choose

        def choose(_view: Any) -> Any:
            if next(breaks, False):
                raise ConnectionResetError("the cable was pulled")
            return PASS

        def stubborn() -> None:
            with pytest.raises(ConnectionResetError):
                run(make=make, address=address, name="ada", say=None)
            run(make=make, address=address, name="ada", token=offers[0].resume, say=None)

        players = [threading.Thread(target=stubborn), playing(address, "bob")]
        players[0].start()
        for player in players:
            player.join(60)
    (record,) = (tmp_path / "logs").glob("*.jsonl")
    whole = audit(record, load().game)
    assert [type(step.event).__name__ for step in whole.transitions].count("SeatReturned") == 1
    assert whole.result is not None
    assert whole.result.result.fouls == ()
    assert offers[0].resume == offers[1].resume


# --- the file of the players


def test_tokens_are_shown_once_and_kept_as_hashes(tmp_path: Path) -> None:
    """The file has no token, only its owner can read it, and the order of the names stays."""
    made = tokens(tmp_path, "bob", "ada")
    path = tmp_path / "players.toml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert not any(token in path.read_text() for token in made.values())
    assert re.findall(r"^(\w+) =", path.read_text(), re.MULTILINE) == ["bob", "ada"]
    assert Hello(version=1, name="bob", token=made["bob"]).token == made["bob"]


def test_a_token_is_renewed_only_on_demand(tmp_path: Path) -> None:
    """--renew gives another one, and the others keep theirs."""
    first = tokens(tmp_path, "ada", "bob")
    assert "has a token already" in referee("token", "ada", "--file", "players.toml", cwd=tmp_path, status=2).stderr
    before = (tmp_path / "players.toml").read_text()
    again = referee("token", "ada", "--file", "players.toml", "--renew", cwd=tmp_path).stdout.split()
    assert again[0] == "ada"
    assert again[1] != first["ada"]
    after = (tmp_path / "players.toml").read_text()
    assert [line for line in before.splitlines() if "bob" in line] == [
        line for line in after.splitlines() if "bob" in line
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "`referee token NAME... --file"),
        ("ada", "Expected '='"),
        ("ada = 1", "ada needs the SHA-256"),
        ('ada = "00"', "ada needs the SHA-256"),
        ('"a b" = "' + "0" * 64 + '"', "'a b' is no player's name"),
        ('ada = "' + "0" * 64 + '"', "has 1 players, 2 are needed"),
    ],
)
def test_a_wrong_file_of_players_is_told(tmp_path: Path, text: str | None, complaint: str) -> None:
    """The error names the file and what to do."""
    if text is not None:
        (tmp_path / "players.toml").write_text(text)
    said = " ".join(
        referee("serve", "q", "--players", "players.toml", cwd=tmp_path, status=2, is_stopped_early=True).stderr.split()
    )
    assert complaint in said.replace(" │ │ ", " ")
