"""Certificates of a cluster, and how this program connects to a scheduler: with them, or on one machine without.

They are an authority of a few days, whose private key is kept nowhere, and a key a role. Dask lets in whoever shows a
certificate of the authority, whatever it was made for, and knows no revocation: what was lost is worth nothing only
when its days are over, or once a new authority is in its place.
"""

import ipaddress
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

from ..errors import BadRequest
from ..files.whole import write_whole
from ..record.key import pem_of
from ..text import visible

CA = "ca.pem"
ROLES = ("scheduler", "worker", "client")
FILES = (CA, *(f"{role}.pem" for role in ROLES))
MAX_DAYS = 365
EARLIER = timedelta(hours=12)
"""So long before they are made certificates are valid: clocks of other hosts may be slow."""
_MAX_NAME_CHARS = 253


class BadKeys(BadRequest):
    """Certificates can't be made as it was asked for; the text says what to do."""


class MadeKeys(Struct, frozen=True, kw_only=True):
    """Certificates that were made."""

    folder: Path
    until: str
    """The time of day until which they are valid: UTC, ISO 8601."""


def make_keys(folder: Path, *, days: int, hosts: Sequence[str], now: datetime) -> MadeKeys:
    """Make an authority, and a key with its certificate for each role, in files that only their owner can read.

    Args:
        folder: where; it is made. No file in it is replaced.
        days: how long they are valid.
        hosts: names or addresses that the certificates tell, for people: Dask does not compare them.
        now: the time of day.

    Raises:
        BadKeys: there are certificates, a host's name is none, or the folder can't be written.
    """
    names = [_name_of(host) for host in hosts]
    until = (now + timedelta(days=days)).replace(microsecond=0)
    authority = generate_private_key(SECP256R1())
    title = _title(f"referee cluster {secrets.token_hex(4)}")  # two authorities are never taken for one
    own = _begun(title, title, authority, now, until).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    signed = own.add_extension(_usage(is_authority=True), critical=True).sign(authority, SHA256())
    pieces = {CA: [signed.public_bytes(Encoding.PEM)]}
    for role in ROLES:
        key = generate_private_key(SECP256R1())
        begun = _begun(_title(f"referee cluster {role}"), title, key, now, until)
        certificate = _of_role(begun, names).sign(authority, SHA256())
        pieces[f"{role}.pem"] = [pem_of(key), certificate.public_bytes(Encoding.PEM)]
    _write(folder, pieces)
    return MadeKeys(folder=folder, until=until.astimezone(UTC).isoformat())


def _begun(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, now: datetime, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLIER)
        .not_valid_after(until)
    )


def _of_role(begun: x509.CertificateBuilder, names: list[x509.GeneralName]) -> x509.CertificateBuilder:
    """Add what a role needs: all of them connect, and all but the client are connected to, so each may do both."""
    usages = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    begun = begun.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    begun = begun.add_extension(_usage(is_authority=False), critical=True).add_extension(usages, critical=False)
    return begun.add_extension(x509.SubjectAlternativeName(names), critical=False) if names else begun


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _title(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _name_of(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    labels = host.split(".")
    if len(host) > _MAX_NAME_CHARS or not all(
        label.replace("-", "a").isalnum() and label.isascii() for label in labels
    ):
        raise BadKeys(f"{visible(host)[:80]!r} is no name or address of a host: write `lab1.example.org` or `10.0.0.1`")
    return x509.DNSName(host)


def _write(folder: Path, pieces: dict[str, list[bytes]]) -> None:
    """Write the files, all or none."""
    there = [name for name in pieces if (folder / name).exists()]
    if there:
        raise BadKeys(
            f"{folder / there[0]} exists, and is not replaced: hosts that have the old certificates would be shut out; "
            "name another folder, or delete that one first"
        )
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, content in pieces.items():
            write_whole(folder / name, content, mode=0o600, may_replace=False)
            written.append(folder / name)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        raise BadKeys(f"can't write certificates to {folder}: {error.strerror}") from None


_ADDRESS = re.compile(r"(tls|tcp)://(\[[0-9a-f:]+\]|[^:/\s]+):([0-9]{1,5})(?!\n)", re.IGNORECASE)
_LOOPBACK = re.compile(r"localhost|127\.[0-9.]+|\[::1\]")


class NoCluster(BadRequest):
    """There can't be a cluster as it was asked for; the text says what to do."""


def check_address(address: str, keys: Path | None) -> None:
    """Check that a scheduler's address can be used.

    Args:
        address: as an organiser writes it.
        keys: folder of the certificates, if one was given.

    Raises:
        NoCluster: it can't; or Dask is not installed.
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise NoCluster(f"{address!r:.100} is no address of a scheduler: write tls://HOST:8786")
    if found[1].lower() == "tls" and keys is None:
        raise NoCluster(f"{address} needs certificates: --keys FOLDER, which `referee cluster-keys FOLDER` makes")
    if found[1].lower() == "tcp" and not _LOOPBACK.fullmatch(found[2]):
        raise NoCluster(f"{address} would be open to the network: write tls://; tcp:// is for 127.0.0.1 alone")
    if keys is not None and not (keys / CA).is_file():
        raise NoCluster(f"there is no {CA} in {keys}; `referee cluster-keys {keys}` makes the certificates")
    dask_version()


def dask_version() -> str:
    """Return the version of Dask distributed that is installed.

    Raises:
        NoCluster: none is.
    """
    try:
        return metadata.version("distributed")
    except metadata.PackageNotFoundError:
        raise NoCluster("Dask is not installed: pip install 'bot-referee[cluster]'") from None


def security_of(keys: Path | None) -> Any:
    """Return what Dask connects with.

    Args:
        keys: folder of the certificates; None: nothing is encrypted.
    """
    security = import_module("distributed").Security
    if keys is None:
        return security(require_encryption=False)
    authority, scheduler, worker, client = (str(keys / name) for name in FILES)
    return security(
        require_encryption=True,
        tls_ca_file=authority,
        tls_scheduler_cert=scheduler,
        tls_worker_cert=worker,
        tls_client_cert=client,
    )
