"""A form as plain content: what is asked for before an act, and in which words."""

from collections.abc import Mapping

from cards.answers import of_button
from cards.render.limits import clean, cut
from engine.model.action import Action
from engine.model.base import Frozen
from engine.model.desk import Asks, Choice, Field, FieldName

MOST_CHOICE = 70
MOST_TITLE = 24
"""Slack's limit for a modal; the other chats have more room."""
MOST_INITIAL = 2_900

LABELS: Mapping[FieldName, str] = {
    FieldName.CAUSE: "What was it really?",
    FieldName.OTHER_CAUSE: "Another cause, in your words",
    FieldName.INCIDENT: "Which incident is it the same as?",
    FieldName.GROUP: "Which alerts do not belong here?",
    FieldName.SYMPTOM: "What it looked like",
    FieldName.ROOT_CAUSE: "What it was",
    FieldName.FIX: "What fixed it",
    FieldName.RUNBOOK: "Runbook, if there is one",
    FieldName.REASON: "Why not?",
}
LONG = frozenset({FieldName.SYMPTOM, FieldName.ROOT_CAUSE, FieldName.FIX, FieldName.OTHER_CAUSE})
SUBMIT: Mapping[Action, str] = {
    Action.WRONG_CAUSE: "Wrong cause",
    Action.SAVE_TO_MEMORY: "Save",
    Action.SAME_AS: "Merge",
    Action.NOT_RELATED: "Take apart",
}


class FormField(Frozen):
    """One thing asked for, in words."""

    name: FieldName
    label: str
    choices: tuple[Choice, ...] = ()
    initial: str = ""
    required: bool = False
    long: bool = False


class Form(Frozen):
    """What is asked for before an act."""

    action: Action
    title: str
    submit: str
    fields: tuple[FormField, ...]


def form(asks: Asks) -> Form:
    """Word what is asked for; text from outside is cleaned and cut here."""
    return Form(
        action=asks.action,
        title=cut(of_button(asks.action), MOST_TITLE),
        submit=SUBMIT.get(asks.action, "OK"),
        fields=tuple(_field(field) for field in asks.fields),
    )


def _field(field: Field) -> FormField:
    return FormField(
        name=field.name,
        label=LABELS[field.name],
        choices=tuple(
            Choice(value=one.value, label=cut(clean(one.label), MOST_CHOICE) or "…")
            for one in field.choices
        ),
        initial=cut(clean(field.initial), MOST_INITIAL),
        required=field.required,
        long=field.name in LONG,
    )
