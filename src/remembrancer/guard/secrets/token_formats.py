"""Data for the detection of secrets: published token formats and the words of names."""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.guard.patterns import word_set

DIGITS = "0-9"
HEX = "0-9a-fA-F"
UPPER = "A-Z0-9"
ALNUM = "A-Za-z0-9"
WORD = "A-Za-z0-9_"
URLSAFE = r"A-Za-z0-9_\-"
PADDED = r"A-Za-z0-9_=\-"
DOTTED = r"A-Za-z0-9_.=\-"
BASE64 = "A-Za-z0-9+/="
BASE64_ANY = r"A-Za-z0-9+/=_\-"
UNRESERVED = r"A-Za-z0-9_.~\-"


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one class: at least `min_chars`, and at most `max_chars` if that is set."""

    alphabet: str
    min_chars: int
    max_chars: int | None = None


FormatPart = str | tuple[str, ...] | Run


@dataclass(frozen=True, slots=True)
class TokenFormat:
    """A token format that its vendor publishes."""

    kind: str
    parts: tuple[FormatPart, ...]
    requires_randomness: bool = False


def _format(kind: str, *parts: FormatPart) -> TokenFormat:
    return TokenFormat(kind, parts)


def _random_format(kind: str, *parts: FormatPart) -> TokenFormat:
    return TokenFormat(kind, parts, requires_randomness=True)


_UUID = (
    Run(HEX, 8, 8), "-", Run(HEX, 4, 4), "-", Run(HEX, 4, 4), "-", Run(HEX, 4, 4), "-",
    Run(HEX, 12, 12),
)  # fmt: skip

TOKEN_FORMATS: tuple[TokenFormat, ...] = (
    _format("1password-token", "ops_eyJ", Run(BASE64_ANY, 60)),
    _format("1password-secret-key", "A3-", Run(UPPER, 6), "-", Run(UPPER, 5), "-", Run(UPPER, 5),
            "-", Run(UPPER, 5), "-", Run(UPPER, 5)),
    _format("adafruit-key", "aio_", Run(ALNUM, 28)),
    _format("adobe-client-secret", "p8e-", Run(ALNUM, 32)),
    _format("age-key", "AGE-SECRET-KEY-1", Run(UPPER, 50)),
    _format("airtable-token", "pat", Run(ALNUM, 14, 14), ".", Run(HEX, 64)),
    _format("alibaba-access-key", "LTAI", Run(ALNUM, 12)),
    _format("anthropic-key", "sk-ant-", Run(URLSAFE, 24)),
    _format("artifactory-token", ("AKCp", "cmVmd"), Run(ALNUM, 50)),
    _format("asana-token", ("1/", "2/"), Run(DIGITS, 15), (":", "/"), Run(ALNUM, 32)),
    _format("atlassian-token", ("ATATT3", "ATCTT3", "ATSTT3"), Run(PADDED, 60)),
    _format("atlassian-token", ("ATBB", "ATOA"), Run(ALNUM, 32)),
    _format("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), Run(UPPER, 16)),
    _format("aws-bedrock-key", "ABSK", Run(BASE64, 80)),
    _format("aws-bedrock-key", "bedrock-api-key-", Run(BASE64, 24)),
    _format("azure-client-secret", Run(UNRESERVED, 3, 3), Run(DIGITS, 1, 1), "Q~",
            Run(UNRESERVED, 30)),
    _format("azure-sas", "sig=", Run("A-Za-z0-9%", 43)),
    _format("buildkite-token", ("bkua_", "bkpt_"), Run(HEX, 32)),
    _format("circleci-token", ("CCIPAT_", "CCIPRJ_"), Run(WORD, 40)),
    _random_format("clickhouse-key", "4b1d", Run(ALNUM, 38)),
    _format("clojars-token", "CLOJARS_", Run(ALNUM, 50)),
    _format("cloudflare-origin-key", "v1.0-", Run(HEX, 24), "-", Run(HEX, 100)),
    _format("contentful-token", "CFPAT-", Run(URLSAFE, 40)),
    _format("databricks-token", "dapi", Run(HEX, 32)),
    _format("defined-networking-token", "dnkey-", Run(ALNUM, 20), "-", Run(ALNUM, 40)),
    _format("deno-token", ("ddp_", "ddo_"), Run(ALNUM, 36)),
    _format("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), Run(HEX, 64)),
    _format("discord-token", ("M", "N", "O"), Run(URLSAFE, 23, 27), ".", Run(URLSAFE, 6, 7), ".",
            Run(URLSAFE, 27)),
    _format("discord-webhook", ("discord.com", "discordapp.com"), "/api/webhooks/",
            Run(DIGITS, 17), "/", Run(URLSAFE, 40)),
    _format("docker-token", ("dckr_pat_", "dckr_oat_"), Run(URLSAFE, 20)),
    _format("doppler-token", "dp.", ("pt", "st", "ct", "sa", "scim", "audit"), ".",
            Run(DOTTED, 40)),
    _format("dropbox-token", "sl.", Run(DOTTED, 120)),
    _format("duffel-token", ("duffel_test_", "duffel_live_"), Run(PADDED, 40)),
    _format("dynatrace-token", "dt0", Run("a-z", 1, 1), "01.", Run(ALNUM, 24), ".",
            Run(ALNUM, 60)),
    _format("easypost-key", ("EZAK", "EZTK"), Run(ALNUM, 54)),
    _format("facebook-token", "EAA", Run(ALNUM, 80)),
    _format("facebook-app-token", Run(DIGITS, 13, 17), "|", Run(URLSAFE, 24)),
    _format("figma-token", ("figd_", "figo_"), Run(URLSAFE, 36)),
    _format("flutterwave-key", ("FLWSECK", "FLWPUBK"), ("_TEST-", "_LIVE-", "-"), Run(HEX, 12)),
    _format("fly-token", "fo1_", Run(URLSAFE, 40)),
    _format("fly-token", ("fm1_", "fm1a_", "fm1r_", "fm2_"), Run(BASE64, 60)),
    _format("frameio-token", "fio-u-", Run(PADDED, 60)),
    _format("gcp-api-key", "AIza", Run(URLSAFE, 35)),
    _format("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), Run(ALNUM, 36)),
    _format("github-token", "github_pat_", Run(WORD, 40)),
    _format("gitlab-token", ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-",
                             "glagent-", "gloas-", "glsoat-", "glffct-", "glwt-"),
            Run(DOTTED, 20)),
    _format("gitlab-token", "GR1348941", Run(URLSAFE, 20)),
    _format("gitlab-session", "_gitlab_session=", Run(ALNUM, 32)),
    _random_format("gocardless-token", ("live_", "sandbox_"), Run(PADDED, 40)),
    _format("google-oauth-secret", "GOCSPX-", Run(URLSAFE, 24)),
    _format("google-oauth-token", "ya29.", Run(URLSAFE, 20)),
    _format("google-oauth-token", "1//0", Run(URLSAFE, 30)),
    _format("grafana-token", "glc_", Run(BASE64, 32)),
    _format("grafana-token", "glsa_", Run(ALNUM, 32), "_", Run(HEX, 8)),
    _format("grafana-token", "eyJrIjoi", Run(BASE64, 50)),
    _format("groq-key", "gsk_", Run(ALNUM, 40)),
    _format("harness-token", ("pat.", "sat."), Run(URLSAFE, 22, 22), ".", Run(ALNUM, 24, 24), ".",
            Run(ALNUM, 20)),
    _format("heroku-key", "HRKU-", Run(URLSAFE, 36)),
    _format("hubspot-token", "pat-", Run("a-z0-9", 3, 4), "-", *_UUID),
    _format("huggingface-token", ("hf_", "api_org_"), Run(ALNUM, 34)),
    _format("infracost-key", "ico-", Run(ALNUM, 32)),
    _format("intercom-token", "dG9rO", Run(BASE64, 40)),
    _format("intra42-secret", ("s-s4t2ud-", "s-s4t2af-"), Run(HEX, 60)),
    _format("jina-key", "jina_", Run(WORD, 50)),
    _format("jwt", "eyJ", Run(URLSAFE, 12), ".", Run(URLSAFE, 8), ".", Run(URLSAFE, 4)),
    _format("jwt", "ZXlK", Run(BASE64_ANY, 80)),
    _format("langfuse-key", "sk-lf-", *_UUID),
    _format("langsmith-key", ("lsv2_pt_", "lsv2_sk_"), Run(WORD, 32)),
    _format("launchdarkly-key", ("api-", "sdk-"), *_UUID),
    _format("linear-key", ("lin_api_", "lin_oauth_"), Run(ALNUM, 32)),
    _format("lob-key", ("live_", "test_", "live_pub_", "test_pub_"), Run(HEX, 31)),
    _format("mailchimp-key", Run(HEX, 32, 32), "-us", Run(DIGITS, 1, 2)),
    _format("mailgun-key", ("key-", "pubkey-"), Run(HEX, 32, 32)),
    _format("mailgun-key", Run("a-h0-9", 32, 32), "-", Run("a-h0-9", 8, 8), "-",
            Run("a-h0-9", 8, 8)),
    _format("mapbox-token", ("pk.", "sk.", "tk."), Run(ALNUM, 60), ".", Run(URLSAFE, 22)),
    _format("maxmind-key", Run(ALNUM, 6, 6), "_", Run(ALNUM, 29, 29), "_mmk"),
    _format("netlify-token", ("nfp_", "nfc_", "nfo_"), Run(ALNUM, 36)),
    _format("newrelic-key", ("NRAK-", "NRII-", "NRJS-", "NRAA-", "NRRA-", "NRIQ-"),
            Run(URLSAFE, 19)),
    _format("notion-token", "ntn_", Run(ALNUM, 40)),
    _format("notion-token", "secret_", Run(ALNUM, 43, 43)),
    _format("npm-token", "npm_", Run(ALNUM, 36)),
    _format("nvidia-key", "nvapi-", Run(URLSAFE, 50)),
    _random_format("octopus-key", "API-", Run(UPPER, 25)),
    _format("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"), Run(URLSAFE, 24)),
    _random_format("openai-key", "sk-", Run(ALNUM, 32)),
    _format("openrouter-key", "sk-or-v1-", Run(HEX, 40)),
    _format("openshift-token", "sha256~", Run(URLSAFE, 40)),
    _format("paypal-token", "access_token$", ("production", "sandbox"), "$", Run(ALNUM, 13), "$",
            Run(HEX, 32)),
    _format("perplexity-key", "pplx-", Run(ALNUM, 40)),
    _format("pinecone-key", "pcsk_", Run(WORD, 50)),
    _format("plaid-token", "access-", ("sandbox", "development", "production"), "-", *_UUID),
    _format("planetscale-token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), Run(DOTTED, 30)),
    _format("posthog-key", ("phx_", "phs_"), Run(ALNUM, 40)),
    _format("postman-key", "PMAK-", Run(HEX, 24), "-", Run(HEX, 34)),
    _format("private-key", ("b3BlbnNzaC1rZXktdjE", "MIIEvQIBADANBgkqhkiG9w0BAQEF",
                            "MIIEvgIBADANBgkqhkiG9w0BAQEF", "MIIEowIBAAKCAQEA",
                            "MIIEpAIBAAKCAQEA", "MIIEpQIBAAKCAQEA", "MHcCAQEEI",
                            "MC4CAQAwBQYDK2VwBCIEI"), Run(BASE64, 30)),
    _format("prefect-token", ("pnu_", "pnb_"), Run(ALNUM, 36)),
    _format("pulumi-token", "pul-", Run(HEX, 40, 40)),
    _format("pypi-token", ("pypi-AgEI", "pypi-AgEN"), Run(URLSAFE, 50)),
    _format("razorpay-key", ("rzp_live_", "rzp_test_"), Run(ALNUM, 14)),
    _format("readme-token", "rdme_", Run(ALNUM, 70)),
    _format("remembrancer-key", "rem_", Run("0-9a-z", 40)),
    _format("render-key", "rnd_", Run(ALNUM, 28)),
    _format("replicate-token", "r8_", Run(ALNUM, 37)),
    _random_format("resend-key", "re_", Run(ALNUM, 8), "_", Run(ALNUM, 20)),
    _format("rubygems-key", "rubygems_", Run(HEX, 48)),
    _format("scalingo-token", "tk-us-", Run(URLSAFE, 48)),
    _format("sendgrid-key", "SG.", Run(DOTTED, 40)),
    _format("sendinblue-key", ("xkeysib-", "xsmtpsib-"), Run(HEX, 64), "-", Run(ALNUM, 12)),
    _format("sentry-token", "sntrys_eyJ", Run(BASE64_ANY, 60)),
    _format("sentry-token", "sntryu_", Run(HEX, 60)),
    _format("settlemint-token", ("sm_aat_", "sm_pat_", "sm_sat_"), Run(ALNUM, 16)),
    _format("shippo-token", ("shippo_live_", "shippo_test_"), Run(HEX, 40)),
    _format("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_", "shpua_"), Run(HEX, 32)),
    _format("slack-token", ("xoxb-", "xoxp-", "xoxa-", "xoxs-", "xoxr-", "xoxo-", "xoxe-", "xoxc-",
                            "xoxd-", "xoxe.xoxb-", "xoxe.xoxp-", "xapp-"),
            Run(r"A-Za-z0-9%\-", 24)),
    _format("slack-webhook", "hooks.slack.com/", ("services", "workflows", "triggers"), "/",
            Run("A-Za-z0-9+/", 30)),
    _format("sonar-token", ("sqp_", "squ_", "sqa_"), Run(ALNUM, 40)),
    _format("sourcegraph-token", "sgp_", Run(WORD, 40)),
    _format("square-token", ("sq0atp-", "sq0csp-", "sq0idp-"), Run(URLSAFE, 22)),
    _format("square-token", "EAAA", Run(URLSAFE, 56)),
    _format("stripe-key", ("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"),
            Run(ALNUM, 16)),
    _format("stripe-webhook-secret", "whsec_", Run(BASE64, 28)),
    _format("supabase-key", "sbp_", Run(ALNUM, 40)),
    _format("supabase-key", "sb_secret_", Run(URLSAFE, 24)),
    _format("tailscale-key", "tskey-", ("auth", "api", "client", "scim", "webhook"), "-",
            Run(URLSAFE, 20)),
    _format("tavily-key", "tvly-", Run(URLSAFE, 28)),
    _format("teams-webhook", ".webhook.office.com/webhookb2/", Run(r"A-Za-z0-9@/\-", 80)),
    _format("telegram-token", ("bot", ""), Run(DIGITS, 8, 10), ":A", Run(URLSAFE, 33)),
    _format("terraform-token", Run(ALNUM, 14, 14), ".atlasv1.", Run(PADDED, 60)),
    _format("twilio-key", "SK", Run(HEX, 32, 32)),
    _format("twitter-bearer", "AAAAAAAAAAAAAAAAAAAA", Run("A-Za-z0-9%", 50)),
    _format("typeform-token", "tfp_", Run(DOTTED, 40)),
    _format("vault-token", ("hvs.", "hvb.", "hvr."), Run(URLSAFE, 24)),
    _random_format("vault-token", "s.", Run(ALNUM, 24, 24)),
    _format("vercel-token", "vercel_blob_rw_", Run(WORD, 24)),
    _format("xai-key", "xai-", Run(ALNUM, 60)),
    _format("yandex-key", "AQVN", Run(URLSAFE, 35)),
    _random_format("yandex-key", "YC", Run(URLSAFE, 38, 38)),
    _format("yandex-token", "t1.", Run(DOTTED, 60)),
    _format("yandex-token", ("y0_", "y1_"), Run(URLSAFE, 50)),
    _format("password-hash", ("$2a$", "$2b$", "$2y$"), Run(DIGITS, 2, 2), "$",
            Run("A-Za-z0-9./", 53)),
)  # fmt: skip

PASSWORD_WORDS = word_set(
    "password passwd passwords pwd pw pword passphrase passcode passwort kennwort contrasena"
    " contrase?a senha wachtwoord parola haslo passord passe userpass requirepass pass psk"
)
PIN_WORDS = word_set(
    "pin pincode puk cvv cvc otp totp accesscode doorcode gatecode alarmcode"
    " entrycode lockcode verificationcode timecode securitycode recoverycode backupcode"
)
SECRET_WORDS = word_set(
    "secret secrets token tokens tok credential credentials cred creds auth authorization bearer"
    " jwt apikey accesskey secretkey privatekey authkey signingkey encryptionkey accountkey"
    " masterkey sharedkey authtoken accesstoken sessionid sid dsn webhook sas cookie nonce"
)
GLUED_ENDINGS = tuple(
    "token secret password passwd passwort kennwort apikey accesskey secretkey privatekey authkey"
    " licensekey".split()
)
KEY_QUALIFIERS = word_set(
    "api access secret private encryption encrypt decryption signing sign master auth client"
    " service account deploy ssh app application storage license licence webhook subscription"
    " session shared write read admin server product serial activation recovery wep wpa wifi root"
    " hmac aes rsa jwt bot user project ingest integration"
)
VENDORS = word_set(
    "adobe alibaba algolia anthropic asana atlassian aws azure bitbucket bittrex cloudflare codecov"
    " cohere coinbase confluent contentful databricks datadog deepgram deepseek digitalocean"
    " discord dropbox elevenlabs etsy facebook fastly figma finicity finnhub flickr freshbooks"
    " github gitlab gitter groq heroku hubspot huggingface instagram intercom jfrog jira kraken"
    " kucoin launchdarkly linkedin looker mailchimp mailgun mapbox mattermost messagebird meraki"
    " mistral netlify newrelic notion nytimes okta openai paypal pagerduty plaid planetscale"
    " postmark rapidapi sendbird sendgrid sendinblue sentry shopify slack snyk sonar sonarqube"
    " sourcegraph"
    " spotify squarespace stripe sumologic supabase telegram travisci trello twilio twitch twitter"
    " vercel yandex zendesk"
)
HEX_KEY_VENDORS = word_set(
    "algolia bittrex datadog flickr mailgun messagebird meraki postmark sendbird snyk sonar"
    " sonarqube sourcegraph sumologic trello twilio"
)
"""Vendors whose keys are nothing but hexadecimal digits, and that have no commits or pages."""
NON_VALUE_WORDS = word_set(
    "id ids name names url uri urls endpoint endpoints path file files filename dir directory type"
    " types length len size count limit limits budget expires expiry expiration expire ttl age"
    " lifetime version format field fields header headers prefix suffix policy policies manager"
    " provider providers store storage env var vars variable column label placeholder hint"
    " algorithm index range usage used generator validator pattern regex rules error errors status"
    " state enabled required valid validation callback handler factory class helper service"
    " middleware host port user username email mode method methods scheme strategy ref arn region"
    " date time at on by encode decode hasher hashing reset change changed message text title"
    " description total max min per second minute words"
)
HARMLESS_WORDS = word_set(
    "public pub primary foreign partition sort cache unique composite object dict map idempotency"
    " csrf xsrf next page continuation pagination max min num total keyboard keyword bucket row"
    " group hash translation i18n"
)

# For each letter, the next letters of 93 % of the letter pairs in English text and identifiers,
# and a few for German compounds.
COMMON_PAIRS: dict[str, str] = {
    "a": "bcdegiklmnprstuvy", "b": "aeilorsu", "c": "acehiklortu", "d": "aeiorsu",
    "e": "abcdefgilmnprstvwxy", "f": "aefilortu", "g": "aehiorsu", "h": "aeinorstu",
    "i": "abcdefglmnoprstvz", "j": "aou", "k": "eirst", "l": "adeiklostuyz", "m": "abeimopsu",
    "n": "acdefginostuz", "o": "abcdefgiklmnoprstuvw", "p": "aefhiloprstu", "q": "u",
    "r": "acdefgikmnorstuyz", "s": "acdehiopstuz", "t": "acefhilorstuyz", "u": "abcdefgilmnprst",
    "v": "aei", "w": "aeio", "x": "p", "y": "s", "z": "euw",
}  # fmt: skip

PLACEHOLDER_WORDS = word_set(
    "password passwd passwort kennwort secret token changeme change_me changeit string str text"
    " none null nil true false undefined required optional empty hidden masked redacted example"
    " placeholder value default test here this that your yourpassword mypassword enter incorrect"
    " wrong invalid missing expired valid correct same-origin same include omit bytes int bool"
    " boolean number integer object array any unknown varchar field input prompt env environ"
    " password1 password2 confirm confirmed current new old user username admin@example.com"
    " current-password new-password bearer basic digest apikey api_key n/a tbd todo xxx"
)
# Words that follow "the password is" without being a password.
PREDICATE_WORDS = word_set(
    "a an the on in at not no too very also still now only just always never your my our his her"
    " their its it what whatever when where why how who which that this there here sent set read"
    " kept known safe secure insecure weak strong short long simple complex easy hard fine good bad"
    " ok okay wrong right correct incorrect invalid valid missing empty blank needed required"
    " optional mandatory expired hashed encrypted stored saved shared public private secret hidden"
    " visible unique the same different old new case important essential sensitive critical done"
    " up out about being going supposed used in-use never-shared available unavailable unknown"
    " probably actually really basically currently usually often sometimes maybe perhaps either"
    " both all any some one two part key something nothing everything anything working active"
    " inactive ready dead gone lost as if because so and or but to for from with without under over"
    " behind inside by zu sehr nicht kein immer noch schon sicher falsch richtig lang kurz auf im"
    " bei trop muy no es obligatoria stuck broken leaked compromised patience love time honesty"
    " practice consistency simplicity"
)
