"""Which tools a run offers, and which of those that were there before are gone."""

from engine.investigation.session import Session
from engine.model.ledger import ToolName


async def offering(session: Session) -> tuple[ToolName, ...]:
    """Remember what is offered; give what the client's run before was offered beyond it."""
    offered = tuple(ToolName(spec.name) for spec in session.setting.tools)
    if not offered:
        return ()
    async with session.ports.store.begin() as tx:
        before = await tx.runs.tools_before(session.run)
        if session.run.tools != offered:
            session.run = session.run.model_copy(update={"tools": offered})
            await tx.runs.save(session.run)
    return tuple(tool for tool in before if tool not in offered)
