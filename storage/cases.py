"""The whole case of an incident, read at the moment its card is drawn."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.errors import UnknownModelError
from engine.model.finding import Finding
from engine.model.incident import Incident
from engine.model.run import CallState, CaseFile, ModelCall, Receipt, Run, Usage
from storage.calls import CallRows
from storage.findings import FindingRows
from storage.incidents import IncidentRows
from storage.mutes import MuteRows
from storage.org import OrgRows
from storage.outcomes import OutcomeRows
from storage.runs import RunRows
from storage.tables import IncidentRow

_UNKNOWN = str(UnknownModelError())


class CaseRows:
    """Cases, each put together from what every table holds of it."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session
        self._findings = FindingRows(session)
        self._incidents = IncidentRows(session)

    async def case(self, incident_id: str) -> CaseFile | None:
        """The case of one incident; None when there is none."""
        incident = await self._incidents.get(incident_id)
        if incident is None:
            return None
        finding = await self._findings.newest(incident_id)
        run = await RunRows(self._session).newest(incident_id)
        pack = await self._findings.fact_sheet(incident_id)
        outcomes = OutcomeRows(self._session)
        family_key = incident.group_of(incident.lead).family_key
        muted = await MuteRows(self._session).standing(incident.client_id, family_key)
        taken = await self._incidents.taken(incident_id)
        if finding is not None:
            pack = await self._findings.pack(finding.pack_hash) or pack
        return CaseFile(
            client=await OrgRows(self._session).client(incident.client_id),
            incident=incident,
            pack=pack,
            run=run,
            finding=finding,
            last_finding=await self._last(incident),
            receipt=await self._receipt(finding, run),
            family_record=await outcomes.record(incident.client_id, family_key),
            said=await outcomes.standing(finding.triage_id) if finding else None,
            taken_by=taken.by if taken else None,
            taken_account=await self._incidents.taken_account(incident_id) if taken else None,
            muted_until=muted.until if muted else None,
            muted_by=muted.by if muted else "",
            merged_number=await self._number(incident.merged_into),
        )

    async def _last(self, incident: Incident) -> Finding | None:
        """The family's newest finding that is not this incident's own."""
        key = incident.group_of(incident.lead).family_key
        found = await self._findings.newest_of_family(
            incident.client_id, key, other_than=incident.id
        )
        return found if found is None or found.created_at <= incident.opened_at else None

    async def _receipt(self, finding: Finding | None, run: Run | None) -> Receipt | None:
        if finding is None:
            return None
        calls = await CallRows(self._session).of_triage(finding.triage_id)
        begun = run.started_at if run and run.triage_id == finding.triage_id else None
        return receipt_of(calls, finding.created_at, begun)

    async def _number(self, incident_id: str | None) -> int | None:
        if incident_id is None:
            return None
        asked = select(IncidentRow.number).where(IncidentRow.id == incident_id)
        return (await self._session.execute(asked)).scalar_one_or_none()


def receipt_of(calls: Sequence[ModelCall], ended_at: datetime, begun: datetime | None) -> Receipt:
    """Add up what a finding cost; the price is unknown when one call's is."""
    names = Usage.model_fields
    usage = Usage(**{name: sum(getattr(c.usage, name) for c in calls) for name in names})
    # A call that brought nothing cost nothing anybody told of.
    prices = [call.cost_usd for call in calls if call.state is CallState.OK]
    known = [price for price in prices if price is not None]
    first = begun or (calls[0].sent_at if calls else ended_at)
    answered = tuple(dict.fromkeys(c.model for c in calls if c.state is CallState.OK))
    refused = dict.fromkeys(c.model for c in calls if c.error.startswith(_UNKNOWN))
    return Receipt(
        models=answered,
        unknown_models=tuple(model for model in refused if model not in answered),
        calls=len(calls),
        usage=usage,
        cost_usd=sum(known) if len(known) == len(prices) else None,
        seconds=max(0.0, (ended_at - first).total_seconds()),
    )
