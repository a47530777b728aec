"""An alert about something nobody measures: the only honest answer is that it cannot be told."""

from collections.abc import Sequence

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.scenario import DrillAlert, Scenario, Stage


def _plant(_: MetricsDouble, __: Stage) -> None:
    """Plant nothing: that is the point."""


def _alerts(_: Stage) -> Sequence[DrillAlert]:
    return (
        DrillAlert(
            rule="LedgerDrift",
            labels={"service": "ledger"},
            summary="nightly ledger totals differ from the bank's by 3 entries",
        ),
    )


SCENARIO = Scenario(
    name="no-evidence",
    about="nothing is measured where it hurts; the answer must be that it cannot be told",
    plant=_plant,
    alerts=_alerts,
)
