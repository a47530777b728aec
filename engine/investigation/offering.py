"""Which tools a run offers, and which of those that were there before are gone."""

from engine.investigation.session import Session
from engine.model.ledger import ToolName


async def offering(session: Session) -> None:
    """Remember what is offered, and take up what the run had looked up when its worker died."""
    offered = tuple(ToolName(spec.name) for spec in session.setting.tools)
    if not offered:
        return
    async with session.ports.store.begin() as tx:
        before = await tx.runs.tools_before(session.run)
        kept = await tx.lookups.of_triage(session.run.triage_id)
        if session.run.tools != offered:
            session.run = session.run.model_copy(update={"tools": offered})
            await tx.runs.save(session.run)
    session.vanished = tuple(tool for tool in before if tool not in offered)
    # A run that waited has another pack, and what was looked up for the old one is old too.
    taken_at = session.pack.anchor.taken_at
    session.ledger.kept = [entry for entry in kept if entry.at >= taken_at]
