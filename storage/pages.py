"""Pages: decided in the transaction of their incident, told to pagers after it."""

from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.model.base import Frozen
from engine.model.incident import Incident
from engine.model.org import Platform
from engine.model.page import Mentioned, NoPage, PageAction, Paged, PageRecord, PageText

CHANNEL = "caveat_pages"
"""Told whenever a pager is to be told something."""
CLAIM_S = 60
"""How long a sender may hold a page; past it another one may send it again."""
LATE_TRIES = 4
"""Tries from which on a card says that a page was not delivered: some 15 seconds."""

_DECIDED = text("""
    insert into page_decisions (incident_id, client_id, route, mentions, pagers)
    values (:incident_id, :client_id, :route, :mentions, :pagers)
    on conflict (incident_id) do update set
        reason = null, route = excluded.route, mentions = excluded.mentions,
        pagers = excluded.pagers, at = clock_timestamp()
""")
_SPARED = text("""
    insert into page_decisions (incident_id, client_id, reason)
    values (:incident_id, :client_id, :reason)
    on conflict (incident_id) do update set reason = excluded.reason
    where page_decisions.reason is not null
""")
_TRIGGER = text("""
    insert into pages (client_id, incident_id, pager, action, body)
    select :client_id, :incident_id, pager, 'trigger', cast(:body as jsonb)
    from unnest(cast(:pagers as text[])) as pager
""")
_FOLLOW = text("""
    with recursive held as (
        select id from incidents where id = any(:incident_ids)
        union select incidents.id from incidents join held on merged_into = held.id)
    insert into pages (client_id, incident_id, pager, action, body)
    select client_id, incident_id, pager, :action, body
    from (select distinct on (incident_id, pager) * from pages
          where incident_id in (select id from held) order by incident_id, pager, id desc) as newest
    where newest.action <> 'resolve' and newest.action <> :action
    order by incident_id, pager
    returning id
""")
_CLAIM = text("""
    update pages set attempts = attempts + 1,
        due_at = clock_timestamp() + make_interval(secs => :hold_s)
    where id in (
        select id from pages as one
        where state = 'waiting' and due_at <= clock_timestamp() and not exists (
            select 1 from pages as earlier
            where earlier.incident_id = one.incident_id and earlier.pager = one.pager
              and earlier.state = 'waiting' and earlier.id < one.id)
        order by id limit :limit for update skip locked)
    returning id, client_id, incident_id, pager, action, body, attempts
""")
_SENT = text("""
    update pages set state = 'sent', sent_at = clock_timestamp(), error = null
    where id = :id and attempts = :attempts
""")
_LATER = text("""
    update pages set error = :error, due_at = clock_timestamp() + make_interval(secs => :delay_s)
    where id = :id and attempts = :attempts and state = 'waiting'
""")
_DEAD = text("""
    update pages set state = 'dead', error = :error
    where id = :id and attempts = :attempts and state = 'waiting' returning id
""")
_LETTER = text("""
    insert into dead_letters (client_id, kind, subject_id, reason, error)
    values (:client_id, 'page', :incident_id, 'delivery_failed', :error)
""")
_RECORD = text("""
    select reason, route, mentions, pagers, array(
        select pager from (
            select distinct on (pager) pager, state, attempts from pages
            where pages.incident_id = page_decisions.incident_id and action = 'trigger'
            order by pager, id desc) as newest
        where state = 'dead' or (state = 'waiting' and attempts >= :late) order by pager
    ) as failed
    from page_decisions where incident_id = :incident_id
""")
_NOTIFY = text(f"select pg_notify('{CHANNEL}', '')")


class PageTask(Frozen):
    """Something a pager is to be told."""

    id: int
    client_id: str
    incident_id: str
    pager: str
    action: PageAction
    body: PageText
    attempts: int
    """This one included."""

    @property
    def dedup_key(self) -> str:
        """One for everything a pager is ever told of an incident."""
        return f"caveat-{self.incident_id}"


def text_of(incident: Incident) -> PageText:
    """What a page says of an incident."""
    alert = incident.lead.alert
    return PageText(
        number=incident.number,
        severity=incident.severity,
        rule=alert.rule,
        summary=alert.annotations.get("summary", ""),
        labels=alert.labels,
    )


class PageRows:
    """Pages of every client."""

    def __init__(self, session: AsyncSession) -> None:
        """Speak through an open session."""
        self._session = session

    async def page(self, incident: Incident, paged: Paged) -> None:
        """Have a route's pagers called, and its people named on the card."""
        whose = {"client_id": incident.client_id, "incident_id": incident.id}
        route = paged.route
        mentions = [f"{one.platform.value}:{one.account}" for one in route.mentions]
        called = {"route": route.name, "mentions": mentions, "pagers": list(route.pagers)}
        await self._session.execute(_DECIDED, whose | called)
        if route.pagers:
            body = text_of(incident).model_dump_json()
            values = whose | {"pagers": list(route.pagers), "body": body}
            await self._session.execute(_TRIGGER, values)
            await self._session.execute(_NOTIFY)

    async def spared(self, incident: Incident, reason: NoPage) -> None:
        """Remember why nobody was paged, unless somebody was before."""
        values = {
            "incident_id": incident.id,
            "client_id": incident.client_id,
            "reason": reason.value,
        }
        await self._session.execute(_SPARED, values)

    async def acknowledge(self, incident_id: str) -> None:
        """Have every pager that was called told that somebody works on it."""
        await self._follow(PageAction.ACKNOWLEDGE, [incident_id])

    async def resolve(self, incident_ids: Sequence[str]) -> None:
        """Have every pager that was called told that it is over."""
        await self._follow(PageAction.RESOLVE, incident_ids)

    async def _follow(self, action: PageAction, incident_ids: Sequence[str]) -> None:
        if not incident_ids:
            return
        values = {"action": action.value, "incident_ids": list(incident_ids)}
        if (await self._session.execute(_FOLLOW, values)).all():
            await self._session.execute(_NOTIFY)

    async def claim(self, limit: int) -> list[PageTask]:
        """Take what is due; of one incident a pager is told one thing after the other."""
        rows = await self._session.execute(_CLAIM, {"limit": limit, "hold_s": CLAIM_S})
        return [PageTask.model_validate(row._asdict()) for row in rows]

    async def sent(self, task: PageTask) -> None:
        """Record that the pager took it."""
        await self._session.execute(_SENT, {"id": task.id, "attempts": task.attempts})

    async def later(self, task: PageTask, delay_s: float, error: str) -> None:
        """Try again after `delay_s`."""
        values = {"id": task.id, "attempts": task.attempts, "error": error, "delay_s": delay_s}
        await self._session.execute(_LATER, values)

    async def dead(self, task: PageTask, error: str) -> bool:
        """Give it up, with a dead letter; False when another sender has it."""
        values = {"id": task.id, "attempts": task.attempts, "error": error}
        if not (await self._session.execute(_DEAD, values)).all():
            return False
        letter = task.model_dump(include={"client_id", "incident_id"}) | {"error": error}
        await self._session.execute(_LETTER, letter)
        return True

    async def record(self, incident_id: str) -> PageRecord | None:
        """What is known of the paging of an incident; None when nothing was decided."""
        values = {"incident_id": incident_id, "late": LATE_TRIES}
        row = (await self._session.execute(_RECORD, values)).one_or_none()
        if row is None:
            return None
        named = [one.partition(":") for one in row.mentions]
        return PageRecord(
            route=row.route,
            mentions=tuple(Mentioned(platform=Platform(p), account=a) for p, _, a in named),
            pagers=tuple(row.pagers),
            reason=row.reason,
            failed=tuple(row.failed),
        )
