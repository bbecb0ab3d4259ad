"""Export, import and erasure over HTTP."""

from __future__ import annotations

import json
from dataclasses import replace

import httpx
import pytest

import remembrancer
from remembrancer import RemoteMemory
from remembrancer.errors import NotAllowed
from tests.support.http_server import Served, served
from tests.support.opening import Open


def test_what_is_exported_comes_back_as_it_was(open_memory: Open) -> None:
    with served(open_memory("assistant")) as here:
        ada, bob = here.of("ada"), here.of("bob")
        ada.post("/api/remember", json={"content": "I keep bees."}).raise_for_status()
        lines = ada.get("/api/export").raise_for_status()
        assert lines.headers["content-type"].startswith("application/x-ndjson")
        assert json.loads(lines.text.splitlines()[0])["user"] == "ada"

        assert ada.post("/api/import", content=lines.content).status_code == 409
        again = bob.post("/api/import", content=lines.content).raise_for_status()
        assert again.json()["rows"] == len(lines.text.splitlines()) - 1
        ours = bob.get("/api/export").text.splitlines()[1:]
        assert [one.replace('"bob"', '"ada"') for one in ours] == lines.text.splitlines()[1:]
        found = bob.post("/api/recall", json={"query": "bees"}).json()["items"]
        assert [one["memory"]["content"] for one in found] == ["I keep bees."]


def test_what_is_no_export_changes_nothing(open_memory: Open) -> None:
    with served(open_memory("assistant")) as here:
        ada = here.of("ada")
        ada.post("/api/remember", json={"content": "I keep bees."}).raise_for_status()
        lines = ada.get("/api/export").content
        secret = lines.replace(b"I keep bees.", b"password: hunter2-Xq9!kd8s")
        for bad in (
            b"",
            b"{}",
            b"[]\n",
            b"\xff",
            lines[:-9],
            lines.replace(b"facts", b"faces"),
            secret,
        ):
            answer = ada.post("/api/import", params={"replace": True}, content=bad)
            assert answer.status_code == 400, bad[:40]
            assert answer.json()["code"] == "bad_backup"
        assert ada.get("/api/export").content == lines


def test_being_erased_takes_ones_own_name_and_gives_a_receipt(open_memory: Open) -> None:
    with served(open_memory("assistant")) as here:
        ada, agent = here.of("ada"), here.of("ada", agent="helper")
        other = here.of("bob")
        ada.post("/api/remember", json={"content": "I keep bees."}).raise_for_status()
        assert ada.get("/api/erasure").json()["rows"]["facts"] == 1
        assert ada.post("/api/erasure", json={"user": "bob"}).status_code == 400
        assert agent.post("/api/erasure", json={"user": "ada"}).status_code == 403
        assert agent.get("/api/export").status_code == 403

        receipt = ada.post("/api/erasure", json={"user": "ada"}).raise_for_status().json()

        assert receipt["clean"]
        del receipt["clean"]
        assert ada.get("/api/me").status_code == 401, "their keys are gone"
        text = json.dumps(receipt)
        shown = other.post("/api/erasure/verify", json={"receipt": text}).json()
        assert shown == {"genuine": True}
        text = text.replace('"sought"', '"sought" ').replace('"ada"', '"eve"')
        assert other.post("/api/erasure/verify", json={"receipt": text}).json() == {
            "genuine": False
        }


@pytest.mark.feature("A2", "A22")
def test_forgetting_everything_keeps_the_key(open_memory: Open) -> None:
    with served(open_memory("assistant")) as here:
        ada, agent = here.of("ada"), here.of("ada", agent="helper")
        with remote(here, ada) as me, remote(here, agent) as helper:
            me.remember("I keep bees.")
            me.propose("The build cache lives for 14 days.")
            there = me.inventory()
            assert (there.memories, there.contributions, there.team_facts) == (1, 1, 1)
            with pytest.raises(NotAllowed):
                helper.forget_everything()

            receipt = me.forget_everything()

            assert receipt.clean
            assert receipt.account_kept
            assert here.engine.verify_receipt(receipt)
            assert not here.engine.verify_receipt(replace(receipt, account_kept=False))
            assert me.list().items == ()
            assert me.remember("I keep ducks.").memory
        assert here.engine.review(tenant=receipt.tenant).list().items == ()


def remote(here: Served, client: httpx.Client) -> RemoteMemory:
    key = client.headers["authorization"].removeprefix("Bearer ")
    return remembrancer.connect(here.address, key)


def test_support_sees_numbers_and_may_erase(open_memory: Open) -> None:
    with served(open_memory("assistant")) as here:
        ada = here.of("ada")
        ada.post("/api/remember", json={"content": "I keep bees."}).raise_for_status()
        viewer = here.of("eve", capabilities=["users:view"])
        editor = here.of("eve", capabilities=["users:view", "users:edit"])
        assert ada.get("/api/people").status_code == 403
        assert "ada" in viewer.get("/api/people").json()["items"]
        assert viewer.get("/api/people/ada").json()["rows"]["facts"] == 1
        assert viewer.get("/api/people/nobody").status_code == 404
        assert ada.get("/api/memory/activity").json()["items"][0]["note"] == "by eve, in numbers"
        assert viewer.post("/api/people/ada/erase", json={"user": "ada"}).status_code == 403
        assert editor.post("/api/people/ada/erase", json={"user": "eve"}).status_code == 400
        gone = editor.post("/api/people/ada/erase", json={"user": "ada"}).raise_for_status()
        assert gone.json()["removed"]["facts"] == 1
