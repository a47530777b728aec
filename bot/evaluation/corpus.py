"""Public failure data as cases: an incident, its pack, the truth, and series to check against."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isfinite
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bot.cli.unstored import incidents_of
from bot.drill.doubles.prometheus import MetricsDouble
from engine.evaluation.answers import Truth
from engine.fence import log_line
from engine.model.alert import Alert, AlertClass, AlertStatus, Severity
from engine.model.base import canonical_json
from engine.model.incident import Incident
from engine.model.pack import (
    AlertFacts,
    Anchor,
    CanWait,
    Impact,
    ImpactReason,
    Item,
    MetricDigest,
    OnsetSource,
    Pack,
    Section,
    SectionName,
    SectionStatus,
    Signal,
    TextFacts,
)
from engine.pack.digests import said
from engine.pack.suspects import rank
from engine.series import baseline, sparkline

Row = dict[str, Any]
"""JSON of the corpus."""
WINDOW_S = 300
MOST_ITEMS = 40
FLOOR = 0.35
AT = datetime(2023, 4, 13, 15, tzinfo=UTC)
SETS = ("opensre_synthetic", "petshop", "nezha")


@dataclass(frozen=True)
class Case:
    """One recorded failure."""

    name: str
    incident: Incident
    pack: Pack
    truth: Truth
    at: datetime
    series: Sequence[tuple[str, Mapping[str, str], Sequence[tuple[float, float]]]] = ()
    """What the metrics server of the case knows: name, labels, points."""

    def metrics(self) -> MetricsDouble:
        """A server that holds this case's series, at the moment it was looked at."""
        double = MetricsDouble(lambda: self.at)
        for name, labels, points in self.series:
            double.plant(name, labels, points)
        return double


def cases(folder: Path) -> Iterator[Case]:
    """Read every case of a folder, or of the folders of known sets below it."""
    named = [folder / name for name in SETS if (folder / name).is_dir()] or [folder]
    for each in named:
        for file in sorted(each.glob("[!_]*.json")):
            yield read(json.loads(file.read_text(encoding="utf-8")))


def read(row: Row) -> Case:
    """Read one case by what it holds."""
    if "scenario" in row:
        return _told(row)
    if "dependency_edges" in row:
        alert = row["alert"]
        at = datetime.fromtimestamp(alert["unix_timestamp"], UTC)
        rule = f"{alert['metric'].capitalize()}OutOfBounds"
        truth = Truth(components=_names(row["ground_truth"]["service"]))
        return _measured(row, petshop_digests(row), rule, alert["service"], truth, at)
    at = datetime.fromtimestamp(row["alert"]["unix_timestamp"], UTC)
    pod = str(row["ground_truth"]["pod"])
    truth = Truth(components=_names(pod))
    return _measured(row, nezha_digests(row), "FrontendDegraded", "frontend", truth, at)


def _names(name: str) -> tuple[str, ...]:
    """Give a name and its short forms: a service without its type, a pod's workload."""
    short = name.partition("_")[0]
    workload = name.rsplit("-", 2)[0] if name.count("-") >= 2 else short  # noqa: PLR2004 hash and id
    return tuple(dict.fromkeys((name, short, workload)))


def petshop_digests(case: Row) -> list[MetricDigest]:
    """Digest normal mean and spread, and the windows around the alert."""
    alert, since = case["alert"], case["alert"]["unix_timestamp"]
    digests = []
    for seen in case["observations"]:
        values = zip(case["window_times"], seen["window"], strict=True)
        after = [v for at, v in values if v is not None and at + WINDOW_S > since]
        centre, spread = seen["normal_mean"], seen["normal_std"] or 0.0
        if after and centre is not None:
            own = seen["service"] == alert["service"]
            if seen["metric"] == "availability":  # percent served; failures are what is measured
                after, centre = [100 - v for v in after], 100 - centre
            digests.append(_digest(seen["service"], seen["metric"], centre, spread, after, own=own))
    return digests


def nezha_digests(case: Row) -> list[MetricDigest]:
    """Digest the metrics of every pod before and after the fault was put in."""
    return [
        _digest(
            seen["pod"], seen["metric"], median(seen["before"]), spread_of(seen["before"]),
            seen["after"], own=False,
        )
        for seen in map(_finite, case["observations"])
        if seen["before"] and seen["after"]
    ]  # fmt: skip


def _finite(seen: Row) -> Row:
    """Leave out what is not a number."""
    kept = {side: [v for v in seen[side] if isfinite(v)] for side in ("before", "after")}
    return {**seen, **kept}


def spread_of(values: Sequence[float]) -> float:
    """A robust standard deviation."""
    centre = median(values)
    return 1.4826 * median(abs(v - centre) for v in values)


def _signal(metric: str) -> Signal:
    name = metric.lower()
    known = {"latency": Signal.LATENCY, "availability": Signal.ERRORS, "requests": Signal.TRAFFIC}
    for word, signal in {**known, "cpu": Signal.CPU, "memory": Signal.MEMORY}.items():
        if word in name:
            return signal
    return Signal.OTHER


def _digest(
    component: str, metric: str, centre: float, spread: float, after: Sequence[float], *, own: bool
) -> MetricDigest:
    normal = baseline([centre - spread, centre, centre + spread], after)
    return MetricDigest(
        name=metric, query=metric, labels={"service": component}, minimum=min(after),
        mean=fmean(after), maximum=max(after), last=after[-1], baseline=centre,
        deviation=normal.deviation(median(after)), sparkline=sparkline(after),
        signal=_signal(metric), peer=not own,
    )  # fmt: skip


def _measured(
    row: Row,
    digests: Sequence[MetricDigest],
    rule: str,
    service: str,
    truth: Truth,
    at: datetime,
) -> Case:
    """Make a case of measured series; its server knows them before and now."""
    ranked = sorted(digests, key=lambda digest: -abs(digest.deviation or 0))
    items = [
        Item(id=f"M{n}", text=said(digest), facts=digest)
        for n, digest in enumerate(ranked[:MOST_ITEMS], start=1)
    ]
    alert = _alert(rule, {"service": service, "namespace": "shop"}, f"{service} degrades", at)
    now_s, before_s = at.timestamp(), at.timestamp() - 3600
    series = [
        (_metric(digest.name), {**digest.labels, "namespace": "shop"},
         [(before_s, digest.baseline or 0), (now_s - 60, digest.mean), (now_s, digest.last)])
        for digest in digests
    ]  # fmt: skip
    names = {digest.labels["service"] for digest in digests}
    series += [("up", {"service": n, "namespace": "shop"}, [(now_s, 1.0)]) for n in sorted(names)]
    return _case(row, alert, {SectionName.METRICS: items}, truth, at, series)


def _metric(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name).strip("_").lower()


def _told(row: Row) -> Case:
    """Make a case of evidence that is told in words: each part of it is one line."""
    labels = {str(k): str(v) for k, v in row["alert"]["commonLabels"].items()}
    notes = row["alert"].get("commonAnnotations", {})
    at = AT
    alert = _alert(labels.get("alertname", "Alert"), labels, str(notes.get("summary", "")), at)
    sections: dict[SectionName, list[Item]] = {}
    for source, told in row["evidence"].items():
        name, letter = _place(source)
        kept = sections.setdefault(name, [])
        for part in _parts(told):
            line = log_line(f"{source}: {canonical_json(part)}")[:600]
            facts = TextFacts(untrusted=name is SectionName.LOGS)
            if len(kept) < MOST_ITEMS:
                kept.append(Item(id=f"{letter}{len(kept) + 1}", text=line, facts=facts))
    truth = row["ground_truth"]
    words = tuple(truth.get("required_keywords", ()))
    healthy = truth["root_cause_category"] == "healthy"
    return _case(row, alert, sections, Truth() if healthy else Truth(words=words), at)


def _place(source: str) -> tuple[SectionName, str]:
    if "log" in source:
        return SectionName.LOGS, "L"
    if "metric" in source or "insight" in source or "monitor" in source:
        return SectionName.METRICS, "M"
    return SectionName.KUBERNETES, "K"


def _parts(told: Any) -> Iterator[Any]:
    """Give what stands in lists one by one, and the rest together."""
    if isinstance(told, list):
        yield from told
    elif isinstance(told, dict):
        rest = {k: v for k, v in told.items() if not isinstance(v, list) or not v}
        for key, value in told.items():
            if isinstance(value, list) and value:
                yield from ({key: one} for one in value)
        if rest:
            yield rest


def _alert(rule: str, labels: Mapping[str, str], summary: str, at: datetime) -> Alert:
    return Alert(
        source="alertmanager",
        status=AlertStatus.FIRING,
        severity=Severity.CRITICAL,
        labels={**labels, "alertname": rule, "severity": "critical"},
        annotations={"summary": summary},
        starts_at=at,
    )


def _case(
    row: Row,
    alert: Alert,
    found: Mapping[SectionName, Sequence[Item]],
    truth: Truth,
    at: datetime,
    series: Sequence[tuple[str, Mapping[str, str], Sequence[tuple[float, float]]]] = (),
) -> Case:
    (incident,) = incidents_of([alert], at + timedelta(seconds=60)).incidents
    own = AlertFacts(
        rule=alert.rule, severity=alert.severity, alert_class=AlertClass.SYMPTOM,
        labels=alert.labels, count=1, firing=1, starts_at=at,
        summary=alert.annotations["summary"],
    )  # fmt: skip
    told = Item(id="A1", text=f"{alert.rule}: {own.summary}", facts=own)
    sections = [
        Section(name=name, status=SectionStatus.OK, items=tuple(items))
        for name, items in {SectionName.ALERTS: [told], **found}.items()
        if items
    ]
    known = anchor(alert.labels.get("service"), incident, alert, at)
    pack = Pack(
        anchor=known,
        sections=tuple(sections),
        impact=Impact(can_wait=CanWait.UNKNOWN, reason=ImpactReason.NOT_MEASURED),
        suspects=rank(known, sections, floor=FLOOR),
    )
    return Case(str(row["id"]), incident, pack, truth, at, series)


def anchor(service: str | None, incident: Incident, alert: Alert, at: datetime) -> Anchor:
    """Give the anchor of a recorded case: it began when it was noticed."""
    return Anchor(
        incident_id=incident.id, client_id=incident.client_id, rule=alert.rule,
        severity=alert.severity, alert_class=AlertClass.SYMPTOM,
        summary=alert.annotations["summary"], environment=None, service=service, host=None,
        grouping_key={} if service is None else {"service": service}, fired_at=at, active_at=at,
        onset_at=at, onset_source=OnsetSource.FIRED, taken_at=at,
    )  # fmt: skip
