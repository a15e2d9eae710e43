"""Protocols of other projects, so that their players can play here. Each is translated to our messages and back.

A plugin returns a dialect as a `Dialect` of referee/hookspecs.py.
"""
