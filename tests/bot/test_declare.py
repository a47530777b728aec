"""What the configuration declares, and what goes when it no longer does."""

from pathlib import Path
from typing import Any

from bot.config import Settings
from bot.declare import declare, retire
from storage.sources import token_hash
from storage.store import SqlStore, SqlTx

TOKEN = "sender-token-0123456789"


def settings(**clients: dict[str, Any]) -> Settings:
    return Settings.model_validate({"home": Path("/nowhere"), "clients": clients})


async def opens(tx: SqlTx, token: str = TOKEN) -> bool:
    return await tx.sources.by_token_hash("alertmanager", token_hash(token)) is not None


async def test_a_token_that_leaves_the_file_opens_nothing_any_more(store: SqlStore) -> None:
    await declare(store, settings(acme={"webhook_token": TOKEN}))
    async with store.begin() as tx:
        assert await opens(tx)
    await declare(store, settings(acme={}))
    async with store.begin() as tx:
        assert not await opens(tx)


async def test_a_token_of_the_command_line_outlives_a_file_that_names_none(store: SqlStore) -> None:
    await declare(store, settings(acme={}))
    async with store.begin() as tx:
        await tx.sources.renew(
            "acme:alertmanager", "acme", kind="alertmanager", name="alertmanager", token=TOKEN
        )
    await declare(store, settings(acme={}))
    async with store.begin() as tx:
        assert await opens(tx)


async def test_a_client_that_leaves_the_file_takes_its_token_along(store: SqlStore) -> None:
    await declare(
        store, settings(acme={"webhook_token": TOKEN}, shop={"webhook_token": "t-2-long"})
    )
    await retire(store, settings(shop={"webhook_token": "t-2-long"}))
    async with store.begin() as tx:
        assert (await opens(tx), await opens(tx, "t-2-long")) == (False, True)


async def test_a_flag_that_leaves_the_file_goes_back_to_its_default(store: SqlStore) -> None:
    await declare(store, settings(acme={"ai_triage": True, "oncall_enabled": False}))
    async with store.begin() as tx:
        flags = (await tx.org.client("acme")).flags
        assert (flags.ai_triage, flags.oncall_enabled) == (True, False)
    await declare(store, settings(acme={}))
    async with store.begin() as tx:
        flags = (await tx.org.client("acme")).flags
        assert (flags.ai_triage, flags.oncall_enabled) == (False, True)


async def test_a_flag_set_elsewhere_outlives_a_file_that_leaves_it_open(store: SqlStore) -> None:
    await declare(store, settings(acme={}))
    async with store.begin() as tx:
        await tx.org.set_flag("acme", "ai_triage", True)
    await declare(store, settings(acme={}))
    async with store.begin() as tx:
        assert (await tx.org.client("acme")).flags.ai_triage
