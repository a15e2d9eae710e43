"""Observers: they are notified of what the referee does, and can't touch it."""

from .base import MatchStep, Observer, PlayingProcess
from .isolated import InThread, Note, Observers

__all__ = ["InThread", "MatchStep", "Note", "Observer", "Observers", "PlayingProcess"]
