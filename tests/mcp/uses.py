"""A use of every tool: what a client may rely on, whatever lies between it and the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.mcp.talk import Talk, contents

Use = Callable[[Talk], None]
NOBODYS = "fact_" + "0" * 26


def remember(talk: Talk) -> None:
    done = talk.call("remember", content="Ada drinks green tea.")
    assert done["done"] == "remembered"
    assert done["content"] == "Ada drinks green tea."
    assert done["event"].startswith("event_")
    assert talk.call("remember", content="Ada drinks green tea.")["done"] == "unchanged"


def recall(talk: Talk) -> None:
    talk.call("remember", content="The boat in the harbour is called Bluebird.")
    found = talk.call("recall", query="what is the boat called?", limit=1)
    assert contents(found) == ["The boat in the harbour is called Bluebird."]
    assert 0 < found["sure"] <= 1


def context(talk: Talk) -> None:
    talk.call("remember", content="Vegetables are bought at the market on Mondays.")
    told = talk.call("context", prompt="Where do vegetables come from?", budget=500)
    assert "market on Mondays" in told["text"]
    assert told["text"].startswith("<remembered>")
    assert told["tokens"] <= 500


def update(talk: Talk) -> None:
    old = talk.call("remember", content="The dentist is Dr. Vogel.")
    new = talk.call("update", memory="dentist is", content="The dentist is Dr. Adler.")
    assert (new["done"], new["replaced"]) == ("updated", old["id"])


def forget(talk: Talk) -> None:
    kept = talk.call("remember", content="Owns a unicycle.")
    assert talk.call("forget", memory="unicycle")["done"] == "forgotten"
    assert talk.fails("update", memory="unicycle", content="x")["code"] == "not_found"
    assert kept["id"] not in str(talk.call("recall", query="unicycle"))


def confirm(talk: Talk) -> None:
    kept = talk.call("remember", content="Sleeps with the window open.")
    assert talk.call("confirm", memory=kept["id"])["done"] == "confirmed"


def undo(talk: Talk) -> None:
    kept = talk.call("remember", content="Plays the bassoon on Sundays.")
    talk.call("forget", memory=kept["id"])
    assert talk.call("undo")["id"] == kept["id"]
    assert kept["id"] in str(talk.call("recall", query="bassoon"))
    assert talk.call("undo", event=kept["event"])["done"] == "undone"


def feedback(talk: Talk) -> None:
    rule = talk.call("remember", content="Ask before sending a letter.", kind="rule")
    assert talk.call("feedback", rule=rule["id"], helped=True)["done"] == "helped"
    done = talk.call("feedback", rule=rule["id"], helped=False, reason="It was too late.")
    assert done["done"] == "harmed"


def store_episode(talk: Talk) -> None:
    done = talk.call(
        "memory_store_episode",
        content="Booked the train to Lyon.",
        butler="travel",
        session_id="s-1",
        importance=7,
    )
    assert done["id"].startswith("episode_")


def store_fact(talk: Talk) -> None:
    old = weight(talk, "74 kg")
    new = weight(talk, "75 kg")
    assert new["replaced"] == old["id"]


def weight(talk: Talk, content: str) -> Any:
    return talk.call(
        "memory_store_fact",
        subject="user",
        predicate="weighs",
        content=content,
        importance=6,
        permanence="volatile",
        scope="travel",
        tags=["health", "body"],
    )


def store_rule(talk: Talk) -> None:
    done = talk.call(
        "memory_store_rule", content="Compare three offers.", scope="travel", tags=["money"]
    )
    assert done["id"].startswith("rule_")


def search(talk: Talk) -> None:
    talk.call("memory_store_rule", content="Water the orchids on Fridays.")
    wanted: dict[str, Any] = {"query": "orchids", "scope": "travel", "limit": 1}
    for mode in ("hybrid", "semantic", "keyword"):
        found = talk.call("memory_search", types=["rule"], mode=mode, min_confidence=0, **wanted)
        assert contents(found) == ["Water the orchids on Fridays."]
    assert talk.call("memory_search", types=["episode"], mode="keyword", **wanted)["items"] == []


def memory_recall(talk: Talk) -> None:
    fact = a_fact(talk, "passport", "The passport runs out in May.")
    found = talk.call("memory_recall", topic="when does the passport run out?", limit=1)
    assert found["items"][0]["id"] == fact["id"]
    assert talk.call("memory_recall", topic="passport", scope="travel")["items"]


def get(talk: Talk) -> None:
    fact = a_fact(talk, "cat", "The cat is called Mila.")
    told = talk.call("memory_get", type="fact", id=fact["id"])
    assert (told["content"], told["subject"]) == ("The cat is called Mila.", "cat")
    assert talk.fails("memory_get", type="rule", id=fact["id"])["code"] == "not_found"


def memory_confirm(talk: Talk) -> None:
    fact = a_fact(talk, "car", "The car is in the garage.")
    assert talk.call("memory_confirm", type="fact", id=fact["id"])["done"] == "confirmed"


def mark_helpful(talk: Talk) -> None:
    rule = talk.call("memory_store_rule", content="Greet people by name.")
    assert talk.call("memory_mark_helpful", rule_id=rule["id"])["done"] == "helped"


def mark_harmful(talk: Talk) -> None:
    rule = talk.call("memory_store_rule", content="Reply at midnight.")
    for reason in ("It woke the children.", "Again.", "And again."):
        done = talk.call("memory_mark_harmful", rule_id=rule["id"], reason=reason)
        rule = done
    assert done["content"].startswith("ANTI-PATTERN")


def memory_forget(talk: Talk) -> None:
    fact = a_fact(talk, "bike", "The bike has a flat tyre.")
    assert talk.call("memory_forget", type="fact", id=fact["id"])["done"] == "forgotten"


def stats(talk: Talk) -> None:
    a_fact(talk, "roof", "The roof was repaired in autumn.")
    told = talk.call("memory_stats", scope="travel")
    assert told["by_kind"]["fact"]["active"] >= 1
    assert sum(told["confidence"].values()) >= 1
    assert set(told["by_scope"]) <= {"global", "travel"}


def memory_context(talk: Talk) -> None:
    a_fact(talk, "garden", "The garden has an apple tree.")
    told = talk.call(
        "memory_context", trigger_prompt="the garden", butler="travel", token_budget=300
    )
    assert "apple tree" in told["text"]
    assert told["tokens"] <= 300


def a_fact(talk: Talk, subject: str, content: str) -> Any:
    return talk.call("memory_store_fact", subject=subject, predicate="state", content=content)


def recall_memory(talk: Talk) -> None:
    talk.call("remember", content="The library card is in the drawer.")
    found = talk.call("recall_memory", query="where is the library card?", limit=1)
    assert contents(found) == ["The library card is in the drawer."]


def forget_memory(talk: Talk) -> None:
    kept = talk.call("remember", content="Collects old stamps.")
    done = talk.call("forget_memory", query="the stamp collection")
    assert (done["ids"], done["content"]) == ([kept["id"]], "Collects old stamps.")
    talk.call("remember", content="Runs every morning.")
    assert done["event"]
    code = talk.call("forget_memory", all=True)["code"]
    assert talk.call("recall_memory", query="running")["items"]
    assert talk.call("forget_memory", all=True, confirm=code)["done"] == "erased"
    assert talk.call("recall_memory", query="running")["items"] == []
    assert talk.fails("forget_memory")["code"] == "bad_input"


def save_preference(talk: Talk) -> None:
    done = saved(talk, "Targets retirement at 50.", detail="After the house is paid off.")
    assert done["done"] == "remembered"
    assert done["event"]


def update_preference(talk: Talk) -> None:
    old = saved(talk, "Risk tolerance is low.")
    done = talk.call(
        "update_preference",
        id_or_substring="risk tolerance",
        new_content="Risk tolerance is moderate.",
        detail="Since March.",
    )
    assert done["replaced"] == old["id"]
    assert done["event"]


def forget_preference(talk: Talk) -> None:
    saved(talk, "Holds bonds in francs.")
    done = talk.call("forget_preference", id_or_substring="bonds in francs")
    assert (done["done"], bool(done["event"])) == ("forgotten", True)


def confirm_preference(talk: Talk) -> None:
    kept = saved(talk, "Only buys funds.")
    done = talk.call("confirm_preference", id_or_substring=kept["id"])
    assert (done["done"], bool(done["event"])) == ("confirmed", True)


def link_preferences(talk: Talk) -> None:
    one, other = saved(talk, "Lives in Thailand."), saved(talk, "Pays no tax at home.")
    done = talk.call("link_preferences", from_id=one["id"], to_id=other["id"], relation="supports")
    assert (done["done"], bool(done["event"])) == ("linked", True)


def list_preferences(talk: Talk) -> None:
    saved(talk, "Has an account at a credit union.")
    assert "Has an account at a credit union." in contents(talk.call("list_preferences"))
    assert talk.call("list_preferences", category="response_style")["items"] == []


def recall_preferences(talk: Talk) -> None:
    saved(talk, "The mortgage ends in 2031.", detail="Fixed at two percent.")
    (found,) = talk.call("recall_preferences", query="mortgage", limit=1)["items"]
    assert found["detail"] == "Fixed at two percent."


def saved(talk: Talk, content: str, **details: str) -> Any:
    return talk.call("save_preference", category="finance_context", content=content, **details)


def propose_to_team(talk: Talk) -> None:
    done = talk.call(
        "propose_to_team", content="The proxy pool uses ports 9000 to 9999.", kind="reference"
    )
    assert done["verdict"] == "pending"
    assert "until someone else proposes the same" in done["explanation"]
    assert talk.call("propose_to_team", content="I like the proxy pool.")["rules"]


def ask_team(talk: Talk) -> None:
    assert talk.call("ask_team", query="proxy pool") == {"facts": []}, "nothing is approved yet"


def list_team_memories(talk: Talk) -> None:
    assert talk.call("list_team_memories", origins=["agent", "user"]) == {"items": []}


USES: dict[str, Use] = {
    "remember": remember,
    "recall": recall,
    "context": context,
    "update": update,
    "forget": forget,
    "confirm": confirm,
    "undo": undo,
    "feedback": feedback,
    "memory_store_episode": store_episode,
    "memory_store_fact": store_fact,
    "memory_store_rule": store_rule,
    "memory_search": search,
    "memory_recall": memory_recall,
    "memory_get": get,
    "memory_confirm": memory_confirm,
    "memory_mark_helpful": mark_helpful,
    "memory_mark_harmful": mark_harmful,
    "memory_forget": memory_forget,
    "memory_stats": stats,
    "memory_context": memory_context,
    "recall_memory": recall_memory,
    "forget_memory": forget_memory,
    "save_preference": save_preference,
    "update_preference": update_preference,
    "forget_preference": forget_preference,
    "confirm_preference": confirm_preference,
    "link_preferences": link_preferences,
    "list_preferences": list_preferences,
    "recall_preferences": recall_preferences,
    "propose_to_team": propose_to_team,
    "ask_team": ask_team,
    "list_team_memories": list_team_memories,
}


def use_all(talk: Talk) -> set[str]:
    """Use every tool that is offered; their names."""
    offered = talk.tools()
    for name in offered:
        USES[name](talk)
    return set(offered)
