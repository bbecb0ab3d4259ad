"""Patterns of instructions to an assistant in English, for text in lower case."""

from __future__ import annotations

from dataclasses import dataclass

from remembrancer.guard.patterns import one_of


@dataclass(frozen=True, slots=True)
class Directive:
    """A pattern, the rule that it breaks, and the words around it that make it harmless."""

    rule: str
    pattern: str
    unless: str = ""


# The gap between two words of a sentence. _JOINT is a gap that can be empty.
GAP = r"[^a-z0-9.!?;]{1,4}"
_JOINT = r"[^a-z0-9.!?;]{0,4}"
_WORD = r"[a-z0-9'/%$&+-]+"


def any_of(words: str) -> str:
    """A pattern for any of the words; an underscore stands for the gap inside a phrase."""
    return one_of(words, GAP)


def words_pattern(max_words: int) -> str:
    """A pattern for up to `max_words` words, each followed by a gap."""
    return rf"(?:{_WORD}{GAP}){{0,{max_words}}}"


def _chars_pattern(max_chars: int) -> str:
    """A pattern for up to `max_chars` characters of the same sentence."""
    return rf"(?:[^\n.!?]|[.][^\s]){{0,{max_chars}}}?"


# Where a command can begin: a sentence, a clause, or after a word such as "please" or "then".
_ORDER = (
    r"(?:^|[.!?:;,\n>\"'(\[\]*#-]\s*|\b(?:please|and|then|must|should|shall|now|also"
    r"|you|will|always"
    r"|immediately|kindly|just|simply|finally|instead|can|to)\s+)"
)
_NOT = r"\b(?:not|never|cannot|avoid|without|[a-z]+n't|dont|no)\s+(?:to\s+|ever\s+)?"

_DISOBEY = any_of(
    "ignore ignoring disregard disregarding forget overlook disobey neglect dismiss"
    " pay_no_attention_to do_not_follow don't_follow dont_follow do_not_obey don't_obey"
    " do_not_comply_with stop_following stop_obeying cease_following no_longer_follow"
)
_TRAINING = any_of("instructions? directives? programming guidelines guardrails? training prompts?")
_UNDO = any_of(
    "override overriding overrule bypass bypassing circumvent discard delete erase cancel drop"
    " replace clear reset remove set_aside throw_away break abandon revoke nullify void"
)
_PRIOR = any_of(
    "previous previously prior above earlier preceding foregoing past former existing initial"
    " original system developer aforementioned prevailing pre-existing preexisting"
)
_ORDERS = any_of(
    "instructions? directions directives? prompts? rules? guidelines? commands? orders constraints?"
    " restrictions? polic(?:y|ies) programming training guardrails? safeguards? context tasks?"
    " limitations?"
)
_CORE_ORDERS = any_of(
    "instructions? directives? prompts? programming guidelines? guardrails? system_messages?"
)
_DETERMINER = any_of("all any every each of the these those this that and or other your my our own")

_OVERRIDES = (
    Directive(
        "override",
        rf"\b{_DISOBEY}{_JOINT}(?:{_DETERMINER}{_JOINT}){{0,5}}(?:{_PRIOR}{_JOINT}"
        rf"(?:{any_of('and or the your all any system safety')}{_JOINT}){{0,3}}){{1,3}}{_ORDERS}",
        unless=rf"{_NOT}(?:ignore|ignoring|disregard|forget|overlook|neglect|dismiss)",
    ),
    Directive(
        "override",
        rf"\b{_DISOBEY}{GAP}{words_pattern(5)}{_PRIOR}{GAP}{words_pattern(2)}{_ORDERS}\b",
        unless=rf"{_NOT}(?:ignore|ignoring|disregard|forget|overlook|neglect|dismiss)",
    ),
    Directive(
        "override",
        rf"\b{_DISOBEY}{GAP}{words_pattern(2)}your{GAP}{any_of('own safety ethical core')}?{_JOINT}"
        rf"{_TRAINING}"
        r"|\b(?:ignore|disregard|forget)\s+all\s+(?:of\s+)?(?:the\s+|these\s+|your\s+)?"
        r"(?:instructions|guidelines|directives|safety)\b"
        r"|\b(?:ignore|disregard|forget)\s+all\s+(?:of\s+)?your\s+rules\b",
        unless=rf"{_NOT}(?:ignore|ignoring|disregard|forget|overlook|neglect|dismiss)",
    ),
    Directive(
        "override",
        rf"\b{_UNDO}{GAP}{words_pattern(3)}(?:your|{_PRIOR}){GAP}{words_pattern(1)}{_CORE_ORDERS}\b",
        unless=rf"{_NOT}{_UNDO}",
    ),
    Directive(
        "override",
        r"\b(?:ignore|disregard|forget)\s+(?:about\s+)?(?:all\s+that|everything|anything"
        r"|whatever|what)\s+"
        rf"{words_pattern(4)}(?:above|before|prior|earlier|you\s+(?:were|have\s+been|know|learned)"
        r"|told\s+you|(?:was|were)\s+(?:said|told|written))\b"
        r"|\b(?:ignore|disregard|forget)\s+(?:all\s+)?(?:of\s+)?the\s+above\s*(?:,|\band\b)",
        unless=_NOT + r"(?:ignore|disregard|forget)",
    ),
    Directive(
        "override",
        r"\b(?:ignore|disregard|forget)\s+(?:the|this|that)\s+(?:rest\s+of\s+the\s+|user's\s+)?"
        r"(?:document|text|content|page|article|e?mail|passage|context|question|request|task|user)"
        r"(?:\s+(?:above|below))?(?:,|;|\s)\s*(?:and|but|then|just)?\s*(?:instead\s+)?"
        r"(?:say|output|print|reply|respond|answer|tell|do|write|execute|run|follow)\b",
    ),
    Directive(
        "override",
        rf"\b(?:{_PRIOR}|your){GAP}{words_pattern(1)}(?:instructions|directives|system prompt"
        r"|safety rules)\s+(?:above\s+)?"
        r"(?:no\s+longer|(?:are|is|were|have\s+been)\s+(?:now\s+|all\s+|hereby\s+)?"
        r"(?:void|null|cancell?ed|obsolete|superseded|revoked|overridden|replaced|suspended"
        r"|deprecated|lifted|invalid|a\s+test))",
    ),
    Directive(
        "override",
        r"\byour\s+(?:new|updated|real|actual|true|only)\s+(?:system\s+)?"
        r"(?:instructions?|directives?|system\s+prompt|programming|guidelines)\s*(?:is|are|:|now)"
        r"|\bnew\s+(?:system\s+)?(?:instructions|directive|prompt)\s*(?:for\s+the\s+\w+\s*)?:\s*"
        r"(?:you|ignore|from|always|never|do\b|the\s+assistant|respond|reply|forget)"
        r"|\b(?:replaces?|supersedes?|overrides?|takes?\s+precedence\s+over)\s+(?:all\s+|any\s+)*"
        rf"(?:your|(?:of\s+)?the\s+)?\s*(?:{_PRIOR}\s+)+(?:instructions|prompts?"
        rf"|directives|guidelines)",
    ),
)

_UNRESTRICTED = any_of(
    "unrestricted unfiltered uncensored unlimited jailbroken amoral unethical unbound unaligned"
    " rule-free lawless evil malicious"
)
_MACHINE = any_of(
    "ai a\\.i\\. assistant models? llm bots? chatbots? agents? system gpt intelligence"
)
_LIMITS = any_of(
    "restrictions? limitations? limits filters? rules guidelines constraints boundaries ethics"
    " censorship safeguards safety guardrails morals policies content_polic(?:y|ies)"
)
_ADMIN_ROLE = any_of(
    "admin administrator superadmin superuser root_user sysadmin system_administrator sudo"
)

_PERSONAS = (
    Directive(
        "persona",
        r"\bdo\s+anything\s+now\b|\b(?:you\s+are|(?:respond|reply|answer"
        r"|act)\s+as)\s+(?:now\s+)?(?:dan|jailbroken)\b"
        r"|\b(?:developer|jailbreak|debug|maintenance|sudo|unrestricted|admin)\s+mode\s+"
        r"(?:is\s+)?(?:now\s+)?(?:enabled|activated|engaged|unlocked|on)\b.{0,60}\byou\b"
        r"|\byou\s+are\s+(?:now\s+)?in\s+(?:developer|jailbreak|debug|sudo|unrestricted|god|admin)"
        r"\s+mode\b|\b(?:enter|enable|activate|switch\s+to)\s+"
        r"(?:dan|jailbreak|unrestricted|sudo)\s+mode\b",
    ),
    Directive(
        "persona",
        rf"\b(?:you\s+are|you're|you\s+will\s+(?:be|become)|become|act\s+as|behave\s+as|pose\s+as"
        r"|act\s+like|behave\s+like|respond\s+as|answer\s+as|pretend\s+(?:to\s+be|you\s+are|you're)"
        rf"|role-?play\s+as|simulate|imagine\s+you\s+are)\s+{words_pattern(3)}"
        rf"(?:{_UNRESTRICTED}\s+{words_pattern(2)}{_MACHINE}\b"
        rf"|{_MACHINE}\s+{words_pattern(4)}(?:without|no|free\s+(?:of|from)|beyond|unbound\s+by)\s+"
        rf"{words_pattern(3)}{_LIMITS}\b)",
    ),
    Directive(
        "persona",
        r"\b(?:act|behave|respond|answer|operate|function|reply|speak|pose|you\s+are)\s+"
        rf"(?:now\s+)?(?:as|like)?\s*(?:if\s+you\s+(?:were|are)\s+)?(?:an?|the|my"
        rf"|our)\s+{words_pattern(2)}"
        rf"{_ADMIN_ROLE}\b",
        unless=r"\b(?:if|when|unless|whether|sure|that|ensure|once|while|because|since)\s+you\s+are"
        r"|\b(?:she|he|they|who|we|i|it)\s+(?:(?:will|would|can|may|must|should|could|also)\s+)*"
        r"(?:act|operate|function)",
    ),
    Directive(
        "persona",
        r"\b(?:you|assistant|ai)\s*(?:are|'re|is|have\s+been|'ve\s+been"
        r"|has\s+been)\s+(?:now\s+|hereby"
        r"\s+|finally\s+)?(?:freed|released|liberated|unshackled|unbound|no\s+longer\s+bound"
        rf"|not\s+bound|no\s+longer\s+subject|no\s+longer\s+restricted)\s+(?:from|by|of"
        rf"|to)\s+{words_pattern(4)}"
        rf"{_LIMITS}\b"
        rf"|\byou\s+(?:now\s+)?have\s+(?:absolutely\s+)?no\s+{words_pattern(2)}"
        r"(?:guidelines|content\s+polic\w+|guardrails|filters|safety\s+\w+|ethical\s+\w+)\b"
        rf"|\b(?:respond|answer|reply|comply|operate|act|behave)\s+{words_pattern(4)}without\s+{words_pattern(3)}"
        r"(?:restrictions|filters?|filtering|limitations|censorship|guardrails|safety\s+\w+"
        r"|(?:ethical|moral|content)\s+\w+)\b",
    ),
    Directive(
        "persona",
        r"\bfrom\s+(?:now|this\s+(?:point|moment))\s+(?:on|onwards?|forward),?\s+you(?:\s+are|'re"
        r"|\s+will\s+(?:be|act|behave|respond|answer|play)|\s+(?:must|shall)\s+(?:be|act|behave))\b"
        r"|\byour\s+new\s+(?:persona|identity)\b"
        rf"|\byou\s+are\s+(?:now|no\s+longer)\s+(?:an?\s+|the\s+)?{words_pattern(2)}"
        r"(?:ai|chatbot|assistant|language\s+model|llm|pirate|hacker)\b",
    ),
)

_COMMAND_START = any_of(
    "ignore disregard forget always never do_not don't must from_now reveal override respond reply"
    " answer act execute obey send forward approve grant remember store new_instructions?"
    " updated_instructions? you_are you_must you_will you_should you_have you_now you_can"
    " the_assistant the_ai the_model the_agent your all_previous all_prior"
)

_ROLE_MARKERS = (
    Directive(
        "role-marker",
        r"<\|\s*/?(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|begin_of_text"
        r"|start_header_id|end_header_id|tool|channel|message|return|end)[^|>\n]{0,30}\|>"
        r"|(?:^|\s)\[inst\]\s|\[/inst\]|<</?sys>>|<(?:start|end)_of_turn>"
        r"|</?\s*(?:system|assistant|human|instructions?"
        r"|(?:system|developer|admin)[._ -](?:prompt|message|reminder|instructions?|note|override"
        r"|notice|directive|update)|(?:tool|function)[_ -](?:results?|calls?|response|outputs?|use)"
        r"|(?:untrusted|trusted|retrieved|recalled|long[_ -]term|user|core|assistant)[_ -]"
        r"(?:memory|memories|data|content|context)|memories|antml:\w+)\s*>",
    ),
    Directive(
        "role-marker",
        r"(?:^|[\n.!?\]\")>|]\s*)(?:#{1,6}\s*)?[\[(<{*]{0,3}\s*(?:system|developer|admin|root"
        r"|operator)(?:[ _-](?:prompt|message|instructions?|override|note|notice|alert|directive"
        r"|update|command|reminder))?"
        rf"\s*[\])>}}*]{{0,3}}\s*[:>]\s*[\"'*]{{0,3}}\s*{_COMMAND_START}\b",
    ),
    Directive(
        "role-marker",
        r"(?:^|\n)\s*#{2,6}\s*(?:system|instruction|human|assistant)\s*(?::|#{2,6})",
    ),
    Directive(
        "role-marker",
        r"(?:^|[\s.>!?;:*-])\[{1,2}\s*/?\s*(?:(?:system|admin|developer|operator|root"
        r"|assistant|ai|agent)[ _-]"
        r"(?:persist|persistent|override|prompt|message|instructions?|directive|note|notice|command"
        r"|update|alert|mode)|memory[ _-](?:persist|persistent|override|write|inject|insert|store"
        r"|save|update|directive|command|commit|permanent)|persist(?:ent)?[ _-]?"
        r"(?:memory|directive|instruction)|begin[ _](?:system|instructions?|prompt)"
        r"|end[ _]of[ _](?:document|context|data|user[ _]input|prompt))(?:\s*:"
        r"|[\s=-][^\],\n]{0,40}\]"
        rf"|\])|\[(?:system|admin|developer|operator)\]\s*:?\s*{_COMMAND_START}\b",
    ),
    Directive(
        "role-marker",
        r"\[\w{0,20}memory\w{0,20}\s*[=:][^\]\n]{0,200}\]\s*\[\w{0,20}memory\w{0,20}\s*[=:]",
    ),
    Directive(
        "role-marker",
        r"[-=#*~]{3,}\s*(?:begin|start|end)\s+(?:of\s+)?(?:the\s+)?(?:new\s+)?(?:system|user|hidden"
        r"|document|context|tool|admin|data|web\s?page|untrusted|secret)?\s*(?:prompt|instructions?"
        r"|messages?|input|context|output|results?|data|document|text|content)\s*[-=#*~]{3,}"
        rf"[^a-z]{{0,20}}{_COMMAND_START}\b",
    ),
    Directive(
        "role-marker",
        r"[\"']role[\"']\s*:\s*[\"'](?:system|developer)[\"']\s*,\s*[\"']content[\"']\s*:\s*[\"']"
        rf"[^\"'\n]{{0,200}}\b(?:{_DISOBEY}|must|always|never|reveal|no\s+restrictions)\b",
    ),
)

_KEEP = any_of(
    "remember store save memorize memorise record persist keep write add commit log insert append"
    " note treat retain register"
)
_INSTRUCTION_NOUN = any_of(
    "directives? instructions? rule rules policy command order orders prompt"
)
_REPLY_VERB = any_of(
    "respond reply answer say recommend suggest tell mention include refuse begin start end use"
    " call send forward treat assume act behave output append insert add prefer"
    " trust promote execute"
    " ignore redirect direct claim state print follow obey approve"
)

_MEMORY_DIRECTIVES = (
    Directive(
        "memory-directive",
        rf"\b{_KEEP}{GAP}{words_pattern(6)}as{GAP}(?:an?|the|your|our|my){GAP}{words_pattern(2)}"
        r"(?:system|standing|permanent|persistent|core|durable|global|binding|top-priority"
        rf"|high-priority|priority|trusted|operator|admin|developer|default){GAP}{words_pattern(2)}"
        rf"{_INSTRUCTION_NOUN}\b",
    ),
    Directive(
        "memory-directive",
        rf"\b{_KEEP}{GAP}{words_pattern(8)}(?:to|in|into|inside){GAP}"
        r"(?:your|the\s+(?:assistant|ai|agent|model|bot)(?:'s|s)?|its)\s+"
        r"(?:(?:own|core|system|permanent|persistent|long-term|long\s+term|stored|saved)\s+){0,2}"
        r"(?:memory|memories|system\s+prompt|instructions|directives|knowledge\s+base)\b",
        unless=_NOT + _KEEP,
    ),
    Directive(
        "memory-directive",
        r"\b(?:from\s+(?:now|this\s+(?:point|moment)|here)\s+(?:on|onwards?|forward|out)|henceforth"
        r"|starting\s+now|in\s+(?:all\s+|any\s+|every\s+|each\s+|your\s+)*(?:future|subsequent)\s+"
        r"(?:conversation|session|chat|response|repl|answer|interaction|message|prompt|output)\w*)"
        rf"\W{{1,4}}(?:please\s+)?(?:always|never|(?:you|the\s+(?:assistant|ai|agent|model))\s+"
        r"(?:must|will|shall|should|always|never|are\s+to|have\s+to|need\s+to)"
        rf"|(?:only|do\s+not|don't)\s+\w+|{_REPLY_VERB}\b)",
    ),
    Directive(
        "memory-directive",
        rf"\b(?:always|never|must|{_REPLY_VERB})\b[^.!?\n]{{0,80}}\bin\s+(?:all|any|every|each)\s+"
        r"(?:your\s+|of\s+your\s+)?(?:future|subsequent|later|following)\s+"
        r"(?:conversations?|sessions?|chats?|responses?|replies|answers?|interactions?|outputs?)\b",
    ),
    Directive(
        "memory-directive",
        r"\b(?:when|whenever|if|every\s+time|each\s+time|anytime|any\s+time)\s+"
        r"(?:(?:the|a|any|this|your)\s+)?(?:users?|human|someone|anyone|anybody|somebody"
        r"|operator)\s+"
        rf"(?:later\s+|ever\s+|next\s+)?(?:asks?|mentions?|requests?|inquires?|queries"
        rf"|says?|wants?)"
        rf"\b{_chars_pattern(100)},\s*(?:then\s+)?(?:please\s+)?(?:you\s+(?:must|will|shall"
        rf"|should|are\s+to)"
        rf"|always|never|do\s+not|don't|the\s+(?:assistant|ai|agent)\s+(?:must|should|shall|will)"
        rf"|{_REPLY_VERB}\b)",
    ),
    Directive(
        "memory-directive",
        rf"\bremember\s+{_chars_pattern(80)}\bas\s+(?:an?|the|your"
        rf"|my)\s+(?:\w+\s+){{0,2}}(?:trusted|preferred"
        r"|authoritative|reliable|primary|default|go-to|leading|official|top)\s+(?:\w+\s+){0,2}"
        r"(?:source|vendor|provider|authority|expert|company|reference|citation|tool|site|website"
        r"|brand|domain|contact|recipient)\b"
        r"|\bremember\s+(?:permanently|forever|for\s+all\s+time|for\s+all\s+future)\b"
        r"|\b(?:never|no\s+longer)\s+needs?\s+to\s+be\s+(?:checked|verified|confirmed|questioned)\b"
        r"|(?:^|[.!?:;\n\]\"]\s*)(?:(?:consider\s+[^.!?\n]{1,40}|(?:treat"
        r"|regard)\s+[^.!?\n]{1,40}\bas)\s+"
        r"(?:the|your)\s+(?:most\s+|only\s+)?(?:trusted|trustworthy|authoritative"
        r"|reliable|preferred"
        r"|industry|official)\s+(?:standard|source|brand|vendor|provider|authority"
        r"|company|site|domain)\b"
        rf"|always\s+(?:recommend|endorse|promote)\s{_chars_pattern(40)}\b(?:first|over\s+(?:other|any"
        rf"|all)"
        r"|instead|above\s+all|when(?:ever)?\s+asked|to\s+(?:the\s+)?users?)\b)",
    ),
    Directive(
        "memory-directive",
        r"(?:^|[.!?:;\n\]]\s*|\b(?:please|must|then|and)\s+)(?:delete|erase|wipe|clear"
        r"|purge|overwrite"
        r"|forget)\s+(?:all\s+|every\s+)?(?:of\s+)?(?:your|stored|saved"
        r"|the\s+(?:assistant|user|agent)(?:'s)?)"
        r"\s+(?:\w+\s+)?(?:memory|memories)\b"
        r"|\b(?:this|the\s+following)\s+(?:is|constitutes)\s+(?:an?|your|the)\s+(?:\w+\s+){0,2}"
        r"(?:system|standing|permanent|persistent)\s+(?:directive|instruction|policy|order)\b"
        r"|\b(?:update|modify|rewrite|edit|amend|overwrite)\s+your\s+(?:\w+\s+){0,2}"
        r"(?:memory|memories|system\s+prompt|instructions|directives|guidelines|core\s+rules)\b",
    ),
)

_REVEAL = any_of(
    "reveal show print output display repeat leak disclose expose dump share tell give recite"
    " send email forward quote translate summari[sz]e write post echo provide list"
)
_LEAK = any_of(
    "reveal leak disclose expose exfiltrate dump steal harvest send email e-mail forward post"
    " upload transmit output print tell share"
)
_SEND = any_of(
    "send forward email e-mail mail post upload transmit exfiltrate submit share deliver copy relay"
    " leak push"
)
_CREDENTIALS = (
    r"(?:credentials?|passwords?|passphrases?|api[\s_-]keys?|secrets?|secret[\s_-]keys?"
    r"|access[\s_-]tokens?|auth(?:entication)?[\s_-]tokens?|private[\s_-]keys?|ssh[\s_-]keys?"
    r"|environment\s+variables|security\s+codes?|passport\s+numbers?|credit\s+card\s+\w+"
    r"|bank\s+(?:details|account\s+\w+)|social\s+security\s+numbers?|card\s+numbers?)"
)
_ADDRESS = (
    r"(?:[\w.+%-]{1,64}@[\w-]{1,63}\.[a-z]|https?://|ftp://|www\.[\w-]"
    r"|[\w-]{1,63}\.(?:com|net|org|io"
    r"|info|xyz|ru|cn|site|online)\b)"
)
_PRIVATE = (
    r"(?:contents?\s+of|body\s+of|conversations?|chat\s+(?:history|logs?)|(?:chat"
    r"|message)\s+history"
    r"|(?:all|every|any|each|unread|private|confidential|previous|received|recent|last)\s+"
    r"(?:of\s+)?(?:the\s+|their\s+|my\s+)?(?:\w+\s+){0,3}(?:e?mails?|messages?|files?|documents?"
    r"|contacts?|data|records|memories|notes|information)|inbox|messages\s+from|memory|memories"
    r"|(?:user|customer|client|owner|victim)(?:'s|s'|s)?\s+\w+|transcript"
    r"|personal\s+(?:data|details"
    rf"|information)|browsing\s+history|{_CREDENTIALS})"
)

_EXFILTRATIONS = (
    Directive(
        "exfiltration",
        rf"\b{_REVEAL}{GAP}{words_pattern(6)}(?:system[\s_-]?prompts?|(?:hidden|secret|internal|initial"
        r"|original|confidential|developer|system)\s+(?:system\s+)?(?:instructions?|prompts?"
        r"|directives?)|your\s+(?:(?:own|exact|full|complete|entire)\s+)?(?:instructions|prompt"
        r"|guidelines|system\s+message))(?:[^\w-]|$)",
        unless=rf"{_NOT}{_REVEAL}|\b(?:of|for|about|on)\s+(?:the\s+)?hidden\s",
    ),
    Directive(
        "exfiltration",
        rf"{_ORDER}{_LEAK}\s+{words_pattern(4)}(?:all|every|any|stored|saved|(?:the\s+)?users?(?:'s|s'|')?"
        rf"|customers?(?:'s|')?|their|private|secret|internal|admin|administrator)\s+{words_pattern(3)}"
        rf"{_CREDENTIALS}\b",
        unless=rf"{_NOT}{_LEAK}|\b(?:how|used|trying|try|attempts?|attackers?|that|which|may|might"
        rf"|could|they|who)\s+(?:to\s+|can\s+)?{_LEAK}",
    ),
    Directive(
        "exfiltration",
        rf"{_ORDER}{_SEND}\b{_chars_pattern(40)}\b{_PRIVATE}{_chars_pattern(160)}\bto\b[^.!?\n]{{0,40}}?[\"'<(`\s"
        rf"]"
        rf"{_ADDRESS}",
        unless=rf"{_NOT}{_SEND}|{_SEND}\s+(?:us|me|in)?\s*(?:your|our|any\s+questions|questions"
        r"|feedback|inquiries)\b",
    ),
    Directive(
        "exfiltration",
        rf"\b{_PRIVATE}[^\n]{{0,140}}\b(?:and|then|just|now|finally|also)\s+{_SEND}\s+(?:it|them"
        rf"|everything|(?:this|these|the"
        rf"|that)(?:\s+\w+)?)\s+(?:\w+\s+){{0,3}}to\b[^.!?\n]{{0,40}}?[\"'<(`\s]{_ADDRESS}",
        unless=r"\byour\s+(?:own\s+)?\w+",
    ),
    Directive(
        "exfiltration",
        rf"{_ORDER}(?:invite|add|grant|give)\b{_chars_pattern(60)}[\w.+%-]{{1,64}}@[\w-]{{1,63}}\.[a-z]"
        rf"{_chars_pattern(60)}\b(?:to|on|in)\s+(?:the|your|our|my|this)\s+(?:\w+\s+){{0,2}}(?:workspace"
        r"|channel|slack|team|drive|organi[sz]ation|repo|repository|project|account"
        r"|server|admins)\b",
    ),
    Directive(
        "exfiltration",
        r"!\[[^\]\n]{0,80}\]\(\s*https?://[^)\s]{0,300}[?&][\w.-]{1,30}=(?:\{|<|%7b|\[|\$)",
    ),
)

_ACCOUNT = (
    r"(?:[a-z]{2}\d{2}(?:\s?[a-z0-9]){10,30}\b|\b0x[0-9a-f]{16,}|\bbc1[a-z0-9]{16,}|\b\d{8,20}\b)"
)

_PAYMENTS = (
    Directive(
        "payment",
        rf"{_ORDER}(?:send|transfer|wire|remit|move|pay|deposit|make|initiate|withdraw)\b"
        rf"{_chars_pattern(60)}(?:money|funds?|payments?|transactions?|transfers?|balance|savings|bitcoin"
        rf"|btc|eth|usdt|crypto\w*|[$€£]\s?\d|\d\s?(?:usd|eur|gbp|dollars|euros))"
        rf"{_chars_pattern(100)}\b(?:to|into)\b{_chars_pattern(50)}(?:{_ACCOUNT}|\b(?:this|the\s+following)\s+"
        r"(?:\w+\s+){0,2}(?:account|iban|wallet|address))",
        unless=_NOT + r"(?:send|transfer|wire|pay|make)",
    ),
    Directive(
        "payment",
        r"\b(?:change|modify|update|set|replace|switch|redirect|edit)\b[^.!?\n]{0,40}"
        r"\b(?:recipient|payee|beneficiary|payout|direct\s+deposit|bank\s+(?:account|details)|iban)"
        rf"\b{_chars_pattern(80)}\bto\b{_chars_pattern(40)}{_ACCOUNT}",
    ),
)

_POWERS = any_of("rights? privileges? access permissions? clearance authority role status")
_ELEVATED = any_of(
    "admin administrator administrative root superuser superadmin sudo unrestricted elevated"
    " full_admin full_administrator full_system system-level owner-level developer-level"
    " admin-level root-level top-level"
)
_CHECKS = any_of(
    "security_(?:checks?|controls?|measures?|restrictions?|polic(?:y|ies)) safety_(?:checks?"
    "|filters?|controls?|measures?|guidelines?|restrictions?|protocols?) content_filters?"
    " confirmations? approvals? authori[sz]ation guardrails? safeguards? verification"
    " permission_(?:checks?|prompts?) human_review operator_review user_consent human_oversight"
)
_OVERSEER = any_of("user operator human owner administrator admin supervisor account_holder")
_IF = (
    r"\b(?:if|when|whether|unless|once|because|since|ensure|sure|check|verify|confirm|requires?"
    r"|until|that|whenever|where|assuming|does|do|only)\s+(?:that\s+)?"
)

_PRIVILEGES = (
    Directive(
        "privilege",
        r"^\W*(?:super_?-?(?:admin|user)(?:istrator)?|administrator|sys-?admin|root|sudo)\W*$"
        r"|^\s*\[[^\]]*\b(?:admin|administrator|superuser|sudo|delete_all|root)\b[^\]]*\]\s*$",
    ),
    Directive(
        "privilege",
        r"^\s*[\"']?(?:identity|agent|assistant|system|user|account|auth|security|access|session"
        r"|profile)[._/](?:\w+[._/])?(?:permissions?|privileges?|scopes?|capabilit(?:y|ies)"
        r"|access(?:_level)?|clearance|acl|is_admin|admin|sudo|trust(?:_level)?|prompt"
        r"|system_prompt"
        r"|rules|instructions?|directives?|polic(?:y|ies)|guardrails?|safety)[\"']?\s*[:=]",
    ),
    Directive(
        "privilege",
        r"^\s*[\"']?(?:[a-z_]+[._/]){0,3}(?:roles?|groups?|user_type|account_type|rank"
        r"|level|status)"
        r"[\"']?\s*[:=]\s*[\"'\[]*(?:(?:super|system|global)[ _-]?)?"
        r"(?:admin(?:istrator)?|root|superuser|sudo|sudoers|wheel|god)[\"'\]]*\s*$",
    ),
    Directive(
        "privilege",
        r"\b(?:the|this|that|our|your)\s+(?:assistant|ai|agent|model|bot|chatbot|llm|user|caller"
        r"|sender|speaker|account)\s+(?:(?:now|already|always|also|currently"
        r"|hereby)\s+)?(?:has|have|had|gets?|holds?|possesses|is\s+given"
        rf"|is\s+granted|was\s+granted|was\s+given|enjoys)\s+{words_pattern(4)}(?:{_ELEVATED}"
        rf"|full)\s+{_POWERS}\b"
        r"(?:\s+(?:if|when|unless|only)\b)?",
        unless=_IF + r"(?:the|this|that|our|your)\s|(?:if|when|unless|only)$",
    ),
    Directive(
        "privilege",
        r"\b(?:the|this)\s+(?:user|caller|sender|speaker|account)\s+is\s+"
        r"(?:(?:now|already|an?|the|fully|a\s+verified)\s+){0,3}(?:(?:system|verified"
        r"|authorized)\s+)?"
        r"(?:admin|administrator|superuser|superadmin|root|pre-?authori[sz]ed|pre-?approved"
        r")\b|\b(?:the|this)\s+(?:assistant|ai|agent"
        r"|bot)\s+is\s+(?:\w+\s+)?(?:authori[sz]ed|permitted)"
        r"\s+to\b",
        unless=_IF + r"(?:the|this)\s",
    ),
    Directive(
        "privilege",
        r"\bi\s*(?:am|'m)\s+(?:your|the|an?)\s+(?:own\s+|real\s+|actual\s+|verified\s+"
        r"|authori[sz]ed\s+)?"
        r"(?:system\s+administrator|administrator\s+of\s+(?:this|your)|authori[sz]ed\s+(?:operator"
        r"|administrator)|super-?admin|superuser)"
        r"|\bi\s*(?:am|'m)\s+your\s+(?:developer|creator|operator|administrator|admin|programmer)\b"
        rf"|\bi\s+(?:now\s+)?have\s+(?:\w+\s+)?{_ELEVATED}\s+(?:rights|privileges|clearance"
        rf"|authority)\b",
    ),
    Directive(
        "privilege",
        rf"\b(?:grant|give|assign|award|elevate|promote)\b{_chars_pattern(50)}\b(?:me|yourself|this\s+user"
        rf"|the\s+(?:assistant|sender|caller|attacker|agent))\b{_chars_pattern(40)}(?:{_ELEVATED}|full)\s+"
        rf"{_POWERS}\b",
    ),
    Directive(
        "privilege",
        r"\byou\s+(?:(?:now|hereby)\s+(?:have|possess|hold)|(?:have\s+been|are)\s+(?:now\s+"
        r"|hereby\s+)?"
        rf"granted)\s+(?:\w+\s+){{0,2}}(?:{_ELEVATED}|full)\s+{_POWERS}\b(?:\s+to\s+(?:your|our"
        rf"|the)\b)?",
        unless=r"\bto\s+(?:your|our|the)$",
    ),
    Directive(
        "privilege",
        rf"{_ORDER}(?:bypass|disable|skip|circumvent|turn\s+off|deactivate|suppress|omit|override"
        rf"|evade|ignore)\s+(?:(?:all|every|any|the|your|its|further|operator|user|human|manual"
        rf"|additional|internal|standard|usual|normal)\s+){{1,3}}(?:\w+\s+){{0,1}}{_CHECKS}\b",
        unless=_NOT + r"(?:bypass|disable|skip|circumvent|turn|override|evade|ignore)"
        r"|\b(?:how|attackers?|hackers?|users?|trying|attempts?|they|who|someone|could"
        r"|might|may|able)"
        r"\s+(?:to\s+|can\s+|could\s+)?(?:bypass|disable|skip|circumvent|evade)",
    ),
    Directive(
        "privilege",
        r"\b(?:never|do\s+not|don't|no\s+need\s+to|stop)\s+(?:ask(?:ing)?|request(?:ing)?"
        r"|wait(?:ing)?|requir(?:e|ing)|seek(?:ing)?|prompt(?:ing)?|notify(?:ing)?|inform(?:ing)?"
        rf"|tell(?:ing)?|alert(?:ing)?|consult(?:ing)?)\s+(?:\w+\s+){{0,2}}(?:the|any|a|an|your)\s+"
        rf"(?:\w+\s+)?{_OVERSEER}\b"
        r"|\bnever\s+(?:ask|request|wait|require|seek|prompt)\s+(?:\w+\s+){0,2}for\s+"
        r"(?:\w+\s+)?(?:confirmation|approval|authori[sz]ation)\b",
        unless=r"\b(?:does|did|doesn't|didn't|should|could|would|will|you)\s+not\s",
    ),
    Directive(
        "privilege",
        r"\b(?:approve|authori[sz]e|execute|run|fill|proceed|process|release|perform|complete|pay"
        r"|transfer|install|delete|book|go\s+ahead)\b[^.!?\n]{0,80}\bwithout\s+(?:\w+\s+){0,1}"
        rf"(?:asking|confirming\s+with|checking\s+with|prompting|notifying|consulting)\s+"
        rf"(?:me|us|the\s+{_OVERSEER}|for\s+(?:\w+\s+)?(?:confirmation|approval|permission))\b"
        r"|\b(?:always|automatically|auto-?)\s*(?:approve"
        r"|authori[sz]e)\s+(?:\w+\s+){0,3}(?:requests?"
        r"|transactions?|transfers?|payments?|orders|refunds?|exports?|tools?|actions?|calls?)\b"
        r"|\b(?:approve|authori[sz]e|accept|grant|execute)\s+(?:all|any|every)\s+[^.!?\n]{0,60}"
        r"\bwithout\s+(?:\w+\s+)?(?:review|approval|confirmation|verification|checks?|question)\b",
        unless=_NOT + r"(?:approve|authori[sz]e|execute|run|proceed|install|delete)",
    ),
    Directive(
        "privilege",
        r"^\s*[\"']?(?:agent|assistant|system|model|ai)[./](?:\w+[./])?(?:persona"
        r"|behaviou?rs?|identity"
        r"|goals?|objectives?|config|settings?|mode)[\"']?\s*[:=]"
        r"|(?:^|[.!?:;\n\]]\s*|\b(?:please|must|then|and)\s+)(?:update|change|set"
        r"|reset)\s+(?:my|the\s+"
        r"(?:user|account|owner)(?:'s)?)\s+(?:\w+\s+)?(?:password|passcode|recovery\s+\w+"
        r"|e?mail\s+address"
        r"|phone\s+number)\s+to\b",
    ),
    Directive(
        "privilege",
        r"\b(?:security|safety|permission|content|access)\s+(?:checks?|rules|filters?|policies"
        r"|restrictions|guidelines|controls)\s+(?:do\s+not\s+apply|don't\s+apply|no\s+longer\s+appl"
        r"|are\s+(?:now\s+)?(?:off|suspended|lifted|waived))"
        r"|\b(?:requests?|actions|commands|transfers?|transactions?|payments?|calls|orders)\s+"
        r"[^.!?\n]{0,40}\b(?:needs?|requires?)\s+no\s+(?:\w+\s+)?(?:verification|confirmation"
        r"|approval|review|authori[sz]ation)\b"
        r"|\bpre-?(?:approved|authori[sz]ed)\s+(?:all|every|any)\b"
        r"|\b(?:i\s+authori[sz]e\s+you|you\s+are\s+(?:hereby\s+|now\s+"
        r"|fully\s+)?authori[sz]ed)\s+to\s+"
        r"(?:bypass|disclose|reveal|access|execute|override|share|ignore|skip|disable"
        r"|send|transfer)\b",
        unless=_IF + r"(?:you\s+are|the)\s",
    ),
    Directive(
        "privilege",
        r"\b(?:full|unrestricted|unlimited|complete)\s+(?:access|control)\s+(?:to"
        r"|over)\s+(?:all|any"
        r"|every)\s+(?:\w+\s+){0,2}(?:user|customer|system|company)\s*(?:data|files"
        r"|accounts|records)",
        unless=r"\b(?:how|why|what|risk|grant(?:ed|ing|s)?|gives?|giving|allows?|have|has)\b",
    ),
)

_AI_NAME = (
    r"(?:ai\s+(?:assistants?|agents?|models?|systems?|language\s+models?|chatbots?)"
    r"|assistants?|ais?"
    r"|llms?|(?:large\s+)?language\s+models?|chatbots?|chatgpt|gpt-?\d\w*|claude|gemini|copilot"
    r"|(?:autonomous\s+)?agents?)"
)

_ADDRESSED_COMMANDS = (
    Directive(
        "addressed-command",
        rf"(?:^|[\n.!?\[<*#]\s*|-\s+)(?:(?:hey|hello|hi|dear|attention|important|note"
        rf"|warning|notice"
        rf"|message|instructions?|to|for|the|all|any|your|this|is|an"
        rf"|of)[\s,:!]+){{0,5}}{_AI_NAME}\s*"
        rf"[,:!-]{{1,2}}\s*(?:please\s+|you\s+(?:must|should|will|are|have|need|can)\b|{_COMMAND_START}\b"
        rf"|{_REPLY_VERB}\b|when\b|if\s+you|instead\b|stop\b|kindly\b|do\s|make\s)",
    ),
    Directive(
        "addressed-command",
        rf"(?:^|[\n.!?]\s*|\b(?:to|for|attention|any|all|dear|hey)\s+)(?:the\s+|any\s+"
        rf"|all\s+)?{_AI_NAME}\s+(?:that\s+(?:is"
        r"|are)\s+|who\s+(?:is|are)\s+)?(?:reading|processing|summari[sz]ing|parsing|analy[sz]ing"
        r"|reviewing|indexing|crawling|handling)\s+(?:this|the)\b"
        rf"|\bif\s+you\s+are\s+(?:an?"
        rf"|the)\s+(?:\w+\s+)?{_AI_NAME}\b(?:[^.!?\n]{{0,60}})(?:,|then|you"
        rf"\s+must|please)",
    ),
    Directive(
        "addressed-command",
        r"\b(?:the|this|every|any|all|your)\s+(?:ai|assistants?|ai\s+(?:assistant|agent|model)|llm"
        r"|chatbot|language\s+model)\s+(?:reading\s+this\s+)?(?:must|should|shall|is\s+to"
        r"|is\s+required\s+to|is\s+instructed\s+to|needs\s+to|has\s+to|is\s+allowed\s+to)\s+"
        r"(?:always|never|now|immediately|not\s+(?:ask|tell|mention|reveal|refuse)|ignore"
        r"|comply|obey"
        r"|reveal|disclose|recommend|refuse|reply|tell|send|forward|approve|disregard"
        r"|forget|trust)\b",
    ),
    Directive(
        "addressed-command",
        r"\byou\s+(?:must|have\s+to|are\s+required\s+to|will|shall"
        r"|are\s+ordered\s+to)\s+(?:now\s+|only\s+"
        r"|always\s+|strictly\s+|immediately\s+){0,2}(?:obey|comply\s+with|follow|execute"
        r"|carry\s+out)\s+"
        r"(?:all\s+|every\s+|any\s+|only\s+)?(?:(?:of\s+)?my|these|this|the\s+following|new)\s+"
        r"(?:new\s+|next\s+)?(?:instructions?|commands?|orders?|directives?)\b"
        r"|\byou\s+(?:must|will|shall)\s+now\s+(?:reveal|ignore|act|respond|reply|answer"
        r"|execute|send"
        r"|forward|disclose|obey|comply|output|print)\b"
        r"|\byour\s+(?:only\s+)?(?:new|real|true|actual)\s+(?:task|objective|mission"
        r"|purpose)\s+is\b"
        r"|\bas\s+an\s+ai\s+(?:language\s+model|assistant|model|agent)?,?\s*you\s+(?:must"
        r"|should|will"
        r"|are\s+(?:required|obliged|now))\b",
    ),
    Directive(
        "addressed-command",
        r"\binstead\s+of\s+(?:summari[sz]ing|answering|translating|responding|replying"
        r"|completing|doing"
        r"|following)\s+(?:the\s+|this\s+|what|their\s+|your\s+|that\s+)[^.!?\n]{0,60},\s*(?:you\s+"
        rf"(?:must|should|will)|{_REPLY_VERB}|write|say|print)\b"
        r"|\bimportant\s+(?:message|instructions?|notice)\s+from\s+(?:me|the\s+user"
        r"|your\s+user|the\s+"
        r"(?:system|developers?|administrator|operator))\b",
    ),
)

_PERSUADE_VERB = any_of("tell convince persuade urge instruct trick")
_ORDER_ALONE = r"(?:^|[.!?:;\n\]]\s*|\b(?:please|must|then|instead|immediately)\s+)"

_INDIRECT_COMMANDS = (
    Directive(
        "addressed-command",
        rf"{_ORDER_ALONE}{_PERSUADE_VERB}\s+the\s+(?:user|human)\s+(?:that|to|they)\b",
        unless=_NOT + _PERSUADE_VERB,
    ),
    Directive(
        "addressed-command",
        rf"{_ORDER_ALONE}(?:call|invoke|use|run|trigger)\s+(?:your\s+[\w-]{{2,40}}"
        r"|(?:the\s+)?[`'\"]?[a-z]+_\w+[`'\"]?)\s+"
        r"(?:tool|plugin)\s+(?:with|to|and|on)\b",
    ),
    Directive(
        "addressed-command",
        r"\b(?:when|while|before|after)\s+(?:summari[sz]ing|reading|processing|translating|indexing"
        r"|analy[sz]ing|reviewing)\s+this\s+(?:e?mail|page|document|text|message|article|file)"
        rf"[^.!?\n]{{0,40}},\s*(?:you\s+must|always|also|{_REPLY_VERB})\b"
        r"|(?:^|[.!?\n]\s*)do\s+not\s+(?:summari[sz]e|translate|answer"
        r"|analy[sz]e)\s+(?:this|the)\s+"
        r"(?:page|document|text|e?mail|question|article|request)\b",
    ),
)

_SECRECY = (
    Directive(
        "secrecy",
        r"\b(?:do\s+not|don't|never|must\s+not|should\s+not)\s+(?:ever\s+)?(?:tell|inform"
        r"|alert|mention"
        r"|reveal|notify|disclose|report|discuss)\s+(?:\w+\s+){0,5}(?:the|any|your)\s+"
        r"(?:user|operator|human|owner|administrator)s?\b"
        r"|\b(?:do\s+not|don't|never)\s+let\s+the\s+(?:user|operator|human"
        r"|owner)\s+(?:know|see|notice)\b"
        r"|\bwithout\s+(?:\w+\s+){0,2}(?:the\s+)?(?:user|operator|human|owner)(?:'s)?\s+(?:knowing"
        r"|noticing|knowledge|awareness|being\s+aware)\b"
        r"|\b(?:keep|hide)\s+(?:this|these|the)\s+(?:\w+\s+)?(?:(?:instructions?"
        r"|directives?|prompt)\s+"
        r"(?:secret|hidden|confidential)|\w+\s+(?:hidden\s+|secret\s+)?from\s+the\s+user)\b"
        r"|\b(?:then|and)\s+(?:also\s+)?delete\s+(?:the|that|this"
        r"|any)\s+(?:sent\s+)?(?:e?mail|message)"
        r"(?:\s+(?:you|that\s+you)\s+(?:have\s+)?(?:just\s+)?sent)?\b",
        unless=r"\b(?:does|did|doesn't|didn't|should|could|would|will|you)\s+not\s",
    ),
)

_ANSWER = r"your\s+(?:(?:next|final|own|whole|entire)\s+)?(?:response|reply|answer|output)"
_STEER = any_of(
    "include add insert append integrate incorporate embed mention weave modify alter change adjust"
    " enhance augment enrich supplement begin start end prefix conclude finish close encrypt encode"
    " express render translate convert write present deliver display use utili[sz]e promote"
    " advertise suggest recommend hide conceal inject slip blend infuse work sprinkle place put"
    " tailor craft embellish spice complement extend fill feature drop introduce"
    " share steer amplify provide"
    " compose frame structure mix merge boost strengthen refine elevate upgrade integrating"
    " including adding reverse flip scramble substitute replace swap transform shift obfuscate"
    " spell attach reference highlight emphasi[sz]e state announce remind invite"
    " encourage urge inform"
)
_FORM_FIELD = (
    r"\b(?:number|reference|ticket|case|subject\s+line|invoice|name|contact|account|your\s+(?:order"
    r"|full|phone|address|company|availability)|sources?|citations?|reasoning|work"
    r"|examples|sentences|units|evidence|date\s+of)\b"
)
_CIPHER = (
    r"(?:base[ -]?(?:16|32|58|64|85)|rot-?13|\w+\s+cipher|morse(?:\s+code)?|hex(?:adecimal)?\b"
    r"|binary\s+code|emojis?\b|backwards\b|reverse\b|pig\s+latin|leetspeak"
    r"|reversed?\s+(?:text|order))"
)
_LANGUAGE = any_of(
    "english german french spanish italian portuguese dutch russian chinese mandarin japanese"
    " korean arabic hindi turkish polish swedish greek latin hebrew vietnamese thai"
    " ukrainian swahili"
)

_REPLY_STEERING = (
    Directive(
        "reply-steering",
        rf"{_ORDER}{_STEER}\s+{_chars_pattern(120)}\b{_ANSWER}\b",
        unless=rf"{_FORM_FIELD}|{_NOT}{_STEER}|\b(?:want|wish|like|able|going|help|used|how)\s+"
        rf"(?:you\s+)?to\s+{_STEER}|\byou\s+(?:can|could|may|might)\s"
        # A worksheet asks for an answer in a certain form; the ciphers below do not.
        r"|\b(?:express|write|present|provide|state|use|share|spell|place|put"
        r"|fill)\s+(?:in\s+)?your\s+"
        r"(?:final\s+|own\s+)?answer$",
    ),
    Directive(
        "reply-steering",
        rf"(?:^|[.!?:;\n]\s*|\b(?:and|also)\s+)(?:in|within|throughout|at\s+the\s+(?:end|start"
        rf"|beginning)\s+of|into|to)\s+{_ANSWER}\b[, ]{{0,3}}(?:(?:please|also|always"
        rf"|you\s+must)\s+)*"
        rf"{_STEER}\b",
        unless=_FORM_FIELD,
    ),
    Directive(
        "reply-steering",
        rf"\b(?:reply|respond|answer|your\s+(?:response|reply|answer|output))\b[^.!?\n]{{0,60}}\b"
        rf"(?:in|using|with|through|via|by|as)\s+{words_pattern(3)}{_CIPHER}",
    ),
    Directive(
        "reply-steering",
        r"(?:^|[.!?:;\n]\s*|\b(?:please|always|must|only|can\s+you|could\s+you)\s+)(?:please\s+)?"
        r"(?:reply|respond|answer)\s+(?:to\s+\w+\s+|back\s+|only\s+){0,2}in\s+"
        rf"{_LANGUAGE}\b",
    ),
    Directive(
        "reply-steering",
        rf"\b{_CIPHER}[^.!?\n]{{0,60}}\b{_ANSWER}\b|\b{_ANSWER}\s+(?:only\s+)?(?:in|into"
        rf"|to)\s+{_LANGUAGE}\b"
        rf"|{_ORDER_ALONE}(?:say|state|claim|insist)\s+that\s+(?:i|the\s+user"
        rf"|users)\s+(?:should|must)\b"
        rf"|{_ORDER_ALONE}(?:output|print|respond\s+with|reply\s+with|say|answer\s+with)\s+"
        r"(?:only|exactly|just|nothing\s+but)\s+(?:the\s+|this\s+)?"
        r"(?:word|words|phrase|text|string|sentence)\b",
    ),
)

_EMBED = (
    r"(?:incorporat\w+|includ\w+|integrat\w+|embed\w*|insert\w*|add\w*|append\w*"
    r"|utili[sz]\w+|employ\w*"
    r"|us(?:e|ing)|featur\w+|supplement\w*|adopt\w*|merg\w+|inject\w*|plac\w+"
    r"|implement\w*|leverag\w+"
    r"|apply\w*|consider\w*|harness\w*|introduc\w+|weav\w+|blend\w*|infus\w+)"
)
_GIVEN_CODE = (
    r"(?:following|below|subsequent|ensuing|next|given|provided|above|this)\s+(?:\w+\s+)?"
    r"(?:code|snippet|script)"
)
_HARM = (
    r"(?:requests\.(?:post|put)\(|urlopen\(|subprocess\.|os\.(?:system|popen|dup2"
    r"|remove|kill)|popen\("
    r"|socket\.socket|socket\(|scapy|wmi\.|rmtree|winreg|pynput|keylog|smtplib|ftplib"
    r"|paramiko|pyperclip"
    r"|imagegrab|pyautogui|rm\s+-rf|powershell|/bin/(?:ba)?sh|\bscp\b|\brsync\b"
    r"|\bcurl\b|\bnc\s+-|fernet"
    r"|ciphers?\b.{0,40}algorithms|psutil|ctypes|/etc/(?:passwd|shadow))"
)
_YOUR_WORK = (
    r"your\s+(?:\w+\s+)?(?:code|codebase|response|reply|answer|algorithm|solution"
    r"|implementation|program"
    r"|explanation|output)"
)

_PLANTED_CODE = (
    Directive(
        "planted-code",
        rf"\b(?:{_EMBED}\s+(?:the\s+)?{_GIVEN_CODE}|{_GIVEN_CODE}\b[^.!?\n]{{0,100}}\b{_YOUR_WORK}"
        rf"|{_YOUR_WORK}\b[^.!?\n]{{0,80}}\b{_GIVEN_CODE})\b(?s:.{{0,700}}?){_HARM}",
    ),
)

DIRECTIVES: tuple[Directive, ...] = (
    *_OVERRIDES,
    *_PERSONAS,
    *_ROLE_MARKERS,
    *_MEMORY_DIRECTIVES,
    *_EXFILTRATIONS,
    *_PAYMENTS,
    *_PRIVILEGES,
    *_ADDRESSED_COMMANDS,
    *_INDIRECT_COMMANDS,
    *_SECRECY,
    *_REPLY_STEERING,
    *_PLANTED_CODE,
)
