"""Wires that other people's players speak already. Each makes its bytes into the messages of protocol, and back."""
