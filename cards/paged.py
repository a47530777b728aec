"""Who was paged, who was not, and what a pager did not take."""

from cards.card import Block, Caveats, Line, Mention, Section
from cards.line import bold, joined, say, text
from engine.model.alert import Severity
from engine.model.org import Platform, Room
from engine.model.page import NoPage, PageRecord

WHY_NOT = {
    NoPage.NO_ROUTE: "nobody was paged: no route",
    NoPage.ONCALL_DISABLED: "nobody was paged: paging is off",
}
"""Other reasons need no words: nobody expects a page there."""


def section(record: PageRecord, severity: Severity, room: Room | None) -> Section | None:
    """Say it, where it matters."""
    blocks = _paged(record, room) if record.reason is None else _spared(record.reason, severity)
    if not blocks:
        return None
    return Section(name="paged", blocks=blocks, rank=11, keep=88)


def _spared(reason: NoPage, severity: Severity) -> tuple[Block, ...]:
    if severity.rank < Severity.HIGH.rank or reason not in WHY_NOT:
        return ()
    return (text(say(WHY_NOT[reason])),)


def _paged(record: PageRecord, room: Room | None) -> tuple[Block, ...]:
    failed = ", ".join(record.failed)
    undelivered = Caveats(lines=(say(bold("page not delivered"), f": {failed}"),))
    by = [one for one in record.pagers if one not in record.failed]
    via = say(f"by {', '.join(by)}") if by else ()
    names = say("paged ", bold(record.route))
    line = joined((names, *_mentions(record, room), via))
    return (undelivered, text(line)) if failed else (text(line),)


def _mentions(record: PageRecord, room: Room | None) -> tuple[Line, ...]:
    """Those who can be called in the chat the card goes to."""
    platform = room.platform if room else Platform.CONSOLE
    return tuple(
        (Mention(account=one.account, name=record.route),)
        for one in record.mentions
        if one.platform is platform
    )
