"""Loki and Kubernetes over real connections: whatever they do, the pack's section says it."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from pydantic import SecretStr

from bot.backends.breaker import Breaker
from bot.backends.clock import SystemClock
from bot.backends.http import BoundedHttp
from bot.drill.doubles.faults import Answer, Fault, Hang, ReplyLost, answer, bad_gateway
from bot.drill.doubles.kubernetes import TOKEN, KubernetesDouble
from bot.drill.doubles.loki import LokiDouble
from bot.drill.doubles.serve import serve
from bot.tools.kubernetes import KubernetesSettings, KubernetesTool
from bot.tools.loki import LokiSettings, LokiTool
from cards import words
from cards.line import say
from cards.sections.gaps import unseen
from engine.model.evidence import GapCause, Question, Window
from engine.model.pack import Pack, Section, SectionName, SectionStatus
from engine.pack.build import build
from engine.pack.section import Ports, Subject
from engine.ports import EvidenceTool
from tests.metrics_fakes import FIRED, HandClock, incident

TIMEOUT_S = 0.5
MAX_BYTES = 20_000


async def of_loki(double: LokiDouble) -> Pack:
    async with serve(double.app) as url:
        given = LokiSettings(url=url, timeout_s=TIMEOUT_S, max_bytes=MAX_BYTES)
        http = BoundedHttp(given, SystemClock())
        try:
            return await packed(logs=Breaker(LokiTool(http, given), SystemClock()))
        finally:
            await http.close()


async def of_kubernetes(double: KubernetesDouble, **more: object) -> Pack:
    async with serve(double.app) as url:
        given = KubernetesSettings.model_validate(
            {"url": url, "bearer": SecretStr(TOKEN), "timeout_s": TIMEOUT_S, "max_events": 2,
             "max_bytes": MAX_BYTES, **more}
        )  # fmt: skip
        http = BoundedHttp(given, SystemClock())
        try:
            return await packed(kubernetes=Breaker(KubernetesTool(http, given), SystemClock()))
        finally:
            await http.close()


async def packed(logs: EvidenceTool | None = None, kubernetes: EvidenceTool | None = None) -> Pack:
    # The hand's seconds are twenty times shorter: these sections have half a minute.
    rule = Subject(incident=incident()).pack.model_copy(
        update={"section_timeout_s": 600.0, "timeout_s": 600.0}
    )
    ports = Ports(clock=HandClock(), redact=str, logs=logs, kubernetes=kubernetes)
    return await build(Subject(incident=incident(), pack=rule), ports)


def of(pack: Pack, name: SectionName) -> Section:
    found = pack.section(name)
    assert found is not None
    return found


async def test_planted_lines_and_events_come_as_evidence() -> None:
    loki, cluster = LokiDouble(), KubernetesDouble()
    loki.plant({"namespace": "shop", "pod": "checkout-api-1"}, (FIRED, "ERROR pool full"))
    loki.plant({"namespace": "shop", "pod": "cart-api-1"}, (FIRED, "ERROR not ours"))
    cluster.plant("shop", "checkout-api-1", FIRED, "out of memory", reason="OOMKilling")
    told = of(await of_loki(loki), SectionName.LOGS)
    assert [item.text for item in told.items] == ["03:03Z: checkout-api-1: ERROR pool full"]
    told = of(await of_kubernetes(cluster), SectionName.KUBERNETES)
    assert [item.text for item in told.items] == [
        "03:03Z: Warning OOMKilling Pod/checkout-api-1: out of memory"
    ]


async def test_events_are_read_page_by_page_and_what_is_left_is_counted() -> None:
    cluster = KubernetesDouble()
    for n in range(9):
        cluster.plant("shop", f"checkout-api-{n}", FIRED + timedelta(seconds=n), f"{'xyz' * n}")
    told = of(await of_kubernetes(cluster), SectionName.KUBERNETES)
    assert (len(told.items), told.omitted) == (8, 1)
    assert len(cluster.asked) == 4
    old = KubernetesDouble()
    for n in range(9):
        old.plant("shop", f"checkout-api-{n}", FIRED - timedelta(days=1), "old")
    told = of(await of_kubernetes(old), SectionName.KUBERNETES)
    assert (told.status, told.cause) == (SectionStatus.DEGRADED, GapCause.TOO_LARGE)


FAULTS: list[tuple[Fault, GapCause]] = [
    (answer(401, {"message": "no org id"}), GapCause.NOT_LET_IN),
    (answer(403, {"message": "forbidden"}), GapCause.NOT_LET_IN),
    (answer(429, {}, {"Retry-After": "5"}), GapCause.TOO_OFTEN),
    (answer(500, {"message": "context canceled"}), GapCause.REFUSED),
    (bad_gateway(), GapCause.REFUSED),
    (Answer(302, headers={"Location": "http://127.0.0.1:1/login"}), GapCause.REFUSED),
    (Answer(200, "<html>sign in</html>", media_type="text/html"), GapCause.GARBLED),
    (Answer(200, '{"data": {"result": [{"values": [["1'), GapCause.GARBLED),
    (answer(200, {"data": {"result": [{"values": [["9" * 30, "x"]]}]}, "items": [3]}),
     GapCause.GARBLED),
    (answer(200, ["x"]), GapCause.GARBLED),
    (Answer(200, ""), GapCause.GARBLED),
    (Answer(200, "\x1f\x8b", {"Content-Encoding": "gzip"}), GapCause.GARBLED),
    (Answer(200, " " * (MAX_BYTES + 1)), GapCause.TOO_LARGE),
    (Hang(), GapCause.TIMED_OUT),
    (ReplyLost(), GapCause.UNREACHABLE),
]  # fmt: skip


async def broken_loki(fault: Fault) -> Pack:
    return await of_loki(LokiDouble(broken=fault))


async def broken_kubernetes(fault: Fault) -> Pack:
    return await of_kubernetes(KubernetesDouble(broken=fault))


@pytest.mark.parametrize(
    ("broken", "name"),
    [(broken_loki, SectionName.LOGS), (broken_kubernetes, SectionName.KUBERNETES)],
)
@pytest.mark.parametrize(("fault", "cause"), FAULTS)
async def test_every_fault_is_the_section_s_caveat_and_says_what_it_was(
    fault: Fault,
    cause: GapCause,
    broken: Callable[[Fault], Awaitable[Pack]],
    name: SectionName,
) -> None:
    pack = await broken(fault)
    assert pack.degraded == (name,)
    assert (of(pack, name).cause, of(pack, name).items) == (cause, ())
    assert unseen(pack) == (say(f"could not see {words.SECTION[name]}: {words.GAP[cause]}"),)


async def test_a_token_nobody_knows_and_a_role_of_another_namespace_are_not_let_in() -> None:
    for pack in (
        await of_kubernetes(KubernetesDouble(), bearer=SecretStr("stale")),
        await of_kubernetes(KubernetesDouble(allowed=("other",))),
    ):
        assert of(pack, SectionName.KUBERNETES).cause is GapCause.NOT_LET_IN


async def test_the_double_refuses_a_query_as_loki_does() -> None:
    double = LokiDouble()
    window = Window(start_at=FIRED - timedelta(hours=1), end_at=FIRED, step_s=60)
    async with serve(double.app) as url:
        given = LokiSettings(url=url)
        http = BoundedHttp(given, SystemClock())
        for query in ('{a="1"', '{a=~""}', "a"):
            question = Question(tool="logs", queries={"logs": query}, window=window)
            assert (await LokiTool(http, given).ask(question)).kind == "invalid"
        await http.close()
