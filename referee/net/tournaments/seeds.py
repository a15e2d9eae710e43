"""Where the seed of each match of a tournament comes from: its secret, one number, or one deal for a pairing."""

from msgspec import Struct

from ... import chance
from ...tournament.match_context import Fixture


class MatchSeeds(Struct, frozen=True, kw_only=True):
    """Where a tournament's deals come from."""

    secret: bytes
    """32 bytes."""
    seed: int | None = None
    """Fixes every deal, for tests."""
    duplicate: bool = False
    """Whether all matches of a pairing have the same deal."""

    def of(self, fixture: Fixture) -> tuple[int | None, bytes | None, bytes | None]:
        """Return the number that fixes a match's seed, its deal, or the seed that is its alone: one of the three."""
        if self.seed is not None:
            return chance.deal_number(self.seed, fixture.number), None, None
        if self.duplicate:
            return None, chance.derive(self.secret, f"deal:{fixture.number}"), None
        return None, None, chance.match_seed(self.secret, fixture.match)

    def bytes_of(self, fixture: Fixture) -> bytes:
        """Return a match's seed: 32 bytes."""
        number, deal, drawn = self.of(fixture)
        return chance.seed_from_number(number) if number is not None else deal or drawn or b""


def salt_of(seed: int) -> str:
    """Return the salt of a tournament whose chance is fixed: 16 bytes in hex."""
    return chance.derive(chance.seed_from_number(seed), "salt")[:16].hex()
