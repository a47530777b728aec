"""Earlier cases that look alike stand in the pack, as hints and with whose word they are."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from cards.sections.history import SECTION
from engine.citations import telling_ids
from engine.model.finding import CauseKey
from engine.model.memory import Near, Stub, StubState
from engine.model.org import Client
from engine.model.pack import CauseClass, Pack, PriorFacts, SectionName, SectionStatus
from engine.model.pack import SuspectReason as Why
from engine.model.run import CaseFile
from engine.pack.build import build
from engine.pack.section import Ports, Subject
from engine.pack.sections import priors
from tests.engine.judged import incident
from tests.fakes import LoopClock

NOW = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
STUB = Stub(
    id="s1",
    client_id="acme",
    family_key="fam",
    symptom="checkout answers with errors",
    root_cause="The deploy v2.3.9 filled the pool of 203.0.113.9, password=hunter22.",
    root_cause_key=CauseKey(component="checkout-api", cause_class=CauseClass.DEPLOY),
    fix="roll back",
    state=StubState.APPROVED,
    confirmed_by="alice",
    confirmed_at=datetime(2026, 11, 3, 12, tzinfo=UTC),
    fixed_at=datetime(2026, 11, 3, 12, tzinfo=UTC),
)


class Recalled:
    """Recalls what it was given, and keeps what it was asked."""

    def __init__(self, found: Sequence[Near] | None) -> None:
        self.found = found
        self.asked: list[tuple[str, float, int]] = []

    async def similar(self, symptom: str, *, most: float, limit: int) -> Sequence[Near] | None:
        self.asked.append((symptom, most, limit))
        return self.found


async def packed(memory: Recalled | None) -> Pack:
    ports = Ports(clock=LoopClock(), redact=lambda t: t.replace("hunter22", "***"), memory=memory)
    return await build(Subject(incident=incident()), ports)


def line(pack: Pack) -> str:
    case = CaseFile(client=Client(id="acme"), incident=incident(), pack=pack)
    section = SECTION.section(case, NOW)
    shown = section.blocks[0].lines if section else ()  # type: ignore[union-attr]
    return " | ".join("".join(getattr(s, "text", "…") for s in spans) for spans in shown)


@pytest.mark.proves("S3-48", "S3-83", "S3-85")
async def test_what_fixed_it_before_is_shown_with_who_confirmed_it() -> None:
    memory = Recalled([Near(stub=STUB, distance=0.11)])
    pack = await packed(memory)
    [item] = pack.section(SectionName.PRIORS).items  # type: ignore[union-attr]
    assert isinstance(item.facts, PriorFacts)
    assert (item.id, item.facts.distance, item.facts.confirmed_by) == ("P1", 0.11, "alice")
    assert "hunter22" not in pack.canonical()
    assert line(pack).endswith("seen before: fix roll back, confirmed by alice on …")
    [suspect] = pack.suspects
    assert (suspect.component, suspect.reasons) == ("checkout-api", (Why.FIXED_IT_BEFORE,))
    [(symptom, most, limit)] = memory.asked
    assert pack.anchor.rule in symptom
    assert (most, limit) == (0.3, 3)


async def test_a_fix_that_did_not_hold_is_said_to_have_come_back_and_suspects_nobody() -> None:
    pack = await packed(Recalled([Near(stub=STUB, distance=0.11, held=False)]))
    assert "seen before, and it came back after: roll back" in line(pack)
    assert pack.suspects == ()


async def test_how_another_case_ended_bears_no_ruling() -> None:
    pack = await packed(Recalled([Near(stub=STUB, distance=0.11)]))
    assert "P1" in {item.id for item in pack.items}
    assert "P1" not in telling_ids(pack)


@pytest.mark.parametrize(
    ("memory", "status"),
    [
        (None, SectionStatus.NOT_CONFIGURED),
        (Recalled(None), SectionStatus.NOT_CONFIGURED),
        (Recalled([]), SectionStatus.EMPTY),
    ],
)
async def test_no_memory_and_nothing_remembered_are_two_things(
    memory: Recalled | None, status: SectionStatus
) -> None:
    section = (await packed(memory)).section(SectionName.PRIORS)
    assert section is not None
    assert section.status is status
    assert priors.SECTION.name is SectionName.PRIORS
