"""What comes round by the clock, on a real database."""

import pytest
from sqlalchemy import text

from bot.backends.hashing import HashedWords
from bot.schedule import Sweeper
from bot.telemetry import Telemetry
from engine.model.policy import IncidentRule
from storage.store import SqlStore

DAY_S = 86_400.0


async def test_the_audit_trail_outlives_the_other_rows_and_ends_too(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with store.begin() as tx:
        for actor in ("old", "within"):
            await tx.audit.append(None, actor, "flag set", {})
        aged = "update audit set at = at - make_interval(days => case actor"
        await tx.session.execute(text(f"{aged} when 'old' then 401 else 91 end)"))
    await Sweeper(
        store=store,
        new_id=lambda: "0" * 32,
        rule=IncidentRule(),
        telemetry=Telemetry(),
        world=lambda _: pytest.fail("no world is needed"),
        configured=(),
        retention_s=90 * DAY_S,
        audit_retention_s=400 * DAY_S,
        provider="",
        embedder=HashedWords(),
    ).prune()
    async with store.begin() as tx:
        left = await tx.session.execute(text("select actor from audit order by id"))
        assert list(left.scalars()) == ["within", "engine"]
    assert "pruned: 1 audit" in caplog.text
