"""A node dies under twenty-four pods: many alerts, one failure, one card."""

from collections.abc import Sequence

from bot.drill.doubles.prometheus import MetricsDouble
from bot.drill.estate import SHOP, plant, shop, step, with_
from bot.drill.scenario import DrillAlert, DrillRule, Scenario, Stage

ONSET_S = 5 * 60.0
NODE = "worker-3"
PER_SERVICE = 5


def _plant(double: MetricsDouble, stage: Stage) -> None:
    began = stage.ago(ONSET_S).timestamp()
    failing = {
        one.name: with_(one.name, up=step(1, 0.0, began) if one.name == "cart" else one.up)
        for one in SHOP
    }
    plant(double, stage, shop(**failing))
    labels = {**stage.where, "node": NODE, "condition": "Ready", "status": "true"}
    double.plant("kube_node_status_condition", labels, step(1, 0, began))


def _alerts(_: Stage) -> Sequence[DrillAlert]:
    pods = [
        DrillAlert(
            rule="PodNotReady",
            labels={"service": one.name, "pod": f"{one.name}-{n}", "node": NODE},
            summary=f"{one.name}-{n} has not been ready for two minutes",
            severity="warning" if n else "high",
            fired_s=60 - n,
        )
        for one in SHOP
        for n in range(PER_SERVICE)
    ]
    node = DrillAlert(
        rule="KubeNodeNotReady",
        labels={"node": NODE},
        summary=f"{NODE} has not been ready for two minutes",
        fired_s=20,
    )
    return (*pods, node)


def _rules(_: Stage) -> Sequence[DrillRule]:
    return (
        DrillRule(
            "KubeNodeNotReady",
            'kube_node_status_condition{condition="Ready",status="true"} == 0',
            for_s=240,
        ),
    )


SCENARIO = Scenario(
    name="storm",
    about="a node dies: twenty-one alerts become one card",
    plant=_plant,
    alerts=_alerts,
    rules=_rules,
)
