"""Certificates of a cluster, and the settings with which Dask connects to a scheduler.

There is an authority that is valid for a few days, and a key with a certificate for each role. The authority's private
key is not stored. Dask admits every certificate of the authority, whatever role it was made for, and can't revoke any:
a stolen certificate works until it expires, or until the cluster uses a new authority.
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
from ..record.key import encode_pem
from ..text import visible

CA = "ca.pem"
ROLES = ("scheduler", "worker", "client")
FILES = (CA, *(f"{role}.pem" for role in ROLES))
MAX_DAYS = 365
EARLIER = timedelta(hours=12)
"""Certificates are valid from this time before they are made, because the clocks of other hosts may be slow."""
_MAX_NAME_CHARS = 253


class MadeKeys(Struct, frozen=True, kw_only=True):
    """The certificates that `make_keys` has made."""

    folder: Path
    until: str
    """End of their validity: UTC, ISO 8601."""


def make_keys(folder: Path, *, days: int, hosts: Sequence[str], now: datetime) -> MadeKeys:
    """Make an authority, and a key with a certificate for each role, in files that only their owner can read.

    Args:
        folder: folder for the files; made if it does not exist. No file in it is replaced.
        days: number of days for which the certificates are valid.
        hosts: names or addresses to write into the certificates. They are for people to read: Dask ignores them.
        now: the time of day.

    Raises:
        BadRequest: the folder has certificates already or cannot be written, or a host's name is invalid.
    """
    names = [_parse_host_name(host) for host in hosts]
    until = (now + timedelta(days=days)).replace(microsecond=0)
    # The authority's key signs the three certificates below and is forgotten when this function returns. So nobody, not
    # even the organiser, can make a certificate of this authority later. To make a new set is easy.
    authority = generate_private_key(SECP256R1())
    # Each authority has its own title, so that OpenSSL does not mistake two authorities for one.
    title = _title(f"referee cluster {secrets.token_hex(4)}")
    authority_certificate = _start_certificate(title, title, authority, now, until).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    signed = authority_certificate.add_extension(_usage(is_authority=True), critical=True).sign(authority, SHA256())
    pieces = {CA: [signed.public_bytes(Encoding.PEM)]}
    for role in ROLES:
        key = generate_private_key(SECP256R1())
        builder = _start_certificate(_title(f"referee cluster {role}"), title, key, now, until)
        certificate = _add_role(builder, names).sign(authority, SHA256())
        pieces[f"{role}.pem"] = [encode_pem(key), certificate.public_bytes(Encoding.PEM)]
    _write(folder, pieces)
    return MadeKeys(folder=folder, until=until.astimezone(UTC).isoformat())


def _start_certificate(
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


def _add_role(builder: x509.CertificateBuilder, names: list[x509.GeneralName]) -> x509.CertificateBuilder:
    """Add the usages of a certificate. Schedulers and workers both accept and make connections, so every role may."""
    usages = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(is_authority=False), critical=True).add_extension(usages, critical=False)
    return builder.add_extension(x509.SubjectAlternativeName(names), critical=False) if names else builder


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


def _parse_host_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    labels = host.split(".")
    if len(host) > _MAX_NAME_CHARS or not all(
        label.replace("-", "a").isalnum() and label.isascii() for label in labels
    ):
        raise BadRequest(
            f"{visible(host)[:80]} is not the name or address of a host: write for example lab1.example.org or 10.0.0.1"
        )
    return x509.DNSName(host)


def _write(folder: Path, pieces: dict[str, list[bytes]]) -> None:
    """Write all files, or no file."""
    # All names are checked before a file is written: new and old certificates in one folder would not fit together.
    existing = [name for name in pieces if (folder / name).exists()]
    if existing:
        raise BadRequest(
            f"{folder / existing[0]} exists. Hosts with the old certificates would be shut out, so it is not replaced: "
            "name another folder, or delete this one first"
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
        raise BadRequest(f"cannot write certificates to {folder}: {error.strerror}") from None


_ADDRESS = re.compile(r"(tls|tcp)://(\[[0-9a-f:]+\]|[^:/\s]+):([0-9]{1,5})(?!\n)", re.IGNORECASE)
_LOOPBACK = re.compile(r"localhost|127\.[0-9.]+|\[::1\]")


def check_address(address: str, keys: Path | None) -> None:
    """Check that a scheduler's address can be used.

    Args:
        address: the address that the organiser has given.
        keys: folder of the certificates, if one was given.

    Raises:
        BadRequest: the address cannot be used, or Dask is not installed.
    """
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        raise BadRequest(f"{visible(address)[:100]} is not a scheduler's address: write tls://HOST:8786")
    scheme, host = parts[1].lower(), parts[2]
    if scheme == "tls" and keys is None:
        raise BadRequest(f"{address} needs certificates: add --keys FOLDER. `referee cluster-keys FOLDER` makes them")
    if scheme == "tcp" and not _LOOPBACK.fullmatch(host):
        raise BadRequest(f"{address} would be open to the network: write tls://. tcp:// is for 127.0.0.1 only")
    if keys is not None and not (keys / CA).is_file():
        raise BadRequest(f"there is no {CA} in {keys}: `referee cluster-keys {keys}` makes the certificates")
    dask_version()


def dask_version() -> str:
    """Return the version of Dask distributed that is installed.

    Raises:
        BadRequest: Dask is not installed.
    """
    try:
        return metadata.version("distributed")
    except metadata.PackageNotFoundError:
        raise BadRequest("Dask is not installed: in a checkout of the referee, pip install '.[cluster]'") from None


def load_security(keys: Path | None) -> Any:
    """Return the security settings with which Dask connects.

    Args:
        keys: folder of the certificates; None for a connection without encryption.
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
