"""P16: demo sessions live in memory and vanish."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

import remembrancer
from remembrancer import demo
from remembrancer.access.keys import CAPABILITIES
from remembrancer.clock import ManualClock
from remembrancer.config import ServerSettings
from remembrancer.engine import Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.memory import Memory
from remembrancer.server import pages
from remembrancer.server.app import create_app
from remembrancer.server.cookies import DEMO_COOKIE, SESSION_COOKIE
from remembrancer.server.demos import Demos
from remembrancer.types import Owner, Status
from tests.assistant.talk import chat_of, say
from tests.support.http_server import Served
from tests.support.opening import NOON
from tests.support.rem_serve import follow_login_link

pytestmark = [pytest.mark.feature("P16"), pytest.mark.postgres_long]

REM = [sys.executable, "-c", "from remembrancer.cli import main; main()"]
Serve = Callable[..., Served]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment in which whatever is written lands below a folder of this test."""
    places = {"XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "config", "HOME": "home", "TMPDIR": "tmp"}
    (tmp_path / "tmp").mkdir()
    env = {**os.environ, "PYTHONPATH": str(Path(remembrancer.__file__).parents[1])}
    return env | {name: str(tmp_path / place) for name, place in places.items()}


@pytest.fixture(scope="module")
def story() -> Iterator[Remembrancer]:
    """The year, told until noon of a Monday."""
    clock = ManualClock(NOON)
    with demo.open_demo_store(clock) as store:
        demo.fill(store, clock, NOON)
        yield store


def files(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "command", [["tour", "--fast"], ["--store", ":memory:", "chat"]], ids=["tour", "chat"]
)
def test_P16_nothing_is_written_to_disk(
    command: list[str], tmp_path: Path, env: dict[str, str]
) -> None:
    done = subprocess.run(
        [*REM, *command],
        input="Remember that I like tea.\nWhat do you remember about me?\n",
        capture_output=True,
        text=True,
        env=env,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert files(tmp_path) == []


def test_P16_a_chat_in_memory_remembers_until_it_is_closed() -> None:
    with remembrancer.open(":memory:", profile="advisor") as store:
        say(chat_of(store), "Remember that I like tea.")
        assert "tea" in say(chat_of(store), "What do you remember about me?").text

    with remembrancer.open(":memory:", profile="advisor") as store:
        assert "not remember anything" in say(chat_of(store), "What do you remember about me?").text


def test_P16_the_demo_is_served_and_leaves_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    with subprocess.Popen(
        [*REM, "demo", "--port", "0"], stdout=subprocess.PIPE, text=True, env=env, cwd=tmp_path
    ) as running:
        try:
            assert running.stdout is not None
            address = next(line for line in running.stdout if "/login#" in line)
            with httpx.Client(trust_env=False, follow_redirects=True, timeout=60) as browser:
                page = follow_login_link(browser, address.split()[-1])
                job = {"token": token_in(page), "back": "/settings"}
                origin = {"Origin": str(page.url.join("/")).rstrip("/")}
                # A backup of what vanishes would outlive it.
                browser.post(page.url.join("/settings/jobs/backup"), data=job, headers=origin)
        finally:
            running.send_signal(signal.SIGINT)

    assert page.status_code == 200
    assert "Nell" in page.text
    assert files(tmp_path) == []


def test_P16_the_person_has_a_year_of_everything(story: Remembrancer) -> None:
    me = story.for_user()
    stats, counts = me.stats(), me.stats().by_kind
    first = min(one.recorded_at for one in me.list(limit=200).items)
    rules = {one.maturity for one in me.list(kinds=["rule"]).items}  # type: ignore[union-attr]

    assert (NOON - first).days > 350
    assert {*counts["fact"]} >= {  # type: ignore[index]
        *(Status.ACTIVE, Status.SUPERSEDED, Status.EXPIRED, Status.FORGOTTEN, Status.TRASHED)
    }
    assert {*rules} == {"candidate", "established", "proven", "anti_pattern"}
    assert counts["episode"][Status.ACTIVE] >= 3  # type: ignore[index]
    assert {*stats.by_scope} == {"global", "gardener", "researcher", "cook"}
    assert len(me.sessions().items) >= 8
    assert any(one.evidence for one in me.list(kinds=["fact"]).items)
    assert {*story.review().stats().by_status} == {"approved", "pending"}
    assert "Ockham" in me.recall("where does Ada live?")[0].memory.content
    assert story.now() == NOON


def test_P16_nothing_in_the_story_lies_in_the_future(story: Remembrancer) -> None:
    assert all(one.at < NOON for one in story.for_user().activity(limit=500).items)


def test_P16_there_is_a_demo_of_bots_that_are_kept_apart() -> None:
    with demo.build_demo("instances") as store:
        contents = [
            {one.content for one in store.for_user(agent=bot).list().items}
            for bot in ("support-bot", "sales-bot")
        ]
    assert all(contents)
    assert not set.intersection(*contents)


def test_P16_there_is_no_demo_of_other_profiles() -> None:
    with pytest.raises(InvalidInput, match="agents"):
        demo.build_demo("advisor")


def token_in(page: httpx.Response) -> str:
    """What proves to a form that it comes from this page."""
    found = re.search(r'name="token" value="(\w+)"', page.text)
    assert found, page.text
    return found[1]


class Browser:
    """Someone in front of the pages, who is let in."""

    def __init__(self, served: Served) -> None:
        settings = served.engine.settings
        owner = Owner(settings.tenant, settings.user)
        self.secret = served.engine.create_session(owner, CAPABILITIES, hours=1).secret
        self.http = served.client(Origin=served.address)
        self.http.cookies.set(SESSION_COOKIE, self.secret, domain="127.0.0.1")
        self.http.follow_redirects = True

    def look(self, path: str = "/memory") -> httpx.Response:
        """A page as it is when everything is counted."""
        while (
            "data-counting" in (page := self.http.get(path, headers={"Accept": "text/html"})).text
        ):
            pass
        return page

    def send(self, path: str, token: str | None = None, **fields: str) -> httpx.Response:
        form = {"token": token or token_in(self.look()), "back": "/memory", **fields}
        return self.http.post(path, data=form, headers={"Accept": "text/html"})


@pytest.fixture
def running(serve: Serve) -> Served:
    return serve(profile="agents")


@pytest.fixture
def browser(running: Served) -> Browser:
    return Browser(running)


@pytest.fixture
def mine(running: Served) -> Memory:
    return running.engine.for_user("ada")


def test_P16_a_button_opens_a_demo_that_is_kept_apart(
    browser: Browser, mine: Memory, running: Served
) -> None:
    assert "Try the demo" in browser.look().text

    page = browser.send("/demo")
    browser.send("/remember", content="A thought from within.")

    assert "This is a demo" in page.text
    assert "A thought from within." in browser.look("/facts").text
    assert mine.list().items == ()
    assert running.engine.for_user("ada", tenant=demo.TENANT).list().items == ()
    assert [one for one in mine.activity().items if one.action == "remembered"] == []


def test_P16_leaving_a_demo_ends_it_and_one_is_back(
    browser: Browser, running: Served, mine: Memory
) -> None:
    browser.send("/demo")
    secret = browser.http.cookies[DEMO_COOKIE]

    browser.send("/demo/leave")

    assert "No memories yet" in browser.look().text
    assert DEMO_COOKIE not in browser.http.cookies
    assert browser.http.cookies[SESSION_COOKIE] == browser.secret
    browser.http.cookies.set(DEMO_COOKIE, secret, domain="127.0.0.1")
    assert "This is a demo" not in browser.look().text


def test_P16_what_is_sent_to_a_demo_that_is_over_goes_nowhere(
    browser: Browser, mine: Memory
) -> None:
    browser.http.cookies.set(DEMO_COOKIE, "rem_gone", domain="127.0.0.1")

    sent = browser.http.post("/api/remember", json={"content": "Meant for the demo."})

    assert sent.history[0].status_code == 303
    assert DEMO_COOKIE not in browser.http.cookies
    assert mine.list().items == ()


def test_P16_erasing_oneself_in_a_demo_leaves_ones_own_session_alone(
    browser: Browser, mine: Memory
) -> None:
    browser.send("/demo")
    kept = mine.remember("Mine, and it stays.").memory

    receipt = browser.send("/settings/erase", name="ada")

    assert receipt.status_code == 200, receipt.text
    assert browser.http.cookies[SESSION_COOKIE] == browser.secret
    assert kept.content in browser.look("/facts").text
    assert [one.id for one in mine.list().items] == [kept.id]


def test_P16_a_forged_form_opens_no_demo(browser: Browser) -> None:
    assert browser.send("/demo", token="0" * 64).status_code == 403
    assert DEMO_COOKIE not in browser.http.cookies


def test_P16_who_is_not_let_in_gets_no_demo_and_no_key_reaches_one(running: Served) -> None:
    stranger = running.client(Origin=running.address)
    assert stranger.post("/demo").status_code == 401
    machine = running.of("ada")
    machine.cookies.set(DEMO_COOKIE, "rem_gone", domain="127.0.0.1")
    assert machine.get("/api/memory/stats").status_code == 200


def test_P16_old_demos_give_way_and_all_end_with_the_server() -> None:
    demos = Demos(ServerSettings(), create_app, pages.close, max_demos=1)

    first, second = demos.start(), demos.start()

    assert demos.find_app(first) is None
    assert demos.find_app(second) is not None
    demos.close()
    assert demos.find_app(second) is None
