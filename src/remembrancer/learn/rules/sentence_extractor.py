"""Extracts the facts that a sentence states in one language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from re import Match

from remembrancer.learn.details.said_dates import resolve_days
from remembrancer.learn.extracted_fact import Dates, ExtractedFact, Quote
from remembrancer.learn.rules.clauses import (
    MAX_CLAUSE_CHARS,
    Clause,
    apply_correction,
    split_clauses,
    split_sentences,
    strip_lead_in,
    strip_question,
)
from remembrancer.learn.rules.patterns import (
    INSTRUCTION,
    SELF_WORDS,
    LanguageRules,
    MemoryDefaults,
    Opener,
    StatementPattern,
)
from remembrancer.learn.rules.people import People, Person
from remembrancer.learn.rules.plain_statement import is_plain_statement
from remembrancer.learn.rules.third_person import (
    conjugate,
    leaves_verb_bare,
    replace_pronouns,
    restate,
)
from remembrancer.learn.rules.wish import is_wish, word_wish
from remembrancer.remember.attributes import USER_SUBJECT
from remembrancer.search.language import Language
from remembrancer.search.terms import extract_query_terms
from remembrancer.types import Permanence, Turn

MAX_KEY_CHARS = 200
MIN_HEAD_CHARS = 12
"""Characters before a comma from which they can be a statement on their own."""

WORD_START_CHARS = 4
DISPENSABLE_WORDS = frozenset({"am", "call", "name", "over"})
"""Beginnings of words that a content need not have: "my dog is called Rex"."""

UNCAPPED_PLACE = re.compile(r"^.+?(?=,| (?:with|for|since|and|near|at|on|as|mit|con|avec)\b|$)")
APOSTROPHE_OR_SPACE = re.compile("['’ ]")
SECOND_VERB = r"(\b(?:and|then) )(<VERB>)(?= (?:back|home|on|to|at|in|out|from)\b)"
LEFT = r"(?P<left><W> (?:(?P<leaves><LEAVES>)|<ENDS>) [^,;]+?)"
CHANGE = LEFT + r"(?:[,;]| and| but)\s{1,3}(?P<taken>(?:<W>|<MY>)\b.+)"
NAMED_PERSON = r"(?:<MY> (?P<role><ROLE>)(?![\w-]))?(?P<name>.*)"
PLAIN_DEFAULTS = MemoryDefaults("fact", Permanence.STANDARD, None, 0.75)
REQUESTED_DEFAULTS = MemoryDefaults("fact", Permanence.STABLE, 7, 0.95)


class SentenceExtractor:
    """Extracts facts from the sentences of a turn in one language."""

    def __init__(
        self, rules: LanguageRules, turn: Turn, people: People, *, reads_plain: bool = True
    ) -> None:
        self.rules = rules
        self.vocabulary = rules.vocabulary
        self.turn = turn
        self.people = people
        self.reads_plain = reads_plain
        self.resolved: Person | None = None

    def extract(self, sentence: str) -> Iterator[ExtractedFact]:
        """The facts of a sentence, with what it corrects itself; none if that is not clear."""
        meant = apply_correction(sentence, self.vocabulary)
        if meant is None:
            self.people.note(sentence, self.rules)
        elif meant == sentence:
            for found in self._extract(sentence):
                yield self._quote_correction(found, sentence)
        else:
            for found in self._extract(meant):
                yield replace(found, quotes=(Quote(self.turn.id, sentence), *found.quotes[1:]))

    def restate(self, words: str) -> ExtractedFact | None:
        """A whole statement as a memory; None if it would lose or change what is said."""
        said = words.strip(" .!")
        if list(split_sentences(said, self.vocabulary)) != [said]:
            return None
        known = self.match_statement(said)
        plain, is_limited = self._write_out(said)
        if is_limited or (known and leaves_verb_bare(plain, known.content)):
            known = None
        if known and _keeps_all_words(plain, known.content):
            worded = restate(plain) if known.content.startswith("They ") else None
            content = worded or known.content.removeprefix("Their ")
            return replace(known, content=format_line(content))
        restated = self._restate_own(plain)
        if restated is None:
            return None
        return replace(self._build(REQUESTED_DEFAULTS, restated, said), importance=None)

    def _restate_own(self, plain: str) -> str | None:
        """An English statement of the speakers about themselves, with all that it says."""
        is_own = self.vocabulary.equals("SPEAKER", plain.partition(" ")[0])
        if not is_own or self.rules.language is not Language.ENGLISH:
            return None
        restated = restate(self.vocabulary.compile("^<MY> ").sub("", plain))
        return restated if restated and _keeps_all_words(plain, restated) else None

    def _write_out(self, said: str) -> tuple[str, bool]:
        """A statement without contractions; True if words that limit it kept it as it is."""
        plain = self.vocabulary.normalise(said)
        is_limited = self._lacks_limit(plain, said)
        return re.sub("^We ", "we ", said if is_limited else plain), is_limited

    def _lacks_limit(self, plain: str, said: str) -> bool:
        """True if a word such as "mostly" was lost, without which the statement says more."""
        if self.rules.language is not Language.ENGLISH:
            return False
        return self.vocabulary.contains("LIMIT", said) and not self.vocabulary.contains(
            "LIMIT", plain
        )

    def match_statement(self, words: str) -> ExtractedFact | None:
        """The memory that the patterns make of a statement, which need not have all of it."""
        return self._match(strip_lead_in(words.strip(" .!"), self.vocabulary), words)

    def _quote_correction(self, found: ExtractedFact, sentence: str) -> ExtractedFact:
        """Quote the "Actually" before a clause, too: it says that something else was wrong."""
        words = found.quotes[0].words
        start = sentence.find(words)
        is_first = strip_lead_in(sentence, self.vocabulary).startswith(words)
        if start < 1 or not is_first or not self.vocabulary.starts("CORRECTS", sentence):
            return found
        first = Quote(self.turn.id, sentence[: start + len(words)])
        return replace(found, quotes=(first, *found.quotes[1:]))

    def _extract(self, sentence: str) -> Iterator[ExtractedFact]:
        asked = self._extract_request(sentence)
        if asked:
            self.people.note(sentence, self.rules)
            yield asked
            return
        if change := self._read_change(sentence):
            yield change
            return
        found: list[ExtractedFact] = []
        before = ""
        clauses = list(split_clauses(sentence, self.vocabulary))
        for clause in clauses:
            before, facts = self._extract_clause(clause, before)
            found += facts
        was_tried = len(clauses) == 1 and clauses[0].is_asserted
        order = None if found or was_tried else self._extract_instruction(sentence)
        yield from [order] if order else found

    def _read_change(self, sentence: str) -> ExtractedFact | None:
        """Read "I moved off the iOS app, I'm on the dashboard now" as one statement."""
        if len(sentence) > 2 * MAX_CLAUSE_CHARS:
            return None
        said = strip_lead_in(sentence.strip(" .!"), self.vocabulary)
        found = self.vocabulary.compile(CHANGE).fullmatch(said.replace("’", "'"))
        unclear = ("UNSURE", "HYPOTHETICAL", "DANGLING", "MOMENTARY")
        if found is None or any(self.vocabulary.contains(one, said) for one in unclear):
            return None
        known = self._match(found["taken"], said)
        if known:
            return known if found["leaves"] else None
        parts = [restate(self.vocabulary.normalise(found[one])) for one in ("left", "taken")]
        if None in parts:
            return None
        return self._build(PLAIN_DEFAULTS, ", ".join(filter(None, parts)), said)

    def _extract_clause(self, clause: Clause, before: str) -> tuple[str, list[ExtractedFact]]:
        """The clause with its subject, given the clause before it, and the facts it states."""
        full, person = self._complete(self.vocabulary.add_possessive(clause.words), before)
        start = len(self.people.mentioned)
        self.people.note(full, self.rules, clause.words)
        met = self.people.mentioned[start:]
        facts = [fact for one in met for fact in self._introduce(one, clause.words)]
        self.resolved = person
        found = self._read_statements(full, clause.words) if clause.is_asserted else []
        if person and person.quote.turn != self.turn.id:
            found = [replace(one, quotes=(*one.quotes, person.quote)) for one in found]
        if any(one.subject != USER_SUBJECT for one in found):
            facts = [one for one in facts if one.predicate]
        return full, [*facts, *found]

    def _read_statements(self, full: str, quote: str) -> list[ExtractedFact]:
        """Read a clause by the patterns, or else as a plain statement in the user's words."""
        found = self._match(full, quote)
        if found is None:
            heads = (self._read_plain(one, quote) for one in _list_heads(full))
            found = next((one for one in heads if one), None)
            return [found] if found else []
        tail = full.partition(",")[2].strip()
        is_said = any(one in found.content for one in (tail, self.vocabulary.normalise(tail)))
        more = None if is_said else self._read_plain(tail, quote)
        return [found, more] if more else [found]

    def _read_plain(self, full: str, quote: str) -> ExtractedFact | None:
        """Read a plain statement, whose content is the user's words, restated where possible."""
        plain = self.vocabulary.normalise(full)
        person = self._find_person(plain)
        is_cut = full.count('"') % 2 == 1
        if not self.reads_plain or is_cut:
            return None
        if not is_plain_statement(plain, full, self.vocabulary, person):
            return None
        subject = self._find_subject(person.replace(",", "").strip()) or USER_SUBJECT
        content = self.vocabulary.compile("(?:,? <TRAILING>)+$").sub("", full)
        if not person:
            content = self._restate_own(self._write_out(content)[0]) or content
        stated = self._build(PLAIN_DEFAULTS, content, quote, subject=subject)
        return replace(stated, said_as=self._find_time(plain), is_plain=True)

    def _find_person(self, plain: str) -> str:
        """The beginning of a clause that is about somebody: a role, a known name, or any name."""
        found = self.vocabulary.compile("<PERSON> ").match(plain)
        who = found[0].replace(",", "").strip() if found else ""
        if not found or not self._find_subject(who):
            return ""
        is_meant = self.resolved is not None and plain.startswith(self.resolved.phrase)
        if is_meant or self.vocabulary.starts("MY", who) or who.lower() in self.people.known:
            return found[0]
        acts = self.vocabulary.compile("<HUMAN_ACT>(?!\\w)").match(plain, found.end())
        return found[0] if acts else ""

    def _complete(self, words: str, before: str) -> tuple[str, Person | None]:
        """A clause whose pronoun or missing subject is replaced by a person, and that person."""
        who = self.vocabulary.compile("<PERSON>").match(f"{before} ")
        if who and self.vocabulary.starts("DROPPED", words):
            person = self.people.find_subject(who[0].replace(",", "").strip())
            return (f"{person.phrase} {words}" if person else words), person
        return self.people.resolve(self._restore_self(words, before), self.rules)

    def _restore_self(self, words: str, before: str) -> str:
        """Add the "I" of the clause before to one that has only a verb: "and work at Acme"."""
        is_self = self.vocabulary.compile(r"<SELF>\b").match(before)
        verb = f"{words[:1].lower()}{words[1:]}"
        if is_self and self.vocabulary.starts("DROPPED_SELF", words):
            return f"{APOSTROPHE_OR_SPACE.split(is_self[0])[0]} {verb}"
        if not before and self.vocabulary.starts("DROPPED_AT_START", words):
            return f"{self.vocabulary.find_text('SELF')} {verb}"
        return words

    def _introduce(self, person: Person, clause: str) -> Iterator[ExtractedFact]:
        """Who "my sister Ana" is, whatever the clause goes on to ask or suppose."""
        template = self.vocabulary.find_text("INTRODUCTION")
        words = person.quote.words
        if not (person.name and person.role) or words not in clause:
            return
        if not template or self.vocabulary.contains("CALLED", words):
            return
        my = person.phrase.split()[0]
        role = person.role.lower() if self.rules.language is Language.ENGLISH else person.role
        said = template.format(my=my, role=role, name=person.name)
        known = self._match(said, person.quote.words)
        if known:
            yield replace(known, confidence=0.8)

    def _extract_request(self, sentence: str) -> ExtractedFact | None:
        """Read "remember that …", which need not be about the user."""
        told = strip_question(sentence, self.vocabulary) or sentence
        lead = strip_lead_in(told, self.vocabulary).rstrip(" .!?")
        plain = lead.replace("’", "'")
        request = self.vocabulary.compile(r"(?P<plea><PLEA>?)<REMEMBER>\s*(?P<rest>.+)")
        found = request.fullmatch(plain)
        if found is None or len(sentence) > 2 * MAX_CLAUSE_CHARS:
            return None
        if told.endswith("?") and not found["plea"]:
            return None
        rest = strip_lead_in(lead[found.start("rest") :].strip(" .!?,"), self.vocabulary)
        said = rest
        if self.vocabulary.contains("SUBORDINATOR", plain[: found.start("rest")]):
            said = self._move_verb(rest) or lead
        return self._keep_request(said, rest, has_plea=bool(found["plea"]))

    def _move_verb(self, words: str) -> str | None:
        """Make a main clause of a German "dass" clause, whose verb is at the end."""
        pattern = "(<MAIN_SUBJECT>) (.+ )?(<PREFIX>)?(<LAST_VERB>)"
        found = self.vocabulary.compile(pattern).fullmatch(words)
        if found is None:
            return None
        parts = (found[1], found[4], (found[2] or "").strip(), found[3])
        return " ".join(filter(None, parts))

    def _keep_request(self, said: str, quote: str, *, has_plea: bool) -> ExtractedFact | None:
        if is_wish(said):
            return build_wish(self.turn, said, requested=True)
        clauses = [one.words for one in split_clauses(said, self.vocabulary)]
        known = self._match(said, quote) if clauses == [said] else self._extract_instruction(said)
        if known:
            return replace(known, requested=True, confidence=0.95)
        if not self._is_worth_keeping(quote, has_plea=has_plea):
            return None
        content = said
        if self.rules.language is Language.ENGLISH:
            content = restate(self.vocabulary.normalise(said)) or said
        return self._build(REQUESTED_DEFAULTS, content, quote, requested=True)

    def _is_worth_keeping(self, rest: str, *, has_plea: bool) -> bool:
        """True if it is a statement of the user, and not advice to the reader."""
        if self.vocabulary.contains("ADVICE", rest) or len(rest.split()) < 3:
            return False
        if not self.vocabulary.contains("FINITE_VERB", rest):
            return False
        is_own = self.vocabulary.contains("FIRST_PERSON", rest) or re.search(r"\d|\s[A-Z]", rest)
        return has_plea or bool(is_own) or self.vocabulary.starts("DEFINITE", rest)

    def _extract_instruction(self, sentence: str) -> ExtractedFact | None:
        """Read a standing instruction to the assistant that takes up the whole sentence."""
        words = strip_lead_in(sentence.strip(" .!¡"), self.vocabulary)
        if sentence.endswith("?") or not words or len(words) > MAX_CLAUSE_CHARS:
            return None
        return self._match(words, words, only_instructions=True)

    def _match(
        self, words: str, quote: str, *, only_instructions: bool = False
    ) -> ExtractedFact | None:
        """Match a clause with the statement patterns; the first one counts."""
        said = [words]
        is_passing = self.vocabulary.contains("MOMENTARY", words)
        if not only_instructions and words.find(",") > MIN_HEAD_CHARS and not is_passing:
            said.append(words.partition(",")[0])
        for text in said:
            plain = self.vocabulary.normalise(text)
            bare, said_as = self._split_time(plain)
            found = self._try_statements(bare, text, quote, only_instructions) if said_as else None
            if found and self._fits_time(found, said_as):
                return self._add_time(found, said_as)
            later = self.vocabulary.compile("^<TIME>,? ").sub("", plain)
            for form in dict.fromkeys((plain, later)):
                found = self._try_statements(form, text, quote, only_instructions)
                if found:
                    return self._add_time(found, self._find_time(plain))
        return None

    def _try_statements(
        self, plain: str, words: str, quote: str, only_instructions: bool
    ) -> ExtractedFact | None:
        statements = self.rules.instructions
        if not only_instructions:
            statements = self.rules.statements[self._find_opener(plain)]
        for wording in statements:
            match = wording.pattern.fullmatch(plain)
            found = match and self._build_from_pattern(wording, match, words, quote)
            if found:
                return found
        return None

    def _find_opener(self, plain: str) -> Opener:
        """What a clause begins with."""
        if plain.partition(" ")[0].lower() in SELF_WORDS:
            return Opener.SELF
        person = self.vocabulary.compile("<PERSON>").match(plain)
        is_known = person and self._find_subject(person[0])
        return Opener.PERSON if is_known else Opener.ANYTHING

    def _find_time(self, plain: str) -> str:
        found = self.vocabulary.compile(r"\b<TIME>(?!\w)").search(plain)
        return found[0] if found else ""

    def _add_time(self, found: ExtractedFact, said_as: str) -> ExtractedFact:
        is_lasting = self.vocabulary.equals("ON_A_DATE", said_as)
        if is_lasting and said_as.partition(" ")[2] not in found.content:
            found = replace(found, content=f"{found.content} {said_as}")
        return replace(found, said_as=found.said_as or said_as)

    def _split_time(self, plain: str) -> tuple[str, str]:
        """A clause without the time at its end, and that time."""
        found = self.vocabulary.compile(",? <TIME>$").search(plain)
        return (plain[: found.start()], found[0].strip(" ,")) if found else (plain, "")

    def _fits_time(self, found: ExtractedFact, said_as: str) -> bool:
        """True unless something that is yet to come is told as a fact."""
        is_plan = found.category in ("event", "decision")
        return is_plan or not self.vocabulary.equals("FUTURE", said_as)

    def _build_from_pattern(
        self, wording: StatementPattern, match: Match[str], words: str, quote: str
    ) -> ExtractedFact | None:
        parts = {name: (text or "").strip() for name, text in match.groupdict().items()}
        if wording.check in ("is_place", "is_home") and quote == quote.lower():
            parts["x"] = UNCAPPED_PLACE.sub(lambda found: found[0].title(), parts["x"], count=1)
        if not self._accepts(wording, parts):
            return None
        content = wording.content.format(**self._show(parts), clause=self._show_clause(words))
        subject = self._find_subject(parts.get("who", ""))
        found = self._build(wording.defaults, content, quote, subject=subject or USER_SUBJECT)
        dates = self._find_dates(words) if wording.defaults.is_dated else None
        found = replace(found, said_as=parts.get("when", ""), dates=dates)
        predicate = self._build_predicate(wording, parts)
        is_unclear = bool(parts.get("who")) and not self._is_one_person(subject or "")
        if predicate is None or len(predicate) > MAX_KEY_CHARS or is_unclear:
            return found
        return replace(found, predicate=predicate)

    def _is_one_person(self, subject: str) -> bool:
        """True for a name, unless two people have it."""
        return subject[:1].isupper() and not self.people.is_shared(subject)

    def _find_dates(self, words: str) -> Dates | None:
        """When a state begins, or else ends, if the time that was said has only one reading."""
        said_as = self._find_time(self.vocabulary.normalise(words))
        readings = resolve_days(said_as, self.turn.said_at) if said_as else []
        if len(readings) != 1:
            return None
        return Dates(start=readings[0].start) if readings[0].start else readings[0]

    def _accepts(self, wording: StatementPattern, parts: dict[str, str]) -> bool:
        if "x" in parts and not self.vocabulary.check(wording.check, parts["x"]):
            return False
        who = self._find_subject(parts.get("who", ""))
        if parts.get("who") and not who:
            return False
        return "y" not in parts or self.vocabulary.is_complete(parts["y"])

    def _find_subject(self, who: str) -> str | None:
        """The name of a person such as "my sister Ana", or "sister" if there is none."""
        if not who:
            return None
        found = self.vocabulary.compile(NAMED_PERSON).fullmatch(who)
        name = found["name"].strip(" ,") if found else who
        if not name:
            return found["role"].lower() if found and found["role"] else None
        if not self.vocabulary.is_given_name(name):
            return None
        return self.people.tell_apart(name, (found and found["role"]) or "")

    def _show(self, parts: dict[str, str]) -> dict[str, str]:
        """The matched words as they stand in the content."""
        if self.rules.language is not Language.ENGLISH:
            return parts
        who = self.vocabulary.compile("^<MY> ").sub("", parts.get("who", ""))
        shown = {name: replace_pronouns(words) for name, words in parts.items()}
        shown["who"] = who.replace(",", "")
        if "does" in shown:
            shown["does"] = conjugate(shown["does"])
            shown["x"] = self.vocabulary.compile(SECOND_VERB).sub(
                lambda found: found[1] + conjugate(found[2]), shown["x"]
            )
        return shown

    def _show_clause(self, words: str) -> str:
        bare = self.vocabulary.compile("^<POLITE>|(?:,? <TRAILING>)+$").sub("", words)
        if self.rules.language is not Language.ENGLISH:
            return bare
        plain = self.vocabulary.normalise(bare)
        return replace_pronouns(f"{plain[:1].lower()}{plain[1:]}")

    def _build_predicate(self, wording: StatementPattern, parts: dict[str, str]) -> str | None:
        """The predicate under which a later statement supersedes this one."""
        if wording.predicate is None:
            return None
        topics = {name: self._normalise_topic(words) for name, words in parts.items()}
        pair = " and ".join(sorted((topics.get("x", ""), topics.get("y", ""))))
        return wording.predicate.format(**topics, pair=pair)

    def _normalise_topic(self, words: str) -> str:
        """Normalise a topic so that statements about the same thing get the same key."""
        if self.rules.language is Language.ENGLISH:
            words = replace_pronouns(words)
        bare = self.vocabulary.compile("^<ARTICLE> | since .*").sub("", words.lower())
        plain = re.sub(r"[^\w\s'&+/.-]", " ", bare.replace("favourite", "favorite"))
        return " ".join(plain.split()).strip(". ")

    def _build(
        self,
        sort: MemoryDefaults,
        content: str,
        quote: str,
        *,
        subject: str = USER_SUBJECT,
        requested: bool = False,
    ) -> ExtractedFact:
        return ExtractedFact(
            content=format_line(content),
            quotes=(Quote(self.turn.id, quote),),
            category=sort.category,
            subject=subject,
            importance=sort.importance,
            permanence=sort.permanence,
            confidence=sort.confidence,
            requested=requested,
        )


def build_wish(turn: Turn, words: str, *, requested: bool) -> ExtractedFact:
    """A wish for how to answer, as an instruction."""
    return ExtractedFact(
        content=word_wish(words),
        quotes=(Quote(turn.id, words.strip(" .!")),),
        category=INSTRUCTION.category,
        subject=USER_SUBJECT,
        importance=INSTRUCTION.importance,
        permanence=INSTRUCTION.permanence,
        confidence=0.95 if requested else INSTRUCTION.confidence,
        requested=requested,
    )


def _keeps_all_words(said: str, content: str) -> bool:
    """True if every telling word of a statement is in the content, in some form."""
    kept = {one[:WORD_START_CHARS] for one in extract_query_terms(content)}
    told = {one[:WORD_START_CHARS] for one in extract_query_terms(said)}
    return told - kept <= DISPENSABLE_WORDS


def _list_heads(words: str) -> Iterator[str]:
    """A clause, and what is left of it without its last parts after commas."""
    while words:
        yield words
        words = words.rpartition(",")[0]


def format_line(words: str) -> str:
    """Normalise spaces, capitalise the first letter and strip punctuation."""
    line = " ".join(words.split()).strip(" ,;:.!¡")
    return line[:1].upper() + line[1:]
