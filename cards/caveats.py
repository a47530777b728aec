"""The words of every caveat, here only: one fact a line, numbers, no blame."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from cards import words
from cards.card import Line
from cards.figures import count
from cards.line import code, say
from engine.model.evidence import QueryOutcome
from engine.model.finding import (
    Caveat,
    CaveatCode,
    CheckSource,
    Finding,
    TrustLevel,
    VerifyStatus,
)
from engine.model.pack import SectionName
from engine.model.run import SkipReason

CHECKS_UNAVAILABLE = "unverified — checks unavailable"
"""Literal; stands in the heading in place of the trust word, and nowhere else."""

MOST_OFFENDERS = 3
LONGEST_OFFENDER = 40


def status_lines(finding: Finding) -> tuple[Line, ...]:
    """What the trust level itself rests on, before any coded caveat."""
    if finding.replaced and finding.trust_level is not TrustLevel.VERIFIED:
        return (say("this cause was found by the check itself and is not yet checked"),)
    match finding.verify_status:
        case VerifyStatus.INCONCLUSIVE:
            return (say("the evidence check was inconclusive"),)
        case VerifyStatus.REFUTED:
            return (say("the checks contradict the cause that was proposed"),)
        case VerifyStatus.VERIFIED if _under_confident(finding):
            return (say("the confidence is below what this install asks for"),)
        case _:
            return ()


def _under_confident(finding: Finding) -> bool:
    stamped = finding.trust_level is TrustLevel.UNCONFIRMED
    return stamped and not finding.vetoes


def unsupported_line(finding: Finding) -> Line:
    """How many of the cited claims nothing in the evidence backs."""
    total, unbacked = len(finding.claims), len(finding.unsupported_claims)
    if not unbacked or finding.verify_status is VerifyStatus.REFUTED:
        return ()
    verb = "has" if unbacked == 1 else "have"
    return say(
        f"{unbacked} of {max(total, unbacked)} cited claims {verb} no support in the evidence"
    )


def lines(finding: Finding) -> tuple[Line, ...]:
    """Every caveat of a finding, the gravest first."""
    coded = [line for c in _in_order(finding.caveats) for line in WORDS[c.code](c, finding)]
    unbacked = unsupported_line(finding)
    gone = vanished_line(finding)
    ordered = (*degraded_lines(finding), *status_lines(finding), unbacked, *coded, gone)
    return tuple(dict.fromkeys(filter(None, ordered)))


def vanished_line(finding: Finding) -> Line:
    """What could be asked in the investigation before and is connected no more."""
    gone = tuple(dict.fromkeys(words.TOOL[tool] for tool in finding.vanished))
    return say(f"could not ask for {words.listed(gone)} any more") if gone else ()


def _in_order(caveats: Sequence[Caveat]) -> list[Caveat]:
    rank = list(WORDS)
    return sorted(caveats, key=lambda caveat: rank.index(caveat.code))


def degraded_lines(finding: Finding) -> tuple[Line, ...]:
    """What made the promised minimum of checks fail; only said of a degraded round."""
    if finding.round is None:
        return ()
    reasons = finding.round.degraded_reasons
    said: list[Line] = []
    if failed := _floor_failures(finding):
        said.append(say(failed))
    if "no_floor_backend" in reasons:
        said.append(say("no backend is connected that peers could be checked with"))
    if "judgement_lost" in reasons:
        said.append(say("the evidence check did not finish"))
    return tuple(said)


def _floor_failures(finding: Finding) -> str:
    bad = (QueryOutcome.DEGRADED, QueryOutcome.FAILED, QueryOutcome.INVALID)
    floor = (
        [r for r in finding.round.results if r.source is CheckSource.FLOOR] if finding.round else []
    )
    failed = [r for r in floor if r.outcome in bad]
    if not failed:
        return ""
    backend = (failed[0].backend or "the backend").capitalize()
    why = (
        words.OUTCOME[failed[0].outcome]
        if failed[0].outcome is not QueryOutcome.FAILED
        else "could not answer"
    )
    return f"{backend}: {why} ({len(failed)} of {len(floor)} floor checks)"


def _query_invalid(caveat: Caveat, finding: Finding) -> tuple[Line, ...]:
    results = finding.round.results if finding.round else ()
    seen = sum(r.outcome is QueryOutcome.INVALID for r in results)
    told = caveat.facts.get("count")
    number = told if isinstance(told, int) else seen or 1
    verb = "was" if number == 1 else "were"
    query = "query" if number == 1 else "queries"
    return (say(f"{number} {query} {verb} malformed and did not run"),)


def _ungrounded(caveat: Caveat, finding: Finding) -> tuple[Line, ...]:
    del finding
    offenders = str(caveat.facts.get("offenders", "")).splitlines()
    if not offenders:
        return (say("cites things not found in the evidence"),)
    line = say("cites things not found in the evidence: ")
    for index, offender in enumerate(offenders[:MOST_OFFENDERS]):
        line = (*line, *say(", " if index else ""), code(offender[:LONGEST_OFFENDER]))
    more = len(offenders) - MOST_OFFENDERS
    return ((*line, *say(f" and {more} more")) if more > 0 else line,)


def pack_degraded(names: Sequence[str]) -> Line:
    """Which parts of the context pack could not be read."""
    listed = " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
    return say(f"the context pack has no {listed}" if names else "the context pack is incomplete")


def _pack_degraded(caveat: Caveat, finding: Finding) -> tuple[Line, ...]:
    del finding
    if "shortened" in caveat.facts:
        cut = words.listed(_sections(caveat, "shortened"))
        return (say(f"too long for the model: part of {cut} was left out"),)
    return (pack_degraded(_sections(caveat, "sections")),)


def _sections(caveat: Caveat, fact: str) -> list[str]:
    """Name the parts of the pack that a fact of a caveat lists."""
    known = {name.value: words.SECTION[name] for name in SectionName}
    listed = [s.strip() for s in str(caveat.facts.get(fact, "")).split(",") if s.strip()]
    return [known.get(name, name) for name in listed]


def _veto(caveat: Caveat, finding: Finding) -> tuple[Line, ...]:
    del caveat
    return tuple(say(words.VETO[veto]) for veto in finding.vetoes)


BOUNDS: Mapping[str, str] = {
    "deadline": "stopped at the time limit: best so far",
    "time": "stopped at the time limit: best so far",
    "tokens": "stopped at the token limit: best so far",
    "token_budget": "stopped at the token limit: best so far",
    "loops": "stopped at the loop limit: best so far",
    "budget": "stopped at the budget of the day: best so far",
    "stopped": "stopped by hand: best so far",
    "max_loops": "stopped at the loop limit: best so far",
}


def _bound_hit(caveat: Caveat, finding: Finding) -> tuple[Line, ...]:
    del finding
    return (say(BOUNDS.get(str(caveat.facts.get("bound", "")), "stopped at a limit: best so far")),)


def no_model(reason: str) -> Line:
    """Why no model ran."""
    return say(f"no model ran ({reason}) — ranked facts only")


def _no_model(caveat: Caveat, finding: Finding) -> tuple[Line, ...]:
    del finding
    reason = str(caveat.facts.get("reason", SkipReason.NO_MODEL.value))
    known = {skip.value: words.SKIP[skip] for skip in SkipReason}
    return (no_model(known.get(reason, reason)),)


def _not_investigated(caveat: Caveat, finding: Finding) -> tuple[Line, ...]:
    del finding
    known = {skip.value: words.SKIP[skip] for skip in SkipReason}
    reason = str(caveat.facts.get("reason", ""))
    return (say(known.get(reason, "it was not investigated")),)


def _correction(caveat: Caveat, finding: Finding) -> tuple[Line, ...]:
    del finding
    told = str(caveat.facts.get("date", ""))
    when = f" of {_day(told)}" if told else ""
    return (say(f"your correction{when} could not be tested"),)


def _day(told: str) -> str:
    """Say a date without its year: `3 Nov`; what is no date is said as it is."""
    try:
        at = date.fromisoformat(told)
    except ValueError:
        return told
    return f"{at.day} {at:%b}"


def _fixed(text: str) -> Callable[[Caveat, Finding], tuple[Line, ...]]:
    return lambda _caveat, _finding: (say(text),)


def _silent(_caveat: Caveat, _finding: Finding) -> tuple[Line, ...]:
    """Said elsewhere: in the heading, or as the abstention itself."""
    return ()


WORDS: Mapping[CaveatCode, Callable[[Caveat, Finding], tuple[Line, ...]]] = {
    CaveatCode.CHECKS_UNAVAILABLE: _silent,
    CaveatCode.UNGROUNDED: _ungrounded,
    CaveatCode.INJECTION_SUSPECTED: _fixed("some evidence reads like instructions to the model"),
    CaveatCode.VETO: _veto,
    CaveatCode.NO_MODEL: _no_model,
    CaveatCode.NOT_INVESTIGATED: _not_investigated,
    CaveatCode.BOUND_HIT: _bound_hit,
    CaveatCode.QUERY_INVALID: _query_invalid,
    CaveatCode.PACK_DEGRADED: _pack_degraded,
    CaveatCode.METADATA_ONLY: _fixed("based on alert labels only"),
    CaveatCode.CORRECTION_UNTESTED: _correction,
    CaveatCode.ABSTAINED: _silent,
}
"""In the order they are shown."""


def regressed(after: str) -> Line:
    """The same failure is back although its fix was marked as worked."""
    return say(f"back {after} after this fix was marked as worked")


def overflow(hidden: int) -> Line:
    """What stands in for the lines that did not fit."""
    return say(f"and {count(hidden, 'more caveat')} in the thread")
