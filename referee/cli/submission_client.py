"""Hands a program in to an organiser's service over HTTP, and asks for verdicts, versions and matches.

The client makes one request at a time. It does not trust the answers: it limits their size, and removes control
characters before it shows a text.
"""

import http.client
import ipaddress
import json
import os
import re
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct

from ..errors import BadRequest, RefereeError
from ..files.reading import read_small, read_small_text
from ..files.scratch import scratch
from ..files.tree import MIB
from ..programs.player_spec import RUNNERS, explain_no_folder
from ..record.explain import Explanation
from ..text import counted, printable
from ..web.submissions.archive import MAX_PACKED_BYTES, pack, unpack
from ..web.submissions.entries import MANIFEST, SMALLER, ArchiveEntry, BadArchive
from ..web.submissions.folder import gather, write
from ..web.submissions.store import VersionState

# The client uses only http.client, from the standard library. One request at a time needs no pool of connections, and
# an author who only hands in a program has nothing more to install.
#
# Most clients follow redirects; this one does not. It would send the token to the address in the answer, which may not
# be the organiser's. Instead, the error shows that address, and the author decides.
TOKEN_VARIABLE = "REFEREE_TOKEN"  # noqa: S105  # the name of a variable
TIMEOUT_S = 60.0
"""Longest wait for data, in seconds: the machine may be busy, and it takes a while to explain a long match."""
CONNECT_S = 10.0
"""Longest time to connect, and for each step of the TLS handshake, in seconds."""
_PROXY_STATUSES = (http.client.BAD_GATEWAY, http.client.SERVICE_UNAVAILABLE, http.client.GATEWAY_TIMEOUT)
_NAME = re.compile(r"[\w.:-]{1,255}", re.ASCII)
"""Characters of a host name."""
_HOST = re.compile(r"[\w.:%-]+")
"""A host name or address that a user may type: letters of any language; an IPv6 address may end in a scope."""
_MAX_ANSWER_BYTES = 1 << 28
_MAX_CERTIFICATES_BYTES = 1 << 20
"""Largest file of certificates: four times the size of a distribution's own list."""
FIRST_LOOK_S, LAST_LOOK_S = 0.25, 5.0
"""First and longest pause between two requests for the verdict, in seconds. The verdict may take minutes."""
PATIENCE_S = 1800.0
"""Longest wait for a verdict, in seconds: the programs of a whole class may be checked before this one."""
Say = Callable[[str], None]
_OVER = (VersionState.PASSED, VersionState.FAILED)
_PENDING = (VersionState.WAITING, VersionState.CHECKING)


class ServiceError(RefereeError):
    """The service could not be used; the text says what to do.

    Args:
        status: HTTP status of the answer; None: there was no answer.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class SubmissionsClient(Struct, frozen=True, kw_only=True):
    """Client of an organiser's service for one author."""

    host: str
    port: int
    token: str
    is_secure: bool
    prefix: str = ""
    """Path of the service on its web server, beginning with a slash; empty if the service has the whole host."""
    ca: Path | None = None
    """PEM file with certificates to trust in addition to the system's, such as the organiser's own."""

    @property
    def shows_token(self) -> bool:
        """Whether others on the network could read the token."""
        try:
            is_here = ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            is_here = self.host == "localhost"
        return not self.is_secure and not is_here

    @property
    def _place(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def get(self, *parts: str) -> Any:
        """Request an object by the parts of its path.

        Raises:
            ServiceError: there is no answer, or it is an error.
        """
        return _decode(self._ask("GET", parts, None))

    def upload(self, archive: bytes) -> Any:
        """Upload an archive, and return its version.

        Raises:
            ServiceError: the service refused the archive, or did not answer.
        """
        return _decode(self._ask("PUT", ("submissions",), archive))

    def _ask(self, method: str, parts: tuple[str, ...], body: bytes | None) -> bytes:
        connection = self.connect()
        path = f"{self.prefix}/" + "/".join(quote(part, safe="") for part in parts)
        try:
            self._connect(connection)
            try:
                connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
            except (BrokenPipeError, ConnectionResetError):
                if connection.sock is None:
                    raise
            response = connection.getresponse()  # a service that refuses early answers before it has read the body
            # Reading one byte over the limit shows that an answer is too long.
            data = response.read(_MAX_ANSWER_BYTES + 1)
        except (http.client.BadStatusLine, ConnectionResetError):  # RemoteDisconnected is both
            text = f"{self.host}:{self.port} does not speak {'HTTPS' if self.is_secure else 'HTTP'}"
            hint = "is --to right" if self.is_secure else f"is it https://{self._place}"
            raise ServiceError(f"{text}; {hint}?") from None
        except (OSError, http.client.HTTPException) as error:
            raise self._no_answer(error) from None
        finally:
            connection.close()
        if len(data) > _MAX_ANSWER_BYTES:
            raise ServiceError(f"{self.host} sent more than {_MAX_ANSWER_BYTES} bytes; is --to right?")
        if response.status >= http.client.MULTIPLE_CHOICES:
            raise self._error(response.status, data, response.getheader("Location") or "")
        return data

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        """Connect, with a shorter time limit for the handshake than for an answer.

        A server without TLS may wait for a request instead of answering the handshake.

        Raises:
            ServiceError: no server answers, or it does not speak TLS, or its certificate can't be trusted.
        """
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            text = f"{self.host}: its certificate can't be trusted: {error.verify_message}"
            raise ServiceError(f"{text}; if the organiser gave you a certificate, name it with --ca FILE") from None
        except (ssl.SSLError, ConnectionResetError, ConnectionAbortedError, TimeoutError) as error:
            if not self.is_secure or connection.sock is None:
                raise self._no_answer(error) from None
            text = f"{self.host}:{self.port} does not speak TLS"
            raise ServiceError(f"{text}; is it http://{self._place}?") from None
        except OSError as error:
            raise self._no_answer(error) from None
        if connection.sock is not None:
            connection.sock.settimeout(TIMEOUT_S)

    def _no_answer(self, error: Exception) -> ServiceError:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return ServiceError(f"no answer from {self.host}:{self.port}: {why}; is --to right, and does the service run?")

    def _error(self, status: int, data: bytes, location: str) -> ServiceError:
        """Return the error for an answer with an error status or a redirect.

        Args:
            status: HTTP status of the answer.
            data: body of the answer.
            location: address of the redirect; empty without a redirect.
        """
        try:
            answer = _decode(data)
        except ServiceError:
            answer = {}
        error, remedy = answer.get("error"), answer.get("remedy")
        if error and remedy:
            if status == http.client.UNAUTHORIZED:
                text = "the service does not know your token"
                remedy = f"check --token-file (or {TOKEN_VARIABLE}), or ask the organiser"
                return ServiceError(f"{text}; {remedy}", status)
            return ServiceError(f"the service answers: {error}; {remedy} ({status})", status)
        reply = f"{status} {http.client.responses.get(status, 'an error')}"
        if status < http.client.BAD_REQUEST:
            place = _find_place(location)
            hint = f"is it {place}?" if place else "is --to right?"
            return ServiceError(f"{self.host}:{self.port} redirects to another address ({reply}); {hint}", status)
        if status in _PROXY_STATUSES:
            text = f"{self.host}:{self.port} is a proxy, and the service behind it does not answer ({reply})"
            return ServiceError(f"{text}; try again later, or ask the organiser whether the service runs", status)
        return ServiceError(
            f"the server at {self.host}:{self.port} is not a referee's service ({reply}); is --to right?",
            status,
        )

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to the service; it opens with the first request."""
        if not self.is_secure:
            return http.client.HTTPConnection(self.host, self.port, timeout=CONNECT_S)
        context = ssl.create_default_context()
        if self.ca is not None:
            try:
                context.load_verify_locations(
                    cadata=read_small(self.ca, _MAX_CERTIFICATES_BYTES).decode("ascii", "ignore")
                )
            except (ssl.SSLError, ValueError):
                raise ServiceError(f"--ca {self.ca}: the file has no certificate in PEM") from None
            except OSError as error:
                raise ServiceError(f"--ca {self.ca}: {error.strerror}") from None
        return http.client.HTTPSConnection(self.host, self.port, timeout=CONNECT_S, context=context)


def find_service(url: str, token: str, ca: Path | None) -> SubmissionsClient:
    """Return the service at an address.

    Args:
        url: `http://HOST:PORT` or `https://HOST:PORT`, perhaps with a path.
        token: token of the author.
        ca: file of a certificate to trust.

    Raises:
        ServiceError: the URL is not of this form.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
        host.encode("idna")  # a look-up would do so too, and raise errors that are no OSErrors
    except ValueError:
        parts, port, host = urlsplit(""), None, ""
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host) or parts.query or "@" in parts.netloc:
        raise ServiceError(f"{printable(url)} is no address; write the one that you were given, http://HOST:8080, say")
    is_secure = parts.scheme == "https"
    return SubmissionsClient(
        host=host,
        port=(443 if is_secure else 80) if port is None else port,
        token=token,
        is_secure=is_secure,
        prefix=quote(parts.path.rstrip("/"), safe="/%"),
        ca=ca,
    )


def find_token(path: Path | None) -> str:
    """Return the author's token, from a private file or from the environment.

    Raises:
        ServiceError: there is no token, or others can read its file.
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
        # On a shared machine, other students could read the token and hand in programs under this author's name.
        if mode & 0o077:
            raise ServiceError(f"others can read {path}; `chmod 600 {path}`")
        token = text.strip()
    if not token:
        remedy = f"write the organiser's token for you to a file (--token-file FILE), or set {TOKEN_VARIABLE}"
        raise ServiceError(f"no token; {remedy}")
    if not (token.isascii() and token.isalnum()):
        raise ServiceError(f"{where} holds no token: a token has letters and digits only")
    return token


def _decode(data: bytes) -> Any:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ServiceError("the answer does not come from a referee's service; is --to right?")
    return value


def _find_place(location: str) -> str:
    """Return the address of a redirect in the form of --to; empty if it is not such an address."""
    try:
        parts = urlsplit(location)
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return ""
    is_place = parts.scheme in ("http", "https") and _NAME.fullmatch(parts.hostname or "") is not None
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{port}" if is_place else ""


def open_service(url: str, token_file: Path | None, ca: Path | None) -> SubmissionsClient:
    """Return the service at an address.

    Args:
        url: `http://HOST:PORT` or `https://HOST:PORT`.
        token_file: file of the author's token; None: the token is in the environment.
        ca: file of a certificate to trust.

    Raises:
        BadRequest: the URL is not of this form, or there is no usable token.
    """
    try:
        return find_service(url, find_token(token_file), ca)
    except ServiceError as error:
        raise BadRequest(str(error)) from None


def pack_player(player: Path, say: Say) -> bytes:
    """Return the archive of a player.

    Args:
        player: folder of the player, or an archive of that folder.
        say: prints what was packed and what was left out.

    Raises:
        BadRequest: `player` is neither a player's folder nor an archive of one, or it can't be handed in.
    """
    if player.is_file():
        entries, left_out = _unpack_file(player), ""
    else:
        gathered = gather(player)
        entries = gathered.entries
        left_out = f"; left out: {', '.join(gathered.left_out)}" if gathered.left_out else ""
    archive = pack(entries)
    what = counted(len(entries), "file or folder", "files and folders")
    say(f"packed {what}, {len(archive) / MIB:.2f} MiB{left_out}")
    return archive


def _unpack_file(path: Path) -> Sequence[ArchiveEntry]:
    """Return the entries of an archive file.

    Raises:
        BadRequest: the file is no archive, or can't be handed in.
    """
    if (path.parent / MANIFEST).is_file() and path.suffix in RUNNERS:  # the user named a program, not its folder
        raise BadRequest(explain_no_folder(path))
    if path.stat().st_size > MAX_PACKED_BYTES:
        raise BadArchive(f"{path} is over {MAX_PACKED_BYTES // MIB} MiB", f"compress it, or {SMALLER}")
    try:
        return unpack(read_small(path, MAX_PACKED_BYTES), str(path))
    except OSError as error:
        raise BadRequest(f"can't read {path}: {error.strerror}") from None


def check_here(archive: bytes, folder: Path, passes: Callable[[Sequence[str]], bool]) -> None:
    """Unpack an archive and check its player on this machine, which also shows if the archive lacks a file.

    Args:
        archive: the archive.
        folder: name of the player in the output of the check.
        passes: runs `referee check` with arguments, and returns whether the player passes.

    Raises:
        RefereeError: the player does not pass.
    """
    with scratch("submit") as place:
        copy = place / "player"
        write(unpack(archive), copy)
        if not passes([str(copy), "--called", str(folder), "--logs", str(place / "logs"), "--no-strength"]):
            text = "the check here failed, so the program was not handed in; --skip-check hands it in without a check"
            raise RefereeError(text)


def submit_archive(service: SubmissionsClient, archive: bytes, say: Say) -> dict[str, Any]:
    """Upload an archive, and wait for the verdict.

    Args:
        service: the organiser's service.
        archive: the archive.
        say: prints progress.

    Returns:
        The service's description of the version.

    Raises:
        ServiceError: the archive was refused, or there is no verdict.
    """
    version = service.upload(archive)
    number = version.get("number")
    if not isinstance(number, int):
        raise ServiceError("the answer names no version; is --to right?")
    say(f"handed in as version {number}, SHA-256 {version.get('sha256')}")
    try:
        return await_verdict(service, number, say)
    except ServiceError:
        say("the program was handed in and will be checked; `referee submit --status` shows the verdict later")
        raise


def await_verdict(
    service: SubmissionsClient, number: int, say: Say, pause: Callable[[float], None] = time.sleep
) -> dict[str, Any]:
    """Wait for the verdict on a version.

    Args:
        service: the organiser's service; it is asked again and again.
        number: number of the version.
        say: prints progress.
        pause: waits for a number of seconds.

    Raises:
        ServiceError: an answer lacks the state of the version, or there is no verdict within PATIENCE_S.
    """
    pause_s, waited_s, last = FIRST_LOOK_S, 0.0, ""
    while waited_s < PATIENCE_S:
        submission: dict[str, Any] = service.get("submissions", str(number))
        state = submission.get("state")
        if state in _OVER:
            return submission
        if state not in _PENDING:
            raise ServiceError(f"the answer lacks the state of version {number}; is --to right?")
        if state != last:
            say(f"version {number}: {state}")
            last = state
        pause(pause_s)
        waited_s += pause_s
        # Most verdicts take seconds, but minutes if a whole class hands in at once. A growing pause suits both cases.
        pause_s = min(pause_s * 1.5, LAST_LOOK_S)
    raise ServiceError(f"there is no verdict after {PATIENCE_S / 60:.0f} minutes; ask the organiser")


def say_what_plays(service: SubmissionsClient) -> str:
    """Return in words what plays instead of a failed version: the last version that passed, if there is one."""
    try:
        versions = service.get("submissions")
    except ServiceError:
        return "`referee submit --status` shows what plays"
    present = versions.get("present")
    return "none of your versions has passed yet" if present is None else f"version {present} still plays"


def read_rows(answer: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list in an answer, and skip everything else."""
    rows = answer.get(name)
    yield from (row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict))


def find_match(service: SubmissionsClient, name: str) -> dict[str, Any]:
    """Return the explanation of an author's match, which is given by its name or by the last part of its name.

    Raises:
        ServiceError: there is no such match, or more than one.
    """
    try:
        explanation: dict[str, Any] = service.get("matches", name)
    except ServiceError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise
    else:
        return explanation
    # The list can be long, so it is requested only if there is no match of that full name.
    own_matches = {str(row.get("match")) for row in read_rows(service.get("matches"), "matches")}
    meant = sorted(match for match in own_matches if match.rpartition("/")[2] == name)
    if len(meant) > 1:
        raise ServiceError(f"{len(meant)} of your matches are called {name}; give the whole name: {' or '.join(meant)}")
    if not meant:
        raise ServiceError(f"you have no finished match {name}; --matches lists them")
    only: dict[str, Any] = service.get("matches", meant[0])
    return only


def read_explanation(answer: dict[str, Any]) -> Explanation:
    """Return the explanation in a service's answer.

    Raises:
        ServiceError: the answer is not an explanation.
    """
    try:
        explanation = msgspec.convert(answer, Explanation)
    except msgspec.ValidationError:
        explanation = None
    if explanation is None or not 0 <= explanation.seat < len(explanation.names) == len(explanation.result.scores):
        raise ServiceError("the answer explains no match; is --to right?")
    return explanation
