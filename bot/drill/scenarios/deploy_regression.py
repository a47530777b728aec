"""A deploy two minutes before the errors: the cause, and it can be told from the peers."""

from collections.abc import Sequence

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.estate import plant, shop, step, with_
from bot.drill.scenario import DrillAlert, DrillRule, Json, Scenario, Stage

DEPLOYED_S = 10 * 60.0
ONSET_S = 8 * 60.0
RATIO = (
    'sum by (cluster, namespace, service) (rate(http_requests_total{code=~"5.."}[2m]))'
    " / sum by (cluster, namespace, service) (rate(http_requests_total[2m])) > 0.05"
)


def _plant(double: MetricsDouble, stage: Stage) -> None:
    began = stage.ago(ONSET_S).timestamp()
    checkout = with_(
        "checkout",
        errors=step(0.001, 0.18, began),
        latency_s=step(0.12, 0.9, began),
        version="v2.40.3",
        changed_to="v2.41.0",
        changed_at_s=stage.ago(DEPLOYED_S).timestamp(),
    )
    plant(double, stage, shop(checkout=checkout))


def _alerts(_: Stage) -> Sequence[DrillAlert]:
    return (
        DrillAlert(
            rule="CheckoutErrorBudgetBurn",
            labels={"service": "checkout", "team": "payments"},
            summary="checkout answers 18% of its requests with 5xx",
            fired_s=20,
            annotations={
                "description": "1. Compare the versions running. 2. Roll back the last deploy.",
                "runbook_url": "https://runbooks.example.test/checkout-5xx",
            },
        ),
    )


def _rules(_: Stage) -> Sequence[DrillRule]:
    return (DrillRule("CheckoutErrorBudgetBurn", RATIO, for_s=420),)


def _changes(stage: Stage) -> Sequence[Json]:
    return (
        {
            "kind": "deploy",
            "component": "checkout",
            "what": "v2.41.0: new payment retry policy",
            "at": stage.ago(DEPLOYED_S).isoformat(),
            "labels": {**stage.where, "service": "checkout"},
            "drill": True,
        },
    )


SCENARIO = Scenario(
    name="deploy-regression",
    about="checkout fails since its last deploy; its peers are well",
    plant=_plant,
    alerts=_alerts,
    rules=_rules,
    changes=_changes,
)
