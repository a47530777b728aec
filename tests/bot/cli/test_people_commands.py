"""Commands that change people, clients and quarantine, on a real database."""

import json
from datetime import timedelta

import pytest
from sqlalchemy import text

from bot.backends.clock import SystemClock
from bot.cli import client as clients
from bot.cli.errors import CommandError
from bot.cli.link import admin_code, new_code
from bot.cli.people import line
from bot.cli.quarantine import replayed
from bot.config import Settings
from bot.declare import declare
from bot.door import Door
from bot.sources.source import UnreadableError
from bot.telemetry import Telemetry
from engine.intake import Rules
from engine.model.org import Identity, Platform, Role
from engine.redact import Redactor
from storage.sources import token_hash
from storage.store import SqlStore


async def test_who_sends_the_code_of_link_is_admin_everywhere(store: SqlStore) -> None:
    async with store.begin() as tx:
        code = await admin_code(tx, "admin", by="cli")
        person = await tx.people.redeem(code, Identity(platform=Platform.SLACK, account="U1"))
    assert person is not None
    assert person.roles == {"*": (Role.ADMIN,)}
    assert line(person) == "admin  slack:U1  admin (*)"


async def test_link_again_gives_the_same_person_another_code(store: SqlStore) -> None:
    async with store.begin() as tx:
        codes = {await admin_code(tx, "admin", by="cli") for _ in range(2)}
        assert len(await tx.people.every()) == 1
    assert len(codes) == 2


def test_codes_are_long_and_differ() -> None:
    codes = {new_code() for _ in range(200)}
    assert len(codes) == 200
    assert {len(code.replace("-", "")) for code in codes} == {12}


async def test_a_flag_the_file_leaves_open_is_set_with_an_audit_row(store: SqlStore) -> None:
    await declare(store, Settings(remediation=False))
    async with store.begin() as tx:
        await clients.switch(tx, "default", "ai_triage", True, by="cli:ops")
        assert (await tx.org.client("default")).flags.ai_triage
        with pytest.raises(CommandError, match=r"set in caveat\.yaml"):
            await clients.switch(tx, "default", "remediation", True, by="cli:ops")
        rows = await tx.session.execute(text("select actor, action, facts from audit"))
        assert rows.all() == [("cli:ops", "flag set", {"flag": "ai_triage", "value": "on"})]


async def test_a_new_token_opens_its_source_and_only_its_hash_is_kept(store: SqlStore) -> None:
    settings = Settings()
    await declare(store, settings)
    tokens = []
    for _ in range(2):
        async with store.begin() as tx:
            made = await clients.renew(
                tx, settings, "default", "alertmanager", revoke=False, by="cli"
            )
            assert made is not None
            tokens.append(made)
    await declare(store, settings)  # the next start keeps what was set here
    async with store.begin() as tx:
        old, new = [await tx.sources.by_token_hash("alertmanager", token_hash(t)) for t in tokens]
        kept = (await tx.session.execute(text("select sources::text from sources"))).scalars()
        assert (old, new and new.client_id) == (None, "default")
        assert tokens[1] not in "".join(kept)
        await clients.renew(tx, settings, "default", "alertmanager", revoke=True, by="cli")
        assert await tx.sources.by_token_hash("alertmanager", token_hash(tokens[1])) is None


@pytest.mark.parametrize(
    ("name", "kind", "said"), [("default", "smoke", "no kind"), ("other", "changes", "no client")]
)
async def test_a_token_needs_a_client_and_a_kind(
    store: SqlStore, name: str, kind: str, said: str
) -> None:
    await declare(store, Settings())
    async with store.begin() as tx:
        with pytest.raises(CommandError, match=said):
            await clients.renew(tx, Settings(), name, kind, revoke=False, by="cli")


async def test_a_token_of_the_environment_is_changed_there(store: SqlStore) -> None:
    settings = Settings.model_validate({"webhook_token": "of-the-environment"})
    await declare(store, settings)
    async with store.begin() as tx:
        with pytest.raises(CommandError, match="CAVEAT_WEBHOOK_TOKEN"):
            await clients.renew(tx, settings, "default", "changes", revoke=False, by="cli")


def door(store: SqlStore) -> Door:
    ids = iter(range(1, 1_000))
    return Door(
        store=store,
        clock=SystemClock(),
        new_id=lambda: f"{next(ids):032x}",
        redactor=Redactor(()),
        telemetry=Telemetry(),
        rules=lambda _: Rules(),
    )


async def quarantined(store: SqlStore, body: str, source: str = "alertmanager") -> int:
    await declare(store, Settings())
    async with store.begin() as tx:
        return await tx.quarantine.add("default", source, "unreadable", body, await tx.now())


async def test_a_body_that_can_be_read_now_is_replayed_once(store: SqlStore) -> None:
    started = (SystemClock().now() - timedelta(minutes=1)).isoformat()
    alert = {"labels": {"alertname": "Down"}, "startsAt": started, "status": "firing"}
    number = await quarantined(store, json.dumps(alert))
    assert await replayed(door(store), number) == f"body {number}: 1 accepted"
    async with store.begin() as tx:
        assert await tx.quarantine.waiting() == []
        events = await tx.session.execute(text("select count(*) from alert_events"))
        assert events.scalar_one() == 1
    with pytest.raises(CommandError, match="no body"):
        await replayed(door(store), number)


async def test_a_body_that_still_cannot_be_read_stays(store: SqlStore) -> None:
    number = await quarantined(store, "no json")
    with pytest.raises(CommandError, match="still cannot be read"):
        await replayed(door(store), number)
    with pytest.raises(UnreadableError):
        await door(store).take("alertmanager", "default:alertmanager", b"no json")
    async with store.begin() as tx:
        (kept,) = await tx.quarantine.waiting()
    assert kept.id == number


async def test_a_body_that_was_cut_is_not_replayed(store: SqlStore) -> None:
    number = await quarantined(store, "x" * 70_000)
    with pytest.raises(CommandError, match="was cut"):
        await replayed(door(store), number)
