"""The address a request comes from, as limits count it."""

from __future__ import annotations

import ipaddress

IPV6_PREFIX_BITS = 64
"""Whoever has one IPv6 address usually has all that begin with the same 64 bits."""


def find_network(host: str) -> str:
    """The address itself, or the network of an IPv6 address."""
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, IPV6_PREFIX_BITS), strict=False))
