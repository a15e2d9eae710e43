"""`referee key`: the key that seals records."""

import os
from collections.abc import Callable
from pathlib import Path

import rich_click as click

from ...record.key_file import BadKey, default_path, load_key, make_key, public_pem
from ...record.seal import Sealer
from ..common import PATH, json_option, out, print_json

_file = click.option("--key", "path", type=PATH, help="Its file, if not the usual one.")


@click.group(epilog="Example:  referee key show --json")
def key() -> None:
    """Make, show and export the key that seals records.

    The referee signs the end of every record with an Ed25519 key of its own, made on first use. Whoever audits records
    compares the public key with the one that the organiser published: `referee audit logs --key PUBLIC`.
    """


@key.command("make", epilog="Example:  referee key make --key contest.pem")
@_file
@json_option
def make(path: Path | None, as_json: bool) -> None:
    """Make a new key; an existing one is never overwritten.

    Exit status: 0 made, 1 there is one already or the file can't be written, 2 used wrongly.
    """
    _show(*_found(path, make_key), as_json=as_json)


@key.command("show", epilog="Example:  referee key show")
@_file
@json_option
def show(path: Path | None, as_json: bool) -> None:
    """Show the public key, in hex, and where the private one is kept.

    Exit status: 0 shown, 1 there is none, 2 used wrongly.
    """
    _show(*_found(path, load_key), as_json=as_json)


@key.command("export", epilog="Example:  referee key export > referee.pub")
@_file
def export(path: Path | None) -> None:
    """Print the public key in PEM, to publish it: `referee audit --key FILE` takes it.

    Exit status: 0 printed, 1 there is none, 2 used wrongly.
    """
    print(public_pem(_found(path, load_key)[1]), end="")


def _found(path: Path | None, get: Callable[[Path], Sealer]) -> tuple[Path, str]:
    """Return a key's file and its public part."""
    where = path or default_path(os.environ)
    try:
        return where, get(where).public
    except BadKey as error:  # here, that there is one or none is what the command is to tell: nothing was asked wrongly
        raise click.ClickException(str(error)) from None


def _show(path: Path, public: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"public": public, "file": str(path)})
        return
    out.say(f"public key  {public}")
    out.say(f"kept in     {path}")
