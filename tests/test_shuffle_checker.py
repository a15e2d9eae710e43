"""The checker in JavaScript: it agrees with the referee on every shuffle, and finds every change.

Its files share no line with the referee. So values that pass here were derived twice, from SPEC.md and from
referee/chance.py.
"""

import json
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

import protocol
import sample_players
from referee import chance
from referee.games.q.forms import View
from referee.match.commands import StartSeat
from referee.match.machine import Match
from referee.match.setup import MatchSetup
from referee.plugins import load
from referee.record.key import Sealer
from referee.record.schema import read_line
from referee.record.writer import RecordWriter
from referee.testing import ScriptedSeat

from . import warm
from .driving import drive, random_chooser
from .sample_players.verifying import run_node

FOLDER = Path(sample_players.__file__).parent / "javascript"
GOLDEN = Path(__file__).parent / "golden"
VECTORS = Path(protocol.__file__).parent / "vectors.json"
OLDEST_NODE = 18

Plain = dict[str, Any]
Change = Callable[[Plain], None]


def check(*arguments: Path, status: int = 0) -> "subprocess.CompletedProcess[str]":
    """Run the checker to its end, and check its exit status."""
    done = run_node(FOLDER / "check_shuffle.js", *arguments)
    assert status == done.returncode, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the record of a new match with a secret seed and a nonce of each player."""
    folder = tmp_path_factory.mktemp("match")
    players = ("house:random", "house:random")
    done = warm.run(["play", "q", *players, "--logs", str(folder), "--json"], cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / str(json.loads(done.stdout)["record"])


def lines_of(record: Path) -> list[Plain]:
    """Return the lines of a record as they are."""
    return [json.loads(line) for line in record.read_text().splitlines()]


def opened_lines_of(record: Path) -> list[Plain]:
    """Return the lines of a record, with the hidden values put back into their places."""
    return [read_line(line).fields for line in record.read_bytes().splitlines()]


def result_of(lines: list[Plain]) -> Plain:
    """Return the line of the result."""
    return next(line for line in lines if line["kind"] == "result")


def write_lines(path: Path, lines: list[Plain]) -> Path:
    """Write the lines of a record."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_node_is_new_enough() -> None:
    """The checker runs on the oldest version of Node.js that the manual names."""
    version = run_node("--version").stdout
    assert int(version.removeprefix("v").split(".")[0]) >= OLDEST_NODE


def test_every_vector_of_chance_passes() -> None:
    """Each vector is counted, and none fails."""
    count = sum(len(section) for section in json.loads(VECTORS.read_text())["chance"].values())
    assert f"{count} passed, 0 failed\n" == check(VECTORS).stdout


def flipped(text: str) -> str:
    """Return hex or decimal digits with the last one changed."""
    return text[:-1] + ("1" if text[-1] == "0" else "0")


def in_deal(number: int, *path: str | int, section: str = "deals") -> Change:
    """Return a function that changes the last digit, or exchanges two items, somewhere in a deal."""

    def change(chance: Plain) -> None:
        *way, last = path
        place: Any = chance[section][number]
        for step in way:
            place = place[step]
        old = place[last]
        place[last] = flipped(old) if isinstance(old, str) else [old[-1], *old[1:-1], old[0]]
        assert old != place[last]

    return change


def seed_number(chance: Plain) -> None:
    """Change the number of a fixed seed."""
    chance["seeds"][0]["number"] += 1


def derived_seed(chance: Plain) -> None:
    """Change a derived seed."""
    chance["derived"][0]["derived"] = flipped(chance["derived"][0]["derived"])


def purpose(chance: Plain) -> None:
    """Change the purpose of a derived seed."""
    chance["derived"][-1]["purpose"] += " "


def deck_size(chance: Plain) -> None:
    """Change the number of tiles."""
    chance["decks"][0]["tiles"] += 1


def deck_digest(chance: Plain) -> None:
    """Change the digest of the deck before its shuffle."""
    chance["decks"][0]["sha256"] = flipped(chance["decks"][0]["sha256"])


def null_for_a_nonce(chance: Plain) -> None:
    """Leave one nonce out."""
    chance["deals"][0]["nonces"][1] = None


def deal_number(chance: Plain) -> None:
    """Change the number of a deal within its match."""
    chance["dealt"][-1]["deal"] += 1


def word_not_thrown_away(chance: Plain) -> None:
    """Drop the mark of a rejected word."""
    draws = chance["deals"][0]["below"]
    next(draw for draw in draws if draw["thrown_away"])["thrown_away"].clear()


CHANGES: tuple[tuple[str, Change], ...] = (
    ("the number of a seed", seed_number),
    ("a derived seed", derived_seed),
    ("a purpose", purpose),
    ("the number of tiles", deck_size),
    ("the digest of the deck", deck_digest),
    ("a seed", in_deal(0, "seed")),
    ("a nonce", in_deal(0, "nonces", 0)),
    ("the order of nonces", in_deal(0, "nonces")),
    ("null for a nonce", null_for_a_nonce),
    ("a commitment", in_deal(1, "commitment")),
    ("a player's commitment", in_deal(0, "commitment", section="commitments")),
    ("what a player commits to", in_deal(4, "nonce", section="commitments")),
    ("a key", in_deal(2, "key")),
    ("the first word", in_deal(3, "words", 0)),
    ("the last word", in_deal(3, "words", 7)),
    ("a bound", in_deal(4, "below", 0, "bound")),
    ("a drawn number", in_deal(4, "below", 9, "drawn")),
    ("a word thrown away", in_deal(0, "below", 0, "thrown_away", 0)),
    ("no word thrown away", word_not_thrown_away),
    ("a list before its shuffle", in_deal(5, "shuffled", 3, 0)),
    ("a list after its shuffle", in_deal(5, "shuffled", 4, 1)),
    ("the digest of a shuffled deck", in_deal(6, "q", "sha256")),
    ("the first tiles", in_deal(6, "q", "first")),
    ("a hand", in_deal(0, "q", "hands", 1)),
    ("whose hand is whose", in_deal(0, "q", "hands")),
    ("the tile on the table", in_deal(0, "q", "table")),
    ("a nonce of another game", in_deal(0, "nonces", 0, section="dealt")),
    ("a hand of another game", in_deal(1, "hands", 1, section="dealt")),
    ("a domino of a hand", in_deal(2, "hands", 3, 0, section="dealt")),
    ("the key of a later deal", in_deal(4, "key", section="dealt")),
    ("the digest of a later deal", in_deal(5, "sha256", section="dealt")),
    ("what is drawn next", in_deal(3, "next", section="dealt")),
    ("the number of a later deal", deal_number),
)
"""(change, function that makes it in the vectors of chance); each concerns one vector."""


@pytest.mark.parametrize("change", [row[1] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_a_changed_vector_fails(tmp_path: Path, change: Change) -> None:
    """One value changed anywhere makes exactly its vector fail."""
    vectors = json.loads(VECTORS.read_text())
    count = sum(len(section) for section in vectors["chance"].values())
    change(vectors["chance"])
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps(vectors))
    assert f"{count - 1} passed, 1 failed\n" == check(path, status=1).stdout


def test_no_vectors_are_no_success(tmp_path: Path) -> None:
    """A file without vectors does not pass."""
    path = tmp_path / "vectors.json"
    sections = ("seeds", "derived", "seatings", "commitments", "decks", "deals", "dealt")
    path.write_text(json.dumps({"chance": {section: [] for section in sections}}))
    assert check(path, status=1).stdout == "0 passed, 0 failed\n"


def sent_views(lines: list[Plain]) -> dict[int, str]:
    """Return the digests of the first views, by seat."""
    commands = [command for line in lines for command in line.get("commands", [])]
    return {command["seat"]: command["view"] for command in commands if command["command"] == "start-seat"}


def check_deal(record: Path, lines: list[Plain]) -> None:
    """Check that the hands and the tile of the checker are those of the views that the referee sent.

    A record holds the SHA-256 of each view: so the views are made here from what the checker printed.
    """
    kept, *hands, table = check(record).stdout.splitlines()
    assert f"the commitment was kept: {lines[0]['setup']['commitment']}" == kept
    sent, names = sent_views(lines), lines[0]["setup"]["names"]
    seats = list(range(len(names)))
    assert seats == sorted(sent)
    for seat, hand in enumerate(hands):
        before, tiles = hand.split(": ")
        assert f"seat {seat} {names[seat]}" == before
        view = View(
            seat=seat,
            hand=tiles.split(),
            scores=[0] * len(seats),
            order=seats,
            tiles_left=1080 - 6 * len(seats) - 1,
            map=((0, 0, table.removeprefix("table: ")),),
        )
        assert sha256(msgspec.msgpack.encode(view)).hexdigest() == sent[seat]


def test_the_deal_of_a_record_is_the_referees(record: Path) -> None:
    """The hands and the tile on the table are those of the views that the referee sent."""
    lines = opened_lines_of(record)
    assert all(result_of(lines)["nonces"])
    assert lines[0]["seed"] is None
    check_deal(record, lines)


@pytest.mark.parametrize(("game", "seats"), [("quincy", 2), ("quincy", 4), ("quadominos", 3)])
def test_other_games_are_dealt_again(tmp_path: Path, game: str, seats: int) -> None:
    """The hands are those of the first views."""
    seed = chance.seed_from_number(5)
    names = tuple(f"p{seat}" for seat in range(seats))
    setup = MatchSetup(match="m", game=game, names=names, commitment=chance.commitment(seed))
    match = Match(load().game(game), setup, seed)
    pick = random_chooser(match.game, Random(5), match)
    writer = RecordWriter(tmp_path / "m.jsonl", Sealer.new())
    writer.write_header(setup, seed, is_fixed=False, referee="0.0", opened="")
    views: dict[int, Plain] = {}
    for event, commands in drive(match, [ScriptedSeat(pick) for _ in names]):
        writer.write_transition(event, commands)
        shown = [command for command in commands if isinstance(command, StartSeat)]
        views |= {item.seat: msgspec.msgpack.decode(item.view) for item in shown}
    assert match.result is not None
    writer.end(match)
    writer.close()
    kept, *hands = check(tmp_path / "m.jsonl").stdout.splitlines()
    assert f"the commitment was kept: {setup.commitment}" == kept
    assert len(hands) == seats
    for seat, hand in enumerate(hands):
        before, tiles = hand.split(": ")
        assert f"seat {seat} p{seat}" == before
        held = [tile if isinstance(tile, str) else "-".join(map(str, tile)) for tile in views[seat]["hand"]]
        assert tiles.split() == held


def test_another_deal_is_said_to_be_none_to_redo() -> None:
    """For a match that began from a given position, only the commitment is checked."""
    told = check(GOLDEN / "clean.jsonl").stdout
    assert "the commitment was kept" in told
    assert "nothing to deal" in told


Forgery = Callable[[Plain], None]


def other_seed_openly(result: Plain) -> None:
    """Open the hash with another seed than the one behind it."""
    result["open"]["seed"][1] = flipped(result["open"]["seed"][1])


def other_salt(result: Plain) -> None:
    """Open the hash with another salt."""
    result["open"]["seed"][0] = flipped(result["open"]["seed"][0])


def other_hash(result: Plain) -> None:
    """Let the core hold another hash."""
    result["seed"]["hidden"] = flipped(result["seed"]["hidden"])


def other_seed(result: Plain) -> None:
    """Hide another seed, with a right hash."""
    salt, seed = result["open"]["seed"]
    result["open"]["seed"][1] = flipped(seed)
    result["seed"]["hidden"] = sha256(f'{salt}"{flipped(seed)}"'.encode()).hexdigest()


def other_nonce(result: Plain) -> None:
    """Put another nonce in the place of a seat's."""
    result["nonces"][1] = flipped(result["nonces"][1])


def nonce_too_few(result: Plain) -> None:
    """Drop a seat's nonce."""
    result["nonces"].pop()


HIDDEN, BROKEN = "the seed IS NOT THE ONE", "the commitment WAS BROKEN"
NOT_OPENED = "the nonce of seat 1 IS NOT THE ONE"
FORGERIES: tuple[tuple[Forgery, set[str]], ...] = (
    (other_seed_openly, {HIDDEN, BROKEN}),
    (other_salt, {HIDDEN}),
    (other_hash, {HIDDEN}),
    (other_seed, {BROKEN}),
    (nonce_too_few, {BROKEN}),
    (other_nonce, {NOT_OPENED}),
)
"""(change of the result's line, finding)."""


@pytest.mark.forges
@pytest.mark.parametrize(("forge", "found"), FORGERIES)
def test_a_broken_commitment_is_found(record: Path, tmp_path: Path, forge: Forgery, found: set[str]) -> None:
    """A record with a seed other than the committed one, or than the one that its line hides, does not hold."""
    lines = lines_of(record)
    forge(result_of(lines))
    told = check(write_lines(tmp_path / "match.jsonl", lines), status=1).stdout
    assert found == {text for text in (HIDDEN, BROKEN, NOT_OPENED) if text in told}


@pytest.mark.forges
def test_a_nonce_left_out_gives_another_deal(record: Path, tmp_path: Path) -> None:
    """No commitment shows that a nonce was opened, but without it another deal follows."""
    lines = lines_of(record)
    result_of(lines)["nonces"][1] = None
    path = write_lines(tmp_path / "match.jsonl", lines)
    assert check(record).stdout.splitlines()[1:] != check(path).stdout.splitlines()[1:]


@pytest.mark.forges
def test_the_seal_is_not_needed(record: Path, tmp_path: Path) -> None:
    """A record with a result and without a seal has the seed, and so its deal can be checked."""
    path = write_lines(tmp_path / "match.jsonl", lines_of(record)[:-1])
    assert check(record).stdout == check(path).stdout


@pytest.mark.forges
def test_what_is_no_finished_record_is_told(record: Path, tmp_path: Path) -> None:
    """Without a result there is no seed to check, so the commitment is neither kept nor broken."""
    path = write_lines(tmp_path / "match.jsonl", lines_of(record)[:-2])
    assert "not the record of a finished match" in check(path, status=2).stderr


@pytest.mark.forges
def test_a_redacted_record_is_told(record: Path, tmp_path: Path) -> None:
    """If the seed is hidden, the checker says that it can't check it."""
    lines = lines_of(record)
    del result_of(lines)["open"]
    path = write_lines(tmp_path / "match.jsonl", lines)
    assert "the seed is hidden" in check(path, status=2).stderr


USES: tuple[tuple[str, ...], ...] = ((), ("a", "b"), ("nothing.json",), ("nothing.jsonl",))


@pytest.mark.parametrize("arguments", USES)
def test_a_wrong_use_is_told(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Too few or too many arguments, or a missing file, are reported in one line."""
    told = check(*(tmp_path / argument for argument in arguments), status=2).stderr
    assert len(told.splitlines()) == 1
