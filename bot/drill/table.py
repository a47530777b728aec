"""Every rehearsed failure."""

from collections.abc import Mapping

from bot.drill.scenario import Scenario
from bot.drill.scenarios import db_outage, deploy_regression, no_evidence, storm

SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        deploy_regression.SCENARIO,
        storm.SCENARIO,
        db_outage.SCENARIO,
        no_evidence.SCENARIO,
    )
}
