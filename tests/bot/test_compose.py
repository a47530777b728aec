"""What a process is made of: the parts that have to be the same are the same."""

from sqlalchemy.ext.asyncio import create_async_engine

from bot.compose import House
from bot.config import Settings
from storage.store import SqlStore

GIVEN = {
    "loki": {"url": "http://127.0.0.1:1", "extra_matchers": {"tenant": "acme"}},
    "kubernetes": {"url": "http://127.0.0.1:1"},
    "model": {"api_key": "k"},
}


async def test_the_pack_and_the_loop_ask_through_the_same_breakers() -> None:
    engine = create_async_engine("postgresql+psycopg://nobody@127.0.0.1:1/caveat")
    house = House(Settings.model_validate(GIVEN), SqlStore(engine), {})
    world, backends = house.world("default"), house.backends["default"]
    assert backends.logs is not None
    assert backends.kubernetes is not None
    assert world.judge is not None
    assert world.pack.logs is world.judge.logs is backends.logs.guarded
    assert world.pack.kubernetes is world.judge.kubernetes is backends.kubernetes.guarded
    assert world.pack.log_matchers == world.judge.log_matchers == {"tenant": "acme"}
    await backends.close()
    await engine.dispose()
