"""`referee key`, `token` and `cluster-keys`: the key that seals records, the tokens of players, and certificates."""

import os
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import rich_click as click

from ...cluster.security import MAX_DAYS, MadeKeys, make_keys
from ...net.links.tokens import add_tokens
from ...record.key import BadKey, Sealer, default_path, load_key, make_key, public_pem
from ..common import FILE, FOLDER, KEY_UNSET, PATH, Count, json_option, out, print_json

_file = click.option("--key", "path", type=PATH, help=f"File of the key. {KEY_UNSET}")

_BLOCKED = '["run_function", "feed", "register_scheduler_plugin", "restart", "terminate"]'
"""Calls of Dask's scheduler that the referee never makes. Blocking them prevents accidents, not attacks."""
SCHEDULER = (
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=0 DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL=20s",
    f"DASK_DISTRIBUTED__SCHEDULER__BLOCKED_HANDLERS={shlex.quote(_BLOCKED)}",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL=500ms",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL=5s",
    "dask scheduler --protocol tls --port 8786 --dashboard-address 127.0.0.1:8787",
    "--tls-ca-file ca.pem --tls-cert scheduler.pem --tls-key scheduler.pem",
)
"""Command that starts a scheduler in the folder of its certificates."""
_FILES = {
    "the host of the scheduler": ("ca.pem", "scheduler.pem"),
    "each host that plays": ("ca.pem", "worker.pem"),
    "the machine that runs the tournament": ("ca.pem", "client.pem"),
}


@click.group(epilog="Example:  referee key show --json")
def key() -> None:
    """Make, show and export the key that seals records.

    The referee signs the end of every record with its own Ed25519 key, made on first use. An auditor compares the
    public key with the one that the organiser published: `referee audit logs --public-key PUBLIC`.
    """


@key.command("make", epilog="Example:  referee key make --key contest.pem")
@_file
@json_option
def make(path: Path | None, as_json: bool) -> None:
    """Make a new key; an existing key is never overwritten.

    Exit status: 0 made, 1 the key exists already or the file can't be written, 2 usage error.
    """
    _show(*_find_key(path, make_key), as_json=as_json)


@key.command("show", epilog="Example:  referee key show")
@_file
@json_option
def show(path: Path | None, as_json: bool) -> None:
    """Show the public key in hex, and the path of the private key.

    Exit status: 0 shown, 1 there is no key, 2 usage error.
    """
    _show(*_find_key(path, load_key), as_json=as_json)


@key.command("export", epilog="Example:  referee key export > referee.pub")
@_file
def export(path: Path | None) -> None:
    """Print the public key in PEM, so that you can publish it: `referee audit --public-key FILE` reads this format.

    Exit status: 0 printed, 1 there is no key, 2 usage error.
    """
    print(public_pem(_find_key(path, load_key)[1]), end="")


def _find_key(path: Path | None, get: Callable[[Path], Sealer]) -> tuple[Path, str]:
    where = path or default_path(os.environ)
    try:
        return where, get(where).public
    except BadKey as error:  # exit with status 1, not 2: the command itself was right
        raise click.ClickException(str(error)) from None


def _show(path: Path, public: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"public": public, "file": str(path)})
        return
    out.say(f"public key  {public}")
    out.say(f"stored in   {path}")


@click.command("cluster-keys", epilog="Example:  referee cluster-keys keys --days 3 --host lab1 --host 10.0.0.1")
@click.argument("folder", type=FOLDER, metavar="DIR")
@click.option(
    "--days",
    type=Count(1, MAX_DAYS),
    default=7,
    show_default=True,
    help="Days of validity. A certificate can't be revoked.",
)
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Name or address of a host, to write into the certificates; repeatable. (Default: none)",
)
@json_option
def cluster_keys(folder: Path, days: int, hosts: tuple[str, ...], as_json: bool) -> None:
    """Make the certificates of a cluster in DIR, and show which host gets which file.

    Make new certificates for each event: a person who has one can run programs on every host of the cluster. The key of
    the certificate authority is not stored, so nobody can make more certificates. No file is ever replaced.

    Exit status: 0 made, 2 there are certificates already, or they can't be written.
    """
    made = make_keys(folder, days=days, hosts=hosts, now=datetime.now(UTC))
    if as_json:
        print_json({"folder": str(folder), "until": made.until, "files": _FILES, "scheduler": " ".join(SCHEDULER)})
        return
    _show_certificates(made)


def _show_certificates(made: MadeKeys) -> None:
    click.echo(f"certificates in {made.folder}, valid until {made.until}; they can't be revoked\n")
    width = max(map(len, _FILES))
    for where, names in _FILES.items():
        click.echo(f"{where + ':':<{width + 1}}  {' '.join(names)}")
    click.echo("\nstart the scheduler in the folder of its files:\n")
    click.echo(" \\\n  ".join(SCHEDULER))
    click.echo("\nthen on each host that plays, and on the machine that runs the tournament:\n")
    click.echo("referee worker tls://HOST:8786 --tables 2 --folder worker --keys DIR")
    click.echo("referee tournament FILE.toml --cluster tls://HOST:8786 --keys DIR")


@click.command("token", epilog="Example:  referee token ada bob carl --file players.toml")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--file",
    "path",
    type=FILE,
    default=Path("players.toml"),
    show_default=True,
    help="File of the players; made if missing. It contains only the hashes of the tokens.",
)
@click.option(
    "--renew", is_flag=True, help="Replace the token of a player who is in the file; the old token becomes invalid."
)
@json_option
def token_command(names: tuple[str, ...], path: Path, renew: bool, as_json: bool) -> None:
    """Make a token for each player NAME and print it. A token can't be shown again.

    Send every author their token; the player reads it from the environment variable REFEREE_TOKEN. `referee serve
    --players FILE` then accepts only these players, under their names in the file, and seats them in the file's order.

    Exit status: 0 made, 2 a name or the file can't be used.
    """
    tokens = add_tokens(path, list(dict.fromkeys(names)), may_renew=renew)
    if as_json:
        print_json({"file": str(path), "tokens": tokens})
        return
    width = max(map(len, tokens))
    for name, token in tokens.items():
        click.echo(f"{name:<{width}}  {token}")
