"""What stands under a card: the reply when a finding lands, and the evidence for it."""

from collections.abc import Sequence
from datetime import datetime

from cards import words
from cards.card import Block, Card, Caveats, Line, Mention, Section, Text, Tone
from cards.figures import count, duration
from cards.heading import MOST_LOCK_SCREEN, cause_title, lock_screen
from cards.life import degraded, names_no_cause
from cards.line import bold, code, joined, moment, say, text
from cards.render.limits import clean, cut
from cards.sections import gaps
from cards.sections.cause import statement
from cards.sections.evidence import claim_line
from cards.sections.trust import confidence, supported
from engine.model.evidence import QueryOutcome
from engine.model.finding import CheckResult, ClaimRuling, Finding, Ruling
from engine.model.run import CaseFile, Receipt

MOST_ITEMS = 12
MOST_TEXT = 400


def finding_reply(case: CaseFile, took: Mention | None = None) -> Card | None:
    """One short message when the finding lands, calling whoever took the incident."""
    finding = case.finding
    if finding is None:
        return None
    who = (took, *say(" ")) if took else ()
    first = (*who, *cause_title(finding))
    lines = (first, statement(finding), joined((confidence(finding), supported(finding))))
    body = Section(name="reply", blocks=(text(*lines),), rank=10, keep=90)
    return _bare(case, (body,), "finding_reply")


def worse(case: CaseFile, took: Mention | None = None) -> Card:
    """One short message when an incident became graver, calling whoever took it."""
    who = (took, *say(" ")) if took else ()
    lead = case.incident.lead.alert.rule
    now = say(
        "now ", bold(words.SEVERITY[case.incident.severity]), ": ", code(cut(clean(lead), 80))
    )
    body = Section(name="worse", blocks=(text((*who, *now)),), rank=10, keep=90)
    return _bare(case, (body,), "worse")


def _bare(case: CaseFile, sections: Sequence[Section], state: str, about: str = "") -> Card:
    return Card(
        tone=Tone.FIRING,
        heading="",
        lock_screen=cut(about + lock_screen(case), MOST_LOCK_SCREEN),
        sections=tuple(sections),
        facts={"state": state, "incident": case.incident.id},
    )


def evidence(case: CaseFile, now: datetime) -> Card:
    """What the finding rests on: posted once and edited."""
    parts = (
        ("claims", "Claims", _claims(case.finding)),
        ("checks", "Checks made to disprove it", _checks(case.finding, now)),
        ("excluded", "Ruled out", _excluded(case.finding)),
        ("others", "Other suspects", _others(case)),
        ("unseen", "Could not be seen", _unseen(case)),
        ("cited", "Cited evidence", _cited(case)),
        ("receipt", "Receipt", _receipt(case.receipt)),
    )
    made = [_section(*part, rank=10 * place) for place, part in enumerate(parts, 1) if part[2]]
    return _bare(case, made, "evidence", "Evidence · ")


def _section(name: str, title: str, blocks: tuple[Block, ...], rank: int) -> Section:
    return Section(name=name, title=say(bold(title)), blocks=blocks, rank=rank, keep=100 - rank)


def _claims(finding: Finding | None) -> tuple[Block, ...]:
    if finding is None or names_no_cause(finding):
        return ()
    listed = [
        claim_line(c) for c in finding.claims[:MOST_ITEMS] if c.ruling is not Ruling.CONTRADICTED
    ]
    unbacked = [say(f"not backed: {cut(clean(c), MOST_TEXT)}") for c in _loose(finding)]
    blocks: tuple[Block, ...] = (text(*listed),) if listed else ()
    return (*blocks, Caveats(lines=tuple(unbacked))) if unbacked else blocks


def _loose(finding: Finding) -> list[str]:
    """Unsupported claims that stand nowhere among the ruled ones."""
    ruled = {c.claim.text for c in finding.claims}
    return [claim for claim in finding.unsupported_claims[:MOST_ITEMS] if claim not in ruled]


def _checks(finding: Finding | None, now: datetime) -> tuple[Block, ...]:
    results = finding.round.results if finding and finding.round else ()
    return (text(*(line for r in results for line in _check(r, now))),) if results else ()


def _check(result: CheckResult, now: datetime) -> tuple[Line, Line]:
    asked = say(f"{result.id} ", code(cut(clean(result.asked), MOST_TEXT)))
    ended = words.OUTCOME[result.outcome]
    if result.outcome is QueryOutcome.INVALID and result.invalid_reason:
        ended = f"{ended}: {words.INVALID[result.invalid_reason]}"
    came = cut(clean(result.text), MOST_TEXT)
    shown = (
        say("→ ", code(came))
        if result.outcome is QueryOutcome.FETCHED and came
        else say(f"→ {ended}")
    )
    at = say(" at ", moment(result.evaluated_at, now)) if result.evaluated_at else ()
    return asked, (*shown, *at, *say(f" ({words.CHECK_SOURCE[result.source]})"))


def _excluded(finding: Finding | None) -> tuple[Block, ...]:
    """Claims the checks contradict."""
    against = [c for c in (finding.claims if finding else ()) if c.ruling is Ruling.CONTRADICTED]
    return (text(*(_against(c) for c in against[:MOST_ITEMS])),) if against else ()


def _against(ruled: ClaimRuling) -> Line:
    ids = ", ".join(ruled.evidence_ids)
    said = cut(clean(ruled.claim.text), MOST_TEXT)
    return say(f"{said} — contradicted{f' by {ids}' if ids else ''}")


def _others(case: CaseFile) -> tuple[Block, ...]:
    """Ranked suspects the finding does not blame."""
    key = case.finding.root_cause_key if case.finding else None
    blamed = key.component if key else None
    rest = [s for s in (case.pack.suspects if case.pack else ()) if s.component != blamed]
    lines = [
        say(code(s.component), f": {cut(clean(s.text), 160)} [{', '.join(s.evidence_ids)}]")
        for s in rest
    ]
    return (text(*lines[:MOST_ITEMS]),) if lines else ()


def _unseen(case: CaseFile) -> tuple[Block, ...]:
    lines = gaps.unseen(case.pack) if case.pack else ()
    lost = case.finding is not None and degraded(case.finding)
    extra = (say("the checks that always run were not complete"),) if lost else ()
    return (Caveats(lines=(*lines, *extra)),) if lines or extra else ()


def _cited(case: CaseFile) -> tuple[Block, ...]:
    if case.pack is None or case.finding is None:
        return ()
    ids = {i for c in case.finding.claims for i in (*c.claim.evidence_ids, *c.evidence_ids)}
    items = [item for item in case.pack.items if item.id in ids][:MOST_ITEMS]
    lines = [say(f"{item.id} ", code(cut(clean(item.text), MOST_TEXT))) for item in items]
    return (Text(lines=tuple(lines)),) if lines else ()


def _receipt(receipt: Receipt | None) -> tuple[Block, ...]:
    if receipt is None:
        return ()
    unknown = [_unknown(name, receipt) for name in receipt.unknown_models]
    return (text(receipt_line(receipt), *unknown),)


def receipt_line(receipt: Receipt) -> Line:
    """What the finding cost: calls, tokens, money, time, and the model."""
    usage = receipt.usage
    sent = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    cost = "no price known" if receipt.cost_usd is None else f"about ${receipt.cost_usd:,.4f}"
    said = (
        f"{count(receipt.calls, 'model call')} · {sent:,} tokens in, "
        f"{usage.cache_read_input_tokens:,} of them cached · {usage.output_tokens:,} out · "
        f"{cost} · {duration(receipt.seconds)}"
    )
    models = [_named(name) for name in receipt.models]
    return joined((say(said), *models))


def _named(model: str) -> Line:
    return say(code(cut(clean(model), 60)))


def _unknown(name: str, receipt: Receipt) -> Line:
    """The name that failed, so that somebody puts it right."""
    asked = receipt.models[0] if receipt.models else ""
    instead = say(", asked ", *_named(asked), " instead") if asked else ()
    return (*say("the provider knows no model "), *_named(name), *instead)
