"""Words to operators: said without a database, and without an incident."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from cards.card import Card, Line, Section, Tone
from cards.line import code, moment, say, text
from cards.render.limits import clean, cut
from engine.model.outage import Outage, OutageKind

MOST_DETAIL = 200


class Notice(StrEnum):
    """What an operator is told."""

    DATABASE_DOWN = "database_down"
    DATABASE_BACK = "database_back"
    MODEL_NEEDS_PERSON = "model_needs_person"
    MODEL_KEY_REFUSED = "model_key_refused"
    MODEL_NOT_THERE = "model_not_there"
    MODEL_BACK = "model_back"
    BUDGET_SPENT = "budget_spent"
    DEAD_LETTER = "dead_letter"
    PAGE_UNDELIVERED = "page_undelivered"
    ROOM_UNREACHABLE = "room_unreachable"
    QUARANTINED = "quarantined"


class _Words(StrEnum):
    """Heading and what it means; the cure comes last."""

    DATABASE_DOWN = (
        "Caveat cannot store alerts: its database does not answer. Senders are told to try again, "
        "so an alert comes later, not never. Watch your monitoring directly until this is over."
    )
    DATABASE_BACK = "The database answers again. Alerts are stored and cards are drawn as before."
    MODEL_NEEDS_PERSON = (
        "The model account needs a person: credit, quota or permission. Cards show facts only "
        "until then; paging is not touched."
    )
    MODEL_KEY_REFUSED = (
        "The model provider refuses our key. Cards show facts only until it is replaced."
    )
    MODEL_NOT_THERE = (
        "What answers at the model's address is no model: a sign-in page, perhaps, or a gateway "
        "without its database. Investigations wait and are tried again."
    )
    MODEL_BACK = (
        "The model provider answers again. What waited for it is taken up, the worst first."
    )
    BUDGET_SPENT = "The model budget of the day is spent. Cards show facts only until 00:00 UTC."
    DEAD_LETTER = "An investigation was given up. The facts card stands; Re-triage starts it again."
    PAGE_UNDELIVERED = (
        "A pager did not take a page, and it is not tried again. Call whoever is on call yourself; "
        "`caveat check` says whether the pager can be reached."
    )
    ROOM_UNREACHABLE = "A room cannot be reached, so its cards go to the fallback room."
    QUARANTINED = (
        "Something arrived that could not be read as alerts. It is kept and can be replayed."
    )


HEADINGS: Mapping[Notice, str] = {
    Notice.DATABASE_DOWN: "Caveat: database down",
    Notice.DATABASE_BACK: "Caveat: database is back",
    Notice.MODEL_NEEDS_PERSON: "Caveat: model account needs a person",
    Notice.MODEL_KEY_REFUSED: "Caveat: model key refused",
    Notice.MODEL_NOT_THERE: "Caveat: no model at its address",
    Notice.MODEL_BACK: "Caveat: model is back",
    Notice.BUDGET_SPENT: "Caveat: model budget spent",
    Notice.DEAD_LETTER: "Caveat: investigation given up",
    Notice.PAGE_UNDELIVERED: "Caveat: a page was not delivered",
    Notice.ROOM_UNREACHABLE: "Caveat: room not reachable",
    Notice.QUARANTINED: "Caveat: unreadable alerts kept",
}

OF_OUTAGE: Mapping[OutageKind, Notice] = {
    OutageKind.NEEDS_PERSON: Notice.MODEL_NEEDS_PERSON,
    OutageKind.KEY_REFUSED: Notice.MODEL_KEY_REFUSED,
    OutageKind.NO_MODEL_THERE: Notice.MODEL_NOT_THERE,
}

LOUD = frozenset({Notice.DATABASE_DOWN, Notice.PAGE_UNDELIVERED})
"""Alerts or pages cannot come through: the notices that ring."""


def of_outage(outage: Outage, now: datetime) -> Card:
    """Draw an outage of a model provider as it stands; over, the same message says so."""
    if outage.closed_at is not None:
        return notice(Notice.MODEL_BACK, now)
    return notice(OF_OUTAGE[outage.kind], now, detail=outage.detail)


def notice(kind: Notice, now: datetime, *, detail: str = "") -> Card:
    """Draw a notice from nothing but its kind; `detail` is shown as a machine string."""
    said = say(_Words[kind.name].value)
    more: Line = say("Detail: ", code(cut(clean(detail), MOST_DETAIL))) if detail else ()
    return Card(
        tone=Tone.RESOLVED if kind in (Notice.DATABASE_BACK, Notice.MODEL_BACK) else Tone.NOTICE,
        heading=HEADINGS[kind],
        lock_screen=cut(f"{HEADINGS[kind]} · {_Words[kind.name].value}", 110),
        sections=(Section(name="notice", blocks=(text(said, more),), rank=10, keep=90),),
        footer=say("at ", moment(now, now)),
        audible=kind in LOUD,
        facts={"state": f"notice_{kind.value}"},
    )
