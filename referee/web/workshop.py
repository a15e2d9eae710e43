"""Makes the answers that would keep everybody else waiting: in one thread, and in turns by what each visitor has cost.

The loop serves all visitors, so nothing may run in it for more than a few milliseconds. One thread is enough: it leaves
the loop its share, and the other cores to matches. Whoever has cost the least is next, so that hundreds of requests of
one address delay another address by one answer.
"""

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, TypeVar, cast

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

from ..net.links.origin_limits import OriginLimiter
from ..net.waiting import let_finish
from .rate_limit import RateLimit

T = TypeVar("T")
SECONDS_A_MINUTE = 20.0
"""Seconds of the thread's work a minute for one client: a third of a core."""
UNREAD_OF_ADDRESS, UNREAD = 64, 512
"""Answers that were made and are still being sent: to one address, and to all."""
_KEPT = 16
"""Answers that are kept for the next visitor who asks for the same."""


class Workshop:
    """Makes answers, one at a time.

    Args:
        now: monotonic seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._limit = RateLimit("seconds of work for your pages", SECONDS_A_MINUTE, now)
        self._is_busy = self._is_choosing = False
        self._waiting: dict[str, deque[Deferred[None]]] = {}
        """Client -> its turns, the oldest first."""
        self._cost: dict[str, float] = {}
        """Address -> seconds of work so far; of one that is not in it, the least of those that were served last."""
        self._least = 0.0
        self._last_cost = 0.0
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._unread: OriginLimiter[Any] = OriginLimiter(UNREAD_OF_ADDRESS, UNREAD)

    async def make(
        self, request: Any, who: str, function: Callable[..., T], *args: Any, key: Hashable | None = None
    ) -> T:
        """Call a function in the thread, once it is the turn of this visitor.

        Args:
            request: that the result answers; where too many answers are still being sent, the oldest is cut.
            who: asks: an address, or the name of somebody who is signed in.
            function: makes the answer.
            args: of the function.
            key: names the result, which is kept for a while unless it is None; None: it is made each time.

        Returns:
            What the function returns.

        Raises:
            TooOften: the answers to this visitor have taken too much work lately.
        """
        if key in self._kept:
            return cast("T", self._recall(key))
        self._limit.count(who, 0)
        await self._wait_for_turn(who)
        try:
            if key in self._kept:  # somebody before this one has asked for the same
                return cast("T", self._recall(key))
            made: T = await let_finish(defer_to_workshop(self._work, function, *args))
            if key is None:
                self._count_unread(request, who)
            elif made is not None:
                self._keep(key, made)
            return made
        finally:  # a visitor who has left meanwhile has cost as much
            self._charge(who)
            self._begin_next()

    def _wait_for_turn(self, who: str) -> "Deferred[None]":
        """Return what fires when the thread is this visitor's."""
        turn: Deferred[None] = Deferred()
        self._waiting.setdefault(who, deque()).append(turn)
        if not self._is_busy:
            self._begin_next()
        return turn

    def _begin_next(self) -> None:
        """Give the thread to the visitor that has cost the least; one who has left takes no turn."""
        self._is_busy = False
        if self._is_choosing:  # a turn that was over at once: the loop below goes on, and needs no stack for each
            return
        self._is_choosing = True
        while self._waiting and not self._is_busy:
            who = min(self._waiting, key=self._cost_for_turn)
            turns = self._waiting[who]
            turn = turns.popleft()
            if not turns:
                del self._waiting[who]
            if not turn.called:
                self._is_busy = True
                self._least = self._cost_for_turn(who)
                turn.callback(None)
        self._is_choosing = False

    def _cost_for_turn(self, who: str) -> float:
        return max(self._cost.get(who, 0.0), self._least)

    def _work(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function in the thread, and measure the seconds of work that it takes."""
        begun = time.thread_time()
        try:
            return function(*args)
        finally:
            self._last_cost = time.thread_time() - begun

    def _charge(self, who: str) -> None:
        cost, self._last_cost = self._last_cost, 0.0
        self._limit.charge(who, cost)
        self._cost[who] = self._cost_for_turn(who) + cost
        self._cost = {known: spent for known, spent in self._cost.items() if spent > self._least}

    def _recall(self, key: Hashable) -> Any:
        self._kept.move_to_end(key)
        return self._kept[key]

    def _keep(self, key: Hashable, made: Any) -> None:
        self._kept[key] = made
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _count_unread(self, request: Any, who: str) -> None:
        oldest = self._unread.add(request, who)
        if oldest is not None:
            oldest.channel.abortConnection()
        request.notifyFinish().addBoth(lambda _: self._unread.discard(request))


def defer_to_workshop(function: Callable[..., T], *args: Any) -> "Deferred[T]":
    """Call a function in the one thread: each thread would hold for itself what the largest answer took."""
    from twisted.internet import reactor  # noqa: PLC0415  # whoever imports this module may still choose one

    return deferToThreadPool(reactor, _find_pool(reactor), function, *args)


@cache
def _find_pool(reactor: Any) -> ThreadPool:
    pool = ThreadPool(0, 1, "workshop")
    pool.start()
    reactor.addSystemEventTrigger("during", "shutdown", pool.stop)
    return pool
