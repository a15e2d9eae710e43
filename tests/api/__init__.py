"""Tests of what `import referee` has."""
