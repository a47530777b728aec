"""Questions put to one account, waiting for its answer."""

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.action import Action
from engine.model.desk import FieldName

TTL_S = 900.0
"""How long an answer is waited for."""
_ADD = text("""
    insert into prompts (
        id, client_id, card_id, account, action, incident_id, subject_id, asks, choices, draft,
        expires_at
    )
    values (:id, :client_id, :card_id, :account, :action, :incident_id, :subject_id, :asks,
            :choices, cast(:draft as jsonb), clock_timestamp() + make_interval(secs => :ttl_s))
""")
_READ = """
    select id, client_id, card_id, account, action, incident_id, subject_id, asks, choices,
        draft, message_ref
    from prompts where answered_at is null and expires_at > clock_timestamp()
"""
_BY_ID = text(f"{_READ} and id = :id")
_BY_MESSAGE = text(
    f"{_READ} and account = :account and message_ref = :message_ref"
    " order by expires_at desc limit 1"
)
_AT_MESSAGE = text("""
    select id from prompts where message_ref = :message_ref order by expires_at desc limit 1
""")
_PLACED = text("update prompts set message_ref = :message_ref where id = :id")
_ANSWERED = text("""
    update prompts set answered_at = clock_timestamp()
    where id = :id and answered_at is null returning id
""")


class Prompt(NamedTuple):
    """What was asked, and of whom."""

    id: str
    client_id: str
    card_id: str
    account: str
    action: Action
    incident_id: str
    subject_id: str
    asks: str
    choices: tuple[str, ...]
    draft: Mapping[FieldName, str]
    message_ref: str | None


class PromptRows:
    """Prompts by their random id, or by the message a reply to which answers them."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def add(
        self,
        *,
        client_id: str,
        card_id: str,
        account: str,
        action: Action,
        incident_id: str,
        subject_id: str,
        asks: str,
        choices: Sequence[str] = (),
        draft: Mapping[FieldName, str] | None = None,
        ttl_s: float = TTL_S,
    ) -> str:
        """Keep a question; gives its id."""
        prompt_id = secrets.token_urlsafe(16)
        values = {
            "id": prompt_id,
            "client_id": client_id,
            "card_id": card_id,
            "account": account,
            "action": action.value,
            "incident_id": incident_id,
            "subject_id": subject_id,
            "asks": asks,
            "choices": list(choices),
            "draft": json.dumps(draft or {}),
            "ttl_s": ttl_s,
        }
        await self._session.execute(_ADD, values)
        return prompt_id

    async def placed(self, prompt_id: str, message_ref: str) -> None:
        """Remember the message that asks."""
        await self._session.execute(_PLACED, {"id": prompt_id, "message_ref": message_ref})

    async def waiting(self, prompt_id: str) -> Prompt | None:
        """A question that still waits."""
        return await self._one(_BY_ID, id=prompt_id)

    async def of_message(self, account: str, message_ref: str) -> Prompt | None:
        """The question an account answers by a reply to this message."""
        return await self._one(_BY_MESSAGE, account=account, message_ref=message_ref)

    async def at_message(self, message_ref: str) -> str | None:
        """The question that was put there, whoever's, and whether or not it still waits."""
        found = await self._session.execute(_AT_MESSAGE, {"message_ref": message_ref})
        return found.scalar_one_or_none()

    async def answered(self, prompt_id: str) -> bool:
        """Use a question up; False when it was."""
        done = await self._session.execute(_ANSWERED, {"id": prompt_id})
        return done.scalar_one_or_none() is not None

    async def _one(self, asked: object, **values: str) -> Prompt | None:
        row = (await self._session.execute(asked, values)).one_or_none()  # type: ignore[call-overload]
        if row is None:
            return None
        return Prompt(
            id=row.id,
            client_id=row.client_id,
            card_id=row.card_id,
            account=row.account,
            action=Action(row.action),
            incident_id=row.incident_id,
            subject_id=row.subject_id,
            asks=row.asks,
            choices=tuple(row.choices),
            draft={FieldName(name): said for name, said in row.draft.items()},
            message_ref=row.message_ref,
        )
