"""The requests of a triage: one conversation that only ever grows at its end."""

from collections.abc import Sequence

from engine.fence import fence
from engine.investigation.evidence import evidence
from engine.investigation.prompts import prompt
from engine.investigation.schema import NAME, ONE_CALL, TWO_CALLS
from engine.model.base import Frozen
from engine.model.correction import CAUSE_SERIES, Correction
from engine.model.finding import CheckResult
from engine.model.llm import Block, ModelRequest, ToolSpec, Turn
from engine.model.memory import Stub
from engine.model.pack import CauseClass, Pack
from engine.model.policy import TriageRule


class Setting(Frozen):
    """What shapes the requests of a triage; fixed before the first one is sent."""

    fence: str
    """Mark of untrusted text, drawn once per triage."""
    model: str
    metrics: bool
    """A metrics backend can be asked."""
    caching: bool = True
    """Marks are worth setting for this model."""
    tools: tuple[ToolSpec, ...] = ()
    """What may be asked beyond the evidence; none in the two-call flow."""
    loops: int = 0
    """Turns in which they may be asked."""


def opening(pack: Pack, setting: Setting, rule: TriageRule) -> ModelRequest:
    """Ask for the draft.

    With verification off nothing is planned, nothing is marked for the cache and nothing follows.
    """
    verified = rule.verification.enabled
    marked = verified and setting.caching
    reach = prompt("reach_tools" if setting.tools else "reach_evidence")
    system = prompt("system", cause_classes=", ".join(CauseClass), reach=reach)
    blocks = (
        Block(text=evidence(pack, setting.fence), cache=marked),
        Block(text=_instruction(setting, rule)),
    )
    return ModelRequest(
        model=setting.model,
        system=(Block(text=system, cache=marked),),
        turns=(Turn(role="user", blocks=blocks),),
        schema_name=NAME,
        reply_schema=TWO_CALLS if verified else ONE_CALL,
        max_tokens=rule.conclude_max_tokens,
        tools=setting.tools,
    )


def _instruction(setting: Setting, rule: TriageRule) -> str:
    if not rule.verification.enabled:
        return "\n\n".join([prompt("conclude"), prompt("remembered")])
    kinds = ["kind_promql"] if setting.metrics else []
    offered = "\n".join(prompt(kind) for kind in [*kinds, "kind_incidents_in_window"])
    most = str(rule.verification.max_queries)
    looking = [prompt("look", loops=str(setting.loops))] if setting.tools else []
    asked = [*looking, prompt("conclude"), prompt("disprove", most=most, kinds=offered)]
    return "\n\n".join(asked)


def confirming(pack: Pack, setting: Setting, rule: TriageRule, stub: Stub) -> ModelRequest:
    """Ask whether a remembered cause is this one; up to its last block it is the opening."""
    told = {"symptom": stub.symptom, "root_cause": stub.root_cause, "fix": stub.fix}
    key = stub.root_cause_key
    told |= {"component": key.component, "cause_class": key.cause_class.value}
    asked = prompt("confirm", prior=fence(setting.fence, told))
    request = opening(pack, setting, rule)
    first = request.turns[0]
    blocks = (*first.blocks[:-1], Block(text="\n\n".join([asked, _instruction(setting, rule)])))
    return request.model_copy(update={"turns": (first.model_copy(update={"blocks": blocks}),)})


def asked_again(request: ModelRequest, reply: str, why: str, wanted: str) -> ModelRequest:
    """Ask once more after a reply that could not be read; it stays in the conversation."""
    if not reply.strip():
        return request
    said = Turn(role="assistant", blocks=(Block(text=reply),))
    told = Turn(role="user", blocks=(Block(text=prompt("again", why=why, wanted=wanted)),))
    return request.model_copy(update={"turns": (*request.turns, said, told)})


def judging(
    request: ModelRequest,
    draft: str,
    results: Sequence[CheckResult],
    setting: Setting,
    rule: TriageRule,
    correction: Correction | None = None,
) -> ModelRequest:
    """Ask for the judgement: the same words as before, the draft as the model's own, results."""
    said = Turn(role="assistant", blocks=(Block(text=draft, cache=setting.caching),))
    told = [prompt("judge", results=shown(results, setting.fence))]
    if correction is not None:
        told.append(_corrected(correction, results, setting.fence))
    asked = Turn(role="user", blocks=(Block(text="\n\n".join(told)),))
    turns = (*request.turns, said, asked)
    return request.model_copy(update={"turns": turns, "max_tokens": rule.verify_token_budget})


def _corrected(correction: Correction, results: Sequence[CheckResult], delimiter: str) -> str:
    """Tell what a person said, as data, and which results were asked to test it."""
    probes = [r.id for r in results if r.kind == CAUSE_SERIES]
    fields = fence(delimiter, {"correction": correction.cause})
    return prompt("correction", fields=fields, probes=", ".join(probes) or "there is none")


def shown(results: Sequence[CheckResult], delimiter: str) -> str:
    """Write the results between fence lines, each text byte for byte as it is persisted."""
    lines = [f"[{r.id}] {r.source}, {r.kind}, {r.outcome}\n{r.text}" for r in results]
    return "\n".join([f"<untrusted {delimiter}>", *lines, f"</untrusted {delimiter}>"])
