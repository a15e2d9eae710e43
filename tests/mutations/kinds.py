"""Every kind of file that the product reads, with its readers.

running.py says what a reader may not do with a file.
"""

import json
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace

from referee.app.tournaments.beginning import load_or_begin
from referee.app.tournaments.from_file import absent_programs, read_plan
from referee.app.tournaments.requests import TournamentRequest, ask, pending, read_request
from referee.cli.options import parse_options
from referee.cli.submission_client import find_token
from referee.match.machine import Match
from referee.net.links.tokens import add_tokens, read_tokens
from referee.observers import Observers
from referee.plugins import find_game, installed
from referee.programs.player_spec import read_folder
from referee.record.key import make_key, public_pem
from referee.record.manifest import NAME as MANIFEST
from referee.record.manifest import write_manifest
from referee.record.resume import recover, reopen
from referee.testing import Choose
from referee.tournament.events import EntrantJoined, ProgramChanged, Stopped
from referee.tournament.rulings import Ruling
from referee.tournament.spec import Participant
from referee.web.submissions.folder import gather

from ..app.tournament_files import WHOLE, furnished
from ..match.folding import PASS, SEED
from ..record.records import SEALER
from ..record.tournaments import Organiser, cup, play_cup
from . import clusters, contests, handed_in, records
from .files import json_of, texts_of
from .handed_in import AT
from .running import Kind, Reader, command

KEYS = ("--public-key", SEALER.public)


# --- records


def _with_a_sound_one(folder: Path) -> None:
    (folder / "sound.jsonl").write_bytes(records.whole("clean"))
    (folder / records.RECORD).touch()


def _taken_up(folder: Path) -> None:
    """Resume a match that its referee has left."""
    with closing(reopen(folder / records.RECORD, find_game, SEALER).writer):
        pass


def _signed(folder: Path) -> None:
    write_manifest(folder, SEALER)


_ONE = records.RECORD
_OF_A_RECORD: dict[str, Reader] = {
    "audit": command("audit", ".", *KEYS),
    "audit --unsealed": command("audit", _ONE, "--unsealed", "--json"),
    "explain": command("explain", _ONE, "1"),
    "explain --json": command("explain", _ONE, "0", "--json"),
    "explain --turn": command("explain", _ONE, "0", "--turn", "1"),
    "replay": command("replay", _ONE),
}
_OF_A_WHOLE_RECORD: dict[str, Reader] = {
    **_OF_A_RECORD,
    "replay --json": command("replay", _ONE, "--json"),
    "replay --html": command("replay", _ONE, "--html", "page.html", "--force"),
    "replay --svg": command("replay", _ONE, "--svg", "-"),
    "fairness": command("fairness", "."),
    "manifest": _signed,
    "what is told": records.check_told,
    "play --resume": _taken_up,
}


# --- tournaments


_FIELD = cup(4, game="q")


class _Hasty(Organiser):
    """An organiser whose players soon pass, so that the records are short."""

    def chooser(self, match: Match) -> Choose:
        """Return the players' choice: four random turns, then passes."""
        pick = super().chooser(match)
        return lambda view: pick(view) if match.turn < 4 else PASS


def _play(folder: Path) -> None:
    """Play a tournament with a stop, a changed program, a late entrant, and a ruling."""
    with _Hasty(folder, _FIELD, Random(1)) as first:
        first.play(2)
        first.recorder.take(Stopped(at=AT, why="it was asked to"))
    with _Hasty(folder, _FIELD, Random(2)) as second:
        late = Participant(name="late", player="house:greedy")
        second.recorder.take(ProgramChanged(at=AT, entrant=0, digest="ab" * 32))
        second.recorder.take(EntrantJoined(at=AT, participant=late, digest="cd" * 32))
        second.play(2)
        second.rule("withdraw", entrant="e3")
        second.finish()
    records.keep_told(folder)


def _gone_on_with(folder: Path) -> None:
    """Resume a tournament as `referee tournament` does, as far as its records go."""
    spec = replace(_FIELD, entrants=(*_FIELD.entrants, Participant(name="late", player="house:greedy")))
    loaded = load_or_begin(folder, spec, installed().format(spec.format), SEALER, Observers())
    with closing(loaded.writer):
        recovered = recover(folder, loaded.left, find_game, SEALER)
    for resumption in recovered.open.values():
        resumption.writer.close()


_OF_A_TOURNAMENT: dict[str, Reader] = {
    "what is told": records.check_all_told,
    "audit": command("audit", ".", *KEYS, "--jobs", "1"),
    "audit --json": command("audit", ".", "--unsealed", "--jobs", "1", "--json"),
    "report": command("report", ".", "--jobs", "1"),
    "fairness": command("fairness", ".", "--json"),
    "rule": command("rule", ".", "void", "cup-00001", "--reason", "so", "--by", "Ada"),
    "join-tournament": command("join-tournament", ".", "house:greedy", "--name", "late"),
    "replay": command("replay", "cup.jsonl"),
    "explain": command("explain", "cup.jsonl", "0"),
    "manifest": _signed,
    "tournament": _gone_on_with,
}


def _list(folder: Path) -> None:
    _with_a_sound_one(folder)
    (folder / _ONE).write_bytes(records.whole("dealt"))
    write_manifest(folder, SEALER)
    (folder / records.LISTED).write_bytes((folder / MANIFEST).read_bytes())


# --- what people write


def _write_tournament_file(folder: Path) -> None:
    furnished(folder)
    (folder / "cup.toml").write_text(WHOLE.replace("postgresql+psycopg://referee@db/contest", "sqlite:///x.sqlite"))
    play_cup(folder / "kept" / "autumn-1.0", 1, 4)


def _read_tournament_file(folder: Path) -> None:
    list(absent_programs(read_plan(folder / "cup.toml").spec))


def _layout(folder: Path) -> None:
    game = find_game("quincala")
    game.parse_options(parse_options([f"layout={folder / 'board.toml'}"], game.file_options))


# --- keys, tokens, requests, configurations


def _write_keys(folder: Path) -> None:
    sealer = make_key(folder / "key.pem")
    (folder / "public.pem").write_text(public_pem(sealer.public))
    (folder / "public.hex").write_text(f"{sealer.public}\n")
    (folder / "sound.jsonl").write_bytes(records.whole("clean"))


def _write_tokens(folder: Path) -> None:
    tokens = add_tokens(folder / "players.toml", ["ann", "bob"], may_renew=False)
    (folder / "token").write_text(tokens["ann"])
    (folder / "token").chmod(0o600)


def _write_requests(folder: Path) -> None:
    play_cup(folder, 1, 4)
    ruling = Ruling(id="7", kind="award", entrant="e1", match="cup-00001", reason="so decided", by="Ada")
    ask(folder, TournamentRequest(ruling=ruling))


def _requests(folder: Path) -> None:
    for path in pending(folder):
        read_request(path)


_TILE = {"color": "red", "shape": "star"}
_HOLDER = {"name": "ann", "score": 0, "tile*": [_TILE, _TILE]}
_STATE = {"map": [[0, [0, _TILE]]], "tile*": [_TILE] * 3, "players": [_HOLDER, {**_HOLDER, "name": "bob"}]}
_REFEREE = {"state0": _STATE, "quiet": True, "config-s": {"qbo": 8, "fbo": 4}, "per-turn": 6, "observe": False}
_WAITS = {"server-tries": 1, "server-wait": 20, "wait-for-signup": 3}
SERVER = {"port": 45678, "quiet": True, "ref-spec": _REFEREE, **_WAITS}
CLIENTS: dict[str, Any] = {
    "port": 45678,
    "host": "localhost",
    "wait": 0,
    "quiet": True,
    "players": [["ann", "dag"], ["bob", "ldasg", "a cheat", "no-fit"], ["cyd", "dag", "take-turn", 2]],
}


def _write_configurations(folder: Path) -> None:
    (folder / "server.json").write_text(json.dumps(SERVER))
    (folder / "clients.json").write_text(json.dumps(CLIENTS))


def _server(folder: Path) -> None:
    server = installed().dialect("cs4500").server
    assert server is not None
    server((folder / "server.json").read_bytes(), folder, None)


def _clients(folder: Path) -> None:
    clients = installed().dialect("cs4500").clients
    assert clients is not None
    clients((folder / "clients.json").read_bytes(), None)


KINDS: dict[str, Kind] = {
    **contests.KINDS,
    **clusters.KINDS,
    "record": Kind(_with_a_sound_one, records.change_one_record, _OF_A_WHOLE_RECORD),
    "redacted": Kind(
        _with_a_sound_one,
        records.change_one_redacted,
        {**_OF_A_RECORD, "audit --seed": command("audit", records.RECORD, "--seed", SEED.hex())},
    ),
    "tournament": Kind(_play, records.change_tournament, _OF_A_TOURNAMENT),
    "manifest": Kind(
        _list,
        records.change_manifest,
        {
            "what is told": records.check_listed,
            "audit": command("audit", ".", *KEYS),
            "audit --json": command("audit", ".", "--json"),
        },
    ),
    "tournament file": Kind(
        _write_tournament_file,
        texts_of("cup.toml", "cup.toml", "cup.toml", "board.toml", "players.toml", "mine/player.toml"),
        {"tournament --check": _read_tournament_file},
    ),
    "layout": Kind(lambda folder: (furnished(folder), None)[1], texts_of("board.toml"), {"--option layout=": _layout}),
    "player": Kind(
        handed_in.write_player,
        texts_of("player.toml", ".refereeignore"),
        {"check": read_folder, "submit": gather},
    ),
    "archive": Kind(handed_in.write_archive, handed_in.change_archive, {"hand in": handed_in.unpacked}),
    "store": Kind(
        handed_in.write_store,
        json_of("store/.versions/ann/0001/*.json", "store/.versions/ann/*.json"),
        {"store": handed_in.read_store},
    ),
    "check": Kind(handed_in.write_check, texts_of("out"), {"verdict": handed_in.read_check}),
    "key": Kind(
        _write_keys,
        texts_of("key.pem", "public.pem", "public.hex"),
        {
            "key show": command("key", "show", "--key", "key.pem"),
            "key export": command("key", "export", "--key", "key.pem"),
            "audit --public-key": command("audit", "sound.jsonl", "--key", "public.pem"),
            "audit --public-key hex": command("audit", "sound.jsonl", "--key", "public.hex"),
        },
    ),
    "tokens": Kind(
        _write_tokens,
        texts_of("players.toml", "token"),
        {
            "serve": lambda folder: read_tokens(folder / "players.toml"),
            "submit": lambda folder: find_token(folder / "token"),
            "token": command("token", "cyd", "--file", "players.toml"),
        },
    ),
    "request": Kind(_write_requests, json_of("*/*.json", ".requests/*.json"), {"tournament": _requests}),
    "configuration": Kind(
        _write_configurations,
        json_of("server.json", "clients.json"),
        {"xserver": _server, "xclients": _clients},
    ),
}
"""Name -> kind."""
