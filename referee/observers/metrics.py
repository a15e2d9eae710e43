"""Counts what a running referee does, for Prometheus."""

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from ..match import commands as c
from ..match import events as e
from .base import MatchTransition, Observer

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Metrics(Observer):
    """Counts connections, matches, fouls and answers.

    Args:
        registry: registry that gets the metrics. Each referee has its own.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._connections = Counter("referee_connections", "Connections by event", ["event"], registry=registry)
        self._playing: set[str] = set()
        running = Gauge("referee_matches_running", "Matches that are being played", registry=registry)
        running.set_function(lambda: len(self._playing))
        self._matches = Counter("referee_matches", "Matches that are over", ["game", "end"], registry=registry)
        self._fouls = Counter("referee_fouls", "Expulsions", ["game", "cause"], registry=registry)
        self._voided = Counter("referee_verdicts_voided", "Deadlines not judged for a stall", registry=registry)
        self._answers = Histogram(
            "referee_answer_seconds", "Time charged for an answer", ["game"], buckets=_SECONDS, registry=registry
        )
        self._hosts = Counter(
            "referee_host_matches", "Matches by host of a cluster and outcome", ["host", "outcome"], registry=registry
        )
        self._host_lag = Histogram(
            "referee_host_lag_seconds",
            "Longest delay, per match, that a host added to an answer",
            ["host"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._versions = Counter(
            "referee_versions", "Versions that authors handed in, by outcome", ["outcome"], registry=registry
        )
        self._lag = Histogram(
            "referee_lag_seconds", "Delay that the referee added to an answer", buckets=_SECONDS, registry=registry
        )
        self._stalls = Histogram(
            "referee_stall_seconds", "Standstills of the event loop", buckets=_SECONDS, registry=registry
        )

    def note(self, event: str, /, **facts: Any) -> None:
        """Count the event of a connection, a standstill, a match of a host, or a version of a program."""
        if event.startswith("connection-"):
            self._connections.labels(event.removeprefix("connection-")).inc()
        elif event == "loop-stalled":
            self._stalls.observe(facts["stalled_s"])
        elif event == "host-match":
            self._hosts.labels(facts["host"], facts["outcome"]).inc()
            self._host_lag.labels(facts["host"]).observe(facts["lag_s"])
        elif event == "version-handed-in":
            self._versions.labels("handed-in").inc()
        elif event == "version-checked":
            self._versions.labels("passed" if facts["passed"] else "failed").inc()
        elif event == "match-paused":
            self._playing.discard(facts["match"])

    def on_match_advanced(self, transition: MatchTransition) -> None:
        """Count the answers, fouls and results in a transition."""
        game, event = transition.setup.game, transition.event
        if isinstance(event, e.MatchOpened | e.MatchResumed):
            self._playing.add(transition.setup.match)
        elif isinstance(event, e.Answer):
            self._answers.labels(game).observe(max(e.used_ms(event), 0.0) / 1000)
            self._lag.observe(event.lag_ms / 1000)
        for command in transition.commands:
            if isinstance(command, c.ExpelSeat):
                self._fouls.labels(game, str(command.foul.cause)).inc()
            elif isinstance(command, c.ExtendLimit):
                self._voided.inc()
            elif isinstance(command, c.CloseMatch):
                self._playing.discard(transition.setup.match)
                self._matches.labels(game, "void" if command.result.void else "played").inc()
