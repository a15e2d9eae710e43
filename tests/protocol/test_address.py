"""Addresses: which texts are valid, and the error for all others."""

import pytest

from protocol.address import Address, AddressError, AddressKind, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("tcp:127.0.0.1:7777", Address(kind=AddressKind.TCP, host="127.0.0.1", port=7777)),
        ("tcp:localhost:1", Address(kind=AddressKind.TCP, host="localhost", port=1)),
        ("tcp:[::1]:65535", Address(kind=AddressKind.TCP, host="::1", port=65_535)),
        ("tcp:::1:7777", Address(kind=AddressKind.TCP, host="::1", port=7777)),
        ("tls:referee.example:443", Address(kind=AddressKind.TLS, host="referee.example", port=443)),
        ("unix:/run/referee.sock", Address(kind=AddressKind.UNIX, path="/run/referee.sock")),
        ("unix:relative:with:colons", Address(kind=AddressKind.UNIX, path="relative:with:colons")),
        ("unix:" + "x" * 107, Address(kind=AddressKind.UNIX, path="x" * 107)),
    ],
)
def test_an_address_is_read(text: str, address: Address) -> None:
    """Each form has its parts."""
    assert address == parse_address(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "an address is tcp:HOST:PORT"),
        ("tcp", "an address is tcp:HOST:PORT"),
        ("tcp:", "an address is tcp:HOST:PORT"),
        ("unix:", "an address is tcp:HOST:PORT"),
        ("udp:localhost:7777", "an address is tcp:HOST:PORT"),
        ("TCP:localhost:7777", "an address is tcp:HOST:PORT"),
        ("tcp::7777", "an address is tcp:HOST:PORT"),
        ("tcp:[]:7777", "an address is tcp:HOST:PORT"),
        ("tcp:7777", "an address is tcp:HOST:PORT"),
        ("tcp:localhost:", "the port is a number from 1 to 65535, not ''"),
        ("tcp:localhost:0", "not '0'"),
        ("tls:localhost:65536", "not '65536'"),
        ("tls:localhost:-1", "not '-1'"),
        ("tcp:localhost:\u0667", "not '\u0667'"),
        ("tcp:localhost:" + "1" * 5000, "the port is a number"),
        ("unix:" + "\u00e4" * 54, "at most 107 bytes"),
    ],
)
def test_what_is_no_address_is_named(text: str, complaint: str) -> None:
    """The error shows the text and the valid forms."""
    with pytest.raises(AddressError) as caught:
        parse_address(text)
    assert complaint in str(caught.value)
