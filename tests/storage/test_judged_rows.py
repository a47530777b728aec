"""Runs, packs, findings and calls as PostgreSQL keeps them."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from engine.model.alert import AlertClass
from engine.model.evidence import QueryOutcome
from engine.model.finding import Disposition, Finding, TriagePath, TrustLevel, VerifyStatus
from engine.model.ledger import LedgerEntry, ToolName
from engine.model.pack import Item, TextFacts
from engine.model.run import CallKind, CallState, ModelCall, RunState, Usage
from storage.store import SqlStore
from storage.tables import AlertEventRow, AlertGroupRow, ClientRow, IncidentRow, MemberRow
from tests.engine.judged import ALERT, FENCE, FIRED, OWN, UP, Table, a_run, drafted, pack, ruled
from tests.engine.judged import incident as a_case
from tests.fakes import START, FakeMetrics, ScriptedLLM


async def seed(store: SqlStore, id_: str = "inc1", client: str = "acme") -> None:
    async with store.begin() as tx:
        if await tx.session.get(ClientRow, client) is None:
            tx.session.add(ClientRow(id=client))
            await tx.session.flush()
        tx.session.add(
            IncidentRow(
                id=id_, client_id=client, number=abs(hash(id_)) % 1000, severity="critical",
                alert_class=AlertClass.SYMPTOM.value, settle_at=FIRED, window_until=FIRED,
            )
        )  # fmt: skip


def call(id_: str = "c1", **changes: Any) -> ModelCall:
    usual = {
        "client_id": "acme", "triage_id": "t1", "kind": CallKind.CONCLUDE, "model": "m",
        "state": CallState.SENT, "sent_at": START,
    }  # fmt: skip
    return ModelCall(id=id_, **{**usual, **changes})


def finding(**changes: Any) -> Finding:
    usual = {
        "triage_id": "t1", "incident_id": "inc1", "client_id": "acme", "pack_hash": "h",
        "created_at": FIRED, "path": TriagePath.FULL, "model": "m", "root_cause": "ü \u2028 x",
        "root_cause_key": None, "disposition": Disposition.ANSWERED,
        "trust_level": TrustLevel.UNCONFIRMED, "verify_status": VerifyStatus.INCONCLUSIVE,
        "confidence": 0.1 + 0.2,
    }  # fmt: skip
    return Finding(**{**usual, **changes})


async def test_a_run_comes_back_with_its_fence_which_is_in_no_json(store: SqlStore) -> None:
    await seed(store)
    async with store.begin() as tx:
        await tx.runs.add(a_run(fence=""))
        await tx.runs.save(a_run(state=RunState.CHECKING, progress=("up 3/3",)))
    async with store.begin() as tx:
        kept = await tx.runs.get("t1")
        raw = (await tx.session.execute(text("select run::text from triage_runs"))).scalar_one()
    assert kept == a_run(state=RunState.CHECKING, progress=("up 3/3",))
    assert FENCE not in raw


async def test_a_run_nobody_added_is_not_saved_in_silence(store: SqlStore) -> None:
    async with store.begin() as tx:
        assert await tx.runs.get("t9") is None
        with pytest.raises(LookupError):
            await tx.runs.save(a_run(triage_id="t9"))


async def test_packs_and_findings_come_back_byte_for_byte(store: SqlStore) -> None:
    await seed(store)
    odd = pack(ALERT, OWN, Item(id="M9", text="\t\u2028 é \\u0000", facts=TextFacts()))
    async with store.begin() as tx:
        await tx.findings.keep_pack(odd)
        await tx.findings.keep_pack(odd)
        await tx.findings.keep(finding())
    async with store.begin() as tx:
        again = await tx.findings.pack(odd.hash)
        kept = await tx.findings.newest("inc1")
    assert again is not None
    assert kept is not None
    assert again.canonical() == odd.canonical()
    assert again.hash == odd.hash
    assert kept.canonical() == finding().canonical()


async def test_a_kept_finding_is_never_changed(store: SqlStore) -> None:
    await seed(store)
    async with store.begin() as tx:
        await tx.findings.keep(finding())
        await tx.findings.keep(finding(root_cause="another"))
        kept = await tx.findings.of_triage("t1")
    assert kept == finding()


async def test_the_newest_finding_is_that_of_the_incident_and_of_the_family(
    store: SqlStore,
) -> None:
    await seed(store)
    await seed(store, "inc2")
    async with store.begin() as tx:
        tx.session.add(
            AlertGroupRow(
                id="g1", client_id="acme", family_key="fam", rule="r", scope={},
                alert_class="symptom",
            )
        )  # fmt: skip
        await tx.session.flush()
        event = AlertEventRow(
            client_id="acme", source="a", fingerprint="f", starts_at=FIRED, status="firing",
            severity="critical", labels={}, annotations={}, group_id="g1", alert={},
        )  # fmt: skip
        tx.session.add(event)
        await tx.session.flush()
        tx.session.add(
            MemberRow(
                incident_id="inc1", fingerprint="f", client_id="acme", group_id="g1",
                event_id=event.id, state="firing", reason="opened",
            )
        )  # fmt: skip
        await tx.findings.keep(finding())
        await tx.findings.keep(finding(triage_id="t2", rejudge_of="t1"))
        await tx.findings.keep(finding(triage_id="t3", incident_id="inc2"))
        by_incident = await tx.findings.newest("inc1")
        by_family = await tx.findings.newest_of_family("acme", "fam")
        foreign = await tx.findings.newest_of_family("other", "fam")
        nothing = await tx.findings.newest("inc9")
    assert by_incident is not None
    assert by_family is not None
    assert (by_incident.triage_id, by_family.triage_id) == ("t2", "t2")
    assert (foreign, nothing) == (None, None)


@pytest.mark.proves("S0-71")
async def test_a_call_is_settled_with_what_it_used(store: SqlStore) -> None:
    usage = Usage(
        input_tokens=10,
        output_tokens=5,
        cache_creation_input_tokens=100,
        cache_read_input_tokens=7,
    )
    done = call(state=CallState.OK, settled_at=START, usage=usage, cost_usd=0.25)
    async with store.begin() as tx:
        await tx.calls.add(call(), '{"a": 1}')
        await tx.calls.add(call("c2", sent_at=START + timedelta(seconds=1)), "{}")
        await tx.calls.settle(done, "half \ud800 and nul \0")
    async with store.begin() as tx:
        assert await tx.calls.of_triage("t1") == [
            done,
            call("c2", sent_at=START + timedelta(seconds=1)),
        ]


async def test_calls_in_flight_when_the_process_died_are_marked_unknown(store: SqlStore) -> None:
    async with store.begin() as tx:
        await tx.calls.add(call(), "{}")
        await tx.calls.add(call("c2", triage_id="t2"), "{}")
        assert await tx.calls.lost("t1") == 1
        assert [c.state for c in await tx.calls.of_triage("t1")] == [CallState.UNKNOWN]
        assert [c.state for c in await tx.calls.of_triage("t2")] == [CallState.SENT]


async def test_what_a_client_spent_counts_its_own_calls_since_then(store: SqlStore) -> None:
    used = Usage(input_tokens=10, output_tokens=5, cache_read_input_tokens=100)
    async with store.begin() as tx:
        for id_, client, minutes, cost in [
            ("a", "acme", 0, 0.5), ("b", "acme", 5, None), ("c", "acme", -5, 9.0),
            ("d", "other", 0, 9.0),
        ]:  # fmt: skip
            sent = START + timedelta(minutes=minutes)
            own = call(id_, client_id=client, sent_at=sent)
            await tx.calls.add(own, "{}")
            settled = own.model_copy(
                update={"state": CallState.OK, "usage": used, "cost_usd": cost}
            )
            await tx.calls.settle(settled, "")
        spent = await tx.calls.spent("acme", START)
        none = await tx.calls.spent("nobody", START)
    assert (spent.usd, spent.tokens) == (0.5, 230)
    assert (none.usd, none.tokens) == (0.0, 0)


async def test_a_whole_triage_on_the_real_store(store: SqlStore) -> None:
    await seed(store)
    async with store.begin() as tx:
        await tx.runs.add(a_run(fence=""))
    desk = Table(
        ScriptedLLM([drafted(), ruled()]),
        metrics=FakeMetrics(UP),
        store=store,  # type: ignore[arg-type]
    )
    made = await desk.judged(pack(), a_case(), a_run(fence=""))
    async with store.begin() as tx:
        await tx.findings.keep(made)
        calls = await tx.calls.of_triage("t1")
        run = await tx.runs.get("t1")
        audited = (await tx.session.execute(text("select action from audit order by id"))).scalars()
        actions = [*audited]
    assert made.trust_level is TrustLevel.VERIFIED
    assert [(c.kind, c.state) for c in calls] == [
        (CallKind.CONCLUDE, CallState.OK),
        (CallKind.VERIFY, CallState.OK),
    ]
    assert run is not None
    assert len(run.fence) == 32
    assert actions == ["llm.response", "verification.round", "llm.response"]


def looked(number: int, text_: str = "20 {} \0 \ud800") -> LedgerEntry:
    return LedgerEntry(
        id=f"T{number}", call=number, tool=ToolName.LOGS, arguments="{}", asked="x", start_at=START,
        end_at=START, outcome=QueryOutcome.FETCHED, text=text_, at=START, backend="logs",
    )  # fmt: skip


@pytest.mark.proves("S3-50")
async def test_lookups_are_kept_in_order_whole_and_with_their_client(store: SqlStore) -> None:
    await seed(store)
    async with store.begin() as tx:
        await tx.runs.add(a_run())
        for number in (10, 2):
            await tx.lookups.add(a_run(), looked(number, "old"), "whole")
        await tx.lookups.add(a_run(), looked(2, "new"), "all \0 of it")
    async with store.begin() as tx:
        kept = await tx.lookups.of_triage("t1")
        rows = await tx.session.execute(text("select client_id from lookups"))
        whole = await tx.lookups.whole("t1", 2)
        assert await tx.lookups.whole("t1", 3) is None
    assert [(e.id, e.text) for e in kept] == [("T2", "new"), ("T10", "old")]
    assert {row.client_id for row in rows} == {"acme"}
    assert whole == "all \ufffd of it"


async def test_a_turn_that_asked_for_tools_is_found_again_by_its_request(store: SqlStore) -> None:
    await seed(store)
    async with store.begin() as tx:
        await tx.calls.add(call(), "request")
        await tx.calls.settle(call(kind=CallKind.LOOP, state=CallState.OK), "reply")
    async with store.begin() as tx:
        assert await tx.calls.answered("t1", CallKind.CONCLUDE, "request") == "reply"
        [kept] = await tx.calls.of_triage("t1")
    assert kept.kind is CallKind.LOOP


async def test_the_tools_of_the_clients_last_finished_run_are_remembered(store: SqlStore) -> None:
    await seed(store)
    await seed(store, "inc2", "other")
    logs = (ToolName.LOGS,)
    now = a_run(triage_id="now")
    async with store.begin() as tx:
        assert await tx.runs.tools_before(now) == ()
        await tx.runs.add(a_run(triage_id="a", state=RunState.DONE, tools=logs))
        await tx.runs.add(a_run(triage_id="b", state=RunState.FAILED))
        other = {"incident_id": "inc2", "client_id": "other"}
        await tx.runs.add(a_run(triage_id="c", state=RunState.DONE, **other))
        await tx.runs.add(now)
    async with store.begin() as tx:
        assert await tx.runs.tools_before(now) == logs
