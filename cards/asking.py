"""A question put to one person in a chat that has no forms, and how its answer is read."""

import re
from collections.abc import Mapping, Sequence

from cards.card import Card, Line, Mention, Section, Tone
from cards.forms import LABELS, Form, FormField
from cards.line import bold, code, joined, say, text
from cards.render.limits import clean, cut
from engine.model.desk import FieldName

MOST_KEY = 48
"""Longer labels are cut in the middle by some clients."""
OTHER = "Something else…"
WORKING = say("Working on it; the answer comes below the card.")
AWAY = say("The database does not answer; nothing was changed. Try again in a minute.")
FAULT = say("That failed here; nothing is known to be changed. The log says more.")
UNSAID = say("The chat takes no message from here just now; try again in a minute.")
CORRECTS: Mapping[str, FieldName] = {
    "looked": FieldName.SYMPTOM,
    "was": FieldName.ROOT_CAUSE,
    "fix": FieldName.FIX,
    "runbook": FieldName.RUNBOOK,
}
"""What a line of an answer begins with to stand for another part of the draft."""
WRITTEN: Mapping[FieldName, FieldName] = {FieldName.CAUSE: FieldName.OTHER_CAUSE}
"""What a written answer stands for where a choice was offered."""
_KEY = re.compile(rf"\s*({'|'.join(CORRECTS)})\s*:\s*(.*)", re.IGNORECASE)


def offered(form: Form) -> FormField | None:
    """The field that is chosen, not written."""
    return next((field for field in form.fields if field.choices), None)


def may_be_written(form: Form) -> bool:
    """Whether what is chosen can be written as well."""
    chosen = offered(form)
    written = {field.name for field in form.fields if not field.choices}
    return chosen is not None and WRITTEN.get(chosen.name) in written


def keys(form: Form) -> Sequence[str]:
    """Labels of the choices, numbered as the question lists them."""
    chosen = offered(form)
    choices = chosen.choices if chosen is not None else ()
    return [cut(f"{n} · {choice.label}", MOST_KEY) for n, choice in enumerate(choices, 1)]


def choice(form: Form, who: Mention) -> Card:
    """Ask one person to choose: every choice in full, as keys are short."""
    chosen = offered(form)
    assert chosen is not None, "a form without choices is written"
    listed = [say(f"{n} · {one.label}") for n, one in enumerate(chosen.choices, 1)]
    return _question(form.title, who, say(chosen.label), listed)


def written(form: Form, who: Mention) -> Card:
    """Ask one person to answer in words; what is known already is shown as it would be kept."""
    fields = [field for field in form.fields if not field.choices]
    drafted = [field for field in fields if field.initial]
    missing = [f for f in fields if not f.initial]
    asked = next((f for f in missing if f.required), missing[0] if missing else fields[0])
    shown = [say(bold(f"{field.label}: "), field.initial) for field in drafted]
    told = say("Answer this message with it", "; the rest is kept as shown." if drafted else ".")
    words = {field.name for field in fields} - {asked.name} if drafted else set()
    corrections = [say(code(f"{word}:")) for word, name in CORRECTS.items() if name in words]
    more = (*say("A line that begins with "), *joined(corrections, ", "), *say(" sets that part."))
    lines = [*shown, told, *([more] if corrections else [])]
    return _question(form.title, who, say(bold(asked.label)), lines)


def other_cause(form_title: str, who: Mention) -> Card:
    """Ask for what none of the choices was."""
    label = LABELS[FieldName.OTHER_CAUSE]
    return _question(form_title, who, say(bold(label)), [say("Answer this message with it.")])


def aside(line: Line, who: Mention | None = None) -> Card:
    """One sentence below a card, for whoever it is about."""
    called = (who, *say(": ")) if who is not None else ()
    body = Section(name="aside", blocks=(text((*called, *line)),), rank=10, keep=90)
    return Card(tone=Tone.NOTICE, heading="", lock_screen="Caveat", sections=(body,))


def answered(said: str, asks: FieldName, draft: Mapping[FieldName, str]) -> Mapping[FieldName, str]:
    """What a written answer says, by field.

    Where a draft was shown, lines may stand for other parts of it, and what no line speaks of is
    kept as it was shown.
    """
    asks = WRITTEN.get(asks, asks)
    if not draft:
        return {asks: said}
    parts: dict[FieldName, list[str]] = {}
    at = asks
    for line in said.splitlines():
        key = _KEY.match(line)
        at = CORRECTS[key[1].lower()] if key else at
        parts.setdefault(at, []).append(key[2] if key else line)
    found = {name: clean(" ".join(lines)) for name, lines in parts.items()}
    return {**draft, **{name: value for name, value in found.items() if value}}


def _question(title: str, who: Mention, asked: Line, lines: Sequence[Line]) -> Card:
    first = (who, *say(" · "), *say(bold(title)))
    body = Section(name="question", blocks=(text(first, asked, *lines),), rank=10, keep=90)
    return Card(tone=Tone.NOTICE, heading="", lock_screen=f"Caveat · {title}", sections=(body,))
