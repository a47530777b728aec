"""A model whose refusals are remembered: one notice an outage, and nobody asks in vain."""

import logging
from collections.abc import Coroutine
from dataclasses import dataclass

from bot.telemetry import Telemetry
from cards.notice import Notice
from engine.errors import (
    EngineError,
    OperatorActionRequiredError,
    StoreUnavailableError,
    TerminalError,
)
from engine.model.base import digest
from engine.model.llm import Capabilities, ModelReply, ModelRequest
from engine.model.org import Room
from engine.model.outage import Outage, OutageKind
from engine.model.policy import TriageRule
from engine.ports import LLM, NewId
from engine.routing import route
from engine.stages.recovery import resume
from storage.store import SqlStore, SqlTx

log = logging.getLogger(__name__)
MOST_DETAIL = 300
NEVER = 1_000_000


def provider_id(base_url: str | None, key: str) -> str:
    """What a provider is known by: its address and our key there."""
    return digest(f"provider {base_url or ''} {key}", 32)


@dataclass(frozen=True)
class WatchedModel:
    """A model between its provider and whoever asks."""

    model: LLM
    provider: str
    store: SqlStore
    rule: TriageRule
    new_id: NewId
    telemetry: Telemetry

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return self.model.capabilities

    async def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Send one request, once, and remember how the provider took it.

        Raises:
            EngineError: whatever the provider did.
        """
        try:
            reply = await self.model.complete(request, timeout_s)
        except EngineError as error:
            await self._remembered(self._refused(error))
            raise
        await self._remembered(self._answered())
        return reply

    async def _remembered(self, work: Coroutine[None, None, None]) -> None:
        """Remember, or leave it: no reply that was paid for is lost over this."""
        try:
            await work
        except StoreUnavailableError:
            log.warning("how the model provider took a call could not be remembered")

    async def _refused(self, error: EngineError) -> None:
        kind = outage_kind(error)
        if kind is None:
            return
        async with self.store.begin() as tx:
            outage = await tx.outages.refused(
                self.provider,
                kind,
                error.detail[:MOST_DETAIL],
                new_id=self.new_id(),
                shut_at=self._shut_at(kind),
                wait_s=self.rule.breaker_wait_s,
            )
            await tell(tx, outage)
        log.error("the model provider refuses us (%s): %s", kind, error.detail)

    def _shut_at(self, kind: OutageKind) -> int:
        """How many refusals open the breaker."""
        match kind:
            case OutageKind.NEEDS_PERSON:
                return 1
            case OutageKind.KEY_REFUSED:
                return self.rule.breaker_refusals
            case OutageKind.NO_MODEL_THERE:
                # It passes by itself, and the queue tries again.
                return NEVER

    async def _answered(self) -> None:
        async with self.store.begin() as tx:
            outage = await tx.outages.answered(self.provider)
            if outage is None:
                return
            await tell(tx, outage)
            taken_up, resumed = await resume(tx, outage, self.rule)
        self.telemetry.count("incident_retriage_total", resumed, reason="deadletter_resumed")
        log.warning("the model provider answers again; %d incidents are taken up", taken_up)


def outage_kind(error: EngineError) -> OutageKind | None:
    """What a person has to put right; None when it is nothing of that."""
    if isinstance(error, OperatorActionRequiredError):
        return OutageKind.NEEDS_PERSON
    if not error.tells:
        return None
    refused = isinstance(error, TerminalError)
    return OutageKind.KEY_REFUSED if refused else OutageKind.NO_MODEL_THERE


async def tell(tx: SqlTx, outage: Outage) -> None:
    """Show an outage as it is now, once in every chat; told again it is edited in place."""
    rooms: dict[tuple[str, str, int | None], tuple[str, Room]] = {}
    for client in await tx.org.clients():
        known = await tx.org.reachable(client.id)
        for room in route(known, {}) or known[:1]:
            rooms.setdefault((room.platform.value, room.chat, room.topic), (client.id, room))
    for client_id, room in rooms.values():
        await tx.cards.wish_notice(client_id, f"{Notice.MODEL_NEEDS_PERSON}:{outage.id}", room)
