"""Measures the pages of a large contest: when they exist, how many bytes are sent, how long a browser takes for each.

The contest is played once, into a folder that is used again in later runs. Then it is hosted like a contest that
another machine has played: with records, but without pages.
"""

import argparse
import asyncio
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

from msgspec import Struct

from referee.record.key import VARIABLE

from ..hosted import hosted, shown_until
from ..pages.browser import Page, start_browser

NAME = "league"
HOUSE = ("random", "greedy", "dag", "ldasg")
BROKEN = Path(__file__).parents[1] / "peers" / "broken" / "player.py"
FAULTS = {13: "illegal-move", 57: "exits", 121: "json", 163: "illegal-move"}
"""Number of an entrant -> its fault."""
HEAD = """\
name = "{name}"
game = "q"
seats = 2
tables = 6
sandbox = "off"
seed = 5
suspend_after = 10000
[format]
name = "ladder"
matches = {matches}
[time]
per_move = 20
start = 60
"""
WIDTHS = (390, 1400)
HEIGHT = 900
MOST_SENT = 300_000
"""Most bytes of a page that are sent."""
MOST_S = 0.5
"""Longest time of the report in a browser, in seconds."""
SOON_S = 10.0
"""Longest time from the start of the host to the first report."""
AT_ONCE = 250
"""Number of requests that one address sends at once."""
MOST_WAIT_S = 0.2
"""Longest time for which another address waits in the meantime."""
_PATIENCE_S = 1800.0


class Measured(Struct, frozen=True):
    """One page in a browser."""

    name: str
    sent: int
    """Number of bytes that are sent, compressed."""
    size: int
    """Number of bytes of the page."""
    elements: int
    seconds: float
    """Time from the request to a page that is drawn."""
    heights: list[int]
    """Height in pixels at each width."""
    is_too_high: bool
    """True if the page goes on below its content."""


def main(arguments: list[str]) -> int:
    """Host the contest and measure its pages.

    Returns:
        0 if the first report comes soon, and the report is small and quick.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks pages", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the contest, kept for the next time")
    parser.add_argument("--entrants", type=int, default=200)
    parser.add_argument("--matches", type=int, default=5000)
    parser.add_argument("--into", type=Path, help="folder that takes pictures of the pages")
    given = parser.parse_args(arguments)
    records = given.folder / "logs" / NAME
    os.environ[VARIABLE] = str(given.folder / "key")
    if not (records / f"{NAME}.jsonl").exists():
        play(given.folder, given.entrants, given.matches)
    forget_pages(records)
    (given.folder / "contest.toml").write_text(f'title = "Large"\n[[tournaments]]\nfile = "{NAME}.toml"\n')
    begun = time.monotonic()
    with hosted(given.folder) as (host, site):
        first_s = wait_for_report(site) - begun
        print(f"first report {first_s:.1f} s after the start", flush=True)
        shown_until(site, lambda card: card["state"] == "is over")
        print(f"last report {time.monotonic() - begun:.1f} s after the start; the host has {memory_mib(host.pid)} MiB")
        pages = list(measure(site, list_pages(records), given.into))
        waits = [print_crowd(site, what, paths) for what, paths in list_crowds(records)]
        print(f"after these pages, the host has {memory_mib(host.pid)} MiB")
    for page in pages:
        print(
            f"{page.name:40} {page.sent / 1000:7.0f} kB sent, {page.size / 1000:7.0f} kB, {page.elements:6} elements,"
            f" {page.seconds:5.2f} s, {' and '.join(map(str, page.heights))} px high at {WIDTHS}"
            f"{', higher than its content' if page.is_too_high else ''}"
        )
    print(f"records: {size_mb(records, '.jsonl'):.0f} MB; pages of matches: {size_mb(records / 'replays', ''):.1f} MB")
    report = pages[0]
    is_fine = first_s <= SOON_S and max(waits) <= MOST_WAIT_S and report.sent <= MOST_SENT and report.seconds <= MOST_S
    return int(not is_fine or any(page.is_too_high for page in pages))


def play(folder: Path, entrants: int, matches: int) -> None:
    """Play the contest: house players, four of them faulty, some with the longest names."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [HEAD.format(name=NAME, matches=matches)]
    for number in range(entrants):
        name = f"entrant{number:03}longname20"[:20] if number % 10 == 0 else f"bot{number:03}"
        fault = FAULTS.get(number)
        player = f"house:{HOUSE[number % 4]}" if fault is None else f"cmd:{sys.executable} {BROKEN} {fault}"
        lines.append(f"[[entrants]]\nname = \"{name}\"\nplayer = '{player}'\n")
    (folder / f"{NAME}.toml").write_text("".join(lines))
    command = [sys.executable, "-m", "referee", "tournament", f"{NAME}.toml", "--no-report"]
    subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL, check=True)


def forget_pages(records: Path) -> None:
    """Remove everything but the records."""
    for path in records.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix != ".jsonl":
            path.unlink()


def wait_for_report(site: str) -> float:
    """Wait for the first report, and return the time when it existed."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{site}/tournaments/{NAME}/report.html", timeout=60):
                return time.monotonic()
        except HTTPError:
            time.sleep(0.1)
    raise TimeoutError("there is no report")


def list_pages(records: Path) -> list[str]:
    """Return the addresses of the pages that are measured, the report first."""
    matches = sorted(path.stem for path in records.glob(f"{NAME}-*.jsonl"))
    path = f"tournaments/{NAME}"
    return [
        f"{path}/report.html",
        f"{path}/crosstable.html",
        f"{path}/matches.html",
        f"{path}/entrants/bot013.html",
        f"{path}/entrants/bot199.html",
        f"{path}/replays/{matches[-1]}.html",
        f"{path}/replays/{matches[0]}.html",
        "",
        "search?q=bot",
    ]


def measure(site: str, paths: list[str], into: Path | None) -> Iterator[Measured]:
    """Yield what each page costs; one that does not exist is left out.

    Args:
        site: address of the site.
        paths: paths of the pages.
        into: folder that takes pictures; None: none are taken.
    """
    with tempfile.TemporaryDirectory() as profile:
        driver = start_browser(Path(profile))
        try:
            page = Page(driver)
            page.visit(f"{site}/search?q=nothing")  # so that the browser has started completely
            for path in paths:
                try:
                    sent, size = fetch(f"{site}/{path}")
                except HTTPError:
                    continue
                yield _measure_page(page, site, path, sent, size, into)
        finally:
            driver.quit()


def fetch(address: str) -> tuple[int, int]:
    """Return the number of bytes that are sent for a page, and of the page."""
    request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        body, is_packed = answer.read(), answer.headers["Content-Encoding"] == "gzip"
    return len(body), len(gzip.decompress(body)) if is_packed else len(body)


def _measure_page(page: Page, site: str, path: str, sent: int, size: int, into: Path | None) -> Measured:
    seconds, heights, is_too_high, name = [], [], False, path.rpartition("/")[2] or "home"
    for width in WIDTHS:
        page.emulate(width, HEIGHT)
        begun = time.monotonic()
        page.visit(f"{site}/{path}")
        page.run("return document.body.getBoundingClientRect().height")
        seconds.append(time.monotonic() - begun)
        height, end = page.run(
            "return [document.documentElement.scrollHeight,"
            " Math.max(...[...document.body.children].map((part) => part.getBoundingClientRect().bottom))]"
        )
        heights.append(int(height))
        is_too_high |= height > max(HEIGHT, end + 100)
        for is_dark in (False, True) if into is not None else ():
            assert into is not None
            into.mkdir(parents=True, exist_ok=True)
            page.emulate(width, HEIGHT, is_dark=is_dark)
            page.picture(into / f"{name}-{width}-{'dark' if is_dark else 'light'}.png")
    elements = page.run("return document.getElementsByTagName('*').length")
    return Measured(name, sent, size, int(elements), min(seconds), heights, is_too_high)


def list_crowds(records: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what one address requests at once: all boards of the longest match, and pages never requested before."""
    matches = sorted(records.glob(f"{NAME}-*.jsonl"), key=lambda path: path.stat().st_size)
    replays = f"tournaments/{NAME}/replays"
    yield "boards of turns", [f"{replays}/{matches[-1].stem}.html?turn={turn}" for turn in range(AT_ONCE)]
    middle = len(matches) // 2
    yield "new pages of matches", [f"{replays}/{path.stem}.html" for path in matches[middle : middle + AT_ONCE]]


def print_crowd(site: str, what: str, paths: list[str]) -> float:
    """Ask for many pages at once from one address, and return how long another address waits in the meantime."""
    waits, all_s = asyncio.run(_wait_beside(site, paths))
    print(f"{len(paths)} {what} at once in {all_s:.1f} s: another address waits {max(waits):.3f} s at most", flush=True)
    return max(waits)


async def _wait_beside(site: str, paths: list[str]) -> tuple[list[float], float]:
    begun, waits = time.monotonic(), list[float]()
    crowd = [asyncio.create_task(_ask(site, path, "127.0.0.1")) for path in paths]
    while not all(task.done() for task in crowd):
        for path in ("search?q=bot", f"tournaments/{NAME}/report.html", f"tournaments/{NAME}/matches.html?foul=any"):
            waits.append(await _ask(site, path, "127.0.0.2"))
            await asyncio.sleep(0.05)
    await asyncio.gather(*crowd)
    return waits, time.monotonic() - begun


async def _ask(site: str, path: str, address: str) -> float:
    """Ask for a page from an address of this machine, and return the seconds until its first bytes."""
    port, begun = int(site.rpartition(":")[2]), time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    writer.write(f"GET /{path} HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    await reader.read(1)
    waited_s = time.monotonic() - begun
    await reader.read()
    writer.close()
    return waited_s


def memory_mib(process: int) -> int:
    """Return the memory of a process that is its own or shared, in MiB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def size_mb(folder: Path, ending: str) -> float:
    """Return the size of the files of a folder with an ending, in MB."""
    return sum(path.stat().st_size for path in folder.glob(f"*{ending}")) / 1e6 if folder.is_dir() else 0.0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
