"""Observers: objects that the referee notifies of what it does, and that can't influence it."""

from .base import MatchTransition, Observer, PlayingProcess
from .isolated import InThread, Note, Observers

__all__ = ["InThread", "MatchTransition", "Note", "Observer", "Observers", "PlayingProcess"]
