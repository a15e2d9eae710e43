"""When a process that plays matches looks for garbage: seldom, and never among what it has imported."""

import gc

YOUNG_OBJECTS = 10_000
"""So many new ones make Python look through them, in place of 700: what steps of many matches make is gone by then."""


def look_seldom() -> None:
    """Leave what there is out of every look for garbage, which would stall the loop, and look less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
