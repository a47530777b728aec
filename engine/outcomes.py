"""What people say of a finding becomes a label: of its model, and of its family."""

from engine.model.finding import ConfidenceStepName, Finding, VerifyStatus
from engine.model.incident import Incident
from engine.model.review import Given, Verdict
from engine.ports import Tx


class VerdictError(Exception):
    """There is nothing the verdict could be about; the text says why."""


async def give_verdict(
    tx: Tx, incident: Incident, verdict: Verdict, *, by: str, cause: str | None = None
) -> Given:
    """Keep what a person says of an incident's newest finding, and close its family's review.

    Raises:
        VerdictError: nothing was found out about the incident yet.
    """
    finding = await tx.findings.newest(incident.id)
    if finding is None:
        raise VerdictError(f"incident {incident.number} has no finding to judge")
    run = await tx.runs.get(finding.triage_id)
    given = Given(
        client_id=incident.client_id,
        family_key=incident.group_of(incident.lead).family_key,
        incident_id=incident.id,
        triage_id=finding.triage_id,
        verdict=verdict,
        by=by,
        # A rehearsal model answers under the name of the one it stands for.
        model="rehearsal" if run is not None and run.rehearsal_model else finding.model,
        said=_said(finding),
        shown=finding.confidence,
        names_cause=names_cause(finding),
        cause=cause,
    )
    await tx.outcomes.keep(given)
    if verdict is Verdict.FIX_FAILED and finding.prior is not None:
        await tx.stubs.failed(finding.prior.stub_id)
    await tx.reviews.close(given.client_id, given.family_key, by)
    await tx.cards.wish(incident, f"verdict: {verdict}")
    facts = {"incident": incident.id, "triage_id": finding.triage_id, "verdict": verdict.value}
    await tx.audit.append(incident.client_id, by, "verdict given", facts)
    return given


def names_cause(finding: Finding) -> bool:
    """Whether a finding holds a cause that can be right or wrong."""
    none = {VerifyStatus.REFUTED, VerifyStatus.NO_ANALYSIS}
    return finding.root_cause is not None and finding.verify_status not in none


def _said(finding: Finding) -> float | None:
    steps = finding.confidence_steps
    judged = (step.value for step in steps if step.name is ConfidenceStepName.JUDGED)
    return next(judged, None)
