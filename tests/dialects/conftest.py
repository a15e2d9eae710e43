"""Matches between in-memory links, as the tests of the network have them."""

from ..net.conftest import sit

__all__ = ["sit"]
