"""A contest shows nothing of a deal that other seats must not know yet: two worlds look alike, for every game.

The worlds differ in hands, piles, seeds, draws, views, and details of fouls. They do so in a match that is being
played, and in one that is over but whose deal is still to be played from other seats. All outlets give the same bytes,
except for heads, which are hashes of redacted lines. The same holds for the pages of an author who plays in both
matches.
"""

import json
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from twisted.internet.defer import maybeDeferred
from twisted.internet.task import Clock

from referee.app.report import report_tournament
from referee.match.machine import Match
from referee.net.links.tokens import add_tokens
from referee.observers import MatchTransition
from referee.observers.heads import PublishedHead
from referee.pages.replays import ReplayPages
from referee.pages.report_files import Targets
from referee.plugins import installed, load
from referee.record.reader import read_entry, read_record
from referee.record.tournament_record import TournamentWriter
from referee.record.writer import RecordWriter
from referee.testing.seats import ScriptedSeat
from referee.tournament import events as te
from referee.tournament.history import History, new_tournament
from referee.tournament.match_context import Fixture, MatchContext
from referee.web import author_service, http, routes, workshop
from referee.web.contest import tournament_runs
from referee.web.contest.contest_file import read_contest
from referee.web.contest.hosting import HostedContest
from referee.web.contest.intake import Intake
from referee.web.contest.practice import RefereeProgram
from referee.web.contest.public_archive import write_archive
from referee.web.published import find_public_file, heads_path
from referee.web.submissions.store import Store

from ..driving import drive, random_chooser
from ..match.folding import SEED, setup_of
from ..record.records import SEALER
from ..tournament.playing import AT, SALT
from .sites import Browser
from .test_live import EXPELLED, GAMES, retold, seen_of
from .test_who_may import TABLE, Who

TOURNAMENT = """\
name = "cup"
game = "{game}"
seats = 2
duplicate = true
entrants = [
    {{ name = "ada", player = "house:random" }},
    {{ name = "bob", player = "house:random" }},
    {{ name = "eve", player = "house:random" }},
]
[format]
name = "roundrobin"
"""
MOST_TURNS = 6
WHOLE = 2
"""Number of matches whose deal was played from both seats. The third match's was not, and the fourth match is open."""
HASH = re.compile(rb"[0-9a-f]{12,}")
"""Values that differ by chance: a hash or its beginning, a salt, or a signature."""


def played(game_name: str, fixture: Fixture, names: Sequence[str]) -> tuple[Match, list[MatchTransition]]:
    """Play a match for some turns, until a seat is expelled; return its transitions, too, as observers get them."""
    game, source = installed().game(game_name), Random(fixture.match)
    setup = replace(setup_of(2, game=game_name, names=tuple(names), nonces=False), match=fixture.match)
    match = Match(game, setup, SEED)
    play = random_chooser(game, source, match)
    seats = [ScriptedSeat(lambda view: play(view) if match.turn < MOST_TURNS else EXPELLED) for _ in names]
    steps = enumerate(drive(match, seats), 1)
    return match, [MatchTransition.of(*step, match, (line, f"{line:064x}")) for line, step in steps]


class World:
    """A contest with one tournament of duplicate deals, in its middle.

    Args:
        folder: an empty one.
        game: game that is played.
        key: of the hidden parts; worlds with other keys look alike.
    """

    def __init__(self, folder: Path, game: str, key: int) -> None:
        self.folder, self.game, self._key = folder, game, key
        self.seed = Random(key).randbytes(len(SEED))
        """Seed of the hidden parts."""
        (folder / "contest.toml").write_text('spectators = "board only"\n[[tournaments]]\nfile = "cup.toml"\n')
        (folder / "cup.toml").write_text(TOURNAMENT.format(game=game))
        self.contest = read_contest(folder, load())
        (self.scheduled,) = self.contest.tournaments
        self.logs = self.scheduled.plan.run_settings.folder
        self.logs.mkdir(parents=True)
        self.told = list[dict[str, Any]]()
        self._play()
        report_tournament(self.logs, Targets(replays=ReplayPages.ALL, home="../../index.html", is_public=True), 1)
        for path in self.logs.rglob("*"):  # the feed says when a match was over, which nobody hides
            os.utime(path, (10**9, 10**9))

    def _play(self) -> None:
        spec = self.scheduled.plan.spec
        history = History(new_tournament(spec, load().format(spec.format), SALT))
        with closing(TournamentWriter(self.logs / "cup.jsonl", SEALER)) as writer:
            writer.write_header(spec, SALT, {}, referee="0.0", opened=AT)

            def _take(event: te.TournamentEvent) -> None:
                writer.write_transition(event, history.take(event))

            _take(te.Begun(at=AT))
            for number in range(WHOLE + 2):
                fixture = next(
                    each for each in history.tournament.fixtures() if each.match not in history.tournament.playing
                )
                _take(te.MatchOpened(at=AT, fixture=fixture))
                entry = self._match(fixture, number, writer.head)
                if entry is not None:
                    _take(te.MatchClosed(at=AT, entry=entry))
        lines = [line for path in sorted(self.logs.glob("*.jsonl")) for line in heads(path)]
        heads_path(self.logs).write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))

    def _match(self, fixture: Fixture, number: int, head: str) -> Any:
        """Record a match; return its result, or None if it goes on."""
        names = [self.scheduled.plan.spec.entrants[entrant].name for entrant in fixture.entrants]
        match, steps = played(self.game, fixture, names)
        if number >= WHOLE:
            steps = [retold(step, Random(f"{self._key} {step.event}")) for step in steps]
        path, is_open = self.logs / f"{fixture.match}.jsonl", number > WHOLE
        steps = steps[: len(steps) // 2] if is_open else steps
        with closing(RecordWriter(path, SEALER)) as writer:
            programs = [str(self.folder / "submissions" / name) for name in names]
            context = MatchContext(tournament="cup", fixture=fixture, head=head)
            told: dict[str, Any] = {"referee": "0.0", "opened": AT, "context": context, "programs": programs}
            writer.write_header(steps[0].setup, self._seed(number), is_fixed=False, **told)
            for step in steps:
                writer.write_transition(step.event, step.commands)
            if not is_open:
                assert match.result is not None
                writer.end(match)
                writer.close()
        if not is_open:
            self.over = path
            return read_entry(read_record(path))
        opened = {"match": fixture.match, "table": 1, "round": fixture.round, "names": names}
        self.told.append({"event": "match-opened", **opened})
        self.told += [{"event": "table-changed", "table": json.loads(line)} for line in seen_of(steps)]
        return None

    def _seed(self, number: int) -> bytes:
        return SEED if number < WHOLE else self.seed


def heads(path: Path) -> Iterator[PublishedHead]:
    """Yield the head of each line of a record."""
    for line, _ in enumerate(path.read_bytes().splitlines()):
        yield PublishedHead(at=AT, record=path.stem, line=line, head=f"{line:064x}")


def outlets(world: World, patch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Return the answers for everybody, by address, of every route that a visitor may use, and the archive."""
    for module in (author_service, http):
        patch.setattr(module, "deferToThread", maybeDeferred)
    patch.setattr(workshop, "defer_to_workshop", maybeDeferred)
    patch.setattr(routes, "time", SimpleNamespace(time=lambda: 7.0))
    patch.setattr(tournament_runs, "wall_clock", lambda: AT)
    token = add_tokens(world.folder / "authors.toml", ["bob"], may_renew=True)["bob"]
    clock = Clock()
    with ExitStack() as stack:
        store = stack.enter_context(closing(Store(world.folder / "submissions")))
        intake = Intake(clock, world.contest, store, (), lambda *_, **__: None, world.folder / "key")
        hosted = HostedContest(clock, world.contest, RefereeProgram(("/bin/true",), ()), intake, lambda *_, **__: None)
        site = hosted.site(b"the key", is_behind_proxy=False)
        (run,) = hosted.runs.values()
        run.since = datetime.fromisoformat(AT)
        for line in world.told:
            run.take(msgspec.json.encode(line))
        bob, program = Browser(site), Browser(site)
        bob.sign_in(token)
        program.headers["authorization"] = f"Bearer {token}"
        everybody = {Who.VISITOR: Browser(site), Who.OTHER: bob, Who.OTHERS_PROGRAM: program}
        found = {
            f"{who.name} {address}": body
            for who, browser in everybody.items()
            for address, body in _answers(browser, world, who)
        }
        assert world.over.stem.encode() in found["OTHERS_PROGRAM /matches"]
        hosted.streams.close()
        hosted.live.streams.close()
    write_archive(world.contest, b"the key", world.folder / "contest.zip")
    with zipfile.ZipFile(world.folder / "contest.zip") as archive:
        found |= {f"archive {name}": archive.read(name) for name in archive.namelist()}
    assert not any(secret in body for body in found.values() for secret in (b"other 0.", world.seed.hex().encode()))
    return {address: HASH.sub(b"HASH", body).replace(bytes(world.folder), b"") for address, body in found.items()}


def _answers(visitor: Browser, world: World, who: Who) -> Iterator[tuple[str, bytes]]:
    """Yield a person's answer at each address of this kind that has public parts."""
    for rule in (rule for rule, address in TABLE.items() if who in address.may and rule.startswith("GET ")):
        path = rule.removeprefix("GET ")
        if path.endswith("<path:rest>"):
            yield from _files(visitor, world)
            continue
        for query in ("", "?q=bob"):
            asked = path.replace("<name>", "cup") + query
            assert "<" not in asked, "an address without an example"
            if path.endswith("events"):
                yield asked, bytes(visitor.stream(asked).value()).partition(b"\r\n\r\n")[2]
            else:
                answer = visitor.ask("GET", asked)
                assert answer.status in (200, 303), asked
                yield asked, re.sub(rb'name="form_token" value="\w*"', b"", answer.body)


def _files(visitor: Browser, world: World) -> Iterator[tuple[str, bytes]]:
    """Yield each public file of the tournament's folder, and the refusal of each other one."""
    names = ["heads", *(path.relative_to(world.logs).as_posix() for path in world.logs.rglob("*") if path.is_file())]
    for name in sorted(names):
        file, asked = find_public_file(world.logs, name, is_over=False), f"/tournaments/cup/{name}"
        assert visitor.ask("HEAD", asked).status == (404 if file is None else 200)
        yield asked, visitor.ask("GET", asked).body if file is None else file.read_bytes()


@pytest.mark.forges
@pytest.mark.parametrize("game", GAMES)
def test_worlds_that_differ_in_what_is_hidden_look_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    """This holds at every address that visitors may use, and in the archive."""
    told, worlds = list[dict[str, bytes]](), list[World]()
    for key in (1, 2):
        (tmp_path / f"{key}").mkdir()
        worlds.append(World(tmp_path / f"{key}", game, key))
        told.append(outlets(worlds[-1], monkeypatch))
    first, other = told
    assert first.keys() == other.keys()
    assert [address for address, body in first.items() if body != other[address]] == []
    assert all(b"other 0." in world.over.read_bytes() for world in worlds)
    public = {address for address in first if re.fullmatch(r"archive .*cup-[\d.]+(jsonl|html)", address)}
    assert len(public) == 2 * WHOLE
