"""A17: what a team says of itself becomes a statement without a first or second person."""

from __future__ import annotations

import pytest

from remembrancer.team.service import find_broken_rules
from remembrancer.team.third_person import restate_for_team

pytestmark = pytest.mark.feature("A17")

RESTATED = {
    "We store all backups encrypted.": "The team stores all backups encrypted.",
    "Tax is included in our prices.": "Tax is included in the team's prices.",
    "You need two approvals to merge.": "One needs two approvals to merge.",
    "We don't deploy on Fridays.": "The team does not deploy on Fridays.",
    "We don’t deploy on Fridays.": "The team does not deploy on Fridays.",
    "We're on Postgres.": "The team is on Postgres.",
    "We've moved to Linear.": "The team has moved to Linear.",
    "We'll switch in May.": "The team will switch in May.",
    "We are closed on Mondays.": "The team is closed on Mondays.",
    "We aren't open on Sundays.": "The team is not open on Sundays.",
    "We were on Heroku until 2022.": "The team was on Heroku until 2022.",
    "We have two ovens.": "The team has two ovens.",
    "We haven't used Jenkins since 2022.": "The team has not used Jenkins since 2022.",
    "We do code review in pairs.": "The team does code review in pairs.",
    "We didn't renew the licence.": "The team did not renew the licence.",
    "We can't ship to Norway.": "The team cannot ship to Norway.",
    "We won't support version 2.": "The team will not support version 2.",
    "We must not store card numbers.": "The team must not store card numbers.",
    "We always tag releases.": "The team always tags releases.",
    "We usually rely on CI.": "The team usually relies on CI.",
    "We no longer use Jenkins.": "The team no longer uses Jenkins.",
    "We all use one linter.": "The team uses one linter.",
    "We chose Postgres in 2021.": "The team chose Postgres in 2021.",
    "We moved to Vienna.": "The team moved to Vienna.",
    "We need two days.": "The team needs two days.",
    "We carry spare keys.": "The team carries spare keys.",
    "We push to main.": "The team pushes to main.",
    "We pay within 30 days.": "The team pays within 30 days.",
    "We ourselves host nothing.": "The team hosts nothing.",
    "We hardly ever use Slack.": "The team hardly ever uses Slack.",
    "We build and test every commit.": "The team builds and tests every commit.",
    "We tag a release and push it to npm.": "The team tags a release and pushes it to npm.",
    "If a test fails, we revert it.": "If a test fails, the team reverts it.",
    "We keep our keys in the vault.": "The team keeps its keys in the vault.",
    "Our office is in Vienna.": "The team's office is in Vienna.",
    "Our team meets on Tuesdays.": "The team meets on Tuesdays.",
    "Our company was founded in 2009.": "The company was founded in 2009.",
    "Customers send us the form.": "Customers send the team the form.",
    "The choice is ours.": "The choice is the team's.",
    "Backups run at 2. We test them monthly.": "Backups run at 2. The team tests them monthly.",
    "You must sign your commits.": "One must sign one's commits.",
    "You can't merge without a review.": "One cannot merge without a review.",
    "You don't need a VPN.": "One does not need a VPN.",
    "You get a badge at reception.": "One gets a badge at reception.",
    "You have two weeks to pay.": "One has two weeks to pay.",
    "Your badge must be visible.": "One's badge must be visible.",
    "You have to book the hall.": "One has to book the hall.",
    "You are allowed to bring guests.": "One is allowed to bring guests.",
    "If you break the build, you fix it.": "If one breaks the build, one fixes it.",
    "When you're late, call the office.": "When one is late, call the office.",
    "Before you merge, rebase your branch.": "Before one merges, rebase one's branch.",
    "Rebase your branch before merging.": "Rebase the branch before merging.",
    "Never commit your .env file.": "Never commit the .env file.",
}

LEFT_ALONE = (
    "Deploys run from the release branch.",
    "Run the migrations before the deploy.",
    "Do we deploy on Fridays?",
    "The region us-east-1 is not used.",
    "The delay is 20 us.",
    "The US tariff changed.",
    "Wir speichern alle Backups verschlüsselt.",
    "Nous utilisons PostgreSQL.",
    "Nuestro servidor es lento.",
    "We gebruiken Postgres voor het portaal.",
)

ADDRESSED_TO_ONE = (
    "You told me that the cache is full.",
    "Your mother likes tea.",
    "You should call your mother.",
    "You are late.",
    "You're the best.",
    "You live in Oslo.",
    "You prefer short answers.",
    "Your proxy runs on port 9000.",
    "You were on call when it broke.",
    "Give me your key.",
    "I think we need a cache.",
    "We told her to wait.",
    "We owe my brother a lunch.",
)


@pytest.mark.parametrize(("said", "restated"), RESTATED.items())
def test_what_a_team_says_of_itself_is_restated_and_can_be_shared(said: str, restated: str) -> None:
    assert restate_for_team(said) == restated
    assert find_broken_rules(restated) == ()
    assert restate_for_team(restated) == restated


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_other_statements_are_left_alone(text: str) -> None:
    assert restate_for_team(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Wir backen nachts.",
        "Unser Lager ist in Wien.",
        "Notre bureau est fermé.",
        "Nuestra oficina cierra a las dos.",
        "Il nostro server non risponde.",
        "Onze prijzen zijn inclusief.",
    ],
)
def test_a_team_may_speak_of_itself_in_other_languages(text: str) -> None:
    assert find_broken_rules(restate_for_team(text)) == ()


@pytest.mark.parametrize("text", ADDRESSED_TO_ONE)
def test_what_one_person_says_or_is_told_stays_refused(text: str) -> None:
    assert find_broken_rules(restate_for_team(text))
