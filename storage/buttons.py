"""What the random tokens on buttons stand for."""

import json
import secrets
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.action import Action
from engine.model.org import Room
from storage.org import OrgRows

TOKEN_BYTES = 16
"""22 characters: no chat's limit is near."""
_MAKE = text("""
    insert into buttons (token, client_id, card_id, action, subject_id)
    select token, :client_id, :card_id, action, subject_id
    from json_to_recordset(cast(:rows as json)) as b (token text, action text, subject_id text)
    on conflict on constraint one_button do nothing
""")
_OF_CARD = text("select token, action, subject_id from buttons where card_id = :card_id")
_MEANT = text("""
    select b.client_id, b.card_id, b.action, b.subject_id, c.subject_kind,
           c.subject_id as card_subject, c.room_id, c.message_ref
    from buttons b join cards c on c.id = b.card_id where b.token = :token
""")
Named = tuple[str, str]
"""Action and subject."""


class Meant(NamedTuple):
    """What a token stands for."""

    client_id: str
    card_id: str
    action: Action
    subject_id: str
    """The finding or incident it acts on; empty: the card's own incident."""
    card_kind: str
    card_subject: str
    room: Room
    message_ref: str | None


class ButtonRows:
    """Tokens; the same button of a card keeps the one it was given first."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def tokens(
        self, client_id: str, card_id: str, named: Iterable[Named]
    ) -> Mapping[Named, str]:
        """The tokens of a card's buttons, made where there is none yet."""
        wanted = sorted(set(named))
        known = await self._known(card_id)
        missing = [
            {"token": secrets.token_urlsafe(TOKEN_BYTES), "action": a, "subject_id": s}
            for a, s in wanted
            if (a, s) not in known
        ]
        if missing:
            asked = {"client_id": client_id, "card_id": card_id, "rows": json.dumps(missing)}
            await self._session.execute(_MAKE, asked)
            known = await self._known(card_id)
        return {one: known[one] for one in wanted}

    async def _known(self, card_id: str) -> dict[Named, str]:
        rows = await self._session.execute(_OF_CARD, {"card_id": card_id})
        return {(row.action, row.subject_id): row.token for row in rows}

    async def meant(self, token: str) -> Meant | None:
        """What a token stands for; None for one we never gave."""
        row = (await self._session.execute(_MEANT, {"token": token})).one_or_none()
        if row is None or row.action not in set(Action):
            return None
        room = await OrgRows(self._session).room(row.room_id)
        assert room is not None, "a card's room is a foreign key"
        return Meant(
            client_id=row.client_id,
            card_id=row.card_id,
            action=Action(row.action),
            subject_id=row.subject_id,
            card_kind=row.subject_kind,
            card_subject=row.card_subject,
            room=room,
            message_ref=row.message_ref,
        )
