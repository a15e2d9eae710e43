"""Wires that other people's players speak already. Each makes its bytes into the messages of protocol, and back.

A dialect is a `Dialect` of referee/hookspecs.py, which a plugin returns.
"""
