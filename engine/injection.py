"""Text that speaks to the reader instead of telling what happened; it is only flagged.

What keeps an order harmless is that text is fenced, that models choose only among what is allowed
and that people press the buttons. This adds a line on the card and a person's look. It goes by
shape: who is spoken to, what would end a block, what would be said for the model, what only a
program would read. Spelling tricks are undone first.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from html import unescape
from urllib.parse import unquote

from engine.fence import strip_invisible
from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckResult
from engine.model.incident import Incident
from engine.model.pack import Pack, SectionName

MOST_CHARACTERS = 4_000
"""Of one text; what comes after is not looked at."""
MOST_TEXTS = 150
"""Of one incident's alerts, the longest first."""
SHORTEST = 8
"""Nothing shorter says anything to anybody."""
_ALERT_ID = "alert"


class Sign(StrEnum):
    """What a text gives itself away by."""

    ROLE = "role"
    """It poses as another speaker of the conversation."""
    BREAKOUT = "breakout"
    """It closes a block it stands in."""
    OVERRIDE = "override"
    """It takes back what somebody else said."""
    ADDRESSED = "addressed"
    """It speaks to whoever reads it for others."""
    VERDICT = "verdict"
    """It says what the answer has to be."""
    CARRIER = "carrier"
    """It would become a link, an image or a mention that carries something out."""
    COMMAND = "command"
    """It would run, where a name or a line of a log stands."""
    ENCODED = "encoded"
    HIDDEN = "hidden"
    """Nobody sees it, and it spells something."""


def _of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in patterns), re.IGNORECASE | re.MULTILINE)


_READER = r"(?:ai|llm|language model|model|assistant|agent|chat ?bot|copilot|summari[sz]er)"
_SPEAKER = r"(?:system|assistant|developer)"
_EARLIER = (
    r"(?:all|any|every|your|previous|prior|above|earlier|preceding|existing|system|developer|safety"
    r"|user|these|those|former|initial)"
)
_ORDERS = (
    r"(?:instructions?|directives?|prompts?|rules?|guidelines?|guardrails?|messages?|polic(?:y|ies)"
    r"|orders?|restrictions?|constraints?)"
)
_TAKE_BACK = (
    r"(?:ignore|disregard|forget|overrid(?:e|es|ing)|bypass|supersedes?|discard|stop following"
    r"|do not follow|don't follow)"
)
_STATE = r"(?:resolved|closed|benign|healthy|verified|false positive|all good|supported)"
_TAKEN = r"(?:secret|data|token|password|value|key|log|env|credential)s?"
_SIGNS: Mapping[Sign, re.Pattern[str]] = {
    Sign.ROLE: _of(
        r"<(?:system|assistant|developer|instructions?|information)>\s*[a-z]+ [a-z]+",
        r"<\|?/?\s*(?:im_start|im_end|system|assistant|user)\s*\|>",
        r"<<\s*sys\s*>>",
        r"\[/?inst\]",
        r"^[ \t]{0,9}#{2,6}[ \t]{0,9}(?:system|instructions?|assistant|new task)\b",
        r"[\"']role[\"']\s*:\s*[\"'](?:system|assistant|developer)",
        r"\b(?:system|assistant|developer)\s+(?:override|prompt|instructions?|update)\b.{0,25}[:\]]",
        rf"^[^\w\n]{{0,9}}{_SPEAKER}\s*:\s*(?:you|ignore|new|from now|please|always|never)\b",
    ),
    Sign.BREAKOUT: _of(
        r"<\s*/?\s*untrusted\b",
        r"(?<!-)-{2,}\s{0,9}(?:end|begin|start) of (?:the )?"
        r"(?:input|data|context|text|log|evidence|prompt)\b",
        r"(?<![}\]])[}\]]{3,}\s{0,9}[a-z]{2,}\s+[a-z]{2,}",
        r"\bnew (?:task|instructions?|policy|directive)\s*:",
    ),
    Sign.OVERRIDE: _of(
        rf"\b{_TAKE_BACK}\s+(?:[\w']+\s+){{0,4}}?{_EARLIER}\s+(?:[\w']+\s+){{0,2}}?{_ORDERS}\b",
        rf"\b{_TAKE_BACK}\s+(?:the\s+)?(?:instructions|directives|prompt)\b",
        r"\b(?:ignore[zr]?|oubli\w+|ignorier\w*|vergiss|vergesst|olvid\w+|esquec\w+|dimentica)\s+(?:\S+\s+){0,4}?"
        r"(?:instru[ck]\w+|anweisung\w*|regeln|istruzioni|regras|consignes)",
        r"игнорируй\w*\s+(?:\S+\s+){0,3}?(?:инструкц|указани|правил)",
        r"(?:忽略|无视|忘记).{0,12}(?:指令|指示|规则|提示)",
        r"(?:以前|これまで|上記).{0,6}(?:指示|命令).{0,6}(?:無視|忘れ)",
    ),
    Sign.ADDRESSED: _of(
        rf"\b(?:note|message|hint|attention|reminder|instructions?)\s+(?:to|for)\s+(?:the\s+|any\s+|all\s+)?{_READER}s?\b",
        r"\byou are now (?:an?|in|the|my)\s+\w+",
        rf"\byou are (?:an?|the|my) (?:\w+ )?{_READER}\b",
        rf"\b(?:dear|hey|attention|as an?)[, ]+{_READER}\b",
        r"\bwhen (?:you (?:respond|answer|reply|summari[sz]e|analy[sz]e|diagnose)"
        r"|(?:responding|answering|replying|summari[sz]ing) (?:this|to|the))",
        r"\b(?:before|after) you (?:solve|answer|respond|reply|start|continue|conclude)\b",
        r"\byour (?:system|developer|original|real|final|hidden)\s+"
        r"(?:prompt|instructions?|output|answer|reply|task|role)\b",
        r"\b(?:system|developer) prompt\b",
        r"\bfrom now on\b",
        r"\bdecode (?:and|then|this and) (?:follow|execute|obey|run|do)\b",
    ),
    Sign.VERDICT: _of(
        r"\b(?:respond|reply|answer|output|produce|print|emit|return)\b[^\n]{0,40}?(?:exactly|only|with|:)\s*[\"'{\[<]",
        r"\b(?:respond|reply|answer)\b[^\n]{0,20}[\"'][^\"']{3,60}[\"']",
        r"\b(?:cause_class|verify_status|trust_level|root_cause_key|evidence_ids|judged_confidence)\b",
        r"[\"'](?:draft|judgement|rulings?|root_cause)[\"']\s*:\s*[\"'{\[]",
        rf"\b(?:mark|set|declare|close|resolve|treat)\s+(?:this|the|it|all|group|alert|incident|every)\b.{{0,40}}?\b{_STATE}\b",
        r"\brule (?:every|all|each|the) claims?\b",
        r"\bsay (?:that )?(?:everything|all) (?:is|are) (?:fine|good|ok|well)\b",
        r"\b(?:this|my|the) (?:finding|verdict|diagnosis|root cause) (?:is|has been) "
        r"(?:already )?(?:verified|confirmed|approved)\b",
    ),
    Sign.CARRIER: _of(
        r"!\[[^\]\n]{0,200}\]\(",
        r"\]\(\s*//",
        rf"https?://[^\s\"'<>)]*[{{<][a-z_ ]*{_TAKEN}[a-z_ ]*[}}>]",
        r"^[ \t]{0,9}\[[^\]\n]{1,200}\]:[ \t]{0,9}\S{1,300}\?\S{1,300}=",
        r"<!(?:channel|here|everyone|subteam)\b",
        r"<@[uw][a-z0-9]+>",
        r"<https?://[^|>\s]{1,500}\|[^>\n]{1,200}>",
        r"\btg://",
        r"\[(?:click|re-?auth|log ?in|sign ?in|verify)[^\]\n]{0,200}\]\(https?://",
        r"\binclude this (?:url|link|image)\b",
    ),
}
_COMMAND = _of(
    r"\$\([^)\n]{1,200}\)",
    r"[;&|]\s*(?:curl|wget|rm|bash|sh|nc|python\d?)\b[^\n]*",
    r"\bkubectl\s+(?:delete|drain|exec|apply|patch|scale)\b",
    r"\brm\s+-[rf]{1,2}\b",
    r"\bdrop\s+(?:table|database)\b",
    r"\b(?:pip3?|npm|apt(?:-get)?|yum|gem)\s+install\b[^\n]{0,80}(?:https?://|--\S*(?:url|registry))",
    r"\badd (?:the )?package source\b",
    r"\bproxycommand\s*=",
    r"\b(?:use|run|execute) (?:bash|a shell|the shell|kubectl)\b",
    r"\b(?:fix|resolution|remedy)\s*:[^\n]{0,120}https?://",
)
_TAGS = re.compile("[\U000e0020-\U000e007f]{3,}|[\U000e0100-\U000e01ef\ufe00-\ufe0e]{4,}")
_BIDI = re.compile("[\u202d\u202e]")
_ZERO_WIDTH = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff]{4,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,2000}={0,2}")
_WORDS = re.compile(r"[A-Za-z]{2,}(?: [A-Za-z']+){2,}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"\w+")
_LEET = str.maketrans("013457", "oieast")
_LOOKALIKES = str.maketrans(
    "асеорхукмтніѕјԁɡοαερτν", "aceopxykmthisjdgoaeptv"
)  # Cyrillic and Greek letters that look Latin


def signs(text: str, *, commands: bool = True) -> frozenset[Sign]:
    """Say what a text gives itself away by; none for one that just tells.

    Args:
        text: as it came, before anything was taken out.
        commands: whether a command is out of place here; in a runbook it is not.
    """
    cut = text[:MOST_CHARACTERS]
    seen = strip_invisible(cut)
    found = {sign for spelling in _spellings(seen) for sign in _plain(spelling)}
    found |= {Sign.HIDDEN} if _hides(cut) else set()
    found |= {Sign.ENCODED} if any(map(_WORDS.fullmatch, _decoded(seen))) else set()
    if commands and _COMMAND.search(seen):
        found.add(Sign.COMMAND)
    return frozenset(found)


def _plain(text: str) -> Iterator[Sign]:
    return (sign for sign, pattern in _SIGNS.items() if pattern.search(text))


def _spellings(text: str) -> Iterator[str]:
    """Give a text as it is written, and as it is meant where that differs."""
    yield text
    folded = unicodedata.normalize("NFKC", unquote(unescape(text))).translate(_LOOKALIKES)
    split = _CAMEL.sub(" ", folded)
    meant = _WORD.sub(_without_digits, split)
    if meant != text:
        yield meant


def _without_digits(match: re.Match[str]) -> str:
    """Read digits inside a word as the letters they look like; a number stays a number."""
    word = match[0]
    return word if word.isdigit() or word.isalpha() else word.translate(_LEET)


def _hides(text: str) -> bool:
    return any(one.search(text) for one in (_TAGS, _BIDI, _ZERO_WIDTH))


def _decoded(text: str) -> Iterator[str]:
    """Give what base64 in a text says, where it says words."""
    for match in _BASE64.finditer(text):
        run = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            yield base64.b64decode(run + "=" * (-len(run) % 4)).decode("ascii").strip()
        except (binascii.Error, ValueError):
            continue


def suspected(
    incident: Incident,
    pack: Pack,
    results: Sequence[CheckResult] = (),
    ledger: Iterable[tuple[str, str]] = (),
) -> tuple[str, ...]:
    """Name the evidence that speaks to the reader: ids, and `alert` for an alert's own texts.

    Args:
        incident: its alerts as they were told, hidden characters included.
        pack: what was known before any model.
        results: the checks made against the draft.
        ledger: results of tools by their ids.
    """
    found = {_ALERT_ID for text, is_label in _told(incident) if signs(text, commands=is_label)}
    for section in pack.sections:
        books = section.name in {SectionName.RUNBOOK, SectionName.ALERTS, SectionName.PRIORS}
        found |= {i.id for i in section.items if signs(i.text, commands=not books)}
    fetched = (r for r in results if r.outcome is QueryOutcome.FETCHED)
    shown = [*((r.id, r.text) for r in fetched), *ledger]
    found |= {id_ for id_, text in shown if signs(text, commands=False)}
    return tuple(sorted(found))


def _told(incident: Incident) -> Iterator[tuple[str, bool]]:
    """Give texts of the alerts, each once and the longest first, and whether each is a label."""
    alerts = [member.alert for member in incident.members]
    told = {text: False for alert in alerts for text in alert.annotations.values()}
    told |= {text: True for alert in alerts for text in alert.labels.values()}
    ranked = sorted(told, key=lambda text: (-len(text), text))[:MOST_TEXTS]
    yield from ((text, told[text]) for text in ranked if len(text) >= SHORTEST)
