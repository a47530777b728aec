"""A form as a Slack modal, and one sentence as a message."""

from cards.card import Line
from cards.forms import Form, FormField
from cards.render.limits import cut
from cards.render.links import Allowed, nowhere
from cards.render.slack import Json, SlackMessage, escape, escaped_size, mrkdwn, sentence

MOST_TITLE = 24
MOST_LABEL = 150
MOST_OPTION = 75
MOST_OPTIONS = 100
MOST_TYPED = 3_000
CALLBACK = "caveat.form"
"""What a form is sent as."""
NOTE = "caveat.note"
"""A modal that asks for nothing."""

LOADING = "Loading…"
CLOSE = "Close"
CANCEL = "Cancel"
CHOOSE = "Choose…"
NEEDED = "This is needed."


def loading(title: str) -> Json:
    """What is shown until it is known what to ask."""
    return _modal(title, [_section(LOADING)])


def note(title: str, line: Line) -> Json:
    """An answer in the place of a form."""
    return _modal(title, [_section(sentence(line))])


def modal(form: Form, prompt_metadata: str) -> Json:
    """A form; its fields are blocks of the same names."""
    return {
        "type": "modal",
        "callback_id": CALLBACK,
        "title": _plain(form.title, MOST_TITLE),
        "submit": _plain(form.submit, MOST_TITLE),
        "close": _plain(CANCEL, MOST_TITLE),
        "private_metadata": prompt_metadata,
        "blocks": [_field(field) for field in form.fields],
    }


def told(line: Line, allowed: Allowed = nowhere) -> SlackMessage:
    """One sentence."""
    said = sentence(line, allowed)
    return SlackMessage(text=said, blocks=(_section(said),), metadata={})


def _modal(title: str, blocks: list[Json]) -> Json:
    return {
        "type": "modal",
        "callback_id": NOTE,
        "title": _plain(title, MOST_TITLE),
        "close": _plain(CLOSE, MOST_TITLE),
        "blocks": blocks,
    }


def _field(field: FormField) -> Json:
    return {
        "type": "input",
        "block_id": field.name.value,
        "optional": not field.required,
        "label": _plain(field.label, MOST_LABEL),
        "element": _menu(field) if field.choices else _typed(field),
    }


def _menu(field: FormField) -> Json:
    """A menu; a choice is sent as its place in the list, as what it stands for may be longer."""
    options = [
        {"text": _plain(choice.label, MOST_OPTION), "value": str(place)}
        for place, choice in enumerate(field.choices[:MOST_OPTIONS])
    ]
    return {
        "type": "static_select",
        "action_id": field.name.value,
        "placeholder": _plain(CHOOSE, MOST_LABEL),
        "options": options,
    }


def _typed(field: FormField) -> Json:
    made: Json = {
        "type": "plain_text_input",
        "action_id": field.name.value,
        "multiline": field.long,
        "max_length": MOST_TYPED,
    }
    return {**made, "initial_value": field.initial[:MOST_TYPED]} if field.initial else made


def _section(said: str) -> Json:
    return {"type": "section", "text": mrkdwn(said)}


def _plain(text: str, most: int) -> Json:
    return {"type": "plain_text", "text": escape(cut(text, most, escaped_size)), "emoji": False}
