"""What the chart of each incident shows; the newest replaces the one before."""

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.chart import Chart
from storage.calls import storable
from storage.tables import ChartRow


class ChartRows:
    """The charts of incidents."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def keep(self, chart: Chart) -> None:
        """Keep what an incident's chart shows now."""
        values = {"client_id": chart.client_id, "body": storable(chart.canonical())}
        row = insert(ChartRow).values(incident_id=chart.incident_id, **values)
        again = {**values, "at": func.clock_timestamp()}
        await self._session.execute(
            row.on_conflict_do_update(index_elements=[ChartRow.incident_id], set_=again)
        )

    async def of_incident(self, incident_id: str) -> Chart | None:
        """What an incident's chart shows."""
        row = await self._session.get(ChartRow, incident_id, populate_existing=True)
        return None if row is None else Chart.model_validate_json(row.body)
