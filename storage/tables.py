"""Every table, once. Each carries its client, and so does each unique key that could clash."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, Text, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

Stamp = TIMESTAMP(timezone=True)
DB_NOW = text("clock_timestamp()")


class Base(DeclarativeBase):
    """Types every table shares."""

    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it off the class
        str: Text,
        datetime: Stamp,
        dict[str, Any]: JSONB,
        list[str]: ARRAY(Text),
    }


class ClientRow(Base):
    """A tenant and its flags; a flag that is null is declared nowhere and means its default."""

    __tablename__ = "clients"
    id: Mapped[str] = mapped_column(primary_key=True)
    ai_triage: Mapped[bool | None]
    ai_triage_manual: Mapped[bool | None]
    remediation: Mapped[bool | None]
    oncall_enabled: Mapped[bool | None]
    l1_agent: Mapped[bool | None]
    """Legacy alias: stands for ai_triage and oncall_enabled until they are set."""
    declared: Mapped[list[str]] = mapped_column(server_default="{}")
    """Flags the configuration file declares; they are locked in chat."""
    next_number: Mapped[int] = mapped_column(server_default="1")


class TeamRow(Base):
    """A group of clients."""

    __tablename__ = "teams"
    id: Mapped[str] = mapped_column(primary_key=True)


class TeamClientRow(Base):
    """Which clients a team looks after."""

    __tablename__ = "team_clients"
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id"), primary_key=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"), primary_key=True)


class RoomRow(Base):
    """A chat (or topic) bound to one client or one team."""

    __tablename__ = "rooms"
    __table_args__ = (
        UniqueConstraint("platform", "chat", "topic", "client_id", "team_id", name="one_binding"),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str | None] = mapped_column(ForeignKey("clients.id"))
    team_id: Mapped[str | None] = mapped_column(ForeignKey("teams.id"))
    platform: Mapped[str]
    chat: Mapped[str]
    chat_id: Mapped[str | None]
    """The platform's own id once it is known (Slack names resolve to ids)."""
    topic: Mapped[int] = mapped_column(server_default="0")
    rank: Mapped[int] = mapped_column(server_default="0")
    """Order of matching; the file's order."""
    match: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    sound: Mapped[str] = mapped_column(server_default="critical")
    triage: Mapped[str] = mapped_column(server_default="critical")
    active: Mapped[bool] = mapped_column(server_default="true")
    broken: Mapped[str | None]
    """Why nothing can be posted there, once a send said so."""
    bound_by: Mapped[str | None]
    """Who bound it from the chat itself; null for a room of the configuration."""


class PersonRow(Base):
    """A human."""

    __tablename__ = "people"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    active: Mapped[bool] = mapped_column(server_default="true")
    timezone: Mapped[str | None]
    """IANA name, as their chat told it; what `until morning` means."""
    created_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class IdentityRow(Base):
    """A person's account in one chat."""

    __tablename__ = "identities"
    platform: Mapped[str] = mapped_column(primary_key=True)
    account: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), index=True)
    linked_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class GrantRow(Base):
    """A role of a person in a client (`*`: in every client)."""

    __tablename__ = "grants"
    person_id: Mapped[str] = mapped_column(ForeignKey("people.id"), primary_key=True)
    client_id: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str] = mapped_column(primary_key=True)
    granted_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class LinkCodeRow(Base):
    """A one-time code that ties a chat account to a person, or a chat to a client or team."""

    __tablename__ = "link_codes"
    code_hash: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str | None] = mapped_column(ForeignKey("people.id"))
    client_id: Mapped[str | None]
    team_id: Mapped[str | None]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class SourceRow(Base):
    """A sender of alerts or changes. Its token decides the client; a body never does."""

    __tablename__ = "sources"
    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"))
    name: Mapped[str]
    """The `source` of its alerts; part of their identity."""
    kind: Mapped[str]
    """Which parser reads it: alertmanager, changes…"""
    token_hash: Mapped[str | None]
    """SHA-256; null for polled sources."""
    token_declared: Mapped[bool] = mapped_column(default=False)
    """The configuration set the token; it goes when the configuration no longer names it."""
    first_seen_at: Mapped[datetime | None]
    """When it first said anything; alerts firing then are first contact."""
    last_seen_at: Mapped[datetime | None]
    polled_at: Mapped[datetime | None]
    __table_args__ = (
        UniqueConstraint("client_id", "kind", "name", name="one_source"),
        UniqueConstraint("kind", "token_hash", name="one_token"),
    )


class ApiTokenRow(Base):
    """A token of the API; revoked ones stay, so that the audit trail can be read."""

    __tablename__ = "api_tokens"
    id: Mapped[str] = mapped_column(primary_key=True)
    token_hash: Mapped[str] = mapped_column(unique=True)
    """SHA-256."""
    name: Mapped[str]
    kind: Mapped[str]
    scopes: Mapped[list[str]]
    client_id: Mapped[str | None] = mapped_column(ForeignKey("clients.id"))
    """Null opens every client."""
    made_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    __table_args__ = (
        Index("one_live_token", "name", unique=True, postgresql_where=text("revoked_at is null")),
    )


class AlertEventRow(Base):
    """One alert as it was received; identity is client, source, fingerprint and start."""

    __tablename__ = "alert_events"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str]
    source: Mapped[str]
    fingerprint: Mapped[str]
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime | None]
    status: Mapped[str]
    severity: Mapped[str]
    source_fingerprint: Mapped[str | None]
    labels: Mapped[dict[str, Any]]
    annotations: Mapped[dict[str, Any]]
    alert: Mapped[dict[str, Any]]
    """The whole normalised alert."""
    group_id: Mapped[str] = mapped_column(ForeignKey("alert_groups.id"))
    seen: Mapped[int] = mapped_column(server_default="1")
    first_seen_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    last_seen_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    __table_args__ = (
        UniqueConstraint("client_id", "source", "fingerprint", "starts_at", name="one_event"),
        Index("events_by_group", "client_id", "group_id", "starts_at"),
    )


class AlertGroupRow(Base):
    """The alerts of one rule on one failing scope."""

    __tablename__ = "alert_groups"
    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    family_key: Mapped[str]
    rule: Mapped[str]
    scope: Mapped[dict[str, Any]]
    alert_class: Mapped[str]
    sender_group: Mapped[str | None]
    """The sender's own grouping key: recorded, no more."""
    created_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    __table_args__ = (UniqueConstraint("client_id", "family_key", name="one_group"),)


class IncidentRow(Base):
    """One failure."""

    __tablename__ = "incidents"
    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    number: Mapped[int]
    state: Mapped[str] = mapped_column(server_default="open")
    severity: Mapped[str]
    alert_class: Mapped[str]
    opened_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    activity_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    settle_at: Mapped[datetime]
    window_until: Mapped[datetime]
    occurrences: Mapped[int] = mapped_column(server_default="1")
    recurrences: Mapped[int] = mapped_column(server_default="0")
    chronic: Mapped[bool] = mapped_column(server_default="false")
    regression: Mapped[bool] = mapped_column(server_default="false")
    flapping: Mapped[bool] = mapped_column(server_default="false")
    first_contact: Mapped[bool] = mapped_column(server_default="false")
    judged_at: Mapped[datetime | None]
    judged_severity: Mapped[str | None]
    judged_rules: Mapped[list[str]] = mapped_column(server_default="{}")
    judged_scopes: Mapped[list[str]] = mapped_column(server_default="{}")
    """Workloads, hosts and services among the judged members."""
    since_judged: Mapped[int] = mapped_column(server_default="0")
    resolved_at: Mapped[datetime | None]
    green_at: Mapped[datetime | None]
    """When a flapping incident may turn green."""
    merged_into: Mapped[str | None]
    taken_by: Mapped[str | None]
    """Name of whoever works on it; set once, by the first press."""
    taken_account: Mapped[str | None]
    """Their account, `platform:account`, so that they can be called."""
    taken_at: Mapped[datetime | None]
    looked_again_at: Mapped[datetime | None]
    """When it was investigated again because a backend had come back; once."""
    truncated: Mapped[int] = mapped_column(server_default="0")
    __table_args__ = (
        UniqueConstraint("client_id", "number", name="one_number"),
        Index("incidents_open", "client_id", "state", "activity_at"),
        Index("incidents_merged", "merged_into", postgresql_where=text("merged_into is not null")),
    )


class MemberRow(Base):
    """An alert inside an incident, and why it is there."""

    __tablename__ = "incident_members"
    incident_id: Mapped[str] = mapped_column(ForeignKey("incidents.id"), primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    group_id: Mapped[str] = mapped_column(ForeignKey("alert_groups.id"))
    event_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("alert_events.id"))
    """Its newest event."""
    state: Mapped[str]
    joined_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    last_seen_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    reason: Mapped[str]
    shared: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    __table_args__ = (
        Index("members_by_fingerprint", "client_id", "fingerprint", "state"),
        Index("members_by_group", "client_id", "group_id"),
    )


class TransitionRow(Base):
    """One change of a member between firing and resolved; what flapping and cadence read."""

    __tablename__ = "transitions"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str]
    incident_id: Mapped[str | None]
    group_id: Mapped[str]
    fingerprint: Mapped[str]
    to_state: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    trigger: Mapped[str | None]
    """What the recurrence rules said, for a firing."""
    __table_args__ = (Index("transitions_by_group", "client_id", "group_id", "at"),)


class HeartbeatRow(Base):
    """An alert that fires while all is well; loud only when it stops."""

    __tablename__ = "heartbeats"
    client_id: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str]
    rule: Mapped[str]
    last_seen_at: Mapped[datetime]
    gap_s: Mapped[float | None]
    """Longest gap seen while it was alive."""
    missing_since: Mapped[datetime | None]
    incident_id: Mapped[str | None]


class QuarantineRow(Base):
    """What could not be read, kept so that it can be seen and replayed."""

    __tablename__ = "quarantine"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str | None]
    source: Mapped[str]
    reason: Mapped[str]
    body: Mapped[str]
    """As received, redacted, at most 64 KB."""
    size: Mapped[int]
    seen: Mapped[int] = mapped_column(server_default="1")
    body_hash: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    replayed_at: Mapped[datetime | None]
    __table_args__ = (
        Index(
            "one_quarantined",
            "client_id",
            "source",
            "body_hash",
            unique=True,
            postgresql_nulls_not_distinct=True,
            postgresql_where=text("replayed_at is null"),
        ),
    )


class ChangeRow(Base):
    """A change as a change source reported it."""

    __tablename__ = "changes"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str]
    source: Mapped[str]
    kind: Mapped[str]
    at: Mapped[datetime]
    component: Mapped[str]
    what: Mapped[str]
    labels: Mapped[dict[str, Any]]
    host: Mapped[str | None]
    dedup_key: Mapped[str]
    drill: Mapped[bool] = mapped_column(server_default="false")
    received_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    __table_args__ = (
        UniqueConstraint("client_id", "source", "dedup_key", name="one_change"),
        Index("changes_by_time", "client_id", "at"),
    )


class JobRow(Base):
    """A thin pointer with a lease: `run_at` is when it is due, and its lease while it runs."""

    __tablename__ = "jobs"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    queue: Mapped[str]
    key: Mapped[str]
    ids: Mapped[dict[str, Any]]
    client_id: Mapped[str]
    severity_rank: Mapped[int] = mapped_column(server_default="0")
    """Worst first among those that are due."""
    state: Mapped[str] = mapped_column(server_default="live")
    """live or dead."""
    delivery: Mapped[int] = mapped_column(server_default="0")
    """Times claimed since it was asked for."""
    claims_without_verb: Mapped[int] = mapped_column(server_default="0")
    fence: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """Grows with every claim and never falls: a verb with an older number is refused."""
    running: Mapped[bool] = mapped_column(server_default="false")
    again_at: Mapped[datetime | None]
    """Asked for again while running: one more delivery follows, due then."""
    run_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    created_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    error: Mapped[str | None]
    dead_reason: Mapped[str | None]
    dead_at: Mapped[datetime | None]
    __table_args__ = (
        Index("one_live_job", "queue", "key", unique=True, postgresql_where=text("state = 'live'")),
        Index("jobs_due", "queue", "run_at", postgresql_where=text("state = 'live'")),
    )


class RunRow(Base):
    """One triage run; the state both queue adapters point at."""

    __tablename__ = "triage_runs"
    triage_id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    incident_id: Mapped[str] = mapped_column(index=True)
    """What it is about: an incident, or an inquiry."""
    state: Mapped[str]
    run: Mapped[dict[str, Any]]
    """The whole run as the engine has it."""
    created_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    fence: Mapped[str | None]
    """Random delimiter of untrusted text, drawn once per triage."""
    stopped_by: Mapped[str | None]
    """Who asked it to stop looking; what it has by then still ships."""
    __table_args__ = (Index("runs_by_client", "client_id", "created_at"),)


class PackRow(Base):
    """A frozen pack, byte for byte."""

    __tablename__ = "packs"
    hash: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    incident_id: Mapped[str] = mapped_column(index=True)
    revision: Mapped[int]
    body: Mapped[str]
    """Canonical JSON; text, because jsonb would not give the same bytes back."""
    frozen_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class FactSheetRow(Base):
    """The pack as far as it has come, for the facts card; replaced while sections finish."""

    __tablename__ = "fact_sheets"
    incident_id: Mapped[str] = mapped_column(ForeignKey("incidents.id"), primary_key=True)
    client_id: Mapped[str]
    body: Mapped[str]
    complete: Mapped[bool]
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class FindingRow(Base):
    """A finding. Never updated: a re-judgment is a new row."""

    __tablename__ = "findings"
    triage_id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    incident_id: Mapped[str]
    """What it is about: an incident, or an inquiry."""
    disposition: Mapped[str]
    trust_level: Mapped[str]
    verify_status: Mapped[str]
    confidence: Mapped[float | None]
    triage_groundedness: Mapped[float | None]
    blind: Mapped[bool] = mapped_column(server_default="false")
    """A backend did not answer its round; worth another look once it does."""
    body: Mapped[str]
    """Canonical JSON with the draft and the round, byte for byte."""
    created_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    __table_args__ = (Index("findings_by_incident", "client_id", "incident_id", "created_at"),)


class ReviewItemRow(Base):
    """Something a person has to look at; a family has one open item at most."""

    __tablename__ = "review_items"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str]
    family_key: Mapped[str]
    incident_id: Mapped[str] = mapped_column(ForeignKey("incidents.id"))
    triage_id: Mapped[str | None]
    reason: Mapped[str]
    seen: Mapped[int] = mapped_column(server_default="1")
    opened_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    closed_at: Mapped[datetime | None]
    closed_by: Mapped[str | None]
    __table_args__ = (
        Index(
            "one_open_review",
            "client_id",
            "family_key",
            unique=True,
            postgresql_where=text("closed_at is null"),
        ),
    )


class VerdictRow(Base):
    """What a person said of a finding; append-only, the newest of a finding counts."""

    __tablename__ = "verdicts"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str]
    family_key: Mapped[str]
    incident_id: Mapped[str] = mapped_column(ForeignKey("incidents.id"))
    triage_id: Mapped[str]
    verdict: Mapped[str]
    by: Mapped[str]
    model: Mapped[str] = mapped_column(index=True)
    said: Mapped[float | None]
    """The model's own number, before any map and cap."""
    shown: Mapped[float | None]
    names_cause: Mapped[bool]
    cause: Mapped[str | None]
    """What the person said it really was."""
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    __table_args__ = (Index("verdicts_by_family", "client_id", "family_key"),)


class StubRow(Base):
    """What was learned from an incident; its vectors stand in a table only pgvector can hold."""

    __tablename__ = "resolution_stubs"
    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    family_key: Mapped[str]
    state: Mapped[str]
    fixed_at: Mapped[datetime | None]
    body: Mapped[dict[str, Any]]
    """The whole stub as the engine has it."""
    made_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    __table_args__ = (Index("stubs_by_family", "client_id", "family_key"),)


class CorrectionRow(Base):
    """What a person said was really the cause; one stands per family, the others are history."""

    __tablename__ = "corrections"
    __table_args__ = (
        Index(
            "corrections_that_stand",
            "client_id",
            "family_key",
            "rule",
            unique=True,
            postgresql_where=text("ended_at is null"),
        ),
    )
    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str] = mapped_column(ForeignKey("clients.id"))
    family_key: Mapped[str]
    rule: Mapped[str]
    captured_at: Mapped[datetime]
    body: Mapped[str]
    ended_at: Mapped[datetime | None]
    """Superseded by a later one, or retired by a confirmation."""


class CallRow(Base):
    """A model call: written before it is sent, settled after."""

    __tablename__ = "llm_calls"
    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    triage_id: Mapped[str] = mapped_column(index=True)
    kind: Mapped[str]
    model: Mapped[str]
    state: Mapped[str]
    request: Mapped[str]
    reply: Mapped[str | None]
    error: Mapped[str | None]
    input_tokens: Mapped[int] = mapped_column(server_default="0")
    output_tokens: Mapped[int] = mapped_column(server_default="0")
    cache_creation_input_tokens: Mapped[int] = mapped_column(server_default="0")
    cache_read_input_tokens: Mapped[int] = mapped_column(server_default="0")
    cost_usd: Mapped[float | None]
    held_usd: Mapped[float] = mapped_column(server_default="0")
    """Estimate that counts against the day's budget while nobody knows what the call cost."""
    held_tokens: Mapped[int] = mapped_column(server_default="0")
    sent_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    settled_at: Mapped[datetime | None]
    __table_args__ = (Index("calls_by_day", "client_id", "sent_at"),)


class LookupRow(Base):
    """A tool's answer to a model: the digest it read, and all of it."""

    __tablename__ = "lookups"
    triage_id: Mapped[str] = mapped_column(ForeignKey("triage_runs.triage_id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    """Of its evidence id."""
    client_id: Mapped[str]
    entry: Mapped[str]
    """Canonical JSON, byte for byte."""
    whole: Mapped[str]
    """The backend's answer as JSON, secrets taken out."""
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class OutageRow(Base):
    """An outage of a model provider; every process asks here whether it may be asked."""

    __tablename__ = "model_outages"
    id: Mapped[str] = mapped_column(primary_key=True)
    provider: Mapped[str]
    kind: Mapped[str]
    detail: Mapped[str]
    refusals: Mapped[int] = mapped_column(server_default="0")
    shut: Mapped[bool] = mapped_column(server_default="false")
    opened_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    retry_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    trial_until: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    __table_args__ = (
        Index("one_outage", "provider", unique=True, postgresql_where=text("closed_at is null")),
    )


class ChartRow(Base):
    """What an incident's chart shows."""

    __tablename__ = "charts"
    incident_id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    body: Mapped[str]
    """Canonical JSON."""
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class CardRow(Base):
    """The one live card of a subject in a room: what was wished for and what was sent."""

    __tablename__ = "cards"
    id: Mapped[str] = mapped_column(primary_key=True)
    """Also the nonce in the message's metadata, by which a lost post is adopted."""
    client_id: Mapped[str]
    subject_kind: Mapped[str]
    """incident, first_contact, storm or notice."""
    subject_id: Mapped[str]
    room_id: Mapped[str] = mapped_column(ForeignKey("rooms.id"))
    wanted: Mapped[int] = mapped_column(server_default="1")
    """Revision asked for; every wish adds one."""
    sent: Mapped[int] = mapped_column(server_default="0")
    """Revision last shown; never decreases."""
    sent_hash: Mapped[str | None]
    message_ref: Mapped[str | None]
    """The platform's message id; null until the first post was confirmed."""
    claim: Mapped[int] = mapped_column(server_default="0")
    """Grows with every claim by an outbox; an older claim may not settle."""
    posting_since: Mapped[datetime | None]
    """A post was started and its end is not known yet."""
    posted_at: Mapped[datetime | None]
    wished_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    due_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    attempts: Mapped[int] = mapped_column(server_default="0")
    plain: Mapped[bool] = mapped_column(server_default="false")
    """The chat refused the rich card; plain text from now on."""
    dead_reason: Mapped[str | None]
    reason: Mapped[str]
    reply_ref: Mapped[str | None]
    """The message it answers; it is posted below that one."""
    digest_id: Mapped[str | None]
    """The storm digest's card that stands for this one, while it has no message of its own."""
    __table_args__ = (
        UniqueConstraint("client_id", "subject_kind", "subject_id", "room_id", name="one_card"),
        Index(
            "cards_due", "due_at", postgresql_where=text("wanted > sent and dead_reason is null")
        ),
    )


class MessageRow(Base):
    """A message beside the card (thread or reply): posted once, edited when its words change."""

    __tablename__ = "messages"
    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    card_id: Mapped[str] = mapped_column(ForeignKey("cards.id"))
    kind: Mapped[str]
    """finding, evidence or chart."""
    dedup_key: Mapped[str]
    audible: Mapped[bool] = mapped_column(server_default="false")
    wanted: Mapped[int] = mapped_column(server_default="1")
    sent: Mapped[int] = mapped_column(server_default="0")
    sent_hash: Mapped[str | None]
    message_ref: Mapped[str | None]
    claim: Mapped[int] = mapped_column(server_default="0")
    posting_since: Mapped[datetime | None]
    due_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    attempts: Mapped[int] = mapped_column(server_default="0")
    dead_reason: Mapped[str | None]
    __table_args__ = (
        UniqueConstraint("card_id", "kind", "dedup_key", name="one_message"),
        Index(
            "messages_due", "due_at", postgresql_where=text("wanted > sent and dead_reason is null")
        ),
    )


class ButtonRow(Base):
    """What a button's random token stands for."""

    __tablename__ = "buttons"
    token: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    card_id: Mapped[str] = mapped_column(ForeignKey("cards.id"), index=True)
    action: Mapped[str]
    subject_id: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    __table_args__ = (UniqueConstraint("card_id", "action", "subject_id", name="one_button"),)


class ArrivalRow(Base):
    """What a chat delivered, by its own key; a second delivery of it changes nothing."""

    __tablename__ = "arrivals"
    platform: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW, index=True)


class PromptRow(Base):
    """A question the bot put to one account, whose answer is still to come."""

    __tablename__ = "prompts"
    id: Mapped[str] = mapped_column(primary_key=True)
    """Random; stands in the form or on its buttons."""
    client_id: Mapped[str]
    card_id: Mapped[str] = mapped_column(ForeignKey("cards.id"))
    account: Mapped[str]
    """`platform:account` of the only one who may answer."""
    action: Mapped[str]
    incident_id: Mapped[str]
    subject_id: Mapped[str]
    asks: Mapped[str]
    """The field whose choices are listed, or that a reply fills."""
    choices: Mapped[list[str]] = mapped_column(server_default="{}")
    """What may be chosen, in the order shown."""
    draft: Mapped[dict[str, Any]] = mapped_column(server_default="{}")
    """What was shown as filled in, by field: kept as shown unless the answer says otherwise."""
    message_ref: Mapped[str | None]
    """The message a reply to which is the answer."""
    expires_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]
    __table_args__ = (Index("prompts_by_message", "account", "message_ref"),)


class InquiryRow(Base):
    """A question a person asked in a room."""

    __tablename__ = "inquiries"
    id: Mapped[str] = mapped_column(primary_key=True)
    client_id: Mapped[str]
    room_id: Mapped[str] = mapped_column(ForeignKey("rooms.id"))
    account: Mapped[str]
    state: Mapped[str]
    asked_at: Mapped[datetime]
    body: Mapped[dict[str, Any]]
    """The whole inquiry as the engine has it."""
    __table_args__ = (Index("inquiries_by_account", "account", "asked_at"),)


class MuteRow(Base):
    """A family that may not ring for a while."""

    __tablename__ = "mutes"
    client_id: Mapped[str] = mapped_column(primary_key=True)
    family_key: Mapped[str] = mapped_column(primary_key=True)
    until: Mapped[datetime]
    by: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class PageDecisionRow(Base):
    """Who was paged for an incident, or why nobody was; what its card says of it."""

    __tablename__ = "page_decisions"
    incident_id: Mapped[str] = mapped_column(ForeignKey("incidents.id"), primary_key=True)
    client_id: Mapped[str]
    reason: Mapped[str | None]
    """Why nobody was paged; null when somebody was."""
    route: Mapped[str] = mapped_column(server_default="")
    mentions: Mapped[list[str]] = mapped_column(server_default="{}")
    """Accounts named on the card, `platform:account`."""
    pagers: Mapped[list[str]] = mapped_column(server_default="{}")
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class PageRow(Base):
    """One thing a pager is told of one incident; told in their order, at least once."""

    __tablename__ = "pages"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str]
    incident_id: Mapped[str] = mapped_column(ForeignKey("incidents.id"))
    pager: Mapped[str]
    action: Mapped[str]
    """trigger, acknowledge or resolve."""
    state: Mapped[str] = mapped_column(server_default="waiting")
    """waiting, sent or dead."""
    body: Mapped[dict[str, Any]]
    """What it says, as it stood when it was decided."""
    attempts: Mapped[int] = mapped_column(server_default="0")
    error: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    due_at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    sent_at: Mapped[datetime | None]
    __table_args__ = (
        Index("pages_due", "due_at", postgresql_where=text("state = 'waiting'")),
        Index("pages_by_incident", "incident_id", "pager", "id"),
    )


class DeadLetterRow(Base):
    """Something given up, with the reason; every accepted alert ends on a card or here."""

    __tablename__ = "dead_letters"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str]
    kind: Mapped[str]
    """triage, facts, card, message, page."""
    subject_id: Mapped[str]
    reason: Mapped[str]
    error: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    resumed_at: Mapped[datetime | None]


class SessionEventRow(Base):
    """One step of a triage as it happened; feeds audit, stream, metrics and replay."""

    __tablename__ = "session_events"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str]
    triage_id: Mapped[str] = mapped_column(index=True)
    kind: Mapped[str]
    facts: Mapped[dict[str, Any]]
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)


class AuditRow(Base):
    """Who changed what. Append-only; each row's mark covers the one before it."""

    __tablename__ = "audit"
    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    client_id: Mapped[str | None]
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
    actor: Mapped[str]
    action: Mapped[str]
    facts: Mapped[dict[str, Any]]
    mark: Mapped[str]
    """Keyed hash over this row and the mark before it."""


class SettingRow(Base):
    """A small durable fact of the install: keys, notices sent, sweeps run."""

    __tablename__ = "settings"
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[dict[str, Any]]
    at: Mapped[datetime] = mapped_column(server_default=DB_NOW)
