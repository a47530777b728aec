"""How earlier cases that look alike ended, as people confirmed it: a hint, never evidence."""

from engine.memory.symptom import symptom
from engine.model.memory import Near
from engine.model.pack import PriorFacts, Section, SectionName, SectionStatus
from engine.pack.section import Case, Gathered, Items, PackSection, Ports

_LONGEST = 200
"""Of a cause or a fix, characters."""


async def gather(case: Case) -> Gathered:
    """Look the symptom up in what people approved; without a search by likeness memory is off."""
    assert case.ports.memory is not None, "not configured"
    rule = case.subject.pack
    found = await case.ports.memory.similar(
        symptom(case.anchor), most=rule.prior_distance, limit=rule.max_priors
    )
    if found is None:
        off = Section(name=SectionName.PRIORS, status=SectionStatus.NOT_CONFIGURED)
        return Gathered(section=off)
    items = Items("P", case)
    for near in found:
        facts = _facts(case, near)
        items.add(_line(facts), facts)
    return items.section(SectionName.PRIORS)


def _facts(case: Case, near: Near) -> PriorFacts:
    stub, clean = near.stub, case.ports.clean
    return PriorFacts(
        stub_id=stub.id,
        root_cause=clean(stub.root_cause)[:_LONGEST],
        component=clean(stub.root_cause_key.component),
        cause_class=stub.root_cause_key.cause_class,
        fix=clean(stub.fix)[:_LONGEST],
        confirmed_by=clean(stub.confirmed_by or ""),
        confirmed_at=stub.confirmed_at,
        distance=round(near.distance, 4),
        held=near.held,
    )


def _line(prior: PriorFacts) -> str:
    by = f", confirmed by {prior.confirmed_by}" if prior.confirmed_by else ""
    on = f" on {prior.confirmed_at:%Y-%m-%d}" if prior.confirmed_at else ""
    held = "" if prior.held else "; it came again within days, so the fix did not hold"
    return f"an earlier case: {prior.root_cause}; fix: {prior.fix}{by}{on}{held}"


def _configured(ports: Ports) -> bool:
    return ports.memory is not None


SECTION = PackSection(
    name=SectionName.PRIORS, configured=_configured, gather=gather, anchored=False
)
