"""Observers: they are notified of what the referee does, and can't touch it."""

from .base import MatchTransition, Observer, PlayingProcess
from .isolated import InThread, Note, Observers

__all__ = ["InThread", "MatchTransition", "Note", "Observer", "Observers", "PlayingProcess"]
