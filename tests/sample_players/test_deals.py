"""verify.js deals every game again from the seed and the nonces of a record, and reports a difference."""

import json
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from referee.match.commands import StartSeat
from referee.match.machine import Match
from referee.record.redacted_record import redact

from ..driving import drive, random_chooser
from ..match.folding import PASS, SEED, setup_of
from ..record.forging import FORGERS_KEY, REGISTRY, Line, changed, encoded, lines_of, sealed, signature_of
from ..record.legs import header_of_leg, settings_of_leg
from ..record.records import FaultySeat, Story
from .random_matches import OPTIONS, random_match
from .verifying import run, verdicts

GAMES = ("q", "quincy", "quincala", "quadominos")


@cache
def played(game: str, **fields: Any) -> Story:
    """Return a match of a game between two random players; in Q, they soon pass."""
    opens = fields.pop("seed_opens", "at-end")
    given = {"game": game, "options": OPTIONS.get(game, {}), **settings_of_leg(opens), **fields}
    match = Match(REGISTRY.game(game), setup_of(2, **given), SEED)
    pick = random_chooser(match.game, Random(3), match)
    players = [
        FaultySeat(lambda view: PASS if game == "q" and match.turn > 8 else pick(view), seat) for seat in range(2)
    ]
    return Story(match, tuple(drive(match, players)), is_fixed=False, header=header_of_leg(2, opens))


def record_of(game: str, folder: Path, **fields: Any) -> Path:
    """Write the record of a match."""
    folder.mkdir(exist_ok=True)
    return played(game, **fields).write(folder / "m.jsonl")


def redacted(record: Path) -> list[Line]:
    """Return the lines of a match's record, redacted for its first seat."""
    return [json.loads(line) for line in redact(record, REGISTRY.game, 0)]


def written(lines: list[Line]) -> bytes:
    """Return the bytes of lines, also of a redacted record."""
    return b"".join(encoded(line) + b"\n" for line in lines)


# # --- valid records


@pytest.mark.parametrize("game", GAMES)
def test_what_is_dealt_again_is_what_the_referee_dealt(tmp_path: Path, game: str) -> None:
    """These are hands and later draws; for Quincala Mixing, which has no chance, the towers."""
    done = run(record_of(game, tmp_path), "--deal")
    told = done.stdout.splitlines()
    started = [each for _, commands in played(game).steps for each in commands if isinstance(each, StartSeat)]
    for view in (msgspec.msgpack.decode(each.view) for each in started):
        tiles = view.get("hand") or [f"{row},{column}:{''.join(pieces)}" for row, column, pieces in view["board"]]
        spelled = " ".join(tile if isinstance(tile, str) else ",".join(map(str, tile)) for tile in tiles)
        assert any(line.startswith("  ") and line.endswith(f": {spelled}") for line in told)
    assert (done.returncode, told.count("deal 1"), told.count("deal 2")) == (0, 1, int(game == "quadominos"))
    assert sum("; so says the record" in line for line in told) >= len(started)
    assert "THE RECORD SAYS" not in done.stdout


@pytest.mark.parametrize("game", GAMES[1:])
def test_it_holds_matches_of_every_game_in_which_seats_are_expelled(tmp_path: Path, game: str) -> None:
    """They leave before the deal or in mid-turn, with tiles in hand that go back to the pile, or are laid face down."""
    stories = {f"{number:03}": random_match(number, game) for number in range(60)}
    records = {name: story.write(tmp_path / name).read_bytes() for name, story in stories.items()}
    assert verdicts(tmp_path / "records", records) == dict.fromkeys(records, "")


# --- lies


def number_of(lines: list[Line], name: str, count: int) -> int:
    """Return the number of a line with a command of this name, counted from 0 or from the end."""
    named = [line for line in lines for each in line.get("commands", ()) if each["command"] == name]
    return int(named[count]["n"])


def with_view(name: str, count: int) -> Callable[[list[Line]], list[Line]]:
    """Return the lie that a seat was shown another view."""

    def tell(lines: list[Line]) -> list[Line]:
        number = number_of(lines, name, count)
        command = next(i for i, each in enumerate(lines[number]["commands"]) if each["command"] == name)
        return changed(lines, number, ("commands", command, "view"), "0" * 64)

    return tell


def with_draws(lines: list[Line]) -> list[Line]:
    """Let the first mover have drawn another tile."""
    number = next(line["n"] for line in lines for each in line.get("commands", ()) if each.get("draws"))
    command = next(i for i, each in enumerate(lines[number]["commands"]) if each.get("draws"))
    draws = lines[number]["commands"][command]["draws"]
    other = "red-star" if isinstance(draws[0], str) else [0, 9]
    return changed(lines, number, ("commands", command, "draws"), [other, *draws[1:]])


def with_fewer_drawn(lines: list[Line]) -> list[Line]:
    """Let all seats hear that the referee of Quad-Ominos drew one tile less."""
    for line in lines:
        for each in line.get("commands", ()):
            for event in (each.get("what") or {}).get("events", ()):
                if event["event"] == "drew":
                    copy = json.loads(
                        json.dumps(line["commands"]).replace(
                            json.dumps(event), json.dumps({**event, "tiles": event["tiles"] - 1})
                        )
                    )
                    return changed(lines, line["n"], ("commands",), copy)
    raise AssertionError("nothing was drawn")


LIES = {
    "q: the deal": ("q", with_view("start-seat", 0), "does not follow from shuffle and moves"),
    "q: a draw": ("q", with_draws, "but the shuffle gives it"),
    "quincy: the deal": ("quincy", with_view("start-seat", 1), "does not follow from shuffle and moves"),
    "quincy: a draw": ("quincy", with_draws, "was handed 0,9, but the shuffle gives it"),
    "quincala: the towers": ("quincala", with_view("start-seat", 0), "does not follow from shuffle and moves"),
    "quadominos: the deal": ("quadominos", with_view("start-seat", 0), "does not follow from shuffle and moves"),
    "quadominos: the second deal": ("quadominos", with_view("ask-move", -1), "does not follow from shuffle and moves"),
    "quadominos: a draw": ("quadominos", with_fewer_drawn, "by the shuffle it happened"),
}
"""Change, chained and sealed again -> its game, function, and a part of the finding."""


@pytest.mark.forges
def test_a_tile_that_was_changed_is_named(tmp_path: Path) -> None:
    """Chain and seal hold, but the seed deals otherwise."""
    records = {}
    for name, (game, lie, _) in LIES.items():
        lines = lines_of(record_of(game, tmp_path / name.replace(" ", "")).read_bytes())
        records[name.replace(": ", "-").replace(" ", "-")] = sealed(lie(lines))
    found = dict(zip(LIES, verdicts(tmp_path / "records", records).values(), strict=True))
    assert {name: text for name, text in found.items() if LIES[name][2] not in text} == {}


# --- redacted records


def test_a_redacted_record_is_dealt_again_with_its_seed(tmp_path: Path) -> None:
    """Its own seat's deal and draws must follow; hidden ones are not judged."""
    for game in GAMES:
        lines = redacted(record_of(game, tmp_path / game))
        path = tmp_path / f"{game}.jsonl"
        path.write_bytes(written(lines))
        told = run(path, "--deal").stdout
        assert ("not dealt again: the seed is hidden here" in told) == (game != "quincala")
        done = run(path, "--deal", "--seed", SEED.hex())
        assert (done.returncode, "  line" in done.stdout) == (0, True)
        assert ("view of seat 1" in done.stdout, "draws of seat 1" in done.stdout) == (False, game == "quadominos")
    assert "not that of the commitment" in run(tmp_path / "q.jsonl", "--seed", "0" * 64).stdout


def test_a_hand_in_a_redacted_record_is_compared_tile_by_tile(tmp_path: Path) -> None:
    """The digest is that of the view, and the seal is right, but the hand is different."""
    lines = redacted(record_of("quincy", tmp_path / "quincy"))
    number = number_of(lines, "start-seat", 0)
    path = next(path for path in lines[number]["open"] if path.endswith(".view"))
    salt, _, view = lines[number]["open"][path]
    view["hand"][0] = [0, 9]
    digest = sha256(msgspec.msgpack.encode(view)).hexdigest()
    lines[number]["open"][path] = [salt, digest, view]
    command = lines[number]["commands"][int(path.split(".")[1])]
    command["view"] = {"hidden": sha256(f'{salt}"{digest}"'.encode()).hexdigest()}
    found = verdicts(tmp_path / "records", {"forged": written(resealed(lines))}, "--seed", SEED.hex())
    assert "its hand there is 0,9 " in found["forged"]


def resealed(lines: list[Line]) -> list[Line]:
    """Chain the lines of a redacted record again, and seal them with the forger's key."""
    prev = "0" * 64
    for line in lines:
        line["prev"] = prev
        line.update({"header": {"key": FORGERS_KEY}, "seal": {"signature": signature_of(prev)}}.get(line["kind"], {}))
        prev = sha256(encoded({key: value for key, value in line.items() if key != "open"})).hexdigest()
    return lines


@pytest.mark.parametrize(
    ("opens", "why"),
    [
        ("at-end", "the seed is hidden here: `end` told it to the player"),
        ("at-end-unless-void", "the seed is hidden here: `end` told it to the player, as the last leg"),
        ("after-last-leg", "its deal is played from every seat, and its seed opens after the last leg"),
    ],
)
def test_a_redacted_record_without_its_seed_says_when_that_opens(tmp_path: Path, opens: str, why: str) -> None:
    """It can't be dealt again before the seed opens; the whole record can."""
    record = record_of("quincy", tmp_path / "m", seed_opens=opens)
    assert "  pile: " in run(record, "--deal").stdout
    path = tmp_path / "redacted.jsonl"
    path.write_bytes(written(redacted(record)))
    assert f"not dealt again: {why}" in run(path, "--deal").stdout
