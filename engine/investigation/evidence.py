"""The frozen pack as a model reads it: one fenced field per piece of evidence, by its id."""

from collections.abc import Iterator

from engine.fence import annotation, fence, label, strip_invisible
from engine.investigation.prompts import prompt
from engine.model.pack import Anchor, Impact, Pack, Section, SectionStatus, Suspect


def evidence(pack: Pack, delimiter: str) -> str:
    """Write the evidence block; the same pack and delimiter give the same bytes."""
    return prompt(
        "evidence",
        sections="\n".join(_ended(section) for section in pack.sections),
        fence=delimiter,
        fields=fence(delimiter, {name: strip_invisible(said) for name, said in _fields(pack)}),
    )


def _ended(section: Section) -> str:
    """Say how a section ended; what was not found and what nobody asked are different lines."""
    match section.status:
        case SectionStatus.OK:
            more = f", {section.omitted} more left out" if section.omitted else ""
            return f"- {section.name}: items {len(section.items)}{more}"
        case SectionStatus.EMPTY:
            return f"- {section.name}: looked at, nothing found"
        case SectionStatus.DEGRADED:
            return f"- {section.name}: could not be looked at ({section.cause or 'unknown'})"
        case SectionStatus.NOT_CONFIGURED:
            return f"- {section.name}: nothing is connected that would know"


def _fields(pack: Pack) -> Iterator[tuple[str, str]]:
    yield "incident", _incident(pack.anchor)
    yield "impact", _impact(pack.impact)
    for rank, suspect in enumerate(pack.suspects, start=1):
        yield f"suspect {rank}", _suspect(suspect)
    if not pack.suspects:
        yield "suspects", "none stands out"
    for section in pack.sections:
        if section.note:
            yield f"{section.name} note", section.note
        for item in section.items:
            yield item.id, item.text


def _incident(anchor: Anchor) -> str:
    scope = ", ".join(f"{label(k)}={label(v)}" for k, v in sorted(anchor.grouping_key.items()))
    parts = [
        f"{label(anchor.rule)} ({anchor.severity}, {anchor.alert_class})",
        anchor.summary,
        f"service {label(anchor.service)}" if anchor.service else "",
        f"host {label(anchor.host)}" if anchor.host else "",
        f"environment {label(anchor.environment)}" if anchor.environment else "",
        f"scope {scope}" if scope else "",
        f"onset {anchor.onset_at:%Y-%m-%d %H:%M:%S}Z (read from {anchor.onset_source})",
        f"alerted {anchor.fired_at:%H:%M:%S}Z",
        f"evidence taken {anchor.taken_at:%H:%M:%S}Z",
        f"alert expression {annotation(anchor.expression)}" if anchor.expression else "",
    ]
    return "; ".join(part for part in parts if part)


def _impact(impact: Impact) -> str:
    parts = [
        f"can wait: {impact.can_wait} ({impact.reason})",
        "" if impact.traffic_per_s is None else f"traffic {impact.traffic_per_s:.6g}/s",
        "" if impact.error_share is None else f"error share {impact.error_share:.2%}",
        "" if impact.until_s is None else f"fails in {impact.until_s:.0f} s",
        f"see {', '.join(impact.evidence_ids)}" if impact.evidence_ids else "",
    ]
    return "; ".join(part for part in parts if part)


def _suspect(suspect: Suspect) -> str:
    reasons = ", ".join(suspect.reasons)
    return (
        f"{suspect.component} ({suspect.cause_class}), score {suspect.score:.2f},"
        f" {reasons}: {suspect.text} [{', '.join(suspect.evidence_ids)}]"
    )
