"""The public Python interface: the names that `import referee` offers, which docs/reference/python.md describes.

The names in `referee.__all__` stay as they are; everything else in the package is private.
"""
