"""The vectors for programs that verify records: our reader and the verifier in JavaScript pass them."""

import json
from pathlib import Path
from typing import Any

import pytest

import protocol
from referee.record.schema import BadLine, read_line

from ..record import make_vectors
from .verifying import VERIFIER, run_node

VECTORS = make_vectors.records()


def test_the_vectors_are_up_to_date() -> None:
    """If they are not, run `python -m tests.record.make_vectors`."""
    assert make_vectors.text() == make_vectors.PATH.read_text()


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda vector: vector["line"])
def test_we_refuse_what_is_no_line(vector: dict[str, Any]) -> None:
    """Each vector has another form than a line, even if its content is one."""
    with pytest.raises(BadLine):
        read_line(vector["line"].encode())


@pytest.mark.parametrize("section", ["numbers", "texts"])
def test_we_read_what_is_one(section: str) -> None:
    """The vectors are numbers and strings in their only form."""
    for vector in VECTORS[section]:
        assert list(read_line(f'{{"n":{vector["text"]}}}'.encode()).fields) == ["n"]


def test_the_verifier_passes_all() -> None:
    assert _redone(make_vectors.PATH) == f"{sum(map(len, VECTORS.values()))} passed, 0 failed\n"


def test_the_verifier_knows_every_breach_of_the_wire(tmp_path: Path) -> None:
    """For each message of a player it finds the code, or another one that fits, and none for a valid one."""
    messages = json.loads((Path(protocol.__file__).parent / "vectors.json").read_bytes())["messages"]
    sent = [each for each in messages if each["from"] == "player"]
    path = tmp_path / "messages.json"
    path.write_text(json.dumps({"messages": sent}))
    assert _redone(path) == f"{len(sent)} passed, 0 failed\n"


def _redone(vectors: Path) -> str:
    done = run_node(Path(__file__).with_name("read_vectors.js"), VERIFIER.parent, vectors)
    assert not done.stderr
    return done.stdout
