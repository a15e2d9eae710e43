"""The last steps: matches at a real table, against a house player. Knows what a table needs; judges nothing itself.

A table needs a running reactor, and a process has one of them, once: so these steps are one coroutine.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from ..files.removal import temporary_folder
from ..launch import Launch, PlayerError, house_launch
from ..match.fouls import Foul
from ..net.matches.host import MatchHost
from ..net.matches.services import MatchServices
from ..net.matches.settings import TableSettings
from ..text import counted
from .context import CheckContext, unready
from .findings import Failed, Finding, Skipped, StepWatch
from .positions import SHORT_OPTIONS, short_of_q
from .scripted_match import AnyGame, fouled

_OPPONENT = "random"
_LAST_CHARS = 800


def titles(games: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return keys and titles of the steps.

    Args:
        games: the names of all games there are.
    """
    return tuple((f"match-{name}", f"{name}: it plays a match in the referee itself") for name in games)


async def matches(
    reactor: Any, bench: CheckContext, numbered: Sequence[tuple[int, str]], tell: Callable[[Finding], None]
) -> None:
    """Play the matches.

    Args:
        reactor: Twisted's, running.
        bench: what is checked.
        numbered: number of the step and name of the game.
        tell: called with what each match found, as soon as it is known.
    """
    for number, name in numbered:
        ((key, title),) = titles((name,))
        watch = StepWatch(number, key, title)
        try:
            tell(watch.passed(await _played(reactor, bench, name)))
        except Skipped as skipped:
            tell(watch.skipped(skipped))
        except Failed as failure:
            tell(watch.failed(failure))


async def _played(reactor: Any, bench: CheckContext, name: str) -> str:
    if not bench.plays(name):
        raise Skipped(f"it does not play {name}")
    game = bench.known[name]
    with temporary_folder("match-", bench.folder) as folder:
        services = MatchServices(confinement=bench.confinement)
        table = MatchHost(reactor, time.monotonic, game, _settings(bench, game, folder), services)
        try:
            bench.builds.build(bench.launch)
            played = await table.play_programs(_launches(bench, game))
        except PlayerError as error:
            advice = "Mend it as it says there."
            raise unready(error, "a program that can be built and started", advice) from None
        fouls = [foul for foul in played.result.fouls if foul.seat == 0]
        if fouls:
            raise _failed(fouls[0], game, _printed(folder))
        return f"{counted(played.result.turns, 'turn')}, {played.result.used_ms[0] / 1000:.2f} s of its own"


def _launches(bench: CheckContext, game: AnyGame) -> list[Launch]:
    others = (replace(house_launch(_OPPONENT), name=f"house{seat}") for seat in range(1, game.seats[0]))
    return [bench.launch, *others]


def _settings(bench: CheckContext, game: AnyGame, folder: Path) -> TableSettings:
    return TableSettings(
        options=SHORT_OPTIONS.get(game.name, {}),
        position=short_of_q() if game.name == "q" else None,
        per_move_ms=bench.times.move_s * 1000,
        start_ms=bench.times.start_s * 1000,
        folder=folder,
    )


def _failed(foul: Foul, game: AnyGame, printed: str) -> Failed:
    failure = fouled(foul, game.name, bytes.fromhex(foul.evidence), f"it was expelled in turn {foul.turn}: ")
    failure.printed = printed
    return failure


def _printed(folder: Path) -> str:
    texts = [path.read_text(errors="replace") for path in sorted(folder.glob("*.seat0.*.stderr"))]
    return "".join(texts)[-_LAST_CHARS:]
