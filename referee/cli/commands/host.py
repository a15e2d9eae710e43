"""`referee host`: host a contest with its web site."""

import sys
from pathlib import Path

import rich_click as click

from ...app.services import RefereeOptions, find_sealer
from ...plugins import installed
from ...record.key import public_pem
from ...text import counted
from ...web.contest.contest_file import CONTEST, read_contest, write_example
from ...web.contest.hosting import LISTEN, host
from ...web.contest.public_archive import write_archive
from ..common import FILE, FOLDER, console, out
from ..options import hosting_options

# Each tournament has a process of its own. In a shared reactor, the load of one tournament could make the players of
# another late.
PROGRAM = (sys.executable, "-m", __name__.partition(".")[0])
"""Command that starts this program again, for work that runs in a process of its own."""


@click.command("host", epilog="Example:  referee host --example contest && referee host contest")
@click.argument("folder", type=FOLDER)
@click.option("--example", is_flag=True, help="Only write an example contest of house players to FOLDER.")
@click.option("--check", is_flag=True, help="Only check contest.toml and the files of its tournaments.")
@click.option(
    "--listen",
    "address",
    metavar="ENDPOINT",
    default=LISTEN,
    show_default=True,
    help="Address of the site, a Twisted endpoint.",
)
@click.option("--behind-proxy", is_flag=True, help="Trust X-Forwarded-For, which a web server in front of this sets.")
@click.option("--archive", type=FILE, help="Only write a zip file with everything that is public.")
@hosting_options
def host_command(
    folder: Path,
    address: str,
    *,
    example: bool,
    check: bool,
    behind_proxy: bool,
    archive: Path | None,
    running: RefereeOptions,
) -> None:
    """Host the contest of FOLDER: play its tournaments, and show them to everybody in a browser.

    FOLDER has a file contest.toml, which names the tournaments and their start times. Each tournament is played in a
    process of its own. After a crash, the same command continues all of them.

    Authors submit programs on the site, or with `referee submit`. Each program is checked here; --sandbox and --memory
    apply to these checks. For matches, the tournament's file sets both.

    Exit status: 0 stopped, 1 the contest can't continue, 2 a file or the command is wrong.
    """
    if example:
        for path in write_example(folder):
            out.say(f"wrote {path}")
        return
    contest = read_contest(folder, installed())
    if check:
        for scheduled in contest.tournaments:
            start = "at once" if scheduled.start is None else f"from {scheduled.start:%F %R} UTC"
            out.say(f"{scheduled.name}: {start}")
        for name, warning in contest.warnings():
            console.say(f"{name}: {warning}")
        if not contest.tournaments:
            out.say(f'{folder / CONTEST} names no tournament; [[tournaments]] with file = "cup.toml" adds one')
        return
    if archive is not None:
        key = public_pem(find_sealer(running.key, running.say).public).encode()
        out.say(f"wrote {archive}: {counted(write_archive(contest, key, archive), 'file')}")
        return
    host(contest, running, PROGRAM, address, is_behind_proxy=behind_proxy)
