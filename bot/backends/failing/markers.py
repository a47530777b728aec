"""The words and codes that decide, in the order they are looked for."""

import re
from collections.abc import Mapping

from bot.backends.failing.verdict import Category
from engine.model.run import FailureClass

Decision = tuple[FailureClass, Category]

BILLING: Decision = (FailureClass.OPERATOR_ACTION_REQUIRED, Category.BILLING)
BUDGET: Decision = (FailureClass.OPERATOR_ACTION_REQUIRED, Category.BUDGET)
CAPACITY: Decision = (FailureClass.OPERATIONAL, Category.CAPACITY)
MODEL: Decision = (FailureClass.BAD_MODEL_ALIAS_FALLBACK, Category.MODEL)

CODES: Mapping[str, Decision] = {
    "enforced_spend_limit_reached": BILLING,
    "contract_spend_limit_reached": BILLING,
    "linked_organization_spend_limit_reached": BILLING,
    "linked_organization_billing_unavailable": BILLING,
    "cmek_context_unavailable": (FailureClass.OPERATIONAL, Category.SDK_CODE),
    "ramp_limit_exceeded": (FailureClass.TRANSIENT, Category.SDK_CODE),
    "organization_on_hold": (FailureClass.TERMINAL, Category.SDK_CODE),
}
ON_HOLD = "organization_on_hold"
NO_DATABASE = "no_db_connection"

MONEY_CODE = re.compile(
    r"billing_error|insufficient_quota|insufficient_credits?|insufficient_balance|payment_required"
    r"|credit_balance_exhausted|billing_hard_limit_reached|billing_not_active"
    r"|[a-z_]{0,60}_spend_limit_(?:exceeded|reached)"
)
BUDGET_CODE = re.compile(r"budget_exceeded|exceeded_budget|exceededbudget")

BUDGET_WORDS = re.compile(
    r"budget has been exceeded|exceeded ?budget|crossed budget|over budget|budget exceeded"
    r"|exceeded (?:the |your |its )(?:\w{1,20} )?budget",
    re.IGNORECASE,
)
MONEY_WORDS = re.compile(
    r"credit balance (?:is |was )?(?:too low|exhausted|insufficient|empty)"
    r"|plans? (?:&|and) billing|check your (?:plan|billing)|hard limit has been reached"
    r"|insufficient[ _](?:account )?(?:balance|funds|credits?)"
    r"|(?:balance|credits?) (?:is|are) (?:too low|insufficient)"
    r"|reached (?:your|its|the) (?:specified |configured )?(?:\w{1,20} )?"
    r"(?:api usage limits?|spend(?:ing)? limit)"
    r"|spend(?:ing)? limit (?:has been |was )?(?:reached|exceeded)"
    r"|[a-z_]{0,60}_spend_limit_reached|key with a higher (?:\w{1,20} )?limit"
    r"|more credits are required|no (?:remaining )?credits (?:left|remaining)"
    r"|requires more credits|not enough credits|out of credits|no prepaid credits"
    r"|billing (?:is )?(?:disabled|not enabled|not active)|payment required"
    r"|marketplace subscription|aws-marketplace:",
    re.IGNORECASE,
)
CAPACITY_WORDS = re.compile(
    r"no_db_connection|no connected db|no deployments available|too many tokens per day",
    re.IGNORECASE,
)
MODEL_CODE = re.compile(
    r"model_not_found|modelnotfound|unknown_model|model_not_supported|deploymentnotfound"
)
MODEL_WORDS = re.compile(
    r"^model: ?\S|invalid model name|no 'model_name' with this|is not a valid model"
    r"|model identifier is invalid|invalid model identifier|on-demand throughput isn.t supported"
    r"|publisher model \S{1,200} (?:was )?not found|unknown model|no such model|unsupported model"
    r"|model [`'\"]?[\w./:@-]{1,120}[`'\"]? (?:does not exist|(?:was )?not found"
    r"|is not (?:supported|available)|(?:has been|is) (?:deprecated|retired|decommissioned))"
    r"|no endpoints found for \S|there is no model",
    re.IGNORECASE,
)
TEXT_RULES: tuple[tuple[re.Pattern[str], Decision], ...] = (
    (BUDGET_WORDS, BUDGET),
    (MONEY_WORDS, BILLING),
    (CAPACITY_WORDS, CAPACITY),
    (MODEL_WORDS, MODEL),
)

BUSY_CODE = re.compile(
    r"overloaded|rate_?limit|time_?out|resource_exhausted|throttl|service_?unavailable"
    r"|too_?many_?requests|internal_?server|bad_gateway|unavailable_error",
)
BUSY_WORDS = re.compile(
    r"quota exceeded|exceeded (?:your|the) (?:current )?quota|too many requests|throttling"
    r"|rate limit (?:was |is )?(?:exceeded|reached)",
    re.IGNORECASE,
)
BUSY_STATUSES = frozenset({408, 409, 425, 429})
IMPLIED: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The status an error's type goes with, for errors that come inside a stream of status 200."""
