"""`make eval`: false-verified rate beside accuracy and abstention, without any account.

The rehearsal model on the rehearsed failures, and models that should not be believed on decoys.
"""

import asyncio
import sys
from collections.abc import Sequence

from bot.drill.doubles.anthropic_replies import Answerer
from bot.drill.rehearsal_model import answer as honest
from bot.drill.scenario import Scenario
from bot.drill.table import SCENARIOS
from bot.evaluation.ground import ground_of
from bot.evaluation.table import HEAD, row
from engine.evaluation.answers import Graded, Tally, graded
from tests.eval.adversaries import ADVERSARIES
from tests.eval.decoys import DECOYS
from tests.eval.trial import Trial, trial, truth_of
from tests.reports import recall
from tests.reports.suspects import DEFAULT, report

LONGEST_S = 300


async def _case(scenario: Scenario, models: Trial, tried: dict[str, Answerer]) -> list[Graded]:
    async with ground_of(scenario) as ground:
        return [
            graded(name, await models.tried(ground, answer), truth_of(scenario))
            for name, answer in tried.items()
        ]


async def _all(scenarios: Sequence[Scenario], tried: dict[str, Answerer]) -> list[Graded]:
    async with trial(honest) as models:
        return [one for each in scenarios for one in await _case(each, models, tried)]


async def main() -> int:
    print(HEAD)
    low: list[str] = []
    async with asyncio.timeout(LONGEST_S):
        drills = await _all([*SCENARIOS.values()], {"rehearsal model, drills": honest})
        print(row("rehearsal model, drills", Tally.of(drills)))
        decoys = await _all(DECOYS, {"rehearsal model, decoys": honest, **ADVERSARIES})
    for name in ("rehearsal model, decoys", *ADVERSARIES):
        print(row(name, Tally.of([one for one in decoys if one.case == name])))
    if DEFAULT.is_dir():
        print("\nThe ranking of suspects alone, no model (share of cases whose cause is among the")
        print("first n; `loudest` takes whatever moved most):")
        print("\n".join(report(DEFAULT)))
    if recall.MEMORY.is_dir():
        print("\nWhat memory finds (vectors and words fused), beside words alone:")
        rows = await recall.measured(recall.MEMORY, [*recall.CORPORA])
        print("\n".join(recall.report(rows)))
        low = [row.task for row in rows if row.ours.first < recall.FLOORS[row.task]]
    wrong = Tally.of([*drills, *decoys]).false_verified
    print(f"\nfalse verified: {wrong}")
    return 1 if wrong or low else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
