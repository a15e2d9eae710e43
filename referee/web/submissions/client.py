"""The client of an organiser's service: one request at a time, over HTTP or HTTPS.

What comes back is believed no more than what a player sends: it is bounded, and shown only as printable text.
"""

import http.client
import ipaddress
import json
import os
import re
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from msgspec import Struct

from ...errors import RefereeError
from ...files.small import read_small, read_small_text

TOKEN_VARIABLE = "REFEREE_TOKEN"  # noqa: S105  # the name of a variable
TIMEOUT_S = 60.0
"""Of silence; to explain a long match takes the organiser's machine some seconds, and others may be first."""
CONNECT_S = 10.0
"""To connect, and for each step of the TLS handshake."""
_OF_PROXIES = (http.client.BAD_GATEWAY, http.client.SERVICE_UNAVAILABLE, http.client.GATEWAY_TIMEOUT)
_NAME = re.compile(r"[\w.:-]{1,255}", re.ASCII)
"""What a host's name is made of."""
_MAX_ANSWER_BYTES = 1 << 28
_MAX_CERTIFICATES_BYTES = 1 << 20
"""All that a distribution trusts are a quarter of it."""


class ServiceError(RefereeError):
    """What went wrong; the text says what to do.

    Args:
        status: that the service answered with; None: there was no answer.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class SubmissionsClient(Struct, frozen=True, kw_only=True):
    """An organiser's service, and who asks it."""

    host: str
    port: int
    token: str
    is_secure: bool
    prefix: str = ""
    """Path below which a web server shows the service, with a slash before it; empty: it has the whole host."""
    ca: Path | None = None
    """Certificates to believe besides the system's: the organiser's own, in PEM."""

    @property
    def shows_token(self) -> bool:
        """Whether whoever listens on the way can read the token."""
        try:
            is_here = ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            is_here = self.host == "localhost"
        return not self.is_secure and not is_here

    @property
    def _place(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def get(self, *parts: str) -> Any:
        """Ask for something, by the parts of its path, and return the object that is the answer.

        Raises:
            ServiceError: there is no answer, or it is an error.
        """
        return _decoded(self._ask("GET", parts, None))

    def hand_in(self, archive: bytes) -> Any:
        """Hand an archive in, and return the version that it is.

        Raises:
            ServiceError: it was not taken.
        """
        return _decoded(self._ask("PUT", ("submissions",), archive))

    def _ask(self, method: str, parts: tuple[str, ...], body: bytes | None) -> bytes:
        connection = self._connection()
        path = f"{self.prefix}/" + "/".join(quote(part, safe="") for part in parts)
        try:
            self._connect(connection)
            try:
                connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
            except (BrokenPipeError, ConnectionResetError):
                if connection.sock is None:
                    raise
            response = connection.getresponse()  # one that was refused early says why, though the body was not taken
            data = response.read(_MAX_ANSWER_BYTES + 1)
        except (http.client.BadStatusLine, ConnectionResetError):  # RemoteDisconnected is both
            text = f"{self.host}:{self.port} does not speak {'HTTPS' if self.is_secure else 'HTTP'}"
            hint = "is --to right" if self.is_secure else f"is it https://{self._place}"
            raise ServiceError(f"{text}; {hint}?") from None
        except (OSError, http.client.HTTPException) as error:
            raise self._unanswered(error) from None
        finally:
            connection.close()
        if len(data) > _MAX_ANSWER_BYTES:
            raise ServiceError(f"{self.host} sent more than {_MAX_ANSWER_BYTES} bytes; is --to right?")
        if response.status >= http.client.MULTIPLE_CHOICES:
            raise self._error(response.status, data, response.getheader("Location") or "")
        return data

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        """Connect, and wait less for a handshake than for an answer: what speaks no TLS may wait for a request.

        Raises:
            ServiceError: nobody is there, or one who speaks no TLS or has a certificate that is not to be trusted.
        """
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            text = f"{self.host}: its certificate is not to be trusted: {error.verify_message}"
            raise ServiceError(f"{text}; if the organiser gave you a certificate, name it with --ca FILE") from None
        except (ssl.SSLError, ConnectionResetError, ConnectionAbortedError, TimeoutError) as error:
            if not self.is_secure or connection.sock is None:
                raise self._unanswered(error) from None
            text = f"{self.host}:{self.port} does not speak TLS"
            raise ServiceError(f"{text}; is it http://{self._place}?") from None
        except OSError as error:
            raise self._unanswered(error) from None
        if connection.sock is not None:
            connection.sock.settimeout(TIMEOUT_S)

    def _unanswered(self, error: Exception) -> ServiceError:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return ServiceError(f"no answer from {self.host}:{self.port}: {why}; is --to right, and the service on?")

    def _error(self, status: int, data: bytes, location: str) -> ServiceError:
        """Return what an answer means that is none of those that were asked for.

        Args:
            status: of the answer.
            data: its body.
            location: where it sends the client; empty: nowhere.
        """
        try:
            found = _decoded(data)
        except ServiceError:
            found = {}
        error, remedy = found.get("error"), found.get("remedy")
        if error and remedy:
            if status == http.client.UNAUTHORIZED:
                text = "the service does not know your token"
                remedy = f"check --token-file (or {TOKEN_VARIABLE}), or ask the organiser"
                return ServiceError(f"{text}; {remedy}", status)
            return ServiceError(f"the service says: {error}; {remedy} ({status})", status)
        told = f"{status} {http.client.responses.get(status, 'an error')}"
        if status < http.client.BAD_REQUEST:
            place = _place_of(location)
            hint = f"is it {place}?" if place else "is --to right?"
            return ServiceError(f"{self.host}:{self.port} sends you to another address ({told}); {hint}", status)
        if status in _OF_PROXIES:
            text = f"{self.host}:{self.port} passes requests on, and nobody answers there ({told})"
            return ServiceError(f"{text}; try again later, or ask the organiser whether the service is on", status)
        return ServiceError(
            f"{self.host}:{self.port} answers, but not as a referee's service does ({told}); is --to right?", status
        )

    def _connection(self) -> http.client.HTTPConnection:
        if not self.is_secure:
            return http.client.HTTPConnection(self.host, self.port, timeout=CONNECT_S)
        context = ssl.create_default_context()
        if self.ca is not None:
            try:
                context.load_verify_locations(
                    cadata=read_small(self.ca, _MAX_CERTIFICATES_BYTES).decode("ascii", "ignore")
                )
            except (ssl.SSLError, ValueError):
                raise ServiceError(f"--ca {self.ca}: no certificate in PEM") from None
            except OSError as error:
                raise ServiceError(f"--ca {self.ca}: {error.strerror}") from None
        return http.client.HTTPSConnection(self.host, self.port, timeout=CONNECT_S, context=context)


def find_service(url: str, token: str, ca: Path | None) -> SubmissionsClient:
    """Return the service at an address.

    Args:
        url: `http://HOST:PORT` or `https://HOST:PORT`, with a path behind it where the service has one.
        token: of the author.
        ca: file of a certificate to believe.

    Raises:
        ServiceError: it is no such address.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or "@" in parts.netloc:
        raise ServiceError(f"{url!r} is no address such as http://HOST:8080, as the organiser gives it")
    is_secure = parts.scheme == "https"
    return SubmissionsClient(
        host=parts.hostname,
        port=port or (443 if is_secure else 80),
        token=token,
        is_secure=is_secure,
        prefix=quote(parts.path.rstrip("/"), safe="/%"),
        ca=ca,
    )


def find_token(path: Path | None) -> str:
    """Return the author's token, from a file that is its own or from the environment.

    Raises:
        ServiceError: there is none, or others can read the file.
    """
    if path is None:
        token = os.environ.get(TOKEN_VARIABLE, "")
        where = TOKEN_VARIABLE
    else:
        where = str(path)
        try:
            mode, text = path.stat().st_mode, read_small_text(path)
        except OSError as error:
            raise ServiceError(f"can't read {path}: {error.strerror}; it holds the token that you were given") from None
        if mode & 0o077:
            raise ServiceError(f"others can read {path}; `chmod 600 {path}`")
        token = text.strip()
    if not token:
        remedy = f"write the one that the organiser gave you to a file (--token-file FILE), or set {TOKEN_VARIABLE}"
        raise ServiceError(f"no token; {remedy}")
    if not (token.isascii() and token.isalnum()):
        raise ServiceError(f"{where} holds no token: it has letters and digits only")
    return token


def _decoded(data: bytes) -> Any:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ServiceError("the answer is none of a referee's; is --to right?")
    return found


def _place_of(location: str) -> str:
    """Return the service's address that a web server sends to, as --to takes it; empty if it is none."""
    try:
        parts = urlsplit(location)
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return ""
    is_place = parts.scheme in ("http", "https") and _NAME.fullmatch(parts.hostname or "") is not None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{port}" if is_place else ""
