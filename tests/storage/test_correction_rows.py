"""Corrections as PostgreSQL keeps them: of each family and rule the newest stands."""

from datetime import timedelta
from typing import Any

from engine.model.correction import Correction
from storage.store import SqlStore
from storage.tables import ClientRow
from tests.fakes import START


def correction(id_: str = "c1", **changes: Any) -> Correction:
    usual = {
        "client_id": "acme", "family_key": "f", "rule": "Slow", "cause": "ü", "by": "p",
        "cause_series": ("x",), "at": START,
    }  # fmt: skip
    return Correction(id=id_, **{**usual, **changes})


async def capture(store: SqlStore, *given: Correction) -> list[bool]:
    async with store.begin() as tx:
        for client in ("acme", "other"):
            await tx.session.merge(ClientRow(id=client))
        await tx.session.flush()
        return [await tx.corrections.capture(one) for one in given]


async def governing(store: SqlStore, *held: tuple[str, str], client: str = "acme") -> str | None:
    async with store.begin() as tx:
        found = await tx.corrections.governing(client, held)
    return None if found is None else found.id


async def test_the_latest_captured_governs_until_a_confirmation_retires_it(
    store: SqlStore,
) -> None:
    assert await governing(store, ("f", "Slow")) is None
    await capture(store, correction("c1"), correction("c2", at=START - timedelta(days=1)))
    assert await governing(store, ("f", "Slow")) == "c2"
    async with store.begin() as tx:
        await tx.corrections.retire("acme", "f", "Slow", START)
    assert await governing(store, ("f", "Slow")) is None


async def test_client_family_and_alert_name_must_all_match(store: SqlStore) -> None:
    await capture(store, correction())
    assert await governing(store, ("f", "Slow")) == "c1"
    assert await governing(store, ("f", "Down"), ("g", "Slow")) is None
    assert await governing(store, ("f", "Slow"), client="other") is None
    assert await governing(store) is None


async def test_of_several_families_the_newest_correction_governs(store: SqlStore) -> None:
    later = correction("c2", family_key="g", at=START + timedelta(hours=1))
    await capture(store, correction(), later)
    assert await governing(store, ("f", "Slow"), ("g", "Slow")) == "c2"


async def test_one_kept_twice_is_one_and_comes_back_whole(store: SqlStore) -> None:
    assert await capture(store, correction(), correction()) == [True, False]
    async with store.begin() as tx:
        assert await tx.corrections.governing("acme", [("f", "Slow")]) == correction()
