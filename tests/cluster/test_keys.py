"""The certificates of a cluster: who may connect with them, and who may not."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from referee.cli.commands.key import SCHEDULER
from referee.cluster.security import FILES, ROLES, make_keys
from referee.errors import BadRequest

from ..cli.calling import played, referee

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASK = """
import asyncio, sys
from distributed import Client, Security

def client(own, timeout):
    security = Security(tls_ca_file="ca.pem", tls_client_cert=own, require_encryption=True)
    return Client(sys.argv[1], security=security, asynchronous=True, timeout=timeout)

async def ask():
    async with client("client.pem", 30) as inside:
        print(len((await inside.scheduler.identity())["workers"]))
        try:
            await inside.run_on_scheduler(print)
        except ValueError as error:
            print(error)
    try:
        await client(sys.argv[2], 1)
    except OSError as error:
        print("shut out")

asyncio.run(ask())
"""


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    """There is an authority without its key, and for each role a P-256 key and a certificate of that authority."""
    made = make_keys(tmp_path / "keys", days=3, hosts=("lab1", "10.0.0.1"), now=NOW)
    assert sorted(path.name for path in made.folder.iterdir()) == sorted(FILES)
    assert {path.stat().st_mode & 0o777 for path in made.folder.iterdir()} == {0o600}
    assert made.until == "2026-03-04T12:00:00+00:00"
    authority = x509.load_pem_x509_certificate((made.folder / "ca.pem").read_bytes())
    assert b"PRIVATE" not in (made.folder / "ca.pem").read_bytes()
    for role in ROLES:
        data = (made.folder / f"{role}.pem").read_bytes()
        certificate, key = x509.load_pem_x509_certificate(data), load_pem_private_key(data, None)
        certificate.verify_directly_issued_by(authority)
        assert isinstance(key, EllipticCurvePrivateKey)
        assert isinstance(key.curve, SECP256R1)
        assert key.public_key() == certificate.public_key()
        assert certificate.not_valid_before_utc < NOW - timedelta(hours=1)
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert [str(name.value) for name in names] == ["lab1", "10.0.0.1"]


@pytest.mark.parametrize("there", FILES)
def test_nothing_is_replaced(tmp_path: Path, there: str) -> None:
    """If one of the files exists, none is written."""
    (tmp_path / there).write_text("old")
    with pytest.raises(BadRequest, match="Hosts with the old certificates"):
        make_keys(tmp_path, days=3, hosts=(), now=NOW)
    assert [path.name for path in tmp_path.iterdir()] == [there]


@pytest.mark.parametrize("host", ["", "a b", "x" * 254, "a..b", "é.org", "10.0.0.1/8", "a\nb"])
def test_a_host_has_a_name(tmp_path: Path, host: str) -> None:
    """A host may also have an address instead."""
    with pytest.raises(BadRequest, match="is not the name or address of a host"):
        make_keys(tmp_path, days=3, hosts=(host,), now=NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_written(tmp_path: Path) -> None:
    """The error says so."""
    (tmp_path / "file").write_text("")
    with pytest.raises(BadRequest, match=r"cannot write certificates to .*file"):
        make_keys(tmp_path / "file", days=3, hosts=(), now=NOW)


def test_the_command_tells_what_goes_where(tmp_path: Path) -> None:
    """The output has the command that starts the scheduler, which works as printed."""
    shown = referee("cluster-keys", "keys", cwd=tmp_path).stdout
    assert [name in shown for name in FILES] == [True] * 4
    assert all(part in shown for part in SCHEDULER)
    assert played(referee("cluster-keys", "others", "--json", cwd=tmp_path))["scheduler"] == " ".join(SCHEDULER)
    referee("cluster-keys", "keys", cwd=tmp_path, status=2)


@contextmanager
def scheduler(folder: Path) -> Iterator[int]:
    """Run the scheduler by that command, but on another port; return the port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = " ".join(SCHEDULER).replace("8786", str(port)).replace("8787", "0")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(["/bin/sh", "-c", f"exec env {command}"], cwd=folder, env={"PATH": path}, stderr=log)
    try:
        yield port
    finally:
        running.kill()
        running.wait()


def test_who_gets_in(tmp_path: Path) -> None:
    """Only a certificate of this authority gets in, and even its owner can't run arbitrary code."""
    own, other = (make_keys(tmp_path / name, days=1, hosts=(), now=datetime.now(UTC)).folder for name in ("a", "b"))
    with scheduler(own) as port:
        command = [sys.executable, "-c", ASK, f"tls://127.0.0.1:{port}", str(other / "client.pem")]
        done = subprocess.run(command, cwd=own, capture_output=True, text=True, check=True, timeout=60)
    inside, blocked, outside = done.stdout.splitlines()
    assert (inside, outside) == ("0", "shut out")
    assert "run_function" in blocked
