"""What Python programs may use of the referee: what `import referee` has, and docs/reference/python.md describes.

The names in `referee.__all__` stay as they are; everything else in the package is private.
"""
