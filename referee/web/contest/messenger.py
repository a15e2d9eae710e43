"""Sends messages to other machines: a signed POST to the organiser's own address, and mail to authors.

The webhook's address and the mail server are set in contest.toml, so only the organiser chooses where this machine
connects to. Redirects are not followed. An author chooses only the mailbox for its own messages.
"""

# Messages wait in two queues, so that a mail server that does not answer does not delay webhooks. A queue is bounded,
# sends one message at a time in a thread, and drops a message after the last attempt. So a match never waits for a
# receiver. If a message is lost, the records still have its content.

import contextlib
import hashlib
import hmac
import secrets
import smtplib
import ssl
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from ...errors import BadRequest
from ...files.whole import write_whole
from ...match.fouls import Cause
from ...observers import Note
from ...text import placeless, printable
from ..rate_limit import HOUR_S, RateLimit, TooOften
from .contest_file import MailServer

SECRET, ADDRESSES = "webhook.secret", ".mail.json"
"""Files in the contest's folder: the key that signs webhooks, and the authors' addresses."""
RETRY_S = (5.0, 60.0, 600.0)
"""Seconds before each further attempt at a message."""
TIMEOUT_S = 10.0
"""Longest silence of a receiver in seconds."""
MOST_WAITING = 1000
"""Most messages of a queue; if it is full, a new message replaces the oldest."""
MAILS_AN_HOUR = 6
"""Most mails an hour to one author, even if its program crashes in every match."""
_MOST_ADDRESS = 254
_OWNER_ONLY = 0o600


class Outbox:
    """A queue of messages, sent one at a time.

    Args:
        reactor: Twisted's reactor.
        note: logs messages that could not be sent.
    """

    def __init__(self, reactor: Any, note: Note) -> None:
        self._reactor = reactor
        self._note = note
        self._waiting: deque[tuple[str, Callable[[], None]]] = deque(maxlen=MOST_WAITING)
        self._sending: Deferred[None] | None = None
        self._is_sending = False

    def add(self, about: str, send: Callable[[], None]) -> None:
        """Add a message.

        Args:
            about: words for the log.
            send: sends the message; called in a thread. Raises OSError or SMTPException if that is not possible.
        """
        self._waiting.append((about, send))
        if not self._is_sending:
            self._is_sending = True
            self._sending = Deferred.fromCoroutine(self._send_all())

    def stop(self) -> None:
        """Drop all waiting messages."""
        self._waiting.clear()
        if self._sending is not None:
            self._sending.cancel()

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                await self._send(*self._waiting.popleft())
        except CancelledError:
            pass
        finally:
            self._is_sending = False

    async def _send(self, about: str, send: Callable[[], None]) -> None:
        for wait_s in (*RETRY_S, None):
            try:
                await deferToThread(send)
            except (OSError, smtplib.SMTPException, ValueError) as error:
                if wait_s is None:
                    self._note("message-lost", about=about, error=printable(str(error)))
                    return
                await deferLater(self._reactor, wait_s)
            else:
                return


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, because a receiver could redirect this machine to an address in the organiser's network."""

    def redirect_request(self, *_args: Any, **_more: Any) -> None:
        """Return None, so that the redirect counts as an error."""
        return


_opener = urllib.request.build_opener(_NoRedirect)


def post(url: str, secret: bytes, body: bytes) -> None:
    """Send a webhook.

    Args:
        url: address of the receiver.
        secret: key of the signature.
        body: message as JSON.

    Raises:
        OSError: the receiver does not answer, or refuses the message.
    """
    at = str(int(time.time()))
    signature = hmac.new(secret, at.encode() + b"." + body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "Referee-Timestamp": at, "Referee-Signature": f"sha256={signature}"}
    request = urllib.request.Request(url, body, headers)  # noqa: S310  # contest.toml takes http and https alone
    with _opener.open(request, timeout=TIMEOUT_S):
        pass


def send_mail(server: MailServer, to: str, subject: str, text: str) -> None:
    """Send a mail.

    Raises:
        OSError: the server does not answer, or the file of the password can't be read.
        SMTPException: the server refuses the mail.
    """
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = server.sender, to, subject
    message.set_content(text)
    context = ssl.create_default_context()
    with smtplib.SMTP(server.host, server.port, timeout=TIMEOUT_S) as smtp:
        smtp.ehlo()
        if smtp.has_extn("starttls"):
            smtp.starttls(context=context)
        if server.user and server.password_file:
            smtp.login(server.user, server.password_file.read_text(encoding="utf-8").strip())
        smtp.send_message(message)


class MailAddresses:
    """The mailboxes of authors, in a file that no download contains.

    Args:
        path: location of the file; the file may be missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, str] = {}
        with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
            self._known = msgspec.json.decode(path.read_bytes(), type=dict[str, str])

    def find(self, author: str) -> str:
        """Return an author's mailbox; empty if the author wants no mail."""
        return self._known.get(author, "")

    def set(self, author: str, address: str) -> None:
        """Set an author's mailbox; an empty text means no mail.

        Raises:
            BadRequest: the text is not a mail address.
            OSError: the file can't be written.
        """
        name, at, domain = address.partition("@")
        is_plain = address.isascii() and address.isprintable() and not set(address) & set(' ,;:<>()[]"\\')
        if address and not (name and at and "." in domain and is_plain and len(address) <= _MOST_ADDRESS):
            raise BadRequest("that is not a mail address; write it like ada@example.org")
        known = {**self._known, author: address}
        write_whole(self._path, [msgspec.json.encode(known)], mode=_OWNER_ONLY)
        self._known = known


class ResultMessage(Struct, frozen=True, kw_only=True):
    """Body of a webhook."""

    event: str
    tournament: str
    match: str
    names: Sequence[str]
    """Names of the players, by seat."""
    result: str
    """Result in words, then the points."""
    expelled: Mapping[str, str]
    """Name of each player that was expelled -> cause."""
    head: str
    """Hash of the record's result line."""


class Messenger:
    """Sends results to the organiser's webhook, and mails to authors whose program was expelled.

    Args:
        reactor: Twisted's reactor.
        folder: folder of the contest.
        title: title of the contest.
        address: public address of the site, with a slash at the end; empty: not known.
        webhook: address of the organiser's receiver; None: there is none.
        mail: mail server; None: there is none.
        note: logs messages that could not be sent.
    """

    def __init__(
        self,
        reactor: Any,
        folder: Path,
        title: str,
        address: str,
        webhook: str | None,
        mail: MailServer | None,
        note: Note,
    ) -> None:
        self.addresses = MailAddresses(folder / ADDRESSES)
        self.has_mail = mail is not None
        self._title = title
        self._address = address
        self._webhook = webhook
        self._mail = mail
        self._secret = _read_secret(folder / SECRET) if webhook else b""
        self._posts, self._mails = Outbox(reactor, note), Outbox(reactor, note)
        self._limit = RateLimit("mails to an author", MAILS_AN_HOUR, reactor.seconds, HOUR_S)

    def stop(self) -> None:
        """Drop all waiting messages."""
        self._posts.stop()
        self._mails.stop()

    def report_result(self, tournament: str, facts: Mapping[str, Any], *, is_frozen: bool) -> None:
        """Report a match that is over.

        Args:
            tournament: name of the tournament.
            facts: event of the tournament's process.
            is_frozen: true if the standings are frozen; then only authors whose program was expelled get a message.
        """
        match, names = facts["match"], facts["names"]
        expelled = {names[foul["seat"]]: foul for foul in facts["fouls"]}
        if self._webhook and not is_frozen:
            message = ResultMessage(
                event="match-over",
                tournament=tournament,
                match=match,
                names=names,
                result=facts["result"],
                expelled={name: foul["cause"] for name, foul in expelled.items()},
                head=facts["head"],
            )
            url, secret, body = self._webhook, self._secret, msgspec.json.encode(message)
            self._posts.add(f"webhook about {match}", lambda: post(url, secret, body))
        for name, foul in expelled.items():
            self._mail_author(name, tournament, match, foul)

    def _mail_author(self, author: str, tournament: str, match: str, foul: Mapping[str, Any]) -> None:
        server, to = self._mail, self.addresses.find(author)
        if server is None or not to:
            return
        with contextlib.suppress(TooOften):
            self._limit.count(author)
            what = "crashed" if foul["cause"] == Cause.CRASHED else f"was expelled ({foul['cause']})"
            subject = f"{printable(self._title)}: your program {what} in {match}"
            page = f"{self._address}author/matches/{tournament}/{match}" if self._address else f"Your matches, {match}"
            text = f"{placeless(printable(foul.get('detail') or what))}\n\nSign in, and look at {page}\n"
            self._mails.add(f"mail about {match} to {author}", lambda: send_mail(server, to, subject, text))


def _read_secret(path: Path) -> bytes:
    """Return the key for the signatures of webhooks; make it if it is missing."""
    if not path.exists():
        write_whole(path, [f"{secrets.token_hex(32)}\n".encode()], mode=_OWNER_ONLY)
    return path.read_bytes().strip()
