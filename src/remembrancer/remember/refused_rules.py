"""Keeps rules from coming back that did harm or were disabled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from remembrancer.call import Call
from remembrancer.errors import Conflict
from remembrancer.profiles import DedupPolicy
from remembrancer.remember.likeness import can_be_the_same
from remembrancer.search.terms import fingerprint
from remembrancer.store.contract import Embedding, Filter, Patch, Reader, Write
from remembrancer.types import GLOBAL_SCOPE, Kind, Maturity, Record, Rule, Status

MAX_REFUSED = 1000
MIN_SIMILARITY = 0.75
"""Cosine from which the words of two rules are compared; paraphrases are rarely below it."""

TRUSTED = (Maturity.CANDIDATE, Maturity.ESTABLISHED, Maturity.PROVEN)


def find_objection(
    call: Call,
    reader: Reader,
    new: Rule,
    embedding: Embedding | None,
    *,
    without: Collection[str] = (),
) -> Rule | None:
    """The disabled rule that says the same as the new one, or the warning that one has become.

    Those `without` are no objection. A rule without an embedding is compared by its words.
    """
    refused = [
        one
        for one in _list_refused(call, reader, new)
        if one.id not in without and _can_object(one, new)
    ]
    originals = _load_originals(reader, refused)
    ids = [one.id for one in originals.values()]
    hits = reader.compute_similarities(embedding, ids) if ids and embedding else []
    similarity = {hit.id: hit.score for hit in hits}
    for one in refused:
        original = originals.get(one.id)
        score = similarity.get(original.id, 0.0) if original is not None else 0.0
        if _is_refused_by(one, original, new, score, call.profile.dedup):
            return one
    return None


def check_rule(call: Call, reader: Reader, new: Record, embedding: Embedding) -> None:
    """Raise Conflict for a rule that would come back although it was disabled or did harm."""
    objection = find_objection(call, reader, new, embedding) if isinstance(new, Rule) else None
    if objection is not None:
        raise Conflict(objection.explain_refusal())


def refuse_revival(call: Call, reader: Reader, writes: Sequence[Write]) -> None:
    """Raise Conflict if the writes would make a rule active that would not be stored again."""
    statuses = {
        one.id: one.values["status"]
        for one in writes
        if isinstance(one, Patch) and "status" in one.values
    }
    revived = [id for id, status in statuses.items() if status == Status.ACTIVE]
    rules = [one for one in reader.load(revived).values() if isinstance(one, Rule)]
    rules = [one for one in rules if not one.is_warning]
    model = call.embedder.model if rules else ""
    vectors = reader.load_vectors(model, [one.id for one in rules]) if rules else {}
    for one in rules:
        known = Embedding(model, vectors[one.id]) if one.id in vectors else None
        objection = find_objection(call, reader, one, known, without=statuses.keys())
        if objection is not None:
            raise Conflict(objection.explain_refusal())


def _list_refused(call: Call, reader: Reader, new: Rule) -> list[Rule]:
    """The disabled rules and the warnings of whoever would follow the new rule."""
    rules = Filter(now=new.recorded_at, kinds=(Kind.RULE,), visible=call.resolve_visibility())
    disabled = replace(rules, statuses=(Status.DISABLED,), maturities=TRUSTED)
    warnings = replace(rules, statuses=(Status.ACTIVE,), maturities=(Maturity.ANTI_PATTERN,))
    return [
        one
        for wanted in (disabled, warnings)
        for one in reader.find(wanted, MAX_REFUSED)
        if isinstance(one, Rule)
        and (new.scope == GLOBAL_SCOPE or one.scope in (GLOBAL_SCOPE, new.scope))
    ]


def _can_object(refused: Rule, new: Rule) -> bool:
    """False for a version of the same rule, and between two rules that are disabled both."""
    both_disabled = refused.status is new.status is Status.DISABLED
    return refused.lineage != new.lineage and not both_disabled


def _load_originals(reader: Reader, refused: Sequence[Rule]) -> dict[str, Record]:
    """The rule in its own words for each refused one: a warning's words may have been edited."""
    originals: dict[str, Record] = {one.id: one for one in refused if not one.is_warning}
    open_ends = {one.id: one.supersedes for one in refused if one.is_warning and one.supersedes}
    while open_ends:
        found = reader.load(set(open_ends.values()))
        earlier = {id: found[end] for id, end in open_ends.items() if end in found}
        originals |= earlier
        open_ends = {
            id: one.supersedes
            for id, one in earlier.items()
            if isinstance(one, Rule) and one.is_warning and one.supersedes
        }
    return originals


def _is_refused_by(
    refused: Rule, original: Record | None, new: Rule, similarity: float, dedup: DedupPolicy
) -> bool:
    """True if the new rule says what the original said, or is the same warning against it.

    The rule that a warning quotes counts as well: the original may not have been imported with it.
    """
    # A tenth of the start of `rem remember`, for the few who have such a rule.
    from remembrancer.remember.anti_pattern import find_rule
    from remembrancer.remember.rule_likeness import say_the_same

    quoted = find_rule(refused.content) if refused.is_warning else None
    said = (find_rule(new.content) if refused.is_warning else None) or new.content
    known = [text for text in (quoted, original and original.content) if text]
    if _plain_words(said) in map(_plain_words, known):
        return True
    if original is None:
        return False
    if dedup.is_met_by(similarity) and can_be_the_same(said, original.content):
        return True
    return similarity >= MIN_SIMILARITY and say_the_same(said, original.content)


def _plain_words(content: str) -> str:
    return fingerprint(content.strip().rstrip(".!"))
