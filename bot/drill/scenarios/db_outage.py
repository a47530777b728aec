"""The orders database is down: three services fail at once and one alert explains them."""

from collections.abc import Sequence

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.estate import plant, shop, step, with_
from bot.drill.scenario import DrillAlert, DrillRule, Scenario, Stage

ONSET_S = 6 * 60.0
DATABASE = "orders-db"
SERVICES = ("checkout", "payments", "cart")


def _plant(double: MetricsDouble, stage: Stage) -> None:
    began = stage.ago(ONSET_S).timestamp()
    failing = {
        name: with_(name, errors=step(0.001, 0.6, began), pool=step(4, 20, began))
        for name in SERVICES
    }
    plant(double, stage, shop(**failing))
    labels = {**stage.where, "database": DATABASE, "job": "postgres", "instance": "orders-db:9187"}
    double.plant("pg_up", labels, step(1, 0, began))
    double.plant("up", labels, 1.0)
    double.plant("pg_stat_activity_count", labels, step(42, 0, began))


def _alerts(_: Stage) -> Sequence[DrillAlert]:
    symptoms = [
        DrillAlert(
            rule="ServiceHighErrorRate",
            labels={"service": name, "database": DATABASE},
            summary=f"{name} answers 60% of its requests with 5xx",
            fired_s=60 - 10 * number,
        )
        for number, name in enumerate(SERVICES)
    ]
    cause = DrillAlert(
        rule="PostgresqlDown",
        labels={"database": DATABASE, "instance": "orders-db:9187", "job": "postgres"},
        summary="PostgreSQL orders-db does not answer",
        fired_s=20,
    )
    return (*symptoms, cause)


def _rules(_: Stage) -> Sequence[DrillRule]:
    ratio = (
        'sum by (cluster, namespace, service) (rate(http_requests_total{code=~"5.."}[2m]))'
        " / sum by (cluster, namespace, service) (rate(http_requests_total[2m])) > 0.05"
    )
    return (
        DrillRule("ServiceHighErrorRate", ratio, for_s=240),
        DrillRule("PostgresqlDown", "pg_up == 0", for_s=300),
    )


SCENARIO = Scenario(
    name="db-outage",
    about="one database takes three services with it",
    plant=_plant,
    alerts=_alerts,
    rules=_rules,
)
