"""The door every alert and change comes through: webhook, poll and replay alike."""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.sources.source import Refused, UnreadableError
from bot.sources.table import CHANGE_SOURCES, SOURCES
from bot.telemetry import Telemetry, count_pages
from engine.intake import Filed, Rules, file
from engine.model.alert import Alert
from engine.model.base import Frozen
from engine.model.standing import SourceState
from engine.ports import Clock, NewId
from engine.reconcile import reconciled
from engine.redact import Redactor
from storage.sources import token_hash
from storage.store import SqlStore, SqlTx

log = logging.getLogger(__name__)

BIG_BODY = 200_000
"""Bytes past which a body is parsed off the event loop."""


class UnknownSenderError(Exception):
    """No source holds this token."""


class Receipt(Frozen):
    """What the sender is told: everything it sent is in one of these numbers."""

    accepted: int
    quarantined: int


@dataclass(frozen=True)
class Door:
    """Takes what senders say, keeps it, and draws every consequence in one transaction."""

    store: SqlStore
    clock: Clock
    new_id: NewId
    redactor: Redactor
    telemetry: Telemetry
    rules: Callable[[str], Rules]
    """Rules of a client, with what is known of its alerting rules now."""
    opened: Callable[[Filed], None] = field(default=lambda _: None)

    async def sender(self, kind: str, token: str | None) -> SourceState:
        """Find whose token it is.

        Raises:
            UnknownSenderError: nobody's.
        """
        async with self.store.begin() as tx:
            source = await tx.sources.by_token_hash(kind, token_hash(token or ""))
        if source is None or not token:
            self._received(kind, "unknown", "unauthorised")
            raise UnknownSenderError
        return source

    async def take(self, kind: str, source_id: str, body: bytes) -> Receipt:
        """Take one body from a known sender.

        Raises:
            UnreadableError: nothing of it can be used; it is kept in quarantine.
            StoreUnavailableError: nothing was kept; the sender must come again.
        """
        received_at = self.clock.now()
        try:
            if kind in CHANGE_SOURCES:
                return await self._changes(kind, source_id, body, received_at)
            return await self._alerts(kind, source_id, body, received_at)
        except UnreadableError as error:
            self._received(kind, "unknown", "malformed")
            await self.set_aside(source_id, error.reason, body)
            raise

    async def _alerts(
        self, kind: str, source_id: str, body: bytes, received_at: datetime
    ) -> Receipt:
        source = await self._source(source_id)
        form = SOURCES[kind].named(source.name)
        if len(body) > BIG_BODY:
            parsed = await asyncio.to_thread(form.parse, body, received_at)
        else:
            parsed = form.parse(body, received_at)
        for note in parsed.notes:
            log.info("%s: %s", source.name, note)
        async with self.store.begin() as tx:
            await self._keep_refused(tx, source, parsed.refused)
            filed = await self._file(
                tx,
                source,
                parsed.alerts,
                sender_group=parsed.sender_group,
                truncated=parsed.truncated,
            )
        self._count(kind, filed, len(parsed.refused))
        return Receipt(accepted=len(parsed.alerts), quarantined=len(parsed.refused))

    async def _changes(
        self, kind: str, source_id: str, body: bytes, received_at: datetime
    ) -> Receipt:
        source = await self._source(source_id)
        parsed = CHANGE_SOURCES[kind].named(source.name).parse(body, received_at)
        async with self.store.begin() as tx:
            await self._keep_refused(tx, source, parsed.refused)
            client = await tx.org.client(source.client_id)
            for change in parsed.changes:
                marked = change.model_copy(update={"drill": client.is_drill})
                await tx.changes.add(source.client_id, marked)
            await tx.sources.seen(source.id, await tx.now(), polled=False)
        self._received(kind, "unknown", "accepted", len(parsed.changes))
        self._received(kind, "unknown", "malformed", len(parsed.refused))
        return Receipt(accepted=len(parsed.changes), quarantined=len(parsed.refused))

    async def polled(
        self, source_id: str, firing: Sequence[Alert], *, reachable_s: float, grace_s: float
    ) -> Filed:
        """Take what a source says fires now; what is missing from it has resolved.

        Args:
            source_id: the source that was asked.
            firing: what it said.
            reachable_s: how long it has answered every time.
            grace_s: how long an alert must be missing.
        """
        source = await self._source(source_id)
        # Masked first: what is held was, and a fingerprint follows from the labels.
        firing = [self._redacted(alert) for alert in firing]
        async with self.store.begin() as tx:
            now = await tx.now()
            unseen = await tx.events.unseen(
                source.client_id, source.name, now - timedelta(seconds=grace_s)
            )
            alerts = reconciled(
                firing, unseen, now, complete=True, reachable_s=reachable_s, grace_s=grace_s
            )
            filed = await self._file(tx, source, alerts, polled=True)
        self._count(source.kind, filed, 0)
        return filed

    async def _file(
        self,
        tx: SqlTx,
        source: SourceState,
        alerts: Sequence[Alert],
        *,
        polled: bool = False,
        sender_group: str | None = None,
        truncated: int = 0,
    ) -> Filed:
        client = await tx.org.client(source.client_id)
        return await file(
            tx,
            client,
            source,
            [self._redacted(alert) for alert in alerts],
            now=await tx.now(),
            new_id=self.new_id,
            rules=self.rules(client.id),
            polled=polled,
            sender_group=sender_group,
            truncated=truncated,
        )

    def _redacted(self, alert: Alert) -> Alert:
        masked = {
            "labels": self.redactor.mapping(alert.labels),
            "annotations": self.redactor.mapping(alert.annotations),
        }
        same = masked["labels"] == alert.labels and masked["annotations"] == alert.annotations
        return alert if same else Alert.model_validate({**alert.model_dump(), **masked})

    async def _source(self, source_id: str) -> SourceState:
        async with self.store.begin() as tx:
            source = await tx.sources.get(source_id)
        if source is None:
            raise UnknownSenderError
        return source

    async def _keep_refused(
        self, tx: SqlTx, source: SourceState, refused: Sequence[Refused]
    ) -> None:
        now = await tx.now()
        for one in refused:
            log.warning("%s: an alert could not be read: %s", source.name, one.reason)
            text = self._masked_text(one.text)
            await tx.quarantine.add(source.client_id, source.kind, one.reason, text, now)

    async def set_aside(self, source_id: str, reason: str, body: bytes) -> None:
        """Keep a body that could not be filed, masked, in quarantine."""
        source = await self._source(source_id)
        log.warning("%s: a body could not be read: %s", source.name, reason)
        text = self._masked_text(body.decode("utf-8", "replace"))
        async with self.store.begin() as tx:
            now = await tx.now()
            await tx.quarantine.add(source.client_id, source.kind, reason, text, now)

    def _masked_text(self, text: str) -> str:
        try:
            document = json.loads(text)
        except ValueError:
            return self.redactor.text(text)
        return json.dumps(self._masked(document), ensure_ascii=False)

    def _masked(self, value: object) -> object:
        if isinstance(value, Mapping):
            flat = {str(k): v for k, v in value.items() if isinstance(v, str)}
            hidden = self.redactor.mapping(flat)
            return {k: hidden.get(str(k), self._masked(v)) for k, v in value.items()}
        if isinstance(value, list):
            return [self._masked(one) for one in value]
        return self.redactor.text(value) if isinstance(value, str) else value

    def _received(self, kind: str, status: str, result: str, amount: float = 1) -> None:
        self.telemetry.count(
            "alerts_received_total", amount, source=kind, status=status, result=result
        )

    def _count(self, kind: str, filed: Filed, refused: int) -> None:
        for status, count in filed.accepted.items():
            self._received(kind, status.value, "accepted", count)
        for status, count in filed.duplicate.items():
            self._received(kind, status.value, "duplicate", count)
        self._received(kind, "unknown", "malformed", refused)
        telemetry = self.telemetry
        telemetry.count("incident_grouping_total", len(filed.opened), result="new")
        telemetry.count("incident_grouping_total", filed.joined, result="joined")
        for trigger, count in filed.attached.items():
            telemetry.count("occurrences_attached_total", count, trigger=trigger.value)
        telemetry.count("recurrence_total", filed.chronic, kind="chronic")
        telemetry.count("recurrence_total", filed.regressions, kind="regression")
        count_pages(telemetry, filed.pages)
        self.opened(filed)
