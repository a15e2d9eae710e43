"""A client over TLS: it plays only with a referee that proves its name."""

import datetime as dt
import ipaddress
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from protocol.client import CA_VARIABLE, ClientError, run

from .scripted import OFFERED, ScriptedReferee, Serve, end, say
from .tables import TURN

DAY = dt.timedelta(days=1)


class TlsListener(socket.socket):
    """A listening socket whose connections speak TLS."""

    context: ssl.SSLContext

    def accept(self) -> Any:
        """Take a connection and shake hands."""
        sock, peer = super().accept()
        return self.context.wrap_socket(sock, server_side=True), peer


def certified(folder: Path, host: str) -> Path:
    """Write a key and a self-signed certificate; return the file that has both."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a referee")])
    is_number = host[0].isdecimal()
    names = [x509.IPAddress(ipaddress.ip_address(host)) if is_number else x509.DNSName(host)]
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path = folder / f"{host}.pem"
    path.write_bytes(pem + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def listening(pem: Path) -> TlsListener:
    """Return a listener that shows a certificate."""
    listener = TlsListener(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    listener.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    listener.context.load_cert_chain(pem)
    return listener


def test_a_match_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, serve: Serve) -> None:
    """With the authority's file in REFEREE_CA, the conversation is the same as over TCP."""
    pem = certified(tmp_path, "127.0.0.1")
    monkeypatch.setenv(CA_VARIABLE, str(pem))
    referee = serve([OFFERED, say(TURN), end()], listener=listening(pem))
    address = referee.address.replace("tcp:", "tls:")
    (ended,) = run(lambda _view: {"action": "pass"}, address=address, say=None)
    assert ended.verdict is not None
    assert ended.verdict.is_kept


@pytest.mark.parametrize(
    ("host", "trusts", "complaint"),
    [
        ("127.0.0.1", False, "self-signed certificate"),
        ("elsewhere.example", True, "IP address mismatch"),
    ],
)
def test_a_referee_that_cannot_prove_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, host: str, trusts: bool, complaint: str
) -> None:
    """An unknown authority and another host's certificate are refused at once, and nothing is sent."""
    pem = certified(tmp_path, host)
    if trusts:
        monkeypatch.setenv(CA_VARIABLE, str(pem))
    referee = Stranger(listener=listening(pem))
    referee.start()
    with pytest.raises(ClientError, match=complaint) as caught:
        run(lambda _view: None, address=referee.address.replace("tcp:", "tls:"), say=None)
    assert CA_VARIABLE in str(caught.value)
    referee.join(timeout=30)
    assert referee.heard == []


class Stranger(ScriptedReferee):
    """A peer that never completes the handshake."""

    def run(self) -> None:
        """Wait for a peer that tries to."""
        with self._listener, pytest.raises(ssl.SSLError):
            self._listener.accept()


def test_an_authority_that_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names a REFEREE_CA that can't be read."""
    monkeypatch.setenv(CA_VARIABLE, str(tmp_path / "nowhere.pem"))
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(ClientError, match=r"nowhere\.pem"):
        run(lambda _view: None, address=f"tls:127.0.0.1:{server.getsockname()[1]}", say=None)
