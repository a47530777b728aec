"""The model: a key, a known price, and what is left of the day; nothing is asked of it."""

from bot.backends.prices import cost_usd
from bot.cli.checks.line import Line, absent, bad, ok
from bot.config import ClientSettings, Settings
from engine.model.org import Flags
from engine.model.run import Usage
from engine.ports import Spent

PART = "model"
_FACTS_ONLY = "facts cards only: no cause is looked for"
_MILLION = Usage(input_tokens=1_000_000)


def model(settings: Settings) -> list[Line]:
    """Judge key and price."""
    if settings.model.api_key is None:
        return [absent(PART, "no key", "set CAVEAT_MODEL_API_KEY in .env", _FACTS_ONLY)]
    where = settings.model.base_url or "its provider"
    name = settings.triage.model
    if settings.model.price_per_mtok is None and cost_usd(name, _MILLION) is None:
        cure = "set model.price_per_mtok: [input, output], in US dollars"
        return [bad(PART, f"no price is known for {name}", cure, "the day's budget cannot hold")]
    return [ok(PART, f"{name} through {where}, {_price(settings)} per million tokens in and out")]


def _price(settings: Settings) -> str:
    known = settings.model.price_per_mtok
    if known is not None:
        return f"{known[0]:g} and {known[1]:g} USD as you set"
    name = settings.triage.model
    pair = (cost_usd(name, _MILLION), cost_usd(name, Usage(output_tokens=1_000_000)))
    return " and ".join(f"{one:g}" for one in pair if one is not None) + " USD assumed"


def investigates(flags: Flags) -> bool:
    """Whether a client's flags let a model be asked at all."""
    return flags.ai_triage or flags.ai_triage_manual


def budget(own: ClientSettings, spent: Spent, *, investigates: bool) -> Line:
    """Judge what is left of a client's day."""
    part, rule = "budget", own.budget
    if not investigates:
        return absent(part, "ai_triage is off", "set ai_triage: true in caveat.yaml", _FACTS_ONLY)
    said = f"{spent.usd:.2f} of {rule.usd_per_day:g} USD and {spent.tokens:,} tokens today"
    if spent.usd >= rule.usd_per_day or spent.tokens >= rule.tokens_per_day:
        return bad(part, said, "raise budget.usd_per_day, or wait for midnight UTC", _FACTS_ONLY)
    return ok(part, said)
