"""The last steps: a match in each game as the referee itself plays it, against a house player."""

from functools import partial

from msgspec.structs import replace

from ..files.removal import temporary_folder
from ..match.setup import DEFAULT_TIME
from ..net.matches.session import MatchSession
from ..net.matches.settings import MatchServices, MatchSettings
from ..programs.player_spec import house_launch
from ..text import counted
from .context import CheckContext, CheckStep, demanding
from .positions import SHORT_OPTIONS, short_of_q
from .scripted_match import fouled

_OPPONENT = "random"
_LAST_CHARS = 800


def steps(games: tuple[str, ...]) -> tuple[CheckStep, ...]:
    """Return the steps of some games.

    Args:
        games: their names.
    """
    return tuple(
        CheckStep(f"match-{name}", f"{name}: it plays a match in the referee itself", partial(_played, name))
        for name in games
    )


def _played(name: str, context: CheckContext) -> str:
    game = context.game_called(name)
    context.close()  # a match starts programs of its own
    loop = context.loop
    with temporary_folder("match-", context.folder) as folder:
        times = {"per_move_ms": context.times.move_s * 1000.0, "start_ms": context.times.start_s * 1000.0}
        settings = MatchSettings(
            options=SHORT_OPTIONS.get(game.name, {}),
            position=short_of_q() if game.name == "q" else None,
            time=replace(DEFAULT_TIME, **times),
            folder=folder,
        )
        services = MatchServices(confinement=context.confinement)
        session = MatchSession(loop.reactor, loop.seconds, game, settings, services)
        with demanding("a program that can be built and started", "Mend it as it says there."):
            context.builds.build(context.launch)
            others = (replace(house_launch(_OPPONENT), name=f"house{seat}") for seat in range(1, game.seats[0]))
            played = loop.result(session.play([context.launch, *others]))
        fouls = [foul for foul in played.result.fouls if foul.seat == 0]
        if fouls:
            where = f"it was expelled in turn {fouls[0].turn}: "
            failure = fouled(fouls[0], game.name, bytes.fromhex(fouls[0].evidence), where)
            texts = [path.read_text(errors="replace") for path in sorted(folder.glob("*.seat0.*.stderr"))]
            failure.printed = "".join(texts)[-_LAST_CHARS:]
            raise failure
        return f"{counted(played.result.turns, 'turn')}, {played.result.used_ms[0] / 1000:.2f} s of its own"
