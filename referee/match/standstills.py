"""What the referee's loop can't notice of its own standstills; everything longer stands in the record."""

UNNOTICED_MS = 7.5
"""A standstill up to this long: a beat of 5 ms that comes half of one late. So two beats may lie apart, too."""
KEPT_STANDSTILLS = 4096
"""So many of the last ones are remembered, and may excuse who was asked before them."""
DISK_MS = 500.0
"""Where requests wait for the disk, it may keep one up so long; then the referee stands still for it."""
MAX_LOOKS = 64
"""Reads of a socket after its deadline: more than the largest frame needs."""

Standstill = tuple[float, float]
"""Begin and end, in milliseconds."""
