"""A hostile host sends bytes that would run as code where they are unpickled: the dispatcher runs none of them.

These tests must run with every new version of Dask, because the protection depends on Dask's internals.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .processes import Processes

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Yield a scheduler with a host that does not run the referee's code."""
    found = Processes(tmp_path_factory.mktemp("cluster"), 0)
    keys = ("--tls-ca-file", str(found.keys / "ca.pem"), "--tls-cert", str(found.keys / "worker.pem"))
    alone = ("--no-nanny", "--dashboard-address", "127.0.0.1:0")
    found.hosts.append(found.start("hostile", "-m", "distributed.cli.dask_worker", found.address, *keys, *alone))
    yield found
    found.close()


@pytest.mark.parametrize(("how", "runs"), [("closed", set()), ("open", {"event", "exception"})])
@pytest.mark.long
def test_nothing_that_a_host_sends_is_run(tmp_path: Path, processes: Processes, how: str, runs: set[str]) -> None:
    """No result, event or exception runs code; with Dask's default settings, two of them would."""
    client = [sys.executable, "-m", "tests.cluster.hostile", processes.address, str(processes.keys), str(tmp_path), how]
    subprocess.run(client, cwd=ROOT, check=True, timeout=60, stderr=subprocess.DEVNULL)
    assert {path.name for path in tmp_path.iterdir()} == runs
