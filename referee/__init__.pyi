# What type checkers know of the API; `__init__.py` imports each of its names when it is used.

from .api.evaluating import evaluate as evaluate
from .api.evaluation import Evaluation as Evaluation
from .api.loading import load as load
from .api.match import Match as Match
from .api.match import Turn as Turn
from .api.playing import play as play
from .api.position import Position as Position
from .api.position import imagine as imagine
from .api.tournament import Tournament as Tournament
from .errors import RefereeError as RefereeError
from .games.base import IllegalMove as IllegalMove
from .games.base import MalformedMove as MalformedMove
from .hookspecs import hookimpl as hookimpl
from .match.commands import Result as Result
from .match.fouls import Foul as Foul

__version__: str
__all__ = [
    "Evaluation",
    "Foul",
    "IllegalMove",
    "MalformedMove",
    "Match",
    "Position",
    "RefereeError",
    "Result",
    "Tournament",
    "Turn",
    "__version__",
    "evaluate",
    "hookimpl",
    "imagine",
    "load",
    "play",
]
