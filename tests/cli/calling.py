"""Runs commands for tests: those that need a reactor in a process of their own, all others here, ten times as fast."""

import contextlib
import json
import subprocess
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from referee.cli.main import main

from ..warm import run

WITHOUT_REACTOR = frozenset(
    {
        *("audit", "cluster-keys", "doctor", "explain", "fairness", "join-tournament", "key", "list", "manifest"),
        *("new", "replay", "report", "rule", "token"),
    }
)


def referee(
    *arguments: str, cwd: Path | None = None, status: int = 0, is_stopped_early: bool = False
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, and check its exit status.

    Args:
        arguments: the command and its arguments.
        cwd: the folder that it is run in.
        status: exit status that it must have.
        is_stopped_early: whether the command fails before it would start its reactor.
    """
    if is_stopped_early or arguments[0] in WITHOUT_REACTOR:
        done = _in_this_process(*arguments, cwd=cwd or Path.cwd())
    else:
        done = run(arguments, cwd=cwd)
    assert status == done.returncode, done.stderr
    return done


def _in_this_process(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    with contextlib.chdir(cwd):
        done = CliRunner().invoke(main, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def played(done: "subprocess.CompletedProcess[str]") -> Any:
    """Return the one JSON object that stdout must be."""
    return json.loads(done.stdout)
