"""Makes the database hold what the configuration declares."""

import logging
from collections.abc import Mapping

from bot.config import ClientSettings, Settings
from engine.model.org import Room
from storage.store import SqlStore, SqlTx

log = logging.getLogger(__name__)

WEBHOOK_KINDS = ("alertmanager", "changes")
"""Kinds of source that a client's one webhook token opens."""


def source_id(client_id: str, kind: str) -> str:
    """The id of a declared source."""
    return f"{client_id}:{kind}"


async def declare(
    store: SqlStore, settings: Settings, rooms: Mapping[str, list[Room]] | None = None
) -> None:
    """Write everything declared; what is not declared keeps the value it has.

    Args:
        store: the database.
        settings: the configuration.
        rooms: rooms by client, instead of the configured ones.
    """
    async with store.begin() as tx:
        for client_id, own in settings.by_client.items():
            await tx.org.declare_client(client_id, own.flags)
            declared = [line.room(client_id) for line in own.rooms]
            await tx.org.declare_rooms(client_id, (rooms or {}).get(client_id, declared))
            await _sources(tx, client_id, own)
        for team_id, team in settings.teams.items():
            await tx.org.declare_team(team_id, team.clients)


async def retire(store: SqlStore, settings: Settings) -> None:
    """Let nobody in any more with a token of a client that left the configuration."""
    async with store.begin() as tx:
        taken = await tx.sources.retire(settings.by_client)
        for source in taken:
            log.warning("%s: its client is no longer configured; its token opens nothing", source)
            await tx.audit.append(None, "config", "sender token revoked", {"source": source})


async def _sources(tx: SqlTx, client_id: str, own: ClientSettings) -> None:
    token = own.webhook_token.get_secret_value() if own.webhook_token else None
    for kind in WEBHOOK_KINDS:
        await tx.sources.declare(
            source_id(client_id, kind), client_id, kind=kind, name=kind, token=token
        )
