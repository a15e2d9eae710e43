"""Makes the answers that take long, in one thread; the client that has taken the least work so far is next."""

# A single thread is enough, and more threads would do harm. Python runs one thread at a time, so a second thread would
# only slow down the event loop; and the other cores are for matches. Because the client with the least work is next,
# hundreds of requests from one address delay another address by one answer. In the order of arrival, one visitor who
# requests five hundred boards would make everybody else wait for all of them.
#
# A new client starts with the cost of the client that was served last, not with zero. Otherwise an address that sends
# no requests for an hour would have priority for the next hour.

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
"""Most seconds of the thread's work a minute for one client: a third of a core."""
UNREAD_OF_ADDRESS, UNREAD = 64, 512
"""Most finished answers that are still being sent, to one client and to all: each takes memory until it is sent."""
_KEPT = 16
"""Most answers in the cache, for visitors who request the same answer."""


class Workshop:
    """Makes answers, one at a time.

    Args:
        now: returns monotonic seconds.
        defer: calls a function in a thread, and returns a Deferred result; None: use the thread of all workshops.
    """

    def __init__(self, now: Callable[[], float], defer: "Callable[..., Deferred[Any]] | None" = None) -> None:
        self._defer = defer
        self._limit = RateLimit("seconds of work for your pages", SECONDS_A_MINUTE, now)
        self._is_busy = self._is_choosing = False
        self._waiting: dict[str, deque[Deferred[None]]] = {}
        """Client -> its turns, the oldest first."""
        self._cost: dict[str, float] = {}
        """Client -> seconds of work so far; a missing client starts with `_least`."""
        self._least = 0.0
        self._last_cost = 0.0
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._unread: OriginLimiter[Any] = OriginLimiter(UNREAD_OF_ADDRESS, UNREAD)

    async def make(
        self, request: Any, who: str, function: Callable[..., T], *args: Any, key: Hashable | None = None
    ) -> T:
        """Call a function in the thread, when it is the client's turn.

        Args:
            request: request to answer with the result; if there are too many unread answers, the oldest is cut.
            who: client: an address, or the name of a signed-in person.
            function: makes the answer.
            args: arguments of the function.
            key: name under which a result other than None is cached for a while; None: no caching.

        Returns:
            Result of the function.

        Raises:
            TooOften: answers for this client have taken too much work lately.
        """
        if key in self._kept:
            return cast("T", self._recall(key))
        self._limit.count(who, 0)
        await self._wait_for_turn(who)
        try:
            if key in self._kept:  # a previous client has requested the same answer
                return cast("T", self._recall(key))
            answer: T = await let_finish((self._defer or defer_to_workshop)(self._work, function, *args))
            if key is None:
                self._count_unread(request, who)
            elif answer is not None:
                self._keep(key, answer)
            return answer
        finally:  # also charge a client that has left in the meantime
            self._charge(who)
            self._begin_next()

    def _wait_for_turn(self, who: str) -> "Deferred[None]":
        """Return a Deferred that fires when it is the client's turn."""
        turn: Deferred[None] = Deferred()
        self._waiting.setdefault(who, deque()).append(turn)
        if not self._is_busy:
            self._begin_next()
        return turn

    def _begin_next(self) -> None:
        """Give the thread to the client with the least work so far; skip clients that have left."""
        self._is_busy = False
        if self._is_choosing:  # a turn ended at once: the loop below continues, without one more call on the stack
            return
        self._is_choosing = True
        while self._waiting and not self._is_busy:
            client = min(self._waiting, key=self._cost_for_turn)
            turns = self._waiting[client]
            turn = turns.popleft()
            if not turns:
                del self._waiting[client]
            if not turn.called:
                self._is_busy = True
                self._least = self._cost_for_turn(client)
                turn.callback(None)
        self._is_choosing = False

    def _cost_for_turn(self, who: str) -> float:
        return max(self._cost.get(who, 0.0), self._least)

    def _work(self, function: Callable[..., T], *args: Any) -> T:
        """Call a function in the thread, and measure its CPU time in seconds."""
        begun_s = time.thread_time()
        try:
            return function(*args)
        finally:
            self.add_cost(time.thread_time() - begun_s)

    def add_cost(self, cost_s: float) -> None:
        """Charge seconds to the client whose answer is being made; also used for the work of another process."""
        self._last_cost += cost_s

    def _charge(self, who: str) -> None:
        cost, self._last_cost = self._last_cost, 0.0
        self._limit.charge(who, cost)
        self._cost[who] = self._cost_for_turn(who) + cost
        self._cost = {client: cost for client, cost in self._cost.items() if cost > self._least}

    def _recall(self, key: Hashable) -> Any:
        self._kept.move_to_end(key)
        return self._kept[key]

    def _keep(self, key: Hashable, answer: Any) -> None:
        self._kept[key] = answer
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _count_unread(self, request: Any, who: str) -> None:
        oldest = self._unread.add(request, who)
        if oldest is not None:
            oldest.channel.abortConnection()
        request.notifyFinish().addBoth(lambda _: self._unread.discard(request))


def defer_to_workshop(function: Callable[..., T], *args: Any) -> "Deferred[T]":
    """Call a function in the single thread: each further thread would keep the memory of its largest answer."""
    from twisted.internet import reactor  # noqa: PLC0415  # modules that import this one may still choose a reactor

    return deferToThreadPool(reactor, _find_pool(reactor), function, *args)


@cache
def _find_pool(reactor: Any) -> ThreadPool:
    pool = ThreadPool(0, 1, "workshop")
    pool.start()
    reactor.addSystemEventTrigger("during", "shutdown", pool.stop)
    return pool
