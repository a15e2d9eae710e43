"""The sample players, made by `referee new` and built: once for all workers of a run."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.cli.commands.new import SAMPLES, make_player
from referee.programs.build import Builds
from referee.programs.confining import Confinement
from referee.programs.control_groups import find_control_groups
from referee.programs.player_spec import Launch, read_folder

from ..needs import require, require_sandbox

TOOLS = {
    "c": ("gcc", "make"),
    "go": ("go",),
    "java": ("javac",),
    "javascript": ("node",),
    "rust": ("cargo",),
}
"""Language -> the programs that its sample needs and that a machine may lack."""

Sample = Callable[[str], Launch]
"""Language -> how its sample is started, made and built."""


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Return a function that makes and builds the sample of a language, in a folder that all workers share."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "samples"
    root.mkdir(exist_ok=True)
    builds = Builds(root / ".builds", Confinement(sandbox=require_sandbox(), groups=find_control_groups()))

    def _made(language: str) -> Launch:
        require(*TOOLS.get(language, ()))
        folder = root / language.replace("-", "")
        with (root / f".{language}").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                make_player(language, folder)
                builds.build(read_folder(folder))
                _keep(folder / "player.toml")
        return read_folder(folder)

    return _made


def _keep(toml: Path) -> None:
    """Remove `build` from player.toml, so that nobody builds it again during a match."""
    lines = toml.read_text().splitlines(keepends=True)
    toml.write_text("".join(line for line in lines if not line.startswith("build = ")))


@pytest.fixture(params=sorted(SAMPLES))
def language(request: pytest.FixtureRequest) -> str:
    """Return each language."""
    return str(request.param)
