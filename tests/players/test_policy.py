"""The player that teaches itself: it learns, and then plays a match."""

import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

import sample_players
from referee.cli.commands.new import make_player

from ..cli.calling import played, referee

NETWORK = Path(sample_players.__file__).parent / "python_policy" / "network.py"


def network_module() -> Any:
    """Return the module of the network, which is in the player's folder."""
    spec = spec_from_file_location("network", NETWORK)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_ends_well_becomes_likely() -> None:
    """After lessons, the rewarded action of each observation is likely, and an illegal one never is."""
    module, source = network_module(), np.random.default_rng(1)
    network = module.Network.fresh(2, 4, source)
    mask = np.array([1, 1, 1, 0], np.int8)
    for _ in range(200):
        choices = []
        for _ in range(20):
            wanted, action = int(source.integers(2)), int(source.integers(3))
            observation = np.eye(2, dtype=np.float32)[wanted]
            choices.append(module.Choice(observation, mask, action, 1 if action == wanted else -1))
        network.learn(choices)
    for wanted, observation in enumerate(np.eye(2, dtype=np.float32)):
        chances = network.chances(observation, mask)
        assert chances[wanted] > 0.9
        assert chances[3] == 0


def test_a_trained_player_plays(tmp_path: Path) -> None:
    """Its folder can be trained in place, and the program plays by the saved network."""
    make_player("python-policy", tmp_path / "ada")
    command = [sys.executable, "train.py", "quincy", "0"]
    trained = subprocess.run(command, cwd=tmp_path / "ada", capture_output=True, text=True, check=False)
    assert (trained.returncode, trained.stderr) == (0, "")
    *tests, saved = trained.stdout.splitlines()
    assert saved == "saved quincy-2.npz and quincy-2.svg after 320 games"
    form = r"\d+ s, (\d+) games: mean reward [+-][01]\.\d\d ± [01]\.\d\d against (random|greedy)"
    assert [games for line in tests for games, _ in re.findall(form, line)][::2] == [str(32 * n) for n in range(11)]
    curves = ET.parse(tmp_path / "ada/quincy-2.svg").getroot().iter("{http://www.w3.org/2000/svg}polyline")
    assert [len(curve.attrib["points"].split()) for curve in curves] == [11, 11]
    found = played(referee("play", "quincy", "ada/", "house:random", "--json", cwd=tmp_path))
    assert (found["result"]["fouls"], found["result"]["void"]) == ([], None)
