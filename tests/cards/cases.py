"""One case for every state a card can be in: a shop whose checkout fails."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.model.alert import Alert, AlertClass, AlertStatus, Severity
from engine.model.evidence import GapCause, InvalidReason, QueryOutcome
from engine.model.finding import (
    CauseKey,
    Caveat,
    CaveatCode,
    CheckResult,
    CheckSource,
    Claim,
    ClaimRuling,
    Disposition,
    Draft,
    Finding,
    Round,
    RoundOutcome,
    Ruling,
    TriagePath,
    TrustLevel,
    VerifyStatus,
    Veto,
)
from engine.model.incident import (
    AlertGroup,
    Incident,
    IncidentState,
    JoinReason,
    Member,
    MemberState,
)
from engine.model.inquiry import Answered, Inquiry, InquiryState
from engine.model.org import Client, Flags
from engine.model.pack import (
    AlertFacts,
    Anchor,
    CanWait,
    CauseClass,
    ChangeFacts,
    ChangeKind,
    HistoryFacts,
    Impact,
    ImpactReason,
    Item,
    MetricDigest,
    OnsetSource,
    Pack,
    Section,
    SectionName,
    SectionStatus,
    Suspect,
    SuspectReason,
    TextFacts,
)
from engine.model.review import Said, Verdict
from engine.model.run import (
    CaseFile,
    FailureClass,
    Receipt,
    Run,
    RunState,
    RunTrigger,
    SkipReason,
    Usage,
)

NOW = datetime(2026, 11, 30, 3, 2, tzinfo=UTC)
FIRED = datetime(2026, 11, 30, 3, 0, tzinfo=UTC)
ONSET = datetime(2026, 11, 30, 2, 45, tzinfo=UTC)
SCOPE = {"namespace": "shop", "service": "checkout-api"}
CLIENT = Client(id="default", flags=Flags(ai_triage=True))
HOST = "runbooks.example.test"


def alert(
    rule: str = "CheckoutHighErrorRate", severity: Severity = Severity.CRITICAL, **labels: str
) -> Alert:
    return Alert(
        source="alertmanager",
        status=AlertStatus.FIRING,
        severity=severity,
        labels={"alertname": rule, "env": "prod", **SCOPE, **labels},
        annotations={
            "summary": "checkout-api 5xx ratio is 34.1%",
            "runbook_url": f"https://{HOST}/checkout-5xx",
        },
        starts_at=FIRED,
        generator_url="http://prometheus:9090/graph?g0.expr=x",
    )


def member(made: Alert, group: str = "g1", reason: JoinReason = JoinReason.OPENED) -> Member:
    return Member(
        alert=made,
        group_id=group,
        state=MemberState.FIRING,
        joined_at=FIRED,
        last_seen_at=FIRED,
        reason=reason,
    )


def group(
    rule: str,
    number: int = 1,
    kind: AlertClass = AlertClass.SYMPTOM,
    scope: Mapping[str, str] = SCOPE,
) -> AlertGroup:
    return AlertGroup(
        id=f"g{number}",
        client_id="default",
        family_key=f"f{number}",
        rule=rule,
        scope=scope,
        alert_class=kind,
    )


INCIDENT = Incident(
    id="inc1",
    client_id="default",
    number=12,
    state=IncidentState.OPEN,
    severity=Severity.CRITICAL,
    alert_class=AlertClass.SYMPTOM,
    opened_at=FIRED,
    activity_at=FIRED,
    settle_at=FIRED + timedelta(seconds=30),
    window_until=FIRED + timedelta(seconds=300),
    groups=(group("CheckoutHighErrorRate"), group("CheckoutLatencyHigh", 2)),
    members=(
        member(alert()),
        member(alert("CheckoutLatencyHigh", Severity.WARNING), "g2", JoinReason.SHARED_SCOPE),
    ),
)


def incident(**changes: object) -> Incident:
    return INCIDENT.model_copy(update=changes)


ANCHOR = Anchor(
    incident_id="inc1",
    client_id="default",
    rule="CheckoutHighErrorRate",
    severity=Severity.CRITICAL,
    alert_class=AlertClass.SYMPTOM,
    summary="checkout-api 5xx ratio is 34.1%",
    environment="prod",
    service="checkout-api",
    host=None,
    grouping_key=SCOPE,
    fired_at=FIRED,
    active_at=FIRED - timedelta(minutes=10),
    onset_at=ONSET,
    onset_source=OnsetSource.CHANGE_POINT,
    taken_at=NOW,
)


def metric(
    number: int,
    name: str,
    before: float,
    last: float,
    unit: str,
    *,
    own: bool = False,
    z: float = 12,
) -> Item:
    limit = 50.0 if "pool" in name else None
    facts = MetricDigest(
        limit=limit,
        name=name,
        query=f"sum(rate({name}[5m]))",
        labels=SCOPE,
        minimum=before,
        mean=last / 2,
        maximum=last,
        last=last,
        baseline=before,
        deviation=z,
        sparkline="▁▁▁▁▁▂▅▇█▇█▇" if z > 3 else "▃▃▄▃▃▃▄▃▃▄▃▃",
        changed_at=ONSET if z > 3 else None,
        unit=unit,
        own_expression=own,
    )
    return Item(id=f"M{number}", text=f"{name} {before} -> {last}", facts=facts)


METRICS = Section(
    name=SectionName.METRICS,
    status=SectionStatus.OK,
    items=(
        metric(1, "5xx ratio", 0.002, 0.341, "ratio", own=True, z=40),
        metric(2, "checkout-db pool in use", 12, 50, "", z=31),
        metric(3, "p99 of POST /pay", 0.18, 2.4, "s", z=22),
        metric(4, "requests", 118, 121, "/s", z=0.4),
    ),
    omitted=3,
)
DEPLOY = Item(
    id="D1",
    text="checkout-api v2.41.0 4 min before onset",
    facts=ChangeFacts(
        change=ChangeKind.DEPLOY,
        at=ONSET - timedelta(minutes=4),
        offset_s=-1140,
        onset_offset_s=-240,
        component="checkout-api",
        what="v2.40.3 → v2.41.0",
        source="ci",
    ),
)
LOG = Item(
    id="L1",
    text="ERROR could not get connection: pool exhausted after 30000 ms (x214)",
    facts=TextFacts(untrusted=True),
)
HISTORY = Item(id="H1", text="seen before", facts=HistoryFacts(occurrences=2, window_s=604800))
STEPS = (
    Item(id="B1", text="1. Look at the connection pool panel of checkout-db."),
    Item(id="B2", text="2. If the pool is full, find who holds connections longest."),
)
ALERTS = Item(
    id="A1",
    text="CheckoutHighErrorRate x1",
    facts=AlertFacts(
        rule="CheckoutHighErrorRate",
        severity=Severity.CRITICAL,
        alert_class=AlertClass.SYMPTOM,
        labels=SCOPE,
        count=1,
        firing=1,
        starts_at=FIRED,
    ),
)


def ok(name: SectionName, *items: Item) -> Section:
    return Section(
        name=name, status=SectionStatus.OK if items else SectionStatus.EMPTY, items=items
    )


def absent(name: SectionName) -> Section:
    return Section(name=name, status=SectionStatus.NOT_CONFIGURED)


def gap(name: SectionName, cause: GapCause = GapCause.TIMED_OUT) -> Section:
    return Section(name=name, status=SectionStatus.DEGRADED, cause=cause)


SUSPECTS = (
    Suspect(
        component="checkout-db",
        cause_class=CauseClass.RESOURCE_EXHAUSTION,
        score=0.82,
        reasons=(SuspectReason.AT_ITS_LIMIT, SuspectReason.DEVIATED_BEFORE),
        text="connection pool 50 of 50 in use since 02:43, 2 min before it began",
        evidence_ids=("M2",),
    ),
    Suspect(
        component="checkout-api",
        cause_class=CauseClass.DEPLOY,
        score=0.61,
        reasons=(SuspectReason.CHANGED_NEAR_ONSET,),
        text="deploy v2.41.0 4 min before it began",
        evidence_ids=("D1",),
    ),
)
HIT = Impact(
    can_wait=CanWait.NO, reason=ImpactReason.USERS_HIT, traffic_per_s=121, error_share=0.341
)
FULL = Pack(
    anchor=ANCHOR,
    sections=(
        ok(SectionName.ALERTS, ALERTS),
        ok(SectionName.HISTORY, HISTORY),
        METRICS,
        ok(SectionName.IMPACT),
        ok(SectionName.LOGS, LOG),
        absent(SectionName.CHANGES),
        ok(SectionName.DEPLOYS, DEPLOY),
        absent(SectionName.CLOUD),
        ok(SectionName.UPSTREAM),
        absent(SectionName.KUBERNETES),
        absent(SectionName.ZABBIX),
        ok(SectionName.RUNBOOK, *STEPS),
        ok(SectionName.PRIORS),
    ),
    impact=HIT,
    suspects=SUSPECTS,
)
EARLY = Pack(
    anchor=ANCHOR.model_copy(update={"onset_at": FIRED, "onset_source": OnsetSource.FIRED}),
    sections=(
        ok(SectionName.ALERTS, ALERTS),
        ok(SectionName.HISTORY, HISTORY),
        gap(SectionName.METRICS),
        ok(SectionName.IMPACT),
        absent(SectionName.CHANGES),
        absent(SectionName.DEPLOYS),
        absent(SectionName.CLOUD),
    ),
    impact=Impact(can_wait=CanWait.UNKNOWN, reason=ImpactReason.NOT_MEASURED),
)


def run(state: RunState, **changes: object) -> Run:
    made = Run(
        triage_id="t1",
        incident_id="inc1",
        client_id="default",
        trigger=RunTrigger.AUTO,
        state=state,
        created_at=FIRED,
        started_at=NOW,
    )
    return made.model_copy(update=changes)


def ruled(text: str, ruling: Ruling, *ids: str, key: bool = False) -> ClaimRuling:
    return ClaimRuling(
        claim=Claim(text=text, evidence_ids=ids, key=key), ruling=ruling, evidence_ids=("R1",)
    )


CLAIMS = (
    ruled(
        "the pool of checkout-db was full from 02:43, before the errors",
        Ruling.SUPPORTED,
        "M2",
        key=True,
    ),
    ruled("requests wait 30 s for a connection and then fail", Ruling.SUPPORTED, "L1", "M3"),
    ruled("traffic did not rise", Ruling.SUPPORTED, "M4"),
)
PEERS = CheckResult(
    id="R1",
    source=CheckSource.FLOOR,
    kind="peer_up_ratio",
    asked='up{namespace="shop"}',
    outcome=QueryOutcome.FETCHED,
    text="up 23/24 in namespace=shop",
    scope={"namespace": "shop"},
    scoped=True,
    evaluated_at=NOW,
    backend="prometheus",
)
OTHERS = PEERS.model_copy(
    update={
        "id": "R2",
        "source": CheckSource.MODEL,
        "kind": "promql",
        "asked": 'sum(rate(http_requests_total{service="payments-api",code="500"}[5m]))',
        "text": "0 /s",
    }
)
BROKEN = PEERS.model_copy(
    update={
        "id": "R3",
        "source": CheckSource.MODEL,
        "asked": "sum(rate(x[5m]",
        "outcome": QueryOutcome.INVALID,
        "invalid_reason": InvalidReason.SYNTAX,
        "text": "",
    }
)
SILENT = PEERS.model_copy(update={"outcome": QueryOutcome.DEGRADED, "text": ""})
CAUSE = (
    "The connection pool of checkout-db is exhausted: all 50 are in use since 02:43, so requests "
    "to checkout-api wait 30 s for a connection and fail."
)
VERIFIED = Finding(
    triage_id="t1",
    incident_id="inc1",
    client_id="default",
    pack_hash=FULL.hash,
    created_at=NOW,
    path=TriagePath.FULL,
    model="claude-sonnet-5-5",
    disposition=Disposition.ANSWERED,
    trust_level=TrustLevel.VERIFIED,
    verify_status=VerifyStatus.VERIFIED,
    root_cause=CAUSE,
    root_cause_key=CauseKey(component="checkout-db", cause_class=CauseClass.RESOURCE_EXHAUSTION),
    claims=CLAIMS,
    next_step="See who holds connections on checkout-db; v2.41.0 opens one per line item.",
    confidence=0.86,
    self_confidence=0.97,
    groundedness=0.95,
    valid_citations=4,
    draft=Draft(root_cause="A regional event.", root_cause_key=None, self_confidence=0.97),
    round=Round(results=(PEERS, OTHERS), outcome=RoundOutcome.SUPPORTED, floor_fetched=True),
)


def finding(**changes: object) -> Finding:
    return VERIFIED.model_copy(update=changes)


UNCONFIRMED = finding(
    trust_level=TrustLevel.UNCONFIRMED,
    verify_status=VerifyStatus.INCONCLUSIVE,
    confidence=0.62,
    claims=(*CLAIMS[:2], ruled("v2.41.0 opens one connection per line item", Ruling.NEITHER, "D1")),
    unsupported_claims=("v2.41.0 opens one connection per line item",),
    caveats=(
        Caveat(code=CaveatCode.QUERY_INVALID, facts={"count": 1}),
        Caveat(code=CaveatCode.PACK_DEGRADED, facts={"sections": "logs"}),
    ),
    round=Round(results=(PEERS, BROKEN), outcome=RoundOutcome.INCONCLUSIVE, floor_fetched=True),
)
DEGRADED = finding(
    trust_level=TrustLevel.UNCONFIRMED,
    verify_status=VerifyStatus.INCONCLUSIVE,
    confidence=0.55,
    caveats=(Caveat(code=CaveatCode.CHECKS_UNAVAILABLE),),
    round=Round(
        results=(SILENT,),
        outcome=RoundOutcome.DEGRADED,
        degraded_reasons=("floor_failed:peer_up_ratio",),
    ),
)
REFUTED = finding(
    trust_level=TrustLevel.UNVERIFIED,
    verify_status=VerifyStatus.REFUTED,
    disposition=Disposition.NEEDS_REVIEW,
    claims=(ruled("all of the fleet is down", Ruling.CONTRADICTED, "M1", key=True),),
    next_step="",
)
UNGROUNDED = finding(
    trust_level=TrustLevel.UNVERIFIED,
    disposition=Disposition.NEEDS_REVIEW,
    groundedness=0.3,
    confidence=0.3,
    caveats=(Caveat(code=CaveatCode.UNGROUNDED, facts={"offenders": "db-9\n10.0.0.7"}),),
)
ABSTAINED = finding(
    disposition=Disposition.ABSTAINED,
    trust_level=TrustLevel.UNVERIFIED,
    verify_status=VerifyStatus.NO_ANALYSIS,
    root_cause=None,
    root_cause_key=None,
    claims=(),
    confidence=None,
    missing="No logs, no database metrics: it could be checkout-api or anything it calls.",
    next_step="Look at the logs of checkout-api by hand.",
    caveats=(Caveat(code=CaveatCode.ABSTAINED),),
)
RUNAWAY = finding(
    disposition=Disposition.NOT_JUDGED,
    trust_level=TrustLevel.UNVERIFIED,
    verify_status=VerifyStatus.NO_ANALYSIS,
    root_cause=None,
    root_cause_key=None,
    claims=(),
    confidence=None,
    next_step="",
    caveats=(Caveat(code=CaveatCode.BOUND_HIT, facts={"bound": "loops"}),),
    round=None,
)
REPLACED = UNCONFIRMED.model_copy(
    update={"replaced": True, "caveats": (), "unsupported_claims": ()}
)
VETOED = finding(
    trust_level=TrustLevel.UNCONFIRMED,
    vetoes=(Veto.BEGAN_AFTER_ONSET,),
    caveats=(Caveat(code=CaveatCode.VETO),),
)
RECEIPT = Receipt(
    calls=2,
    usage=Usage(
        input_tokens=1210,
        output_tokens=812,
        cache_creation_input_tokens=9110,
        cache_read_input_tokens=9110,
    ),
    cost_usd=0.0526,
    seconds=14.2,
)


def case(**parts: object) -> CaseFile:
    return CaseFile.model_validate({"client": CLIENT, "incident": INCIDENT, "pack": FULL, **parts})


def skipped(reason: SkipReason, **parts: object) -> CaseFile:
    return case(run=run(RunState.SKIPPED, skip_reason=reason), **parts)


def found(made: Finding, **parts: object) -> CaseFile:
    return case(run=run(RunState.DONE), finding=made, receipt=RECEIPT, **parts)


def predictive() -> CaseFile:
    expiry = alert("CertificateExpiresSoon", Severity.WARNING).model_copy(
        update={"annotations": {"summary": "certificate of shop.example.test expires"}}
    )
    pack = FULL.model_copy(
        update={
            "impact": Impact(
                can_wait=CanWait.YES, reason=ImpactReason.TIME_LEFT, until_s=12 * 86400
            ),
            "suspects": (),
        }
    )
    one = incident(
        alert_class=AlertClass.PREDICTIVE,
        severity=Severity.WARNING,
        groups=(group("CertificateExpiresSoon", kind=AlertClass.PREDICTIVE),),
        members=(member(expiry),),
    )
    return skipped(SkipReason.CLASS, incident=one, pack=pack)


def heartbeat() -> CaseFile:
    one = incident(
        alert_class=AlertClass.HEARTBEAT,
        groups=(group("Watchdog", kind=AlertClass.HEARTBEAT, scope={"cluster": "eu-1"}),),
        members=(
            member(alert("Watchdog")).model_copy(
                update={
                    "last_seen_at": NOW - timedelta(minutes=17),
                    "alert": Alert(
                        source="alertmanager",
                        status=AlertStatus.FIRING,
                        severity=Severity.CRITICAL,
                        labels={"alertname": "Watchdog", "cluster": "eu-1"},
                        starts_at=NOW - timedelta(days=9),
                    ),
                }
            ),
        ),
    )
    return CaseFile(client=CLIENT, incident=one)


def first_contact() -> CaseFile:
    severities = (Severity.WARNING, Severity.CRITICAL, Severity.HIGH)
    rules = ("NodeFilesystemAlmostOutOfSpace", "KubePodCrashLooping", "TargetDown")
    groups = tuple(
        group(rule, n, scope={"namespace": f"team-{n}"})
        for n, rule in enumerate(rules * 5, start=1)
    )
    members = tuple(
        member(
            alert(g.rule, severities[n % 3], service=f"svc-{n}").model_copy(
                update={"starts_at": NOW - timedelta(hours=5 * n + 1)}
            ),
            g.id,
            JoinReason.FIRST_CONTACT,
        )
        for n, g in enumerate(groups)
    )
    one = incident(first_contact=True, groups=groups, members=members)
    return skipped(SkipReason.FIRST_CONTACT, incident=one, pack=None)


def drill() -> CaseFile:
    client = Client(id="drill", flags=Flags(ai_triage=True))
    made = run(RunState.DONE, rehearsal_model=True)
    return case(client=client, run=made, finding=VERIFIED, receipt=RECEIPT)


ENDED = {"resolved_at": NOW + timedelta(minutes=16), "state": IncidentState.RESOLVED}
PROGRESS = (
    "peers are up: 23 of 24 in namespace=shop",
    "traffic is as usual",
    "no upstream alert fires",
)

CASES: Mapping[str, CaseFile] = {
    "received": case(pack=None),
    "facts_early": case(pack=EARLY, run=run(RunState.LOOKING)),
    "facts": case(run=run(RunState.QUEUED)),
    "investigating": case(run=run(RunState.INVESTIGATING, progress=PROGRESS), taken_by="alice"),
    "checking": case(run=run(RunState.CHECKING, progress=PROGRESS)),
    "verified": found(VERIFIED),
    "unconfirmed": found(UNCONFIRMED),
    "replaced": found(REPLACED),
    "vetoed": found(VETOED),
    "unverified": found(UNGROUNDED),
    "unchecked": found(
        finding(
            trust_level=TrustLevel.UNVERIFIED,
            verify_status=VerifyStatus.NOT_RUN,
            path=TriagePath.SINGLE_CALL,
            round=None,
        )
    ),
    "degraded": found(DEGRADED),
    "refuted": found(REFUTED),
    "no_finding": found(RUNAWAY),
    "abstained": found(ABSTAINED),
    "no_model": skipped(SkipReason.NO_MODEL),
    "not_investigated": skipped(SkipReason.FLAG_OFF, client=Client(id="default")),
    "manual": skipped(SkipReason.MANUAL),
    "chronic_quiet": skipped(
        SkipReason.CHRONIC_QUIET,
        incident=incident(chronic=True, recurrences=8, severity=Severity.HIGH),
        last_finding=finding(created_at=NOW - timedelta(days=4)),
    ),
    "waiting": case(run=run(RunState.WAITING, delivery=3, next_try_at=NOW + timedelta(seconds=45))),
    "operator_action": case(
        run=run(RunState.FAILED, failure=FailureClass.OPERATOR_ACTION_REQUIRED)
    ),
    "failed": case(run=run(RunState.FAILED, failure=FailureClass.TERMINAL)),
    "predictive": predictive(),
    "heartbeat": heartbeat(),
    "first_contact": first_contact(),
    "resolved": found(VERIFIED, incident=incident(**ENDED)),
    "resolved_by_itself": case(incident=incident(**ENDED), run=run(RunState.QUEUED)),
    "closed": found(
        UNCONFIRMED,
        incident=incident(state=IncidentState.CLOSED, activity_at=NOW - timedelta(hours=6)),
    ),
    "merged": case(
        incident=incident(state=IncidentState.MERGED, merged_into="inc2"), merged_number=11
    ),
    "again": case(
        run=run(RunState.INVESTIGATING, triage_id="t2", trigger=RunTrigger.REJUDGE),
        finding=UNCONFIRMED,
        taken_by="alice",
    ),
    "said": found(
        VERIFIED,
        taken_by="alice",
        said=Said(verdict=Verdict.RIGHT, by="bob (slack:U2)", at=NOW),
        muted_until=NOW + timedelta(hours=1),
        muted_by="bob",
    ),
    "said_wrong": found(
        UNCONFIRMED,
        taken_by="alice",
        said=Said(
            verdict=Verdict.WRONG,
            by="bob (slack:U2)",
            at=NOW,
            cause="a batch job held every connection <!channel>",
        ),
    ),
    "drill": drill(),
}


def asked(**changes: Any) -> Inquiry:
    usual: dict[str, Any] = {
        "id": "q1",
        "client_id": "acme",
        "room_id": "r1",
        "text": "why is checkout slow since 02:45",
        "asked_by": "alice",
        "account": "slack:U0ALICE",
        "asked_at": NOW,
        "start_at": NOW - timedelta(minutes=15),
        "end_at": NOW,
        "scope": {"namespace": "shop", "service": "checkout-api"},
    }
    return Inquiry(**{**usual, **changes})


SEVERAL = (
    {"namespace": "shop", "service": "checkout-api"},
    {"namespace": "shop", "service": "checkout-db"},
)
INQUIRIES: Mapping[str, Answered] = {
    "choosing": Answered(
        inquiry=asked(state=InquiryState.CHOOSING, scope={}, choices=SEVERAL), names_client=False
    ),
    "unplaced": Answered(inquiry=asked(state=InquiryState.UNPLACED, scope={})),
    "waiting": Answered(
        inquiry=asked(), run=run(RunState.CHECKING, progress=PROGRESS), names_client=False
    ),
    "verified": Answered(inquiry=asked(state=InquiryState.ANSWERED), finding=VERIFIED),
    "degraded": Answered(inquiry=asked(state=InquiryState.ANSWERED), finding=DEGRADED),
    "abstained": Answered(inquiry=asked(state=InquiryState.ANSWERED), finding=ABSTAINED),
    "refuted": Answered(inquiry=asked(state=InquiryState.ANSWERED), finding=REFUTED),
    "skipped": Answered(inquiry=asked(state=InquiryState.SKIPPED, skip_reason=SkipReason.BUDGET)),
    "failed": Answered(inquiry=asked(state=InquiryState.FAILED, failure=FailureClass.TERMINAL)),
}
