"""The API for reading over the real application and the real database."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from engine.model.alert import AlertClass
from engine.model.pack import Item, Pack
from engine.model.token import Scope, TokenKind
from storage.store import SqlStore, open_store
from storage.tables import AlertEventRow, AlertGroupRow, IncidentRow, MemberRow
from tests.bot.http.test_webhooks import client_of
from tests.engine.judged import ALERT, DEPLOY, FIRED, OWN, POOL, pack

ACME, BOLT, EVERY, WRITER = "acme-secret-1", "bolt-secret-1", "every-secret-1", "writer-secret-1"
NOBODYS = b'{"error":"no such alert group"}'
ODD = Item(id="M9", text="ü \u2028 <b> & 'quoted' \\u0000")


@pytest.fixture
async def http(store: SqlStore) -> AsyncIterator[httpx.AsyncClient]:
    held: list[tuple[str, str | None, Scope]] = [
        (ACME, "acme", Scope.READ),
        (BOLT, "bolt", Scope.READ),
        (EVERY, None, Scope.READ),
        (WRITER, "acme", Scope.ADMIN),
    ]
    async with store.begin() as tx:
        for client in ("acme", "bolt"):
            await tx.org.declare_client(client, {})
        for secret, only, scope in held:
            await tx.tokens.add(
                secret, name=secret, kind=TokenKind.SERVICE, scopes=[scope], client_id=only,
                days=1, by="cli",
            )  # fmt: skip
    async with client_of(store) as opened:
        yield opened


async def hold(
    store: SqlStore, incident_id: str, group_id: str, *, client: str = "acme", **changes: Any
) -> None:
    """An incident that holds one alert of a group."""
    async with store.begin() as tx:
        number = (await tx.session.execute(text("select count(*) from incidents"))).scalar_one()
        if await tx.session.get(AlertGroupRow, group_id) is None:
            tx.session.add(
                AlertGroupRow(
                    id=group_id, client_id=client, family_key=group_id, rule="r", scope={},
                    alert_class="symptom",
                )
            )  # fmt: skip
        facts = {"state": "open", "opened_at": FIRED, **changes}
        tx.session.add(
            IncidentRow(
                id=incident_id, client_id=client, number=number + 1, severity="critical",
                alert_class=AlertClass.SYMPTOM.value, settle_at=FIRED, window_until=FIRED, **facts,
            )
        )  # fmt: skip
        event = AlertEventRow(
            client_id=client, source="s", fingerprint=incident_id, starts_at=FIRED,
            status="firing", severity="critical", labels={}, annotations={}, alert={},
            group_id=group_id,
        )  # fmt: skip
        await tx.session.flush()
        tx.session.add(event)
        await tx.session.flush()
        tx.session.add(
            MemberRow(
                incident_id=incident_id, fingerprint="f", client_id=client, group_id=group_id,
                event_id=event.id, state="firing", reason="opened",
            )
        )  # fmt: skip


def known(incident_id: str, client: str = "acme", *items: Item) -> Pack:
    found = pack(*(items or (ALERT, OWN, POOL, DEPLOY)))
    ids = {"incident_id": incident_id, "client_id": client}
    return found.model_copy(update={"anchor": found.anchor.model_copy(update=ids)})


async def freeze(store: SqlStore, known: Pack) -> None:
    async with store.begin() as tx:
        await tx.findings.keep_pack(known)


async def ask(
    http: httpx.AsyncClient, group_id: str = "g1", secret: str | None = ACME
) -> httpx.Response:
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    return await http.get(f"/api/v1/alerts/{group_id}/context", headers=headers)


@pytest.mark.proves("S3-49", "S3-132")
async def test_a_frozen_pack_is_given_in_the_very_bytes_it_is_kept_in(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    await hold(store, "inc1", "g1")
    frozen = known("inc1", "acme", ALERT, OWN, ODD)
    await freeze(store, frozen)
    reply = await ask(http)
    async with store.begin() as tx:
        stored = (await tx.session.execute(text("select body from packs"))).scalar_one()
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/json")
    assert reply.headers["x-caveat-complete"] == "true"
    assert reply.content == stored.encode() == frozen.canonical().encode()
    replayed = Pack.model_validate_json(reply.content)
    assert (replayed, replayed.canonical()) == (frozen, stored)


async def test_until_a_pack_is_frozen_the_fact_sheet_is_given_and_says_so(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    await hold(store, "inc1", "g1")
    sheet = known("inc1", "acme", ALERT)
    async with store.begin() as tx:
        await tx.findings.show_facts(sheet, complete=False)
    reply = await ask(http)
    assert (reply.status_code, reply.headers["x-caveat-complete"]) == (200, "false")
    assert reply.content == sheet.canonical().encode()


async def test_a_group_is_read_in_the_newest_incident_that_holds_it(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    for n, (id_, state) in enumerate([("old", "resolved"), ("new", "open"), ("gone", "merged")]):
        await hold(store, id_, "g1", state=state, opened_at=FIRED + timedelta(hours=n))
        await freeze(store, known(id_))
    reply = await ask(http)
    assert reply.json()["anchor"]["incident_id"] == "new"


async def test_of_two_packs_of_an_incident_the_newest_is_given(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    await hold(store, "inc1", "g1")
    await freeze(store, known("inc1"))
    await freeze(store, known("inc1", "acme", ALERT).model_copy(update={"revision": 2}))
    assert (await ask(http)).json()["revision"] == 2


@pytest.mark.parametrize(
    ("secret", "group_id", "status"),
    [
        (ACME, "g1", 200),
        (BOLT, "g2", 200),
        (EVERY, "g1", 200),
        (EVERY, "g2", 200),
        (ACME, "g2", 404),
        (BOLT, "g1", 404),
        (EVERY, "g9", 404),
        (EVERY, "g3", 404),
        (EVERY, "%00", 404),
        (EVERY, "g1'%20or%20'1'='1", 404),
        (EVERY, "x" * 5000, 404),
        (WRITER, "g1", 403),
        (WRITER, "g9", 403),
        ("wrong", "g1", 401),
        ("wrong", "g9", 401),
        ("", "g1", 401),
        (None, "g1", 401),
    ],
)
async def test_a_token_opens_its_own_client_and_nothing_tells_what_else_there_is(
    http: httpx.AsyncClient, store: SqlStore, secret: str | None, group_id: str, status: int
) -> None:
    await hold(store, "inc1", "g1")
    await hold(store, "inc2", "g2", client="bolt")
    await hold(store, "bare", "g3")
    await freeze(store, known("inc1"))
    await freeze(store, known("inc2", "bolt"))
    reply = await ask(http, group_id, secret)
    assert reply.status_code == status
    if status == 404:
        assert reply.content == NOBODYS
        assert "x-caveat-complete" not in reply.headers


async def test_every_404_is_alike_to_the_last_header(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    await hold(store, "inc2", "g2", client="bolt")
    await freeze(store, known("inc2", "bolt"))
    of_others, of_nobody = await ask(http, "g2"), await ask(http, "g9")
    assert of_others.headers == of_nobody.headers


async def test_a_token_taken_back_or_out_of_time_opens_nothing_more(
    http: httpx.AsyncClient, store: SqlStore
) -> None:
    await hold(store, "inc1", "g1")
    await freeze(store, known("inc1"))
    assert (await ask(http)).status_code == 200
    past = "update api_tokens set expires_at = clock_timestamp() where name = :name"
    async with store.begin() as tx:
        await tx.tokens.revoke(ACME, by="cli")
        await tx.session.execute(text(past), {"name": EVERY})
    for secret in (ACME, EVERY):
        reply = await ask(http, secret=secret)
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")


async def test_a_senders_token_reads_nothing(http: httpx.AsyncClient, store: SqlStore) -> None:
    await hold(store, "inc1", "g1")
    async with store.begin() as tx:
        await tx.sources.declare("s", "acme", kind="alertmanager", name="am", token="sender-1")
    assert (await ask(http, secret="sender-1")).status_code == 401


async def test_a_reader_hears_503_when_the_database_is_down() -> None:
    gone = open_store("postgresql+psycopg://nobody@127.0.0.1:1/none")
    async with client_of(gone) as http:
        reply = await ask(http)
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")
    await gone.close()
