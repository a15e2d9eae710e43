"""The sample players: they read every message, play every game by its rules, and survive the end of any match."""

import json
import os
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

import protocol
from referee.cli.commands.new import SAMPLES, sample_files
from referee.games.base import seats_text
from referee.plugins import load
from referee.programs.player_spec import Launch, resolve_command

from ..cli.calling import played, referee
from .api import PATIENCE_S, SEED_VARIABLE, AuthorApi
from .conftest import Sample

GAMES = load().games
VECTORS = json.loads((Path(protocol.__file__).parent / "vectors.json").read_text())["messages"]
REFUSED = {
    "empty",
    "truncated",
    "not-msgpack",
    "not-a-map",
    "key-not-string",
    "type-not-allowed",
    "too-deep",
    "too-long",
}
"""Codes that a client finds while reading; the referee finds the others, about messages and their order."""
AS_BYTES = {"c": {"invalid UTF-8", "half of a surrogate pair"}}
"""Invalid texts that a language accepts all the same: a string in C consists of bytes."""
WITHOUT_CODEC = {"python"}
"""Languages whose codec is a library's, with tests of its own."""
CHOOSE = {
    "c": "void choose(const char *game, const struct value *view, struct buffer *move) {",
    "go": "func choose(game string, view Map) Map {",
    "java": "Map<String, Object> choose(String game, Map<String, Object> view) {",
    "javascript": "function choose(game, view) {",
    "python": "def choose(game: str, view: dict[str, Any]) -> Any:",
    "python-socket": "def choose(game: str, view: dict[str, Any]) -> Any:",
    "rust": "fn choose(game: &str, view: &Value) -> Value {",
}
"""The function that an author replaces, by language."""
MOST_MOVES = 25
"""Moves of the sample in a match: enough for every kind of move."""


def argv(launch: Launch, *words: str) -> list[str]:
    """Return the command line of a sample with another strategy."""
    return [*resolve_command(launch), *words]


def echoed(launch: Launch, frames: list[str]) -> list[str]:
    """Return a sample's reading of frames, all in hex."""
    done = subprocess.run(
        argv(launch, "echo"),
        cwd=launch.folder,
        input="".join(f"{frame}\n" for frame in frames),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def meaning(frame: str) -> Any:
    """Return the value of a frame in hex; its prefix must be its length."""
    data = bytes.fromhex(frame)
    assert len(data) - 4 == int.from_bytes(data[:4], "big")
    return msgspec.msgpack.decode(data[4:])


@pytest.mark.parametrize("language", sorted(SAMPLES.keys() - WITHOUT_CODEC))
def test_every_vector_is_read_and_written(sample: Sample, language: str) -> None:
    """A valid message comes back with the same meaning; an invalid one is refused."""
    exempt = AS_BYTES.get(language, set())
    good = [vector for vector in VECTORS if "code" not in vector]
    bad = [vector for vector in VECTORS if vector.get("code") in REFUSED and vector["name"] not in exempt]
    launch = sample(language)
    back = echoed(launch, [vector["hex"] for vector in good])
    assert [meaning(vector["hex"]) for vector in good] == [meaning(frame) for frame in back]
    told = echoed(launch, [vector["hex"] for vector in bad])
    assert [vector["name"] for vector, line in zip(bad, told, strict=True) if not line.startswith("error: ")] == []


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_the_function_to_replace_is_the_same_in_every_language(language: str) -> None:
    """It gets the name of the game and the view, and returns the move; in C, through a third argument."""
    with sample_files(SAMPLES[language]) as files:
        assert CHOOSE[language] in files[SAMPLES[language].edit].read_text()
        assert "replace the function `choose(game, view)`" in files["README.md"].read_text()


@pytest.mark.parametrize("strategy", ["heuristic", "random"])
def test_every_game_is_played_by_its_rules(tmp_path: Path, sample: Sample, language: str, strategy: str) -> None:
    """It plays with the fewest and the most seats, with and without acknowledgements; each match gets its own nonce."""
    source, launch = Random(f"{language} {strategy}"), sample(language)
    over = "tcp" if strategy == "random" else "unix"
    with AuthorApi(argv(launch, strategy), launch.where, tmp_path, over) as api:
        for game in GAMES.values():
            for seats in {game.seats[0], game.seats[-1]}:
                for acknowledge in (False, True):
                    assert api.play(game, seats, source, MOST_MOVES, acknowledge=acknowledge) > 0
        status, printed = api.close()
    assert status == 0, printed
    assert len(api.nonces) == len(set(api.nonces))


@pytest.mark.parametrize("by_expulsion", [True, False])
def test_what_breaks_a_match_off_is_no_failure(
    tmp_path: Path, sample: Sample, language: str, *, by_expulsion: bool
) -> None:
    """A player that is expelled while it thinks, or whose referee pauses, ends as after a whole match."""
    launch = sample(language)
    with AuthorApi(argv(launch), launch.where, tmp_path) as api:
        api.break_off(GAMES["q"], 2, by_expulsion=by_expulsion)
        status, printed = api.close()
    assert status == 0, printed
    assert ("expelled" in printed) == by_expulsion


def test_the_same_seed_plays_the_same(tmp_path: Path, sample: Sample, language: str) -> None:
    """A player's random numbers follow from REFEREE_PLAYER_SEED, in every run."""
    launch, moves = sample(language), []
    for run in range(2):
        place = tmp_path / str(run)
        place.mkdir()
        with AuthorApi(argv(launch, "random"), launch.where, place, environment={SEED_VARIABLE: "5a" * 32}) as api:
            api.play(GAMES["quincala"], 2, Random(1), 10)
            moves.append(api.moves)
    assert len(moves[0]) == 10
    assert moves[0] == moves[1]


@pytest.mark.parametrize("address", ["", "nonsense", "tcp:127.0.0.1:0", "unix:/no/such/socket"])
def test_without_a_referee_it_says_so(sample: Sample, language: str, address: str) -> None:
    """An invalid address, and one where no server listens, end a player with an error that shows it."""
    if language == "python" and address.startswith("unix"):
        address = "unix:" + "long" * 40  # the library waits for a referee where there may be one
    launch = sample(language)
    done = subprocess.run(
        argv(launch),
        cwd=launch.folder,
        env={**os.environ, "REFEREE_ADDRESS": address},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode not in (0, 2)
    assert address.partition(":")[2] in done.stderr or "REFEREE_ADDRESS" in done.stderr


LANGUAGES = sorted(SAMPLES)
PAIRS = [(language, list(GAMES)[number % len(GAMES)]) for number, language in enumerate(LANGUAGES)]


@pytest.mark.parametrize(("language", "game"), PAIRS)
def test_a_match_without_a_sandbox(tmp_path: Path, sample: Sample, language: str, game: str) -> None:
    """It plays against a house player to the end, in the first seat; nobody fouls, and the record passes the audit."""
    players = (str(sample(language).folder), "house:random")
    found = played(referee("play", game, *players, "--sandbox", "off", "--json", cwd=tmp_path))
    assert (found["result"]["fouls"], found["result"]["void"]) == ([], None)


TABLES = [
    ("q", ["c", "go", "java", "javascript"], ()),
    ("q", ["python", "python-socket", "rust", "house:random"], ()),
    ("quincy", ["javascript", "rust", "c", "python-socket"], ()),
    ("quincy", ["house:random", "python", "go", "java"], ()),
    ("quincala", ["rust", "c"], ("max_turns=60",)),
    ("quincala", ["python-socket", "go"], ("max_turns=60",)),
    ("quincala", ["java", "python"], ("max_turns=60",)),
    ("quincala", ["house:random", "javascript"], ("max_turns=60",)),
    ("quadominos", [*LANGUAGES, "house:random", "c", "go", "javascript", "rust"], ("rounds=1",)),
]
"""(game, players, options): each language in each game, also at the most seats."""


@pytest.mark.parametrize(("game", "seats", "options"), TABLES)
def test_a_table_of_languages_in_the_sandbox(
    tmp_path: Path, sample: Sample, game: str, seats: list[str], options: tuple[str, ...]
) -> None:
    """Programs in many languages play one match, each with its limits; nobody fouls, and the record is valid."""
    players = [seat if seat.startswith("house:") else str(sample(seat).folder) for seat in seats]
    chosen = [word for option in options for word in ("--option", option)]
    found = played(referee("play", game, *players, *chosen, "--sandbox", "required", "--json", cwd=tmp_path))
    assert (found["result"]["fouls"], found["result"]["void"]) == ([], None)


def test_the_tables_seat_every_language_in_every_game() -> None:
    for name, game in GAMES.items():
        seats = [seat for played_game, players, _ in TABLES for seat in players if played_game == name]
        assert SAMPLES.keys() <= set(seats), name
        assert game.seats[-1] in {len(players) for played_game, players, _ in TABLES if played_game == name}, (
            seats_text(game.seats)
        )
