"""A PostgreSQL server of its own for tests, on a socket in a folder of its own.

The server refuses to run as root: then everything is done as the user `nobody`.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from ..needs import find_program, require

_START_S = "60"
_numbers = count(1)


@contextmanager
def server() -> Iterator[str]:
    """Run a server, and yield the address of its database; skip the test if there is none."""
    require("initdb")
    user = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    home = Path(tempfile.mkdtemp(prefix="referee-pg-", dir="/tmp"))  # the path of a socket must be short
    try:
        os.chown(home, user.pw_uid, user.pw_gid)
        data, log = home / "data", home / "log"
        _run(
            user, "initdb", "--pgdata", data, "--auth", "trust", "--username", "referee", "--no-sync", "--encoding=UTF8"
        )
        # a temporary server needs no disk
        options = f"-c listen_addresses='' -c unix_socket_directories={home} -c fsync=off"
        _run(user, "pg_ctl", "--pgdata", data, "--log", log, "--wait", "--timeout", _START_S, "-o", options, "start")
        try:
            yield f"postgresql://referee@/postgres?host={home}"
        finally:
            _run(user, "pg_ctl", "--pgdata", data, "--mode", "immediate", "--wait", "stop")
    finally:
        shutil.rmtree(home)


def new_schema(address: str) -> str:
    """Make an empty schema, and return the address of the database with it."""
    name = f"tournament{next(_numbers)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{address}&options=-csearch_path%3D{name}"


def _run(user: Any, program: str, *arguments: Any) -> None:
    """Run one of PostgreSQL's programs.

    Raises:
        CalledProcessError: it failed; what it said stands in the output of the test.
    """
    command = [str(find_program(program)), *map(str, arguments)]
    is_other = user.pw_uid != os.getuid()
    who: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if is_other else {}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/", env={"LC_ALL": "C.UTF-8"}, **who)
