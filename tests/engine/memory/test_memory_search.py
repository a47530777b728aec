"""Memory is searched by vectors and words together, and only one client's."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from bot.backends.hashing import HashedWords
from engine.memory.learning import learn
from engine.model.finding import CauseKey
from engine.model.memory import Stub, StubState
from engine.model.pack import CauseClass
from storage.client_memory import ClientMemory
from storage.migrate import migrate
from storage.store import SqlStore, open_store
from tests.database import FreshDatabase
from tests.engine.conftest import World, alert

FULL = "VolumeFillingUp namespace=shop the volume of the orders database is almost full"
LOOPS = "PodCrashLooping namespace=shop the pod of the search service restarts"
AT = datetime(2026, 11, 3, tzinfo=UTC)


def stub(name: str, symptom: str, **changes: Any) -> Stub:
    usual: dict[str, Any] = {
        "client_id": "acme", "family_key": "fam", "root_cause": "x", "fix": "y",
        "root_cause_key": CauseKey(component="db", cause_class=CauseClass.DATABASE),
        "state": StubState.APPROVED, "fixed_at": AT,
    }  # fmt: skip
    return Stub.model_validate({"id": name, "symptom": symptom, **usual, **changes})


async def kept(store: SqlStore, *stubs: Stub) -> None:
    async with store.begin() as tx:
        for one in stubs:
            await tx.stubs.keep(one)


async def found(store: SqlStore, asked: str, client: str = "acme", most: float = 2) -> list[str]:
    memory = ClientMemory(store, client, HashedWords(), 172_800)
    near = await memory.similar(asked, most=most, limit=5)
    assert near is not None
    return [one.stub.id for one in near]


@pytest.mark.proves("S3-82", "S3-84", "S3-85")
async def test_what_was_approved_is_embedded_once_and_found_again(store: SqlStore) -> None:
    await kept(
        store,
        stub("full", FULL),
        stub("loops", LOOPS),
        stub("draft", FULL, state=StubState.DRAFT),
        stub("other", FULL, client_id="other"),
    )
    assert await found(store, FULL) == []
    assert await learn(store, HashedWords()) == 3
    assert await learn(store, HashedWords()) == 0
    asked = FULL.replace("orders", "billing")
    assert await found(store, asked) == ["full", "loops"]
    assert await found(store, asked, most=0.3) == ["full"]
    assert await found(store, asked, client="other") == ["other"]


async def test_of_two_as_near_the_one_that_shares_the_telling_word_comes_first(
    store: SqlStore,
) -> None:
    await kept(store, stub("b", "zookeeper quorum lost"), stub("a", "etcd quorum lost"))
    await learn(store, HashedWords())
    vector = await HashedWords().embed("quorum lost")
    async with store.begin() as tx:
        near = await tx.stubs.similar(
            "acme", "zookeeper", "hashed-words-1", vector, most=2, held_s=1, limit=2
        )
        none = await tx.stubs.similar(
            "acme", "zookeeper", "another-1", vector, most=2, held_s=1, limit=2
        )
    assert [one.stub.id for one in near or ()] == ["b", "a"]
    assert none == []


async def test_a_fix_that_did_not_hold_is_found_and_marked(world: World) -> None:
    await world.deliver(alert(service="checkout"), now_s=0)
    one = await world.incident(1)
    family = one.group_of(one.lead).family_key
    async with world.store.begin() as tx:
        fired = (await tx.session.execute(text("select min(at) from transitions"))).scalar_one()
        broken = stub("broken", FULL, client_id="default", family_key=family)
        await tx.stubs.keep(broken.model_copy(update={"fixed_at": fired - timedelta(hours=1)}))
        await tx.stubs.keep(stub("holds", FULL, client_id="default", family_key="other"))
    await learn(world.store, HashedWords())
    near = await ClientMemory(world.store, "default", HashedWords(), 172_800).similar(
        FULL, most=1, limit=5
    )
    assert {one.stub.id: one.held for one in near or ()} == {"broken": False, "holds": True}


async def test_without_vectors_memory_is_off_and_nothing_is_learned(
    fresh_database: FreshDatabase,
) -> None:
    url = await fresh_database(None)
    await migrate(url)
    store = open_store(url)
    async with store.begin() as tx:
        await tx.session.execute(text("drop table stub_embeddings"))
    await kept(store, stub("full", FULL))
    assert await learn(store, HashedWords()) == 0
    assert (
        await ClientMemory(store, "acme", HashedWords(), 1).similar(FULL, most=2, limit=1) is None
    )
    await store.close()


async def test_a_table_from_before_there_were_words_gets_them(
    fresh_database: FreshDatabase,
) -> None:
    url = await fresh_database(None)
    await migrate(url)
    store = open_store(url)
    async with store.begin() as tx:
        await tx.session.execute(text("alter table stub_embeddings drop column words"))
    await migrate(url)
    await kept(store, stub("full", FULL))
    assert await learn(store, HashedWords()) == 1
    assert await found(store, FULL) == ["full"]
    await store.close()
