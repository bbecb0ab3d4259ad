"""Scores the words around a word: do they suggest a person, a thing, or a term named after one?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from remembrancer.guard.patterns import word_set

_ADDRESSED = word_set(
    """ask asks asked asking contact consult remind tell tells told ping pinged email emailed
    message messaged thank thanks dear hi hello hey meet met invite invited interview interviewed
    hire hired fired married cc named nicknamed says said kid mr mrs ms dr prof professor sir madam
    herr frau monsieur madame mme mlle senor senora signor signora sra mx fraulein dhr mevr pan
    pani frag frage fragt demande demandez pregunta preguntar chiedi vraag zapytaj"""
)
_ROLES = word_set(
    """manager engineer developer programmer designer boss colleague coworker teammate ceo cto cfo
    coo cio director president chairman chairwoman intern analyst architect doctor nurse teacher
    author founder cofounder contractor consultant secretary candidate applicant patient employee
    friend brother sister mother father son daughter cousin neighbour neighbor tester reviewer
    maintainer assignee reporter recruiter supervisor freelancer trainee apprentice student tutor
    judge senator minister officer captain lieutenant sergeant inspector detective lawyer attorney
    accountant technician electrician plumber receptionist kollege kollegin chef"""
)
_DONE_BY_PERSONS = word_set(
    "written reviewed authored drafted suggested proposed designed coordinated presented"
)
_DECIDED_BY_PERSONS = word_set("approved owned signed requested led decided mentored hired chaired")
_PERSONAL_VERBS = word_set(
    """said says say saying asked asks asking told tells thinks thought believes believed prefers
    preferred wants wanted likes liked loves loved hates hated knows knew lives lived joined joins
    quit resigned agrees agreed disagrees disagreed decided suggested suggests proposed proposes
    complained complains promised promises insisted insists mentioned mentions wrote emailed
    phoned texted who whose sick married retired reckons hopes worries forgot remembers volunteered
    apologised apologized replied replies sagt sagte meint dit pense dice piensa whispered shouted
    smiled laughed cried travelled traveled flew"""
)
_PERSONAL_NOUNS = word_set(
    """birthday wife husband desk laptop phone vacation holiday salary resume cv opinion suggestion
    idea feedback branch patch proposal draft vote ticket house home family inbox calendar leave
    team manager boss"""
)
_WEAK_BEFORE = word_set(
    "by with from to for and thanks per via von mit bei avec con par von an fur"
)
_LIKELY_VERBS = word_set(
    """owns leads reviews reviewed approves approved fixed signs signed presents presented requested
    committed maintains manages"""
)
_POSSIBLE_VERBS = word_set("left gave took reported works worked started broke")
_WEAK_VERBS = word_set("is was has will can had and calls called needs sends made makes")
_STATES = word_set(
    """absent away back busy ill leave pregnant responsible retiring sick vacation holiday parental
    maternity paternity sorry happy unhappy angry"""
)
_LABELS = word_set(
    """user name author owner contact assignee reporter reviewer from to cc by attn customer client
    employee kontakt patient manager approver sender recipient person"""
)
_ARTICLES = word_set(
    "the a an this that these those each every our your its der die das le la el il"
)
_THING_NOUNS = word_set(
    """accounts adapter agent agents algorithm annotations api app apps array arrays assertions
    backend bank board boards box boxes branch branches broker browser build builds building bus
    cache calls card chain chains chart charts classes cli client clients cluster clusters coding
    code codes color colour components config configuration connector container containers
    controller crate crates curve curves daemon dashboard dashboards data database dataset db
    deployment device devices diode distance distribution driver drivers edition email emails
    embeddings engine equation equations export exports extension extracts features feed file files
    filter filters firmware flag font fonts form format formula framework function functions gateway
    generator grid group handler headers hook hooks host icon iframe image images import imports
    index indices instance instances integration interface invoice invoices issue issues job jobs
    kernel key keys label labels laptops law layer layers leases library licence licences license
    licenses line lists log logging logs macros mapper markdown method methods migration migrations
    mode model models module modules monitor monitors motor network networks node nodes notation
    notebook notebooks noise numbers operator operators optimizer optimiser order orders package
    packages page pages parser parsers parts patch pattern pipeline pipelines platform playbook
    plugin plugins pod pods pods policy pool port printer printers process profile program project
    protocol proxy query queries queue queues recipes record records region registry release
    releases replica report reports repository request requests requires revision role roles room
    router routers rule rules run runner runs sampler scale scanner scanners schema schemas score
    scraper script scripts sdk sensor sensors server servers service services session sessions site
    shards sheet snapshots socket software sort spec standard storage store stream streams style
    suite supports switch switches syntax system systems table tables tags target task tasks
    template templates terminal test tests theme themes theorem threads ticket tickets tiles token
    tokens tool toolkit tools topic topics traces transform transforms tree trees trigger type
    types unit units update updates upgrade upgrades users value values vectors version versions
    view views virtual voltage volume volumes warehouse warehouses web widget widgets window windows
    worker workers workflow workflows workspace yaml"""
)
_THING_VERBS = word_set(
    """adds allows answers balances blocks builds caches checkpoints compiles computes connects
    contains converts converts delivers depends deploys detects downloads drives drops encrypts
    executes exports exposes fails federates flickers formats forwards generates handles imports
    indexes installs keeps listens loads logs matches parses polls proxies publishes reads
    rebuilds records redirects rejects renders renews replaces replicates requires resolves restarts
    retries returns rotates routes runs sends serves simplifies smooths starts stops stores
    streams suspends syncs terminates throws times transcribes triggers uploads uses validates
    watches wraps writes"""
)
_NAMESAKES = word_set(
    """law laws theorem lemma conjecture paradox inequality constant criterion principle rule rules
    ratio algorithm algorithms method distribution transform transforms test coefficient equation
    equations number numbers curve curves code codes tree trees diagram effect index sort series
    matrix matrices filter filters filtering process chain chains kernel estimator prior optimizer
    optimiser notation normalisation normalization decomposition factorization interpolation
    expansion polynomial polynomials sampling smoothing correction kappa distance divergence
    entropy clock clocks machine machines syndrome disease scale score bound gate circuit cipher
    quadrature iteration iterations noise triangulation function functions hypothesis problem
    operator approximation integral cage diode sensor bridge"""
)


_PLURAL_VERBS = word_set(
    "are were have need must can may should do use run work stay get expire break report share"
)
_LAWS = word_set(
    "law theorem principle paradox effect algorithm lemma syndrome optimizer optimiser"
)
_OWNED_BY_NAMESAKES = _LAWS | word_set(
    """laws conjecture inequality constant criterion rule rules ratio algorithms method equation
    equations distance kappa correction transform distribution razor number numbers"""
)
_TITLES = word_set(
    """mr mrs ms dr prof professor herr frau monsieur madame mme mlle senor senora signor signora
    sra dhr mevr"""
)
_ADDRESSING_VERBS = word_set("ask asked tell told ping dear")
_DEPARTMENTS = word_set(
    """accounting all design devops engineering everyone facilities finance helpdesk hr infra it
    legal logistics management marketing operations ops platform procurement product purchasing qa
    sales security support team"""
)
_DETERMINERS = word_set("the a an all every each any no its their this that both new old")
_THING_PARTICIPLES = word_set(
    """added adopted archived built chosen compiled configured considered converted dropped disabled
    enabled evaluated exported installed kept limited migrated moved needed open patched pinned
    postponed preferred rejected removed replaced required restarted retired stored supported
    switched tested tried updated upgraded used versioned"""
)


@dataclass(frozen=True, slots=True)
class ContextScore:
    """The strength with which the context suggests a person or a thing.

    `namesake` is a term named after a person, such as an algorithm. `law` is one that even a common
    given name before it does not make a person.
    """

    persons: float
    things: float
    namesake: bool
    law: bool


def score_context(
    before: list[str], after: list[str], labelled: bool, possessive: bool
) -> ContextScore:
    """Score the words before and after a word; `labelled` if a colon precedes it."""
    persons = _score_before(before, labelled) + _score_after(after, possessive)
    article = bool(before) and before[-1] in _ARTICLES
    namesakes = _OWNED_BY_NAMESAKES if possessive else _NAMESAKES
    return ContextScore(
        persons=persons,
        things=(1.0 if article else 0.0) + (0.0 if possessive else _score_thing(after)),
        namesake=not namesakes.isdisjoint(after[:1]),
        law=article and not _LAWS.isdisjoint(after[:1]),
    )


def is_addressed(word: str, before: str) -> bool:
    """True if the word before makes a capitalised word a name: a title or "ask", "tell"."""
    return before in _TITLES or (before in _ADDRESSING_VERBS and word not in _DEPARTMENTS)


def _score_before(before: list[str], labelled: bool) -> float:
    last, second = (["", "", *before])[-1], (["", "", *before])[-2]
    if last in _ADDRESSED or last in _ROLES or (labelled and last in _LABELS):
        return 2.0
    if last == "name" or (last in {"is", "was"} and (second == "name" or second in _ROLES)):
        return 2.0
    if last in {"to", "with"} and second in {"according", "assigned", "spoke", "talk", "speak"}:
        return 2.0
    if last == "by" and (second in _DONE_BY_PERSONS or second in _DECIDED_BY_PERSONS):
        return 1.5 if second in _DONE_BY_PERSONS else 2.0
    return 1.0 if last in _WEAK_BEFORE else 0.0


def _score_after(after: list[str], possessive: bool) -> float:
    following = after[0] if after else ""
    if following in _PERSONAL_VERBS or (possessive and following in _PERSONAL_NOUNS):
        return 2.0
    if possessive:
        return 0.8
    if following in {"is", "was"} and not _STATES.isdisjoint(after[1:3]):
        return 1.5
    if following in _LIKELY_VERBS:
        return 1.5
    return 1.0 if following in _POSSIBLE_VERBS else 0.4 if following in _WEAK_VERBS else 0.0


def _score_thing(after: list[str]) -> float:
    """The score of the following words for a thing: its parts, its actions, its state."""
    if "itself" in after:
        return 2.0
    first, second = (*after, "", "")[:2]
    if re.search(r"[^su]s$", first) and second in _PLURAL_VERBS:
        return 2.0
    if first in {"is", "was", "were", "are", "has"} and not _THING_PARTICIPLES.isdisjoint(
        after[1:3]
    ):
        return 2.0
    if first in _THING_NOUNS:
        return 1.0 if second in _DETERMINERS else 2.0
    return 1.0 if first in _THING_VERBS else 0.0
