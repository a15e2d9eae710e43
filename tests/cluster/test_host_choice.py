"""The choice of a host for a match, and the fate of the match if the host drains, is lost, or answers nonsense."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import Struct
from prometheus_client import CollectorRegistry
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from referee.cluster import admission as hosts_module
from referee.cluster.admission import MOST_FAILURES, ClusterPlan, Hosts
from referee.cluster.cluster_host import GONE_LOOKS, Attempt, ClusterHost, Lost, patience_s
from referee.cluster.followed_match import FollowedMatch
from referee.cluster.messages import (
    HOSTS_REPORT_S,
    BrokenOff,
    HostAnswer,
    HostLines,
    KnownHosts,
    Needs,
    NotBegun,
    PlayedMatch,
    RunAnswer,
    SeenHost,
    ShippedJob,
    StoredFolder,
    encode_message,
)
from referee.net.jobs.messages import SharedSettings
from referee.net.matches.settings import MatchServices
from referee.observers import Observers
from referee.observers.metrics import Metrics
from referee.programs.confining import Confinement
from referee.settings import RunTerms
from referee.tournament.hosts import Calibration

from ..net.jobs.making import job_of

pytestmark = pytest.mark.forges  # lines of records that hosts only claim to write


WELCOME = RunAnswer(calibration=Calibration(tables=1, wall_ms=9.0, processor_ms=8.0))


class Asks:
    """Stand-in for the connections to the hosts; it keeps the requests."""

    def __init__(self, *given: Any) -> None:
        self.take: Callable[[Any], None] = given[3]
        self.asked: list[tuple[str, str, Struct, Callable[[HostAnswer], None]]] = []
        self.count = 0
        self.dropped: list[int] = []

    def ask(self, address: str, call: str, message: Struct, on_answer: Callable[[HostAnswer], None]) -> int:
        """Store the request."""
        self.asked.append((address, call, message, on_answer))
        self.count += 1
        return self.count

    def drop(self, number: int) -> None:
        """Note that a request is dropped."""
        self.dropped.append(number)

    def answer(self, message: Struct | None) -> None:
        """Answer the first open request."""
        self.asked.pop(0)[3](HostAnswer(number=0, data=None if message is None else encode_message(message), why="no"))

    @property
    def calls(self) -> list[tuple[str, str]]:
        """The requests, each with its host."""
        return [(address, call) for address, call, _, _ in self.asked]


class Scene:
    """The hosts of a tournament, and the requests to them.

    Args:
        folder: of the records.
    """

    def __init__(self, folder: Path) -> None:
        self.registry = CollectorRegistry()
        services = MatchServices(observers=Observers(Metrics(self.registry)))
        plan = ClusterPlan(address="tls://h:1", keys=None, tournament="cup", game="q")
        settings = SharedSettings.of(folder, Confinement(), RunTerms())
        self.hosts = Hosts(
            Clock(),
            plan,
            settings,
            services,
            ["p1", "p2", "p3"],
            lambda: None,
            self._admit,
        )
        self.came: list[tuple[str, str, float]] = []
        self.why_not: str | None = None
        """Reason why no host gets into the record, or None."""
        way: Any = self.hosts.dispatcher
        self.way: Asks = way
        self.folder = folder

    def _admit(self, host: str, process: str, calibration: Calibration) -> str | None:
        self.came.append((host, process, calibration.wall_ms))
        return self.why_not

    def see(self, **tables: int) -> None:
        """Report connected hosts, each with its number of tables."""
        seen = (SeenHost(name=name, address=f"at-{name}", tables=count) for name, count in tables.items())
        self.way.take(KnownHosts(hosts=tuple(seen)))

    def let_in(self, **tables: int) -> None:
        """Report hosts, and let them answer the admission request."""
        self.see(**tables)
        for _ in tables:
            self.way.answer(WELCOME)

    def given(self, programs: tuple[str, ...] = ()) -> tuple[ClusterHost, Attempt, list[Any]]:
        """Give the next host a match; return the host, the attempt, and the list of its outcomes."""
        found: list[Any] = []
        Deferred.fromCoroutine(self.hosts.wait_for_host(None, programs)).addCallback(found.append)
        host = found.pop()
        followed = FollowedMatch(job_of(), self.folder, self.hosts.services.observers, self.hosts.settings.terms)
        attempt = Attempt(ShippedJob(run="r", match=f"m{id(followed)}", job=b"", programs=programs), followed)
        attempt.outcome.addCallback(found.append)
        self.hosts.give(host, attempt)
        return host, attempt, found


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Return the hosts of a tournament."""
    monkeypatch.setattr(hosts_module, "DispatcherLink", Asks)
    return Scene(tmp_path)


def test_the_host_with_least_to_do_is_next(scene: Scene) -> None:
    """Each gets up to twice as many matches as it plays at a time, and none before the tournament has recorded it."""
    scene.see(a=1, b=2)
    assert (scene.hosts.choice.room, scene.way.calls) == (0, [("at-a", "enter"), ("at-b", "enter")])
    scene.way.answer(WELCOME)
    scene.way.answer(WELCOME)
    assert scene.hosts.choice.room == 2 + 3
    assert [scene.given()[0].name for _ in range(5)] == ["a", "b", "b", "a", "b"]


@pytest.mark.parametrize(
    ("seen", "looks", "found"),
    [
        ("lab1-a", 1, "lab1-a"),
        (None, GONE_LOOKS - 1, None),
        (None, GONE_LOOKS, "lab2-b"),
        ("lab1-c", GONE_LOOKS, "lab1-c"),
    ],
)
def test_a_leg_waits_for_the_host_of_the_one_before(
    scene: Scene, seen: str | None, looks: int, found: str | None
) -> None:
    """It waits for some time, then for another host on the same machine, if there is one, and then for any."""
    scene.let_in(**{"lab2-b": 2}, **({} if seen is None else {seen: 1}))
    given: list[ClusterHost] = []
    Deferred.fromCoroutine(scene.hosts.wait_for_host("lab1-a", ())).addCallback(given.append)
    for _ in range(looks - 1):
        scene.see(**{"lab2-b": 2}, **({} if seen is None else {seen: 1}))
    assert [host.name for host in given] == ([] if found is None else [found])


def test_a_leg_waits_for_a_host_that_is_connected_again(scene: Scene) -> None:
    """The dispatcher was restarted, and another host has returned first. A leg does not wait for a lost host."""
    scene.let_in(a=1, b=1)
    scene.hosts.forget_addresses()
    scene.see(a=1, b=1)
    given: list[ClusterHost] = []
    Deferred.fromCoroutine(scene.hosts.wait_for_host("b", ())).addCallback(given.append)
    scene.way.answer(WELCOME)
    assert given == []
    scene.way.answer(WELCOME)
    assert [host.name for host in given] == ["b"]
    for _ in range(GONE_LOOKS):
        scene.see(a=1)
    Deferred.fromCoroutine(scene.hosts.wait_for_host("b", ())).addCallback(given.append)
    assert [host.name for host in given] == ["b", "a"]


def test_the_organiser_is_told_what_is_waited_for(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two messages come once each: that no host is connected, and that the record has no more names for hosts."""
    said: list[str] = []
    monkeypatch.setattr(scene.hosts, "say", lambda text, **_: said.append(text))
    for _ in range(2):
        scene.see()
    scene.let_in(a=1, b=1, c=1)
    for _ in range(2):
        scene.see(a=1, b=1, c=1, d=1)
    assert [text.split()[0] for text in said] == ["no", "host", "host", "host", "host"]


def test_a_host_that_refuses_is_given_nothing(scene: Scene) -> None:
    """It is not asked again, either."""
    scene.see(a=1)
    scene.way.answer(RunAnswer(refused="python is 3.12 here and 3.11 there"))
    scene.see(a=1)
    assert (scene.hosts.choice.room, scene.way.calls) == (0, [])


def test_a_host_comes_on_record_once(scene: Scene) -> None:
    """This holds however often it connects."""
    for place in ("here", "there"):
        scene.way.take(KnownHosts(hosts=(SeenHost(name="a", address=place, tables=1),)))
        scene.way.answer(WELCOME)
    assert (scene.came, scene.hosts.choice.room) == ([("a", "p1", 9.0)], 2)


@pytest.mark.parametrize(("welcome", "why_not"), [(WELCOME, "is of another class"), (RunAnswer(), None)])
def test_a_host_that_does_not_come_on_record_plays_nothing(
    scene: Scene, welcome: RunAnswer, why_not: str | None
) -> None:
    """The reasons are another class of speed, or a missing calibration."""
    scene.why_not = why_not
    scene.see(a=1)
    scene.way.answer(welcome)
    scene.see(a=1)
    assert (scene.hosts.choice.room, scene.way.calls) == (0, [])


@pytest.mark.parametrize(("is_begun", "outcome"), [(True, Lost), (False, NotBegun)])
def test_what_a_lost_host_has_begun_is_void(scene: Scene, is_begun: bool, outcome: type[Any]) -> None:  # noqa: FBT001  # of a table
    """The other matches move to other hosts. A host that is away for a moment is asked again when it is back."""
    scene.let_in(a=1)
    _, attempt, found = scene.given()
    if is_begun:
        scene.way.take(
            HostLines(host="a", match=attempt.shipped.match, offset=0, lines=b'{"n":0,"prev":"","kind":"header"}\n')
        )
    for _ in range(GONE_LOOKS - 1):
        scene.see()
    assert found == []
    scene.see()
    assert [type(each) for each in found] == [outcome]


def test_a_host_that_drains_keeps_what_it_has_begun(scene: Scene) -> None:
    """Waiting matches move to other hosts. It gets no match until it has tables again."""
    scene.let_in(a=1)
    _, begun, first = scene.given()
    scene.way.take(
        HostLines(host="a", match=begun.shipped.match, offset=0, lines=b'{"n":0,"prev":"","kind":"header"}\n')
    )
    _, waiting, second = scene.given()
    scene.see(a=0)
    assert (first, [type(each) for each in second], scene.hosts.choice.room) == ([], [NotBegun], 0)
    assert scene.way.dropped == [waiting.call]
    scene.see(a=1)
    assert scene.hosts.choice.room == 2


def test_programs_are_sent_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two matches wait for one program, and begin when it is there."""
    scene.let_in(a=2)
    digest = "0" * 64
    monkeypatch.setattr(scene.hosts.shipping, "read_packed", lambda _: b"folder")
    _, _, first = scene.given((digest,))
    _, _, _ = scene.given((digest,))
    scene.way.answer(Needs(digests=(digest,)))
    scene.way.answer(Needs(digests=(digest,)))
    assert [type(message) for _, _, message, _ in scene.way.asked] == [StoredFolder]
    scene.way.answer(RunAnswer())
    assert scene.way.calls == [("at-a", "play")] * 2
    scene.way.answer(PlayedMatch(record=b"all of it"))
    assert first == [PlayedMatch(record=b"all of it")]


def test_only_the_first_record_counts(scene: Scene) -> None:
    """A second answer changes nothing: one match has one result."""
    scene.let_in(a=1)
    _, _, outcomes = scene.given()
    on_answer = scene.way.asked[0][3]
    for record in (b"the record", b"another record"):
        on_answer(HostAnswer(number=0, data=encode_message(PlayedMatch(record=record))))
    assert outcomes == [PlayedMatch(record=b"the record")]


LINES = b'{"n":0,"prev":"","kind":"header"}\n'


@pytest.mark.parametrize(("is_begun", "outcome"), [(True, Lost), (False, NotBegun)])
def test_a_match_that_does_not_go_on_is_given_up(scene: Scene, is_begun: bool, outcome: type[Any]) -> None:  # noqa: FBT001  # of a table
    """Its host is asked to stop it; a match that waits for its table is left alone."""
    scene.let_in(a=1)
    host, attempt, found = scene.given()
    if is_begun:
        scene.way.take(HostLines(host="a", match=attempt.shipped.match, offset=0, lines=LINES))
        _, _, waiting = scene.given()
    for _ in range(int(patience_s(job_of()) / HOSTS_REPORT_S) + 1):
        assert found == []
        scene.see(a=1)
    scene.see(a=1)
    assert [type(each) for each in found] == [outcome]
    assert (scene.way.calls[-1], host.failures) == (("at-a", "stop"), 1)
    if is_begun:
        assert waiting == []


def test_what_a_drained_host_has_begun_is_fetched(scene: Scene) -> None:
    """It has no table any more when it returns to another scheduler, but it plays to the end."""
    scene.let_in(a=2)
    _, begun, found = scene.given()
    scene.way.take(HostLines(host="a", match=begun.shipped.match, offset=0, lines=LINES))
    scene.way.asked.clear()
    scene.way.take(KnownHosts(hosts=(SeenHost(name="a", address="elsewhere", tables=0),)))
    scene.way.answer(WELCOME)
    assert scene.way.calls == [("elsewhere", "fetch")]
    scene.way.answer(PlayedMatch(record=b"all of it"))
    assert found == [PlayedMatch(record=b"all of it")]


def test_what_a_stopped_match_answers_is_no_failure(scene: Scene) -> None:
    """Its host has done what it was asked for."""
    scene.let_in(a=1)
    host, attempt, _ = scene.given()
    scene.hosts.stop(host, attempt.shipped.match)
    attempt.end(NotBegun(why="stopped"))
    scene.way.answer(BrokenOff(why="it was stopped"))
    assert host.failures == 0


def test_a_host_that_never_answers_is_put_aside(scene: Scene) -> None:
    """Each of its matches is played elsewhere; after a few of them, it gets no more."""
    scene.let_in(a=1)
    for _ in range(MOST_FAILURES):
        _, _, found = scene.given()
        scene.way.answer(None)
        scene.see(a=1)
        assert [type(each) for each in found] == [Lost]
    assert scene.hosts.choice.room == 0


def test_a_host_that_cannot_keep_programs_is_put_aside(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its disk is full, for example: after a few attempts, it gets no more, and its matches are played elsewhere."""
    scene.let_in(a=1)
    digest = "0" * 64
    monkeypatch.setattr(scene.hosts.shipping, "read_packed", lambda _: b"folder")
    for _ in range(MOST_FAILURES):
        _, _, found = scene.given((digest,))
        scene.way.answer(Needs(digests=(digest,)))
        scene.way.answer(RunAnswer(refused="OSError: no space left on device"))
        assert [type(each) for each in found] == [NotBegun]
    assert scene.hosts.choice.room == 0


def test_the_matches_of_each_host_are_counted(scene: Scene) -> None:
    """They are counted by result, with their lag."""
    scene.let_in(a=1)
    for answer in (PlayedMatch(record=b"all of it"), PlayedMatch(record=b"all of it"), BrokenOff(why="no memory")):
        scene.given()
        scene.way.answer(answer)
    found = [
        scene.registry.get_sample_value("referee_host_matches_total", {"host": "a", "outcome": outcome})
        for outcome in ("played", "lost", "not-begun")
    ]
    assert found == [2, 1, None]
    assert scene.registry.get_sample_value("referee_host_lag_seconds_count", {"host": "a"}) == 3


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({"address": "tls://a", "tables": 2}, "plays"),
        ({"address": "tls://a"}, "takes no new matches"),
        ({"tables": 2}, "not connected"),
        ({"address": "tls://a", "tables": 2, "excluded": "it lies"}, "excluded: it lies"),
    ],
)
def test_observers_are_told_how_a_host_is(facts: dict[str, Any], state: str) -> None:
    """They get its state, its equipment, and the time since when it is away."""
    host = ClusterHost("one", "process")
    host.attempts["cup-00001"] = cast("Any", None)
    host.absent_looks = 4
    for name, value in facts.items():
        setattr(host, name, value)
    seen = host.describe()
    assert (seen.state, seen.tables, seen.matches) == (state, host.tables, ("cup-00001",))
    assert seen.silent_s == 4 * HOSTS_REPORT_S
