"""Sends ten thousand hostile requests to a hosted contest on its own socket, while it plays for honest visitors.

No request may crash it, cause an error of its own, or keep honest visitors or players waiting for long.
"""

import argparse
import asyncio
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from threading import Thread

from msgspec import Struct, field

from referee.cli.commands.fairness import measure_fairness
from referee.record.key import VARIABLE
from referee.web.contest.contest_file import CONTEST
from referee.web.guarded_routes import SESSION
from referee.web.submissions.archive import MAX_PACKED_BYTES
from referee.web.submissions.store import Store

from ..hosted import Person, hosted, shown_until
from .kills import built, prepared

CONTEST_FILE = 'title = "Besieged"\nspectators = "board only"\npractice = true\n[[tournaments]]\nfile = "kills.toml"\n'
AT_A_TIME = 48
ADDRESSES = 40
PATIENCE_S = 40.0
"""Time limit of a hostile visitor, longer than the site's limit for it."""
SLOW_S = 12.0
HONEST_PAUSE_S = 0.1
LINES, LAST = 40, 1500
"""Largest complaint, in lines and in characters."""
MOST_WAIT_S = 5.0
"""Time limit of an honest visitor, on a machine that is busy with everything here."""

PATHS = (
    *(
        "/",
        "/live",
        "/search?q=a",
        "/api/contest",
        "/api/live",
        "/api/openapi.json",
        "/key.pem",
        "/sign-in",
        "/sign-up",
    ),
    *("/author", "/author/practice", "/author/queue", "/author/versions/1", "/author/matches", "/author/hand-in"),
    *("/organiser", "/organiser/log", "/organiser/contest.tar", "/organiser/authors", "/organiser/queue"),
    *("/organiser/tournaments/kills/pause", "/organiser/tournaments/kills/rule", "/submissions", "/matches"),
    *("/tournaments/kills/report.html", "/tournaments/kills/heads", "/tournaments/kills/kills.jsonl"),
    *("/tournaments/kills/../../authors.toml", "/tournaments/kills/..%2f..%2fkey", "/tournaments/%2e%2e/key"),
    *("/tournaments/kills//etc/passwd", "/tournaments/kills/replays/%00.html", "/tournaments/kills/.lock"),
    *("//", "/%", "/%zz", "/%ff%fe", "/%0d%0aX-A:%20b", "/\x00", "*", "http://other.host/", "/?" + "a" * 8000),
    *("/author/versions/99999999999999999999", "/author/versions/-1", "/author/matches/..%2f..%2fdeeds.log"),
    *("/search?q=" + "%f0%9f%92%a9" * 500, "/search?q=%00", "/api/search?q=" + "'\"<script>" * 50),
)
METHODS = ("GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "X" * 99)
HEADERS = (
    *(
        "Host: \xff",
        "Host: a\r\nHost: b",
        "Content-Length: -1",
        "Content-Length: 1e9",
        "Content-Length: 5\r\nContent-Length: 6",
    ),
    *("Transfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 4", "Transfer-Encoding: gzip"),
    *(
        "Expect: 100-continue",
        "Upgrade: websocket\r\nConnection: Upgrade",
        "Range: bytes=0-0,-1",
        "If-None-Match: " + "x" * 999,
    ),
    *("Content-Type: multipart/form-data", "Content-Type: multipart/form-data; boundary=" + "b" * 300),
    *(
        "Content-Type: application/json",
        "Content-Type: \xff/\xff",
        "Accept-Encoding: " + "gzip," * 200,
        "X: " + "y" * 9000,
    ),
    *(
        "Authorization: Bearer \xff\xff",
        "Authorization: Basic Og==",
        "X-Forwarded-For: 127.0.0.1",
        "X-Forwarded-Proto: https",
    ),
    *("A: b\r\n" * 400 + "C: d", " folded", ":", "no colon", "Cookie: " + "; ".join(f"c{n}=v" for n in range(300))),
)
BODIES = (
    *(
        b"",
        b"",
        b"a=b",
        b"form_token=x&name=<script>",
        b"&" * 9000,
        b"=" * 9000,
        b"%" * 9000,
        b"\x00" * 3000,
        b"{" * 9000,
    ),
    *(
        b"--x\r\n" * 300,
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb',
        b"FFFFFFFFFFFFFFFF\r\n",
        b"0\r\n\r\n",
    ),
    *(b"\x1f\x8b\x08" + bytes(2000), b'{"name": "' + b"a" * 20_000, b"[" * 20_000, b"token=" + b"A" * 15_000),
)
"""Largest body, also with `Transfer-Encoding: chunked`."""


class Found(Struct):
    """The findings."""

    statuses: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    honest_s: list[float] = field(default_factory=list)


class Siege:
    """Hostile visitors.

    Args:
        port: of the site.
        sessions: stolen cookies, and cookies of people who have signed out.
        token: of an author that turned hostile.
        seed: of all random choices.
        found: takes the findings.
    """

    def __init__(self, port: int, sessions: Sequence[str], token: str, seed: int, found: Found) -> None:
        self._port, self._token, self._found = port, token, found
        self._chance = random.Random(seed)
        self._sessions = (*sessions, "", "fixed", "\xff", "a" * 4000, "../../key", "None")
        self._ways: Sequence[tuple[int, Callable[..., Awaitable[None]]]] = (
            (300, self._odd),
            (20, self._pipelined),
            (10, self._half),
            (10, self._no_http),
            (4, self._slow_sender),
            (4, self._slow_reader),
            (4, self._deserted_stream),
            (1, self._oversized),
        )

    async def visit(self, count: int) -> None:
        """Send a number of requests, some at a time."""
        left = iter(range(count))

        async def _visitor() -> None:
            weights, ways = zip(*self._ways, strict=True)
            for _ in left:
                (way,) = self._chance.choices(ways, weights)
                try:
                    async with asyncio.timeout(PATIENCE_S):
                        await self._connected(way)
                except TimeoutError:
                    self._found.statuses["kept waiting, as it kept us"] += 1
                except OSError:
                    self._found.statuses["cut"] += 1

        await asyncio.gather(*(_visitor() for _ in range(AT_A_TIME)))

    async def _connected(self, way: Callable[..., Awaitable[None]]) -> None:
        own = f"127.0.{1 + self._chance.randrange(ADDRESSES)}.1"
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, local_addr=(own, 0))
        try:
            await way(reader, writer)
        finally:
            writer.transport.abort()

    def _request(self, *, closes: bool = True) -> bytes:
        """Return a request that no browser sends."""
        choose = self._chance.choice
        headers = [choose(HEADERS) for _ in range(choose((0, 0, 1, 2)))]
        headers += [f"Cookie: {SESSION}={choose(self._sessions)}"]
        headers += [f"Authorization: Bearer {self._token}"] if self._chance.random() < 0.1 else []
        body = choose(BODIES)
        headers += [f"Content-Length: {len(body)}"] if self._chance.random() < 0.7 else []
        headers += ["Connection: close"] if closes else []
        head = "\r\n".join(
            (f"{choose(METHODS)} {choose(PATHS)} {choose(('HTTP/1.1', 'HTTP/1.0', 'HTTP/9'))}", *headers)
        )
        return head.encode("latin-1") + b"\r\n\r\n" + body

    async def _odd(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self._request())
        writer.write_eof()
        await self._heard(reader)

    async def _pipelined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"".join(self._request(closes=False) for _ in range(20)) + self._request())
        writer.write_eof()
        await self._heard(reader)

    async def _half(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        whole = self._request()
        writer.write(whole[: self._chance.randrange(1, len(whole))])
        await writer.drain()
        self._found.statuses["left in the middle"] += 1

    async def _no_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(
            self._chance.choice((b"\x16\x03\x01\x02\x00\x01\x00", b"\x00" * 500, b"\r\n" * 500, os.urandom(999)))
        )
        writer.write_eof()
        await self._heard(reader)

    async def _slow_sender(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for octet in self._request()[: int(SLOW_S / 0.2)]:
            writer.write(bytes([octet]))
            await asyncio.sleep(0.2)
        self._found.statuses["sent slowly"] += 1

    async def _slow_reader(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET /tournaments/kills/report.html HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        await asyncio.sleep(SLOW_S)
        self._found.statuses["read nothing"] += 1

    async def _deserted_stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET /api/live/events HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.sleep(SLOW_S)
        self._found.statuses["let events come, and read none"] += 1

    async def _oversized(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand in a body that is too large, with a valid token or without."""
        token = self._chance.choice((self._token, "none"))
        size = MAX_PACKED_BYTES + (1 << 20)
        writer.write(
            f"PUT /submissions HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Length: {size}\r\n\r\n".encode()
        )
        for _ in range(size >> 20):
            writer.write(bytes(1 << 20))
            await writer.drain()
        await self._heard(reader)

    async def _heard(self, reader: asyncio.StreamReader) -> None:
        """Read until the connection ends, and count each answer."""
        data = bytearray()
        while part := await reader.read(1 << 16):
            data += part
            if data.startswith(b"HTTP/1.1 200 OK") and b"event-stream" in data[:2000]:
                break
        first = data[:12].decode("latin-1").split(" ")[-1] if data.startswith(b"HTTP/1.") else "no answer"
        self._found.statuses[first] += 1
        for told in (b"HTTP/1.1 500", b"HTTP/1.0 500", b"Traceback (most", b"<script>alert", b"root:x:0"):
            if told in data:
                self._found.faults.append(f"{told!r} in {bytes(data[:300])!r}")


def main(arguments: list[str]) -> int:
    """Host a contest, attack it, and print the findings.

    Returns:
        0 if the site survived, served honest visitors in time, and no player was treated unfairly.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks hostile_visitors", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        player, terms = built(Path(folder, "player")), argparse.Namespace(tables=1, matches=5000)
        path = prepared(Path(folder, "contest"), player, terms, "anew")
        os.environ[VARIABLE] = str(path.with_name("key"))
        path.with_name(CONTEST).write_text(CONTEST_FILE)
        found = Found()
        _besieged(path.parent, given.requests, given.seed, found)
        fairness = measure_fairness([path.parent / "logs" / "kills"]).total
        with_versions = Store(path.parent / "submissions")
        handed_in = [name for name in ("ada", "bob") if with_versions.versions(name)]
        with_versions.close()
    print("answers:", ", ".join(f"{what} {times}" for what, times in found.statuses.most_common()))
    waits = sorted(found.honest_s)
    print(
        f"honest visitors: {len(waits)} pages, half within {waits[len(waits) // 2]:.3f} s, all within {waits[-1]:.2f} s"
    )
    print(f"matches: {fairness.answers} answers, lag {fairness.lag.p99_ms} ms (p99), {fairness.lag.most_ms} ms at most")
    if waits[-1] > MOST_WAIT_S:
        found.faults.append("an honest visitor waited for too long")
    if fairness.late or fairness.voided:
        found.faults.append(f"players: {len(fairness.late)} expelled for time, {len(fairness.voided)} verdicts voided")
    found.faults += [f"{name} has versions that nobody packed" for name in handed_in]
    for fault in found.faults:
        print("FAULT:", fault)
    return int(bool(found.faults))


def _besieged(contest: Path, requests: int, seed: int, found: Found) -> None:
    ada, bob = (Person(contest, "authors.toml", name) for name in ("ada", "bob"))
    ann = Person(contest, "organisers.toml", "ann")
    with hosted(contest) as (host, site):
        said = list[str]()
        assert host.stderr is not None
        listening = Thread(target=said.extend, args=(host.stderr,), daemon=True)
        listening.start()
        for person in (ada, bob, ann):
            person.sign_in(site)
        shown_until(site, lambda cup: cup["reported"])
        stolen = [ada.cookie(SESSION), bob.cookie(SESSION)]
        bob.send("author", "sign-out")
        honest = Thread(target=_look_on, args=(ann, found, over := []), daemon=True)
        honest.start()
        begun = time.monotonic()
        asyncio.run(Siege(int(site.rpartition(":")[2]), stolen, ada.token, seed, found).visit(requests))
        print(f"{requests} requests or more in {time.monotonic() - begun:.0f} s")
        over.append(True)
        honest.join()
        status = Path(f"/proc/{host.pid}/status").read_text()
        print(f"the host's memory: {int(status.partition('VmRSS:')[2].split()[0]) // 1024} MiB")
        if host.poll() is not None:
            found.faults.append(f"the host ended with {host.returncode}")
        host.send_signal(signal.SIGTERM)
        listening.join()
    found.faults += [f"the host said {times} times: {words}" for words, times in _complaints(said).items()]


def _complaints(said: Sequence[str]) -> Counter[str]:
    """Return a host's messages about its own faults, each with its last words."""
    begins = [at for at, line in enumerate(said) if "Traceback" in line or "page-failed" in line or "Unhandled" in line]
    return Counter("".join(said[at : at + LINES])[-LAST:] for at in begins)


def _look_on(ann: Person, found: Found, over: list[bool]) -> None:
    """Visit the site as its organiser does, until the contest is over."""
    while not over:
        for path in ("", "live", "organiser", "tournaments/kills/report.html"):
            begun = time.monotonic()
            try:
                ann.open(path)
            except OSError as error:
                found.faults.append(f"an honest visitor of /{path} got {error!r}")
            found.honest_s.append(time.monotonic() - begun)
            time.sleep(HONEST_PAUSE_S)
