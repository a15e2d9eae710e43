"""Hands a program in to an organiser's service over HTTP, and asks for verdicts, versions and matches.

The client makes one request at a time, and trusts an answer no more than a player's message: it is bounded, and shown
as printable text only.
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

# The client uses http.client alone. One request at a time needs no pool of connections, and an author who only hands
# in a program has nothing more to install.
#
# Redirects are not followed, although most clients follow them. The token would be sent to the address that the answer
# names, and that may not be the address of the organiser. The error names that address instead, and the author
# decides.
TOKEN_VARIABLE = "REFEREE_TOKEN"  # noqa: S105  # the name of a variable
TIMEOUT_S = 60.0
"""Longest silence, in seconds: the organiser's machine may be busy, and explaining a long match takes it a while."""
CONNECT_S = 10.0
"""Longest time to connect, and for each step of the TLS handshake, in seconds."""
_PROXY_STATUSES = (http.client.BAD_GATEWAY, http.client.SERVICE_UNAVAILABLE, http.client.GATEWAY_TIMEOUT)
_NAME = re.compile(r"[\w.:-]{1,255}", re.ASCII)
"""Characters of a host name."""
_HOST = re.compile(r"[\w.:%-]+")
"""A host as a user may write it: in letters of any language, and with a scope behind an address of IP version 6."""
_MAX_ANSWER_BYTES = 1 << 28
_MAX_CERTIFICATES_BYTES = 1 << 20
"""Largest file of certificates: four times all that a distribution trusts."""
FIRST_LOOK_S, LAST_LOOK_S = 0.25, 5.0
"""First and longest pause between two requests for the verdict, in seconds: it may take minutes."""
PATIENCE_S = 1800.0
"""Longest wait for a verdict, in seconds: a whole class's programs may be first."""
Say = Callable[[str], None]
_OVER = (VersionState.PASSED, VersionState.FAILED)
_PENDING = (VersionState.WAITING, VersionState.CHECKING)


class ServiceError(RefereeError):
    """The service could not be used; the text says what to do.

    Args:
        status: status of the answer; None: there was no answer.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class SubmissionsClient(Struct, frozen=True, kw_only=True):
    """An organiser's service, and the author who uses it."""

    host: str
    port: int
    token: str
    is_secure: bool
    prefix: str = ""
    """Path of the service behind a web server, with a slash before it; empty if it has the whole host."""
    ca: Path | None = None
    """Certificates to trust besides the system's: the organiser's own, in PEM."""

    @property
    def shows_token(self) -> bool:
        """Whether somebody on the way could read the token."""
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
            ServiceError: it was refused.
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
            response = connection.getresponse()  # one that was refused early says why, though the body was not taken
            # One byte more than is allowed shows that an answer is too long, without reading all of it.
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
                raise self._no_answer(error) from None
            text = f"{self.host}:{self.port} does not speak TLS"
            raise ServiceError(f"{text}; is it http://{self._place}?") from None
        except OSError as error:
            raise self._no_answer(error) from None
        if connection.sock is not None:
            connection.sock.settimeout(TIMEOUT_S)

    def _no_answer(self, error: Exception) -> ServiceError:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return ServiceError(f"no answer from {self.host}:{self.port}: {why}; is --to right, and the service on?")

    def _error(self, status: int, data: bytes, location: str) -> ServiceError:
        """Return the error that an unexpected answer stands for.

        Args:
            status: status of the answer.
            data: body of the answer.
            location: address that it redirects to; empty without a redirect.
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
            return ServiceError(f"the service says: {error}; {remedy} ({status})", status)
        reply = f"{status} {http.client.responses.get(status, 'an error')}"
        if status < http.client.BAD_REQUEST:
            place = _find_place(location)
            hint = f"is it {place}?" if place else "is --to right?"
            return ServiceError(f"{self.host}:{self.port} sends you to another address ({reply}); {hint}", status)
        if status in _PROXY_STATUSES:
            text = f"{self.host}:{self.port} passes requests on, and nobody answers there ({reply})"
            return ServiceError(f"{text}; try again later, or ask the organiser whether the service is on", status)
        return ServiceError(
            f"{self.host}:{self.port} answers, but not as a referee's service does ({reply}); is --to right?",
            status,
        )

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to the site, which opens with the first request."""
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
        url: `http://HOST:PORT` or `https://HOST:PORT`, perhaps with a path.
        token: token of the author.
        ca: file of a certificate to trust.

    Raises:
        ServiceError: it is not such an address.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
        host.encode("idna")  # as a look-up does: not all of its errors are OSErrors
    except ValueError:
        parts, port, host = urlsplit(""), None, ""
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host) or parts.query or "@" in parts.netloc:
        raise ServiceError(f"{printable(url)} is no address such as http://HOST:8080, as the organiser gives it")
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
        # On a shared machine of a course, other students could hand in a program under this author's name.
        if mode & 0o077:
            raise ServiceError(f"others can read {path}; `chmod 600 {path}`")
        token = text.strip()
    if not token:
        remedy = f"write the one that the organiser gave you to a file (--token-file FILE), or set {TOKEN_VARIABLE}"
        raise ServiceError(f"no token; {remedy}")
    if not (token.isascii() and token.isalnum()):
        raise ServiceError(f"{where} holds no token: it has letters and digits only")
    return token


def _decode(data: bytes) -> Any:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ServiceError("the answer is none of a referee's; is --to right?")
    return value


def _find_place(location: str) -> str:
    """Return the address that a web server redirects to, as --to takes it; empty if it is none."""
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
        BadRequest: it is not such an address, or there is no usable token.
    """
    try:
        return find_service(url, find_token(token_file), ca)
    except ServiceError as error:
        raise BadRequest(str(error)) from None


def pack_player(player: Path, say: Say) -> bytes:
    """Return the archive of a player.

    Args:
        player: folder of the player, or an archive of it.
        say: prints what was packed and what was left out.

    Raises:
        BadRequest: it is neither a player's folder nor an archive of one, or can't be handed in.
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
    if (path.parent / MANIFEST).is_file() and path.suffix in RUNNERS:  # the folder was meant
        raise BadRequest(explain_no_folder(path))
    if path.stat().st_size > MAX_PACKED_BYTES:
        raise BadArchive(f"{path} is over {MAX_PACKED_BYTES // MIB} MiB", f"compress it, or {SMALLER}")
    try:
        return unpack(read_small(path, MAX_PACKED_BYTES), str(path))
    except OSError as error:
        raise BadRequest(f"can't read {path}: {error.strerror}") from None


def check_here(archive: bytes, folder: Path, passes: Callable[[Sequence[str]], bool]) -> None:
    """Check a packed player on this machine: a file that is missing in the archive is missing here, too.

    Args:
        archive: the archive.
        folder: name of the player in the output of the check.
        passes: runs `referee check` with arguments, and returns whether everything passes.

    Raises:
        RefereeError: it does not pass.
    """
    with scratch("submit") as place:
        copy = place / "player"
        write(unpack(archive), copy)
        if not passes([str(copy), "--called", str(folder), "--logs", str(place / "logs"), "--no-strength"]):
            text = "it does not pass the check here and was not handed in; --skip-check hands it in all the same"
            raise RefereeError(text)


def submit_archive(service: SubmissionsClient, archive: bytes, say: Say) -> dict[str, Any]:
    """Upload an archive, and wait for the verdict.

    Args:
        service: the organiser's service.
        archive: the archive.
        say: prints progress.

    Returns:
        The version, as the service describes it.

    Raises:
        ServiceError: it was refused, or there is no verdict.
    """
    version = service.upload(archive)
    number = version.get("number")
    if not isinstance(number, int):
        raise ServiceError("the answer names no version; is --to right?")
    say(f"handed in as version {number}, SHA-256 {version.get('sha256')}")
    try:
        return await_verdict(service, number, say)
    except ServiceError:
        say("it was handed in and will be checked; `referee submit --status` shows the verdict later")
        raise


def await_verdict(
    service: SubmissionsClient, number: int, say: Say, pause: Callable[[float], None] = time.sleep
) -> dict[str, Any]:
    """Wait for the verdict on a version.

    Args:
        service: the organiser's service, which is asked again and again.
        number: number of the version.
        say: prints progress.
        pause: waits for a number of seconds.

    Raises:
        ServiceError: an answer has no state of the version, or there is no verdict within PATIENCE_S.
    """
    pause_s, waited_s, last = FIRST_LOOK_S, 0.0, ""
    while waited_s < PATIENCE_S:
        submission: dict[str, Any] = service.get("submissions", str(number))
        state = submission.get("state")
        if state in _OVER:
            return submission
        if state not in _PENDING:
            raise ServiceError(f"the answer does not tell how far version {number} is; is --to right?")
        if state != last:
            say(f"version {number}: {state}")
            last = state
        pause(pause_s)
        waited_s += pause_s
        # Most verdicts take seconds, but before a deadline a whole class waits. The growing pause suits both.
        pause_s = min(pause_s * 1.5, LAST_LOOK_S)
    raise ServiceError(f"there is no verdict after {PATIENCE_S / 60:.0f} minutes; ask the organiser")


def say_what_plays(service: SubmissionsClient) -> str:
    """Return what plays instead of a version that failed: the last one that passed, if there is one."""
    try:
        versions = service.get("submissions")
    except ServiceError:
        return "`referee submit --status` shows what plays"
    present = versions.get("present")
    return "none of yours has passed yet" if present is None else f"version {present} plays on"


def read_rows(answer: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list in an answer, and skip everything else."""
    rows = answer.get(name)
    yield from (row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict))


def find_match(service: SubmissionsClient, name: str) -> dict[str, Any]:
    """Return the explanation of an author's match, given by its name or by the unique last part of it.

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
    # The list can be long, so it is requested only if the text is no full name.
    own_matches = {str(row.get("match")) for row in read_rows(service.get("matches"), "matches")}
    meant = sorted(match for match in own_matches if match.rpartition("/")[2] == name)
    if len(meant) > 1:
        raise ServiceError(f"{name} is the name of {len(meant)} matches of yours: say which, {' or '.join(meant)}")
    if not meant:
        raise ServiceError(f"you have no match {name} that is over; see --matches")
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
