"""How this program connects to a scheduler: with certificates, or on one machine without."""

import re
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from ..errors import BadRequest
from .keys import CA, FILES

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
