"""Takes the file of a tournament under another name, as one that is played every day."""

import msgspec
from msgspec.structs import replace

from ...errors import BadRequest
from ...type_words import shown
from .plan import NAME, TournamentPlan


def named(plan: TournamentPlan, name: str) -> TournamentPlan:
    """Return a plan under another name than its file gives it; its records lie in a folder of that name.

    Args:
        plan: of the file.
        name: that it is to have.

    Raises:
        BadRequest: no tournament can have that.
    """
    try:
        msgspec.convert(name, NAME.type)
    except msgspec.ValidationError:
        raise BadRequest(f"a tournament can't be called {shown(name)}: its name is {NAME.words}") from None
    folder = plan.run_settings.folder.with_name(name)
    return replace(plan, spec=replace(plan.spec, name=name), run_settings=replace(plan.run_settings, folder=folder))
