"""Matches between in-memory links, as the tests of the network have them."""

from ..net.conftest import open_match

__all__ = ["open_match"]
