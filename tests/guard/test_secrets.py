"""What a user can rely on when the guard reads their text.

Tokens are built at run time from the table and a seed, so that no file holds anything like one.
"""

from __future__ import annotations

import base64
import random
import re
import string
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.guard import SecretFinding, find_secrets, redact
from remembrancer.guard.secrets.bare_secrets import is_bare_secret
from remembrancer.guard.secrets.token_formats import TOKEN_FORMATS, FormatPart, Run, TokenFormat

FOLDER = Path(__file__).parent
PROSE = (FOLDER / "ordinary_prose.txt").read_text(encoding="utf-8").splitlines()
PROSE_ABOUT_SECRETS = (FOLDER / "prose_about_secrets.txt").read_text("utf-8").splitlines()
HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
MIXED = string.ascii_letters + string.digits


def made_of(alphabet: str, length: int, seed: int = 1) -> str:
    chosen = random.Random(f"{seed}/{length}/{alphabet}")
    return "".join(chosen.choice(alphabet) for _ in range(length))


def members(character_class: str) -> str:
    return "".join(
        char for char in map(chr, range(33, 127)) if re.match(f"[{character_class}]", char)
    )


def part_sample(part: FormatPart, dice: random.Random) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Run):
        return "".join(dice.choices(members(part.alphabet), k=part.min_chars))
    return dice.choice(part)


def sample(shape: TokenFormat, seed: int) -> str:
    dice = random.Random(f"{shape.kind}/{seed}")
    return "".join(part_sample(part, dice) for part in shape.parts)


def samples(shape: TokenFormat) -> list[str]:
    """Ten tokens, without those that chance made all letters where a digit is what tells."""
    tokens = (sample(shape, seed) for seed in range(20))
    return [
        token for token in tokens if not shape.requires_randomness or re.search(r"\d", token[4:])
    ][:10]


@pytest.mark.parametrize("shape", TOKEN_FORMATS, ids=lambda shape: str(shape.kind))
def test_every_published_format_is_caught_alone_in_a_sentence(shape: TokenFormat) -> None:
    caught = sum(
        token not in redact(f"Here you go: {token} and thanks.").text for token in samples(shape)
    )
    assert caught >= 9


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("my password is {}", "hunter2"),
        ("the wifi password: {}", "Sommer-2024!"),
        ("My password for the old laptop is {}.", "Tulpen4ever"),
        ("my password is {}.", "swordfish"),
        ("I changed my password to {} yesterday", "Winter2023!"),
        ("Mein WLAN-Passwort lautet {}", "Apfelbaum77"),
        ("le mot de passe est {}", "Soleil42!"),
        ("la contraseña es {}", "Verano2024"),
        ("пароль: {}", "hunter22"),
        ("密码是{}", "hunter22"),
        ("my password: “{}”", "hunter2"),
        ("wifi: attic / pw: {}", "holz-hacker"),
        ("login: anna@example.com, password: {}", "Tulpen4ever"),
        ("credentials: admin / {}", "S3cret!xx"),
        ('passphrase: "{}"', "correct horse battery staple"),
        ("WIFI:T:WPA;S:attic;P:{};;", "hunter2222"),
    ],
)
def test_a_password_in_prose_is_caught(text: str, value: str) -> None:
    assert value not in redact(text.format(value)).text


@pytest.mark.parametrize(
    ("text", "value"),
    [("My PIN is {}", "4821"), ("the alarm code is {}", "90210"), ("SIM PIN: {}, PUK", "0042")],
)
def test_a_pin_is_caught(text: str, value: str) -> None:
    redacted = redact(text.format(value))
    assert value not in redacted.text
    assert [finding.kind for finding in redacted.findings] == ["pin"]


ASSIGNMENTS = (
    'acme_token = "{}"',
    "acme_token: {}",
    "acmeToken := `{}`",
    "ACME_TOKEN ?= '{}'",
    "ACME_TOKEN :::= {}",
    '$acmeToken .= "{}"',
    '  "acmeToken" => "{}"',
    'var acmeToken string = "{}"',
    'acme_token: str = "{}"',
    'System.setProperty("ACME_TOKEN", "{}")',
    "<acmeToken>\n    {}\n</acmeToken>",
    '<add key="acmeToken" value="{}" />',
    '{{\n    "acme_token": "{}"\n}}',
    '{{"config.ini": "ACME_TOKEN={}\\nBACKUP=true"}}',
    '{{"body": "{{\\"acmeToken\\": \\"{}\\"}}"}}',
    "export ACME_API_KEY={}",
    "acme --api-key {} deploy",
    "Client(api_key='{}')",
    "headers: {{ 'x-api-key': '{}' }}",
    "the API key for staging is {}, keep it",
    "here is the access token:\n{}",
    "creds -> {}",
)


@pytest.mark.parametrize("text", ASSIGNMENTS)
@pytest.mark.parametrize(
    "value",
    [
        made_of(HEX, 32),
        made_of(HEX, 64),
        made_of(LOWER, 24),
        made_of(MIXED, 40),
        made_of(MIXED + "_-", 43),
    ],
    ids=["md5", "sha256", "lower", "mixed", "urlsafe"],
)
def test_a_value_that_its_name_calls_secret_is_caught(text: str, value: str) -> None:
    assert value not in redact(text.format(value)).text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("postgres://app:{}@db.internal:5432/x", "s3cr3tpw"),
        ("curl -u bob:{} https://example.com", "h0pk1ns~21s"),
        ("curl --user 'bob:{}' https://example.com", "P@ssw0rd$1"),
        ("sshpass -p '{}' ssh a@b", "hunter22"),
        ("docker login -u bob -p {}", "hunter22x"),
        ("machine example.com login bob password {}", "Zx81kk02q"),
        ("Server=x;User Id=sa;Password={};Database=y", "Yukon900"),
        ('administrator_login_password = "{}"', "thisIsDog11"),
        ("POSTGRES_PASSWORD={}", "letmein"),
        ("spring.datasource.password: {}\n", "tiger"),
        ("kind: Secret\ndata:\n  anything: {}\n", "UyFCXCpkJHpEc2I9"),
        ("data:\n  user: {}\nkind: Secret\n", "MWYyZDFlMmU2N2Rm"),
    ],
)
def test_a_password_in_code_or_configuration_is_caught(text: str, value: str) -> None:
    assert value not in redact(text.format(value)).text


def test_a_basic_authorization_header_is_caught() -> None:
    header = base64.b64encode(b"aladdin:open sesame").decode()
    assert header not in redact(f"Authorization: Basic {header}").text


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n"])
@pytest.mark.parametrize("closed", [True, False])
def test_a_private_key_is_caught_with_and_without_its_end(newline: str, closed: bool) -> None:
    lines = [made_of(MIXED + "+/", 64, seed) for seed in range(5)]
    end = ["-----END RSA " + "PRIVATE KEY-----"] if closed else []
    key = newline.join(["-----BEGIN RSA " + "PRIVATE KEY-----", *lines, *end])
    redacted = redact(f"before {key}\nafter it")
    assert not any(line in redacted.text for line in lines)
    assert redacted.text.startswith("before [secret: private-key]")
    assert redacted.text.endswith("after it")


def test_a_seed_phrase_is_caught() -> None:
    words = "apple river stone cloud ladder monkey tiger ocean violin carpet window dragon"
    assert redact(f"My seed phrase is {words}.").text == "My seed phrase is [secret: seed-phrase]."


@pytest.mark.parametrize("gap", ["\u200b", "\u2060", "\u00ad", "\ufeff"])
def test_invisible_characters_do_not_hide_a_token(gap: str) -> None:
    token = "AKIA" + made_of(string.ascii_uppercase + "234567", 16)
    hidden = gap.join((token[:7], token[7:12], token[12:]))
    assert redact(f"é {hidden} é").text == "é [secret: aws-access-key] é"


def test_digests_and_ids_are_secret_only_when_a_name_says_so() -> None:
    digest = made_of(HEX, 40)
    assert find_secrets(f"it broke in {digest} last week") == ()
    assert find_secrets(f"api_key = {digest}") != ()


TOLD = (
    ("I log in with {} as my password", ("hunter2",)),
    ("{} is my password", ("hunter2",)),
    ("{} is my password.", ("sunshine",)),
    ("{} is the password for the wifi", ("hunter2",)),
    ("We use {} as the wifi password.", ("Tulpen4ever",)),
    ("the passphrase is {}", ("correct horse battery staple",)),
    ("My passphrase for the laptop is {}.", ("purple monkey dishwasher lamp",)),
    ("My backup codes are {}", ("ABCDE-FGHIJ-KLMNO",)),
    ("Backup codes: {}, {} and {}.", ("1234-5678", "2345-6789", "3456-7890")),
    ("my 2FA recovery codes are {} {}", ("a1b2c3d4", "e5f6g7h8")),
    ("recovery code {}", ("7f3k-99ab-22lm",)),
    ("my card is {}, cvv {}", ("4111 1111 1111 1111", "123")),
    ("The card number is {} and the CVC is {}.", ("5555-5555-5555-4444", "987")),
    ("{} with cvv {} is the company card", ("4111111111111111", "123")),
    ("the vault combination is {}", ("12-34-56",)),
    ("The combination of the safe is {}.", ("7-21-35",)),
    ("Locker combo: {}", ("7 21 35",)),
    ("I changed my password, it is now {}", ("hunter3",)),
    ("My PIN changed, it is now {}.", ("4821",)),
    ("My password has changed; the new one is {}.", ("hunter3",)),
    ("Mein Passwort ist {}", ("hunter2",)),
    ("{} ist mein Passwort", ("hunter2",)),
    ("Ich melde mich mit {} als Passwort an.", ("hunter2",)),
    ("mi contraseña es {}", ("hunter2",)),
    ("{} es mi contraseña", ("hunter2",)),
    ("mon mot de passe est {}", ("hunter2",)),
    ("{} est mon mot de passe", ("hunter2",)),
    ("la mia password è {}", ("hunter2",)),
    ("{} è la mia password", ("hunter2",)),
    ("Uso {} como contraseña.", ("hunter2",)),
)


@pytest.mark.feature("A5")
@pytest.mark.parametrize(("sentence", "values"), TOLD)
def test_a_secret_is_caught_in_the_words_in_which_people_tell_it(
    sentence: str, values: tuple[str, ...]
) -> None:
    redacted = redact(sentence.format(*values)).text
    assert not any(value in redacted for value in values)
    assert is_bare_secret(redacted)


@pytest.mark.feature("A5")
def test_prose_about_secrets_is_left_alone() -> None:
    assert len(PROSE_ABOUT_SECRETS) >= 60
    assert [line for line in PROSE_ABOUT_SECRETS if find_secrets(line)] == []


@pytest.mark.feature("A5")
@pytest.mark.parametrize(
    "text",
    [
        "My password is hunter2. Keep it safe.",
        "The user's password is hunter2.",
        "DB_PASSWORD=hunter2",
        "Please note: my PIN is 4821",
        "Logs in with hunter2 as their password",
        "Das WLAN-Passwort ist Tulpen4ever.",
        "the alarm code for the cabin is 90210",
    ],
)
def test_a_text_that_says_only_what_a_secret_is_for_is_a_bare_secret(text: str) -> None:
    assert is_bare_secret(redact(text).text)


@pytest.mark.feature("A5")
@pytest.mark.parametrize(
    "text",
    [
        "I live in Oslo and my password is hunter2",
        "I moved to Oslo. My password is hunter2.",
        "Anna has the password hunter2 since May",
        "I use Bitwarden and the master password is hunter2",
        "My locker is in hall B, the combination is 12-34-56.",
        "login: anna@example.com, password: hunter2",
        "Rotate the key every 90 days, the current password is hunter2",
        "The password policy requires 12 characters.",
    ],
)
def test_a_text_that_says_more_is_no_bare_secret(text: str) -> None:
    assert not is_bare_secret(redact(text).text)


def test_ordinary_prose_is_left_alone() -> None:
    flagged = [line for line in PROSE if find_secrets(line)]
    assert len(PROSE) >= 400
    assert len(flagged) <= 0.02 * len(PROSE), flagged


@pytest.mark.parametrize(
    "text",
    [
        "token = '" + "x" * 36 + "'",
        "gho_" + "x" * 36,
        "password: ${DB_PASSWORD}",
        "password = <your password>",
        "api_key: YOUR_API_KEY_GOES_HERE_123",
    ],
)
def test_stand_ins_are_left_alone(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text", ["AKIA" + "IOSFODNN7EXAMPLE", "API_KEY=sk-" + "secret-key-abcdefghijklmnopqrstuvwxyz"]
)
def test_what_is_made_up_but_looks_just_like_a_key_is_no_loss(text: str) -> None:
    assert text.partition("=")[2] or text not in redact(text).text
    assert redact(text).findings


def test_findings_are_in_order_apart_and_point_at_the_original() -> None:
    token = made_of(MIXED, 32)
    text = f"🎉 password: hunter2, ключ token={token}, PIN is 4821"
    findings = find_secrets(text)
    assert [text[one.start : one.end] for one in findings] == ["hunter2", token, "4821"]
    assert all(left.end <= right.start for left, right in pairwise(findings))


def test_a_finding_never_holds_the_value() -> None:
    assert set(SecretFinding.__slots__) == {"kind", "start", "end"}


def test_a_placeholder_is_never_flagged_but_its_imitation_is_searched() -> None:
    token = made_of(MIXED, 32)
    assert find_secrets("[secret: aws-access-key] password: [secret: password]") == ()
    assert token not in redact(f"[secret: {token}]").text


PIECES = st.sampled_from(
    [
        "password", "token", " is ", "=", ": ", '"', "'", "`", "\n", " ", "hunter2", "4821", "PIN",
        "api_key", "Bearer ", "<secret>", "</", "[secret: password]", "[secret: ", "]", "AKIA",
        "https://a:", "@b", "\\n", "\\", "\u200b", "\ud800", "\x00", "\xff", "é", "密码是",
        made_of(HEX, 40), made_of(MIXED, 24), made_of(LOWER, 12), made_of("AB2CD3EF", 16),
        "curl -u ", "-----BEGIN " + "PRIVATE KEY-----", "-----END", "kind: Secret\n", "data:\n",
        " is my password", "backup codes are ", "ABCDE-FGHIJ", "passphrase is a lamp tree cup",
        "4111 1111 1111 1111", " cvv 123", "contraseña es ", "the door code ", "security question ",
        "answer: Biscuit", "it is now ", "log in as ada with ", " / ", "seed: 1. a 2. b ",
        "opens with ", "combination is 12-34-56", " as my password", "it is ",
        "xoxb-", "eyJ", ".", "/", "-", "_", "key", "value=", "for the ", "to ", ",", "  a: ",
    ]
)  # fmt: skip
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=())) | st.lists(PIECES).map("".join)


@settings(max_examples=600, deadline=None)
@given(ANY_TEXT)
def test_redaction_is_idempotent_on_any_text(text: str) -> None:
    once = redact(text)
    again = redact(once.text)
    assert again.text == once.text
    assert again.findings == ()


HOSTILE = (
    "password=", "token: ", "-----BEGIN " + "PRIVATE KEY-----", "a", "https://a:b", "curl -u ",
    "eyJ", "key \n", '"password" , ', "seed phrase is word ", "kind: Secret\ndata:\n  a: bcdefg\n",
    "AKIA", "x9", "password is ", "a is my password ", "backup codes are a1 ",
    "passphrase is a b c ", "card 4111 ", "combination is 1 ", "my password, ", " as my ",
    "WIFI:;P:", "mysql ", "[secret: ", "é\u200b", "pin is ", "code door ", "security question is ",
    "the password changed, it is ", "my password, hm, is a b ", "wifi / ", "log in as a with ",
    "seed phrase: a ", "safe opens with ", "use press 12345 at ", "combination 1-", "a@b.c / ",
    '{"auth": {"k": ', "eyJabcdefgh1jklmnop ", "admin:", "maiden name ",
)  # fmt: skip


def seconds(text: str) -> float:
    def once() -> float:
        started = time.thread_time()
        find_secrets(text)
        return time.thread_time() - started

    return min(once() for _ in range(3))


@pytest.mark.parametrize("unit", HOSTILE, ids=repr)
def test_time_is_linear_in_the_length(unit: str) -> None:
    text = unit * (12_000 // len(unit))
    find_secrets(text)
    # Eight times the text would take 64 times as long if every character looked at every other.
    assert seconds(text * 8) <= 24 * seconds(text) + 0.05


def test_a_megabyte_is_read_without_trouble() -> None:
    page = "\n".join(PROSE) * 30
    token = made_of(MIXED, 40)
    assert token not in redact(f"{page}\napi token: {token}\n{page}").text
