"""What people do with the pages, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.support.http_server import Served
from tests.support.unconfirmed import learn_in_doubt

Serve = Callable[..., Served]
Look = Callable[..., Page]


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve(profile="agents")


READ_COLOURS = """(mark, name) => {
  const card = mark.closest(".card"), sample = card.appendChild(document.createElement("i"));
  sample.style.color = `var(${name})`;
  const ground = getComputedStyle(card).backgroundColor;
  return [getComputedStyle(mark).fill, getComputedStyle(sample).color, ground];
}"""
"""The colour of a mark, the colour of that name, and the background."""


def contrast(one: str, other: str) -> float:
    """The contrast of two colours such as `rgb(63, 107, 58)`, by WCAG."""

    def luminance(colour: str) -> float:
        parts = (int(part) / 255 for part in re.findall(r"\d+", colour)[:3])
        red, green, blue = (((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_the_address_that_the_server_prints_lets_a_browser_in(served: Served, look: Look) -> None:
    code = served.login_code()
    page = look(served, "/memory")
    page.context.clear_cookies()
    page.goto(f"{served.address}/memory")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(page.locator("pre")).to_contain_text("rem login")
    page.goto(f"{served.address}/login#{code}")
    expect(page).to_have_url(f"{served.address}/memory")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.context.clear_cookies()
    page.goto(f"{served.address}/login#{code}")
    expect(page.locator("main")).to_contain_text("was used before")
    expect(page.locator("pre")).to_contain_text("rem login")


def test_an_empty_notebook_teaches_and_takes_its_first_memory(served: Served, look: Look) -> None:
    page = look(served, "/memory")
    expect(page.get_by_text("No memories yet")).to_be_visible()
    page.get_by_label("What to remember").fill("Ada drinks tea in the afternoon.")
    page.get_by_role("button", name="Remember").click()
    expect(page.locator(".toast")).to_contain_text("Remembered")
    expect(page.locator(".feed")).to_contain_text("Ada drinks tea in the afternoon.")


def test_a_fact_is_opened_corrected_confirmed_forgotten_and_brought_back(
    served: Served, look: Look
) -> None:
    me = served.engine.for_user("ada")
    me.remember("Ada lives in London.", subject="ada", predicate="lives_in")
    page = look(served, "/facts")
    page.get_by_role("link", name="Ada lives in London.").click()
    drawer = page.locator("#drawer")
    expect(drawer.get_by_role("heading", name="Ada lives in London.")).to_be_visible()
    expect(page).to_have_url(re.compile("/memory/fact_"))
    drawer.get_by_text("Edit", exact=True).click()
    drawer.get_by_label("Corrected text").fill("Ada lives in Ockham.")
    drawer.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Ada lives in Ockham.")).to_be_visible()
    expect(page.locator(".chain")).to_contain_text("Ada lives in London.")
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator(".toast")).to_contain_text("Confirmed")
    page.get_by_role("button", name="Forget").click()
    expect(page.locator(".toast")).to_contain_text("Forgotten")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("Undone")
    assert [one.content for one in me.list().items] == ["Ada lives in Ockham."]


def test_what_is_in_doubt_is_kept_and_forgotten_by_keys_or_without_a_script(
    served: Served, look: Look
) -> None:
    me = served.engine.for_user("ada")
    for content in ("Ada owns a boat.", "Ada owns a bike.", "Ada owns a cart."):
        learn_in_doubt(me, content, said=f"Perhaps: {content}")
    page = look(served, "/memory")
    expect(page.get_by_role("heading", name="3 things I am not sure about")).to_be_visible()
    page.goto(f"{served.address}/facts?status=unconfirmed")
    page.keyboard.press("j")
    page.keyboard.press("c")
    expect(page.locator(".toast")).to_contain_text("Confirmed")
    page.keyboard.press("j")
    page.keyboard.press("f")
    expect(page.locator(".toast")).to_contain_text("Forgotten")
    expect(page.locator("[data-card]")).to_have_count(1)

    plain = look(served, "/memory", script=False)
    plain.get_by_role("link", name="Edit").click()
    plain.get_by_label("Corrected text").fill("Ada owns a rowing boat.")
    plain.get_by_role("button", name="Save").click()
    assert {one.content for one in me.list().items} == {
        "Ada owns a cart.",
        "Ada owns a rowing boat.",
    }


def test_back_closes_the_drawer(served: Served, look: Look) -> None:
    served.engine.for_user("ada").remember("Ada drinks tea.")
    page = look(served, "/facts")
    page.get_by_role("link", name="Ada drinks tea.").click()
    expect(page.locator("#drawer .detail")).to_be_visible()
    page.go_back()
    expect(page.locator("#drawer")).to_be_hidden()
    expect(page).to_have_url(f"{served.address}/facts")
    page.get_by_role("link", name="Ada drinks tea.").click()
    expect(page.locator("#drawer .detail")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()


def test_memories_are_walked_and_changed_by_keys_alone(served: Served, look: Look) -> None:
    me = served.engine.for_user("ada")
    me.remember("Ada drinks tea.")
    me.remember("Ada plays chess.")
    page = look(served, "/facts")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Ada plays chess.")).to_be_focused()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Ada drinks tea.")).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("f")
    expect(page.locator(".toast")).to_contain_text("Forgotten")
    page.keyboard.press("u")
    expect(page.locator(".toast")).to_contain_text("Undone")
    page.keyboard.press("j")
    page.keyboard.press("c")
    expect(page.locator(".toast")).to_contain_text("Confirmed")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer .detail")).to_be_visible()
    page.keyboard.press("e")
    expect(page.locator("#drawer textarea")).to_be_focused()
    page.keyboard.press("Tab")
    page.goto(f"{served.address}/facts")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def test_the_palette_finds_memories_conversations_pages_and_actions(
    served: Served, look: Look
) -> None:
    me = served.engine.for_user("ada")
    me.remember("Ada drinks tea in the afternoon.")
    me.append([{"role": "user", "content": "Good morning."}], "monday", title="Tea on Monday")
    page = look(served, "/facts")
    page.keyboard.press("Control+k")
    words = page.locator("#palette-words")
    expect(words).to_be_focused()
    words.fill("tea")
    options = page.locator("#palette-list li")
    expect(options.filter(has_text="Ada drinks tea in the afternoon.")).to_be_visible()
    expect(options.filter(has_text="Tea on Monday")).to_be_visible()
    expect(options.filter(has_text="Remember: tea")).to_be_visible()
    words.fill("trash")
    expect(options.first).to_contain_text("Trash")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{served.address}/trash")
    page.keyboard.press("Control+k")
    page.locator("#palette-words").fill("Ada plays chess.")
    option = options.filter(has_text="Remember: Ada plays chess.")
    expect(option).to_be_visible()
    option.click()
    expect(page.locator(".toast")).to_contain_text("Remembered")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()


def test_a_page_that_is_open_follows_what_happens(served: Served, look: Look) -> None:
    me = served.engine.for_user("ada")
    me.remember("Ada drinks tea.")
    page = look(served, "/memory")
    page.evaluate("document.body.dataset.seconds = 1")
    expect(page.locator(".feed")).to_contain_text("Ada drinks tea.")
    page.evaluate("refresh()")
    me.remember("Ada plays chess.")
    page.evaluate("refresh()")
    expect(page.locator(".feed")).to_contain_text("Ada plays chess.")


def test_everything_but_the_palette_works_without_a_script(served: Served, look: Look) -> None:
    me = served.engine.for_user("ada")
    me.remember("Ada lives in London.")
    page = look(served, "/facts", script=False)
    page.get_by_role("link", name="Ada lives in London.").click()
    expect(page).to_have_url(re.compile("/memory/fact_"))
    page.get_by_text("Edit", exact=True).click()
    page.get_by_label("Corrected text").fill("Ada lives in Ockham.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Ada lives in Ockham.")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("Moved to trash")
    page.goto(f"{served.address}/trash")
    page.locator(".card").hover()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text("The trash is empty")).to_be_visible()
    page.goto(f"{served.address}/memory?q=ockham&kind=fact")
    expect(page.locator(".card")).to_contain_text("Ada lives in Ockham.")


def test_the_theme_is_switched_and_stays(served: Served, look: Look) -> None:
    page = look(served, "/memory")
    page.get_by_role("button", name="Theme: system").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto(f"{served.address}/facts")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.feature("M15")
def test_confidence_is_green_above_80_percent_yellow_above_50_and_red_below_in_each_theme(
    served: Served, look: Look
) -> None:
    me = served.engine.for_user("ada")
    for confidence in (0.81, 0.8, 0.49):
        me.remember(f"Ada has {confidence} of it.", confidence=confidence)
    page = look(served, "/facts")
    for theme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        for colour, confidence in (("good", "0.81"), ("warn", "0.8"), ("bad", "0.49")):
            card = page.locator(".card", has_text=f"Ada has {confidence} of it.")
            mark, expected, ground = card.locator(".meter .on").first.evaluate(
                READ_COLOURS, f"--{colour}"
            )
            assert mark == expected
            assert contrast(mark, ground) >= 3


def test_on_a_phone_the_other_pages_are_in_a_sheet(served: Served, look: Look) -> None:
    page = look(served, "/memory", width=390)
    page.get_by_text("More", exact=True).click()
    page.get_by_role("link", name="Trash").last.click()
    expect(page).to_have_url(f"{served.address}/trash")


def test_a_person_erases_themselves_and_gets_a_receipt(served: Served, look: Look) -> None:
    me = served.engine.for_user("ada")
    me.remember("Ada drinks tea in the afternoon.")
    page = look(served, "/settings/erase")
    expect(page.locator(".amounts")).to_contain_text("facts")
    page.get_by_label("Type your name (ada) to confirm").fill("adam")
    page.get_by_role("button", name="Erase all my data").click()
    expect(page.get_by_text("Nothing was erased")).to_be_visible()
    page.goto(f"{served.address}/settings/erase")
    page.get_by_label("Type your name (ada) to confirm").fill("ada")
    page.get_by_role("button", name="Erase all my data").click()
    expect(page.get_by_role("heading", name="All data erased")).to_be_visible()
    expect(page.locator(".receipt")).to_contain_text("signature")
    page.goto(f"{served.address}/memory")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_reviewer_approves_several_rewords_one_and_turns_a_switch(
    serve: Serve, look: Look
) -> None:
    served = serve(profile="agents", profile_overrides={"team": {"enabled": True}})
    for content in ("Deploys are frozen on Fridays.", "The mill is the part that computes."):
        served.engine.for_user("bob").propose(content)
    page = look(served, "/team/review?show=single")
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Approve selected").click()
    expect(page.get_by_text("Nothing to review")).to_be_visible()
    page.goto(f"{served.address}/team/manage?q=Deploys")
    expect(page.locator(".card")).to_contain_text("1 contributor")
    page.get_by_text("Edit", exact=True).click()
    card = page.locator(".card")
    card.locator("input[name=content]").fill("Deploys are frozen on Fridays and Mondays.")
    card.get_by_label("Importance").select_option("5")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".card")).to_contain_text("importance 5")
    page.goto(f"{served.address}/settings")
    page.get_by_label("Learn for the team from conversations").uncheck()
    page.get_by_role("group").get_by_role("button", name="Save").click()
    expect(page.get_by_label("Learn for the team from conversations")).not_to_be_checked()
    assert not served.engine.review("ada").settings().team_learning


def test_instances_are_made_and_deleted_by_hand(serve: Serve, look: Look) -> None:
    served = serve(profile="instances")
    page = look(served, "/memory")
    expect(page).to_have_url(f"{served.address}/instances")
    page.get_by_label("Instance").fill("support-bot")
    page.get_by_role("button", name="Open").click()
    for content in ("Refunds need a signature.", "Prefers short answers."):
        page.get_by_text("New memory").click()
        page.get_by_label("What to remember").fill(content)
        page.locator("details").get_by_label("Category").select_option("fact")
        page.get_by_role("button", name="Remember").click()
        expect(page.locator(".rows")).to_contain_text(content)
    bot = served.engine.for_user("ada", agent="support-bot")
    assert bot.recall("What do refunds need?")[0].memory.content == "Refunds need a signature."
    page.goto(f"{served.address}/instances?instance=sales-bot")
    expect(page.get_by_text("No memories yet")).to_be_visible()
    page.goto(f"{served.address}/instances?instance=support-bot")
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Delete selected").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_text("No memories yet")).to_be_visible()
    assert bot.list().items == ()


def test_rules_conversations_and_the_trash_are_looked_after(served: Served, look: Look) -> None:
    me = served.engine.for_user("ada")
    me.remember("Answer first, explain after.", kind="rule")
    me.append([{"role": "user", "content": "The bus leaves at nine."}], "monday", title="Monday")
    page = look(served, "/playbook")
    page.locator("[data-card]").hover()
    page.get_by_role("button", name="Promote").click()
    expect(page.locator(".toast")).to_contain_text("Rule promoted")
    expect(page.get_by_role("heading", name="Established")).to_be_visible()
    page.goto(f"{served.address}/conversations/monday")
    page.get_by_label("Title").fill("The bus")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="The bus")).to_be_visible()
    page.get_by_role("button", name="Archive").click()
    page.get_by_role("button", name="Unarchive").click()
    page.get_by_role("button", name="Move to trash").click()
    expect(page.get_by_role("link", name="The bus")).to_have_count(0)
    page.goto(f"{served.address}/trash")
    page.get_by_role("button", name="Restore").click()
    page.goto(f"{served.address}/conversations?q=bus")
    expect(page.get_by_text("The bus leaves at nine.")).to_be_visible()


def test_a_search_is_narrowed_by_kind_and_by_day(served: Served, look: Look) -> None:
    me = served.engine.for_user("ada")
    me.remember("Tea is served at four.")
    me.remember("Always offer tea.", kind="rule")
    page = look(served, "/memory?q=tea")
    expect(page.locator("[data-card]")).to_have_count(2)
    page.get_by_label("Type").select_option("rule")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator("[data-card]")).to_have_count(1)
    expect(page.locator("[data-card]")).to_contain_text("Always offer tea.")
    page.get_by_label("Known on this date").fill("2020-01-01")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator("[data-card]")).to_have_count(0)


def test_a_demo_is_entered_and_left(served: Served, look: Look) -> None:
    page = look(served, "/memory")
    page.get_by_role("button", name="Try the demo").click()
    expect(page.get_by_text("This is a demo")).to_be_visible()
    expect(page.locator(".feed")).to_contain_text("Nell")
    page.get_by_role("button", name="Leave the demo").click()
    expect(page.get_by_text("No memories yet")).to_be_visible()
