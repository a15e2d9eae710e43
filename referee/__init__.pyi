# What type checkers know of the API; `__init__.py` imports each of its names when it is used.

from .api.evaluating import Evaluation as Evaluation
from .api.evaluating import evaluate as evaluate
from .api.match import Match as Match
from .api.match import Turn as Turn
from .api.playing import play as play
from .api.position import Position as Position
from .api.position import imagine as imagine
from .api.position import start as start
from .api.tournament import Tournament as Tournament
from .api.tournament import load as load
from .app.comparison import SequentialTest as SequentialTest
from .errors import RefereeError as RefereeError
from .games.base import IllegalMove as IllegalMove
from .games.base import MalformedMove as MalformedMove
from .hookspecs import hookimpl as hookimpl
from .match.commands import Result as Result
from .match.events import Ending as Ending
from .match.fouls import Cause as Cause
from .match.fouls import Foul as Foul
from .record.reader import Record as Record
from .tournament.ratings.elo import Estimate as Estimate
from .tournament.ratings.elo import Rating as Rating
from .tournament.standings import Standing as Standing

__version__: str
__all__ = [
    "Cause",
    "Ending",
    "Estimate",
    "Evaluation",
    "Foul",
    "IllegalMove",
    "MalformedMove",
    "Match",
    "Position",
    "Rating",
    "Record",
    "RefereeError",
    "Result",
    "SequentialTest",
    "Standing",
    "Tournament",
    "Turn",
    "__version__",
    "evaluate",
    "hookimpl",
    "imagine",
    "load",
    "play",
    "start",
]
