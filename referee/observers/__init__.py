"""Observers: whoever is told what the referee does, and can't touch it."""

from .base import MatchStep, Observer, PlayingProcess
from .isolated import Note, Observers
from .threads import InThread

__all__ = ["InThread", "MatchStep", "Note", "Observer", "Observers", "PlayingProcess"]
