"""The chart below a card, through the chats' own client libraries."""

from datetime import timedelta
from typing import Any

import pytest

from bot.backends.chart import NotDrawnError
from bot.drill.doubles import slack as slack_double
from bot.drill.doubles.faults import Fault, ReplyLost
from cards.chart import Picture, alt_text
from engine.charting import KIND, keep_chart
from engine.model.incident import Incident
from engine.model.org import Platform
from storage.store import SqlStore
from tests.bot.sending import SLACK, TELEGRAM, Stage, stage
from tests.charts import NOW, chart

PNG = b"\x89PNG\r\n\x1a\n"
COMPLETE = "files.completeUploadExternal"


async def sketch(told: Picture) -> bytes:
    return PNG + told.title.encode()


async def broken(told: Picture) -> bytes:
    raise NotDrawnError("no memory")


async def charted(s: Stage, **more: Any) -> Incident:
    incident = await s.incident()
    await s.wish(incident)
    await s.settled()
    await told_more(s, incident)
    return incident


async def told_more(s: Stage, incident: Incident, **more: Any) -> None:
    async with s.store.begin() as tx:
        await keep_chart(tx, chart(incident_id=incident.id, **more), incident)
    await s.settled()


def thread(s: Stage) -> list[Any]:
    (card,) = s.slack.cards("C1")
    return s.slack.thread("C1", card.ts)


async def dead_letters(s: Stage) -> int:
    return len(await s.rows("select 1 from dead_letters"))


async def test_an_incident_has_one_silent_chart_in_every_chat(store: SqlStore) -> None:
    async with stage(store, SLACK, TELEGRAM) as s, s.running(draw=sketch):
        incident = await charted(s)
        await told_more(s, incident)
        (reply,) = thread(s)
        (file,) = s.slack.space.files.values()
        card, photo = s.telegram.messages(-1001)
        assert (reply.files, file.alt_text) == ([file.id], alt_text(chart()))
        assert (photo.attachment, photo.reply_to, photo.silent) == ("photo", card.id, True)
        assert "p99 of" in photo.text
        assert file.content == photo.file
        assert s.counted("charts_total", platform="slack", result="sent") == 1


async def test_a_chart_that_tells_more_replaces_the_photo_and_slack_keeps_the_first(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK, TELEGRAM) as s, s.running(draw=sketch):
        incident = await charted(s)
        await told_more(s, incident, taken_at=NOW + timedelta(minutes=20), marks=())
        assert len(thread(s)) == 1
        _, photo = s.telegram.messages(-1001)
        assert photo.edits == 1
        assert "deploy" not in photo.text


LOST: list[tuple[str, Fault]] = [
    (COMPLETE, ReplyLost(accepted=True)),
    (COMPLETE, ReplyLost(accepted=False)),
    (COMPLETE, slack_double.rate_limited(1)),
    ("files.getUploadURLExternal", slack_double.rate_limited(1)),
    ("files.getUploadURLExternal", ReplyLost(accepted=True)),
]


@pytest.mark.parametrize(("method", "fault"), LOST)
async def test_a_lost_reply_or_a_limit_leaves_one_chart_on_slack(
    store: SqlStore, method: str, fault: Fault
) -> None:
    async with stage(store, SLACK) as s, s.running(draw=sketch):
        s.slack.fail_next(method, fault)
        await charted(s)
        assert [len(reply.files) for reply in thread(s)] == [1]
        assert s.counted("charts_total", platform="slack", result="later") == 1


async def test_where_nobody_can_look_a_lost_reply_never_doubles_a_chart(store: SqlStore) -> None:
    async with stage(store, TELEGRAM) as s, s.running(draw=sketch):
        s.telegram.fail_next("sendPhoto", ReplyLost(accepted=True))
        incident = await charted(s)
        await told_more(s, incident, marks=())
        assert [m.attachment for m in s.telegram.messages(-1001)] == [None, "photo"]
        assert s.counted("charts_total", platform="telegram", result="lost") == 1
        assert await dead_letters(s) == 0


async def test_without_the_scope_for_files_cards_go_on_and_nothing_is_said(
    store: SqlStore,
) -> None:
    async with stage(store, SLACK) as s, s.running(draw=sketch):
        s.slack.scopes = frozenset({"chat:write", "channels:history"})
        incident = await charted(s)
        await s.finding(incident)
        await s.settled()
        assert [reply.files for reply in thread(s)] == [[], []]
        assert s.counted("charts_total", platform="slack", result="refused") == 1
        assert await dead_letters(s) == 0


async def test_a_chart_that_cannot_be_drawn_is_only_counted(store: SqlStore) -> None:
    async with stage(store, SLACK, TELEGRAM) as s, s.running(draw=broken):
        incident = await charted(s)
        await s.finding(incident)
        await s.settled()
        assert [reply.files for reply in thread(s)] == [[], []]
        assert s.counted("charts_total", platform=Platform.TELEGRAM.value, result="not_drawn") == 1
        assert await dead_letters(s) == 0


async def test_what_is_over_gets_no_chart(store: SqlStore) -> None:
    async with stage(store, SLACK, TELEGRAM) as s, s.running(draw=sketch):
        incident = await s.incident()
        await s.wish(incident)
        await s.settled()
        await s.change("update incidents set state = 'resolved', resolved_at = now()")
        async with s.store.begin() as tx:
            await tx.charts.keep(chart(incident_id=incident.id))
            await tx.cards.wish_message(incident, KIND, "", audible=False)
        await s.settled()
        assert thread(s) == []
