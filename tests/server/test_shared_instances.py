"""I1, I3, I5, I6, I8, I9: the users of an instance share its memories, by one stable id each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

from remembrancer.assistant.toolbox import Toolbox
from remembrancer.clock import ManualClock
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput, NotAllowed
from remembrancer.tools.caller import Caller
from remembrancer.types import Owner, Principal
from tests.support.http_server import Served
from tests.support.visitor import Visitor

Serve = Callable[..., Served]
Rows = dict[str, list[dict[str, Any]]]

SIX = (
    ("general", "Acme uses Slack as primary comms tool."),
    ("preference", "Alice prefers tables over prose answers."),
    ("fact", "Bob's office is in Munich."),
    ("event", "Demo with Acme on 2026-05-12 at 15:00 CEST."),
    ("relationship", "Carol manages Dan's team."),
    ("decision", "Decided to use Postgres for the prototype."),
)
ADMIN = ("instances:admin",)
BOT: dict[str, Any] = {"instanceId": "support-bot"}


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve("instances")


def listed(client: httpx.Client, **asked: object) -> list[dict[str, Any]]:
    answer = client.get("/memories", params={**BOT, "limit": 100, **asked})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def made(client: httpx.Client, content: str, **more: object) -> dict[str, Any]:
    answer = client.post("/memories", json={**BOT, "content": content, **more})
    assert answer.status_code == 201, answer.text
    row: dict[str, Any] = answer.json()
    return row


@pytest.mark.feature("I1", "I4", "I5", "I6", "I8", "I9")
def test_two_users_share_six_memories(
    served: Served, clock: ManualClock, stored: Callable[[], Rows]
) -> None:
    ada, ben = served.of("ada"), served.of("ben", agent="support-bot")
    for number, (category, content) in enumerate(SIX):
        clock.advance(timedelta(minutes=1))
        made((ada, ben)[number % 2], content, category=category, importance=number + 1)

    for client in (ada, ben):
        assert [(one["category"], one["content"]) for one in listed(client)] == [*reversed(SIX)]
        for category, content in SIX:
            assert [one["content"] for one in listed(client, category=category)] == [content]
        best = listed(client, q="Where does Bob work?")[0]
        assert best["content"] == "Bob's office is in Munich."
    context = ben.post("/api/agents/support-bot/context", json={"prompt": "Where is Bob's office?"})
    assert "Bob's office is in Munich." in context.json()["text"]

    clock.advance(timedelta(days=3))
    (bob,) = listed(ada, category="fact")
    moved = {**BOT, "content": "Bob's office is in Berlin.", "importance": 9}
    updated = ben.put(f"/memories/{bob['id']}", json=moved).json()
    assert updated == {**bob, "content": moved["content"], "importance": 9}
    again = made(ada, "Bob's office is in Berlin now.", category="fact")
    assert (again["id"], again["createdAt"]) == (bob["id"], bob["createdAt"])
    assert ada.get(f"/memories/{bob['id']}", params=BOT).json() == again
    assert len(listed(ben)) == 6

    assert ben.delete(f"/memories/{bob['id']}", params=BOT).json() == {"deleted": [bob["id"]]}
    assert ada.get(f"/memories/{bob['id']}", params=BOT).status_code == 404
    others = [one["id"] for one in listed(ada)]
    assert sorted(
        ada.post("/memories/delete", json={**BOT, "ids": others}).json()["deleted"]
    ) == sorted(others)
    assert listed(ben) == []


@pytest.mark.feature("I1", "I4", "I7")
def test_what_one_user_says_is_learned_for_the_other(served: Served) -> None:
    ada, ben = served.of("ada"), served.of("ben", agent="support-bot")
    turns = [{"role": "user", "content": content} for _, content in SIX]
    for turn in turns:
        said = {"turns": [turn, {"role": "assistant", "content": "Noted."}], "session": "monday"}
        assert ben.post("/api/agents/support-bot/learn", json=said).status_code < 300
    served.engine.flush()

    found = {(one["category"], one["content"]) for one in listed(ada)}

    assert found == {(category, content.rstrip(".")) for category, content in SIX}
    assert {one["sourceConversationId"] for one in listed(ada)} == {"monday"}
    assert ada.get("/memories", params={"instanceId": "sales-bot"}).json()["items"] == []


@pytest.mark.feature("I1")
def test_an_instance_is_closed_to_all_but_its_users(served: Served) -> None:
    root, ada = served.of("root", capabilities=ADMIN), served.of("ada")
    ben, pinned = served.of("ben"), served.of("ben", agent="support-bot")
    made(ada, "Acme uses Slack.")
    path = "/api/instances/support-bot"
    assert ada.put(path, json={"members": ["ada"]}).status_code == 403

    assert root.put(path, json={"members": ["ada"]}).json()["members"] == ["ada"]

    mine = {"id": "support-bot", "memoryEnabled": True, "open": False, "members": None}
    assert ada.get("/api/instances").json()["items"] == [mine]
    for client in (ada, root):
        assert [one["content"] for one in listed(client)] == ["Acme uses Slack."]
    for client in (ben, pinned):
        assert client.get("/api/instances").json() == {"items": []}
        for answer in (
            client.get("/memories", params=BOT),
            client.post("/memories", json={**BOT, "content": "Ben was here."}),
            client.get("/api/agents/support-bot/memory/facts"),
            client.post("/api/agents/support-bot/context", json={"prompt": "Slack"}),
            client.get(path),
        ):
            assert answer.status_code == 403
            assert "no access to the instance 'support-bot'" in answer.json()["detail"]
    visitor = Visitor(served, "ben")
    for page in ("/instances?instance=support-bot", "/agents/support-bot/chat"):
        shown = visitor.get(page)
        assert (shown.status_code, "Slack" in shown.text) == (403, False)
    assert "instance=support-bot" not in visitor.get("/instances").text
    with pytest.raises(NotAllowed, match="no access"):
        served.engine.for_user("ben", agent="support-bot")
    with pytest.raises(NotAllowed, match="no access"):
        served.engine.for_user("ben").acting_as("support-bot")

    root.put(path, json={"open": True})
    assert [one["content"] for one in listed(ben)] == ["Acme uses Slack."]


@pytest.mark.feature("I1")
def test_no_one_is_an_instance(open_memory: Callable[..., Remembrancer], tenant: str) -> None:
    engine = open_memory("instances")
    engine.for_user("ada", agent="support-bot").remember("Acme uses Slack.")
    name = "instance:support-bot"
    attempts: list[Callable[[], object]] = [
        lambda: engine.for_user(name),
        lambda: engine.for_principal(Principal(Owner(tenant, name))),
        lambda: engine.create_key(name),
        lambda: list(engine.export(name)),
        lambda: engine.import_(name, []),
        lambda: engine.erase(name),
        lambda: engine.inventory(name),
        lambda: engine.review(name),
        lambda: engine.review().person(name),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput, match="No user name can begin with"):
            attempt()
    assert [one for one in engine.owners() if one.tenant == tenant] == []
    assert engine.review().people() == ()


@pytest.mark.feature("I1")
def test_an_erased_person_leaves_what_others_entered(
    served: Served, stored: Callable[[], Rows]
) -> None:
    engine = served.engine
    ada, ben = served.of("ada"), served.of("ben")
    bob = made(ada, "Bob's office is in Torshavn.")
    made(ben, "Acme uses Slack.")
    made(ada, "Wednesday is for dirigibles.")
    for user, words in (("ada", "Numbats eat leaves."), ("ben", "Looms are dear.")):
        said = [{"role": "user", "content": words}, {"role": "assistant", "content": "Noted."}]
        engine.for_user(user, agent="support-bot").append(said, f"of-{user}")  # type: ignore[arg-type]
    ben.put(f"/memories/{bob['id']}", json={**BOT, "content": "Bob's office is in Berlin."})
    backup = engine.backup_to_shelf()

    receipt = engine.erase("ada")

    everything = str(stored())
    for gone in ("Torshavn", "dirigibles", "Numbats"):
        assert gone not in everything
    bot = engine.for_user("ben", agent="support-bot")
    assert {one.content for one in bot.list().items} == {
        "Acme uses Slack.",
        "Bob's office is in Berlin.",
    }
    assert [one.id for one in bot.sessions().items] == ["of-ben"]
    assert receipt.removed["instance_rows"] == 4
    assert receipt.clean, receipt
    engine.restore_backup(backup.path, replace=True)
    assert {one.content for one in bot.list().items} == {
        "Acme uses Slack.",
        "Bob's office is in Berlin.",
    }
    assert not any(name in str(stored()) for name in ("Torshavn", "dirigibles", "Numbats"))


@pytest.mark.feature("I1")
def test_an_administrator_erases_an_instance(served: Served, stored: Callable[[], Rows]) -> None:
    root, ada = served.of("root", capabilities=ADMIN), served.of("ada")
    made(ada, "Wednesday is for dirigibles.")
    root.put("/api/instances/support-bot", json={"members": ["ada"]})
    path = "/api/instances/support-bot/erase"
    assert ada.post(path, json=BOT).status_code == 403
    assert root.post(path, json={"instanceId": "sales-bot"}).status_code == 400

    assert root.post(path, json=BOT).json()["clean"]

    assert "dirigibles" not in str(stored())
    assert root.get("/api/instances").json()["items"] == []


@pytest.mark.feature("I3", "I7")
def test_memory_that_is_off_is_kept_out_of_prompts_and_learns_nothing(
    open_memory: Callable[..., Remembrancer],
) -> None:
    here, elsewhere = open_memory("instances"), open_memory("instances")
    bot = here.for_user("ada", agent="support-bot")
    bot.remember("Refunds above a hundred pounds need a second signature.")
    root = here.for_user("root", capabilities=ADMIN).principal
    asked = "Who signs a refund above a hundred pounds?"
    assert "second signature" in bot.context(asked).text

    elsewhere.change_instance(root, "support-bot", memory_enabled=False)
    other = elsewhere.for_user("ben", agent="support-bot")
    said = "Remember that the office is closed on Mondays."
    other.learn([{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}])
    elsewhere.flush()

    assert other.context(asked).text == ""
    assert Toolbox(Caller(other), pytest.fail).list_tools() == ()
    assert [one.content for one in other.list().items] == [
        "Refunds above a hundred pounds need a second signature."
    ]
    other.remember("Refunds take three days.")
    assert len(other.recall("refunds")) == 2
    elsewhere.change_instance(root, "support-bot", memory_enabled=True)
    assert Toolbox(Caller(other), pytest.fail).list_tools() != ()
    assert "second signature" in other.context(asked).text
    other.learn([{"role": "user", "content": said}, {"role": "assistant", "content": "Noted."}])
    elsewhere.flush()
    assert any("closed on Mondays" in one.content for one in other.list().items)


@pytest.mark.feature("I6")
@pytest.mark.postgres_long
def test_a_source_conversation_must_exist(served: Served) -> None:
    ada = served.of("ada")
    body = {**BOT, "content": "Acme uses Slack.", "sourceConversationId": "monday"}
    answer = ada.post("/memories", json=body)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert listed(ada) == []
