"""What must not depend on what: evidence on a model, asking on paging, a drill on being one."""

import ast
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engine.gate import gate
from engine.model.alert import AlertClass, Severity
from engine.model.finding import Finding
from engine.model.incident import Incident
from engine.model.org import DRILL_CLIENT, Flags
from engine.model.pack import Pack
from engine.model.policy import TriageRule
from engine.model.run import RunTrigger, SkipReason
from tests.engine.judged import UP, Table, a_run, drafted, incident, pack, ruled
from tests.engine.test_failing import facts
from tests.fakes import FakeMetrics, ScriptedLLM, run

ROOT = Path(__file__).resolve().parents[2]
HOUSE = ("engine", "cards", "storage", "bot")
FLAGS_ARE_DECLARED = {"engine/model/org.py", "storage/org.py", "storage/tables.py", "bot/config.py"}
PAGING = re.compile(r"on_?call|pager|paging|\bpaged?\b|no_page|not_paged|escalat", re.IGNORECASE)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def modules(*rooms: str) -> list[Path]:
    return sorted(path for room in rooms for path in (ROOT / room).rglob("*.py"))


def told(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def named(path: Path) -> set[str]:
    """Every name the code of a module uses; its words for people are left out."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                found.add(name)
            case ast.alias(name=name) | ast.keyword(arg=str(name)):
                found.update(name.split("."))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name):
                found.add(name)
    return found


def imported(path: Path) -> Iterator[Path]:
    """Modules of ours that a module imports."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            file = ROOT / (name.replace(".", "/") + ".py")
            if file.is_file():
                yield file


def reached(*starts: str) -> set[Path]:
    """Everything of ours a few modules need, however far away."""
    waiting, seen = [ROOT / start for start in starts], set[Path]()
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(imported(path))
    return seen


def of_client(client: str) -> tuple[Incident, Pack]:
    case, known = incident(), pack()
    groups = tuple(group.model_copy(update={"client_id": client}) for group in case.groups)
    anchor = known.anchor.model_copy(update={"client_id": client})
    return (
        case.model_copy(update={"client_id": client, "groups": groups}),
        known.model_copy(update={"anchor": anchor}),
    )


def triaged(client: str) -> tuple[Table, Finding]:
    metrics = FakeMetrics(UP)
    desk = Table(ScriptedLLM([drafted(), ruled(confidence=0.82)]), metrics=metrics)
    case, known = of_client(client)
    return desk, run(desk.judged(known, case, a_run(client_id=client)))


@pytest.mark.proves("S0-93")
def test_a_drill_is_asked_checked_and_stamped_as_any_other_incident() -> None:
    (drill, rehearsed), (other, real) = triaged(DRILL_CLIENT), triaged("acme")
    assert [r.canonical() for r in drill.llm.asked] == [r.canonical() for r in other.llm.asked]
    assert drill.metrics.asked == other.metrics.asked  # type: ignore[union-attr]
    assert drill.told == other.told
    assert rehearsed.round == real.round
    own = {"client_id": DRILL_CLIENT, "pack_hash": rehearsed.pack_hash}
    assert rehearsed == real.model_copy(update=own)


@pytest.mark.proves("S0-93")
def test_only_the_listed_places_know_a_drill_from_another_incident() -> None:
    """What it sees beside itself, the word on its card, that nobody reviews it or is paged."""
    words = {"DRILL_CLIENT", "is_drill", "drill"}
    knowing = {told(path) for path in modules(*HOUSE) if named(path) & words}
    assert {path for path in knowing if not path.startswith(("bot/drill/", "bot/cli/"))} == {
        "engine/paging.py",
        "engine/review.py",
        "engine/recheck.py",
        "engine/model/org.py",
        "engine/model/change.py",
        "engine/pack/changed.py",
        "storage/incidents.py",
        "storage/tables.py",
        "bot/door.py",
        "cards/heading.py",
        "cards/sections/rehearsal.py",
    }


@pytest.mark.proves("S3-2", "S3-37")
def test_evidence_is_gathered_where_no_model_can_be_reached() -> None:
    gathering = reached(*(told(path) for path in modules("engine/pack")))
    asks = {told(path) for path in gathering if named(path) & {"ModelRequest", "ModelReply"}}
    assert asks <= {"engine/ports.py", "engine/model/llm.py"}  # declared there, asked nowhere
    users = {told(path) for path in gathering if {"LLM", "llm"} & named(path)}
    assert users <= {"engine/ports.py"}
    assert not any(told(path).startswith("engine/investigation/") for path in gathering)


@pytest.mark.proves("S3-3")
def test_the_bounds_of_a_triage_are_those_its_calls_are_given() -> None:
    rule = TriageRule(deadline=7, call_timeout_s=60, conclude_max_tokens=123, verify_deadline=11,
                      verify_token_budget=456)  # fmt: skip
    desk = Table(ScriptedLLM([drafted(), ruled()]), metrics=FakeMetrics(UP), rule=rule)
    desk.triage()
    assert [request.max_tokens for request in desk.llm.asked] == [123, 456]
    assert desk.llm.timeouts[0] == pytest.approx(7 * 0.9)  # a tenth is kept for a conclusion
    assert desk.llm.timeouts[1] <= 11
    assert gate(incident(), facts(budget_spent=True)) is SkipReason.BUDGET


@pytest.mark.proves("S0-7")
def test_the_round_is_no_conversation_whatever_the_judgement_asks_for() -> None:
    more = [{"kind": "promql", "query": 'rate(x{service="checkout-api"}[5m])', "why": "deeper"}]
    plain, asking = (
        Table(ScriptedLLM([drafted(), said]), metrics=FakeMetrics(UP), rule=TriageRule(max_loops=0))
        for said in (ruled(), ruled(disprove=more, next_queries=more))
    )
    found, wanting = plain.triage(), asking.triage()
    assert (len(plain.llm.asked), len(asking.llm.asked)) == (2, 2)
    assert asking.metrics.asked == plain.metrics.asked  # type: ignore[union-attr]
    assert wanting.round is not None
    assert wanting.round == found.round
    assert all(request.tools == () for request in asking.llm.asked)


ON_OFF = list(itertools.product((False, True), repeat=3))


@pytest.mark.proves("S3-22", "S3-25", "S3-26")
@pytest.mark.parametrize(("ai", "manual", "remediation"), ON_OFF)
@pytest.mark.parametrize("trigger", RunTrigger)
def test_whether_a_model_is_asked_is_the_same_with_paging_on_and_off(
    ai: bool, manual: bool, remediation: bool, trigger: RunTrigger
) -> None:
    on, off = (
        gate(
            incident(),
            facts(
                trigger=trigger,
                flags=Flags(ai_triage=ai, ai_triage_manual=manual, remediation=remediation,
                            oncall_enabled=oncall),
            ),
        )
        for oncall in (True, False)
    )  # fmt: skip
    assert on == off
    assert (off is SkipReason.FLAG_OFF) == (not ai)


@pytest.mark.proves("S3-22")
@pytest.mark.parametrize(("ai", "manual", "remediation"), ON_OFF)
def test_no_flag_of_investigating_moves_the_one_of_paging(
    ai: bool, manual: bool, remediation: bool
) -> None:
    flags = Flags(ai_triage=ai, ai_triage_manual=manual, remediation=remediation)
    assert flags.oncall_enabled is True
    off = flags.model_copy(update={"oncall_enabled": False})
    assert off.ai_triage is ai


@pytest.mark.proves("S3-21", "S3-29")
def test_no_module_decides_by_a_flag_of_investigating_and_by_paging() -> None:
    investigating = {"ai_triage", "ai_triage_manual", "l1_agent"}
    both = {
        told(path)
        for path in modules(*HOUSE)
        if named(path) & investigating and any(PAGING.search(name) for name in named(path))
    }
    assert both <= FLAGS_ARE_DECLARED | {"cards/talk.py"}  # status and settings show both
    manual = {told(path) for path in modules("engine") if "ai_triage_manual" in named(path)}
    assert manual == {"engine/model/org.py", "engine/gate.py"}
    assert not [reason for reason in SkipReason if PAGING.search(reason) or "l1" in reason]


@pytest.mark.proves("S3-35")
def test_nothing_an_investigation_can_reach_pages_anybody() -> None:
    chain = reached("engine/stages/investigate.py", "engine/stages/facts.py", "engine/triage.py")
    assert ROOT / "engine/gate.py" in chain
    assert len(chain) > 50
    paging = {told(path): {n for n in named(path) if PAGING.search(n)} for path in chain}
    assert {path: names for path, names in paging.items() if names} == {
        "engine/model/org.py": {"oncall_enabled"}
    }


@pytest.mark.proves("S3-28")
@pytest.mark.parametrize("class_", [AlertClass.SYMPTOM, AlertClass.CAUSE])
def test_by_hand_nothing_is_asked_until_somebody_presses(class_: AlertClass) -> None:
    case = incident().model_copy(update={"alert_class": class_, "severity": Severity.CRITICAL})
    by_hand = Flags(ai_triage=True, ai_triage_manual=True)
    asked = {t: gate(case, facts(flags=by_hand, trigger=t)) for t in RunTrigger}
    assert asked[RunTrigger.AUTO] is asked[RunTrigger.REJUDGE] is SkipReason.MANUAL
    assert asked[RunTrigger.MANUAL] is None
    assert Flags(ai_triage=True).ai_triage_manual is False


JUDGES = (
    "engine/investigation/",
    "engine/verification/",
    "engine/triage.py",
    "engine/shortcircuit.py",
)
"""Where the round between the calls may be switched off; nothing else knows that there is one."""


@pytest.mark.proves("S0-98")
def test_nothing_but_the_judging_knows_whether_the_round_is_switched_off() -> None:
    knows = {told(path) for path in modules(*HOUSE) if "verification" in named(path)}
    # The other one only gives the checks of a trial case more time.
    declared = {"engine/model/policy.py", "bot/evaluation/ground.py"}
    elsewhere = {name for name in knows - declared if not name.startswith(JUDGES)}
    assert "engine/triage.py" in knows
    assert elsewhere == set()
