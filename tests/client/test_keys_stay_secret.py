"""A key goes to the server that it is for, in one header, and nowhere else."""

from __future__ import annotations

import logging
import traceback

import pytest

import remembrancer
from remembrancer import RemembrancerError
from remembrancer.errors import InvalidInput
from tests.client.unreliable import Fault, unreliable
from tests.support.http_server import Served

pytestmark = pytest.mark.postgres_long

KEY = "rem_0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    "url",
    [
        "http://memory.example.org",
        "http://10.0.0.1:8150",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "http://[2001:db8::1]",
        "HTTP://example.org",
    ],
)
def test_no_key_travels_in_the_open_unless_told_to(url: str) -> None:
    with pytest.raises(InvalidInput, match="insecure=True"):
        remembrancer.connect(url, KEY)
    remembrancer.connect(url, KEY, insecure=True).disconnect()


@pytest.mark.parametrize(
    "url", ["http://localhost:1", "http://127.8.9.1", "http://[::1]:8150/", "https://example.org/x"]
)
def test_this_machine_and_encrypted_ways_are_fine(url: str) -> None:
    remembrancer.connect(url, KEY).disconnect()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory.example.org",
        "ftp://example.org",
        "https://",
        "https://[",
        "https://x:port",
        f"https://{KEY}@example.org",
        f"https://example.org/?key={KEY}",
        f"https://example.org/#{KEY}",
    ],
)
def test_an_address_that_is_none_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        remembrancer.connect(url, KEY)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", ["", "rem x", "rem_\r\nHost: evil.example", "rem_ключ", "rem_\x00"])
def test_a_key_that_cannot_be_one_is_refused_without_repeating_it(key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        remembrancer.connect("https://example.org", key)
    assert not key or key not in str(caught.value)


def test_the_key_is_in_no_repr_log_address_or_error(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = served.engine.create_key("ada").secret
    with unreliable(served.address) as way:
        with remembrancer.connect(way.address, secret, retries=0) as remote:
            remote.remember("Ada drinks tea")
            remote.list(tags=["food"])
            remote.turns("monday")
            shown = [repr(remote), str(remote), repr(vars(remote))]
            way.faults[:] = [Fault.DROP]
            with pytest.raises(RemembrancerError) as caught:
                remote.stats()
    shown += traceback.format_exception(caught.value)
    shown += [one.getMessage() for one in caplog.records]
    shown += [one.split(b"\r\n")[0].decode() for one in way.requests]
    assert secret not in "\n".join(shown)
    assert all(one.count(secret.encode()) == 1 for one in way.requests)
