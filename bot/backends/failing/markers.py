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
    r"|credit_balance_exhausted|billing_hard_limit_reached|billing_not_active|billing_disabled"
    r"|exceeded_current_quota(?:_error)?|arrearage|account_?overdue(?:_?error)?"
    r"|invalid_payment_instrument|[a-z_]{0,60}_spend_limit_(?:exceeded|reached)"
)
BUDGET_CODE = re.compile(r"budget_exceeded|exceeded_budget|exceeded(?:token)?budget")

BUDGET_WORDS = re.compile(
    r"budget has been exceeded|exceeded ?(?:token ?)?budget|crossed budget|over budget"
    r"|budget (?:limit )?(?:was |is )?(?:exceeded|reached)|over (?:[\w-]{1,20} ){1,4}budget"
    r"|exceeded (?:the |your |its )(?:\w{1,20} )?budget",
    re.IGNORECASE,
)
MONEY_WORDS = re.compile(
    r"credit balance (?:is |was )?(?:too low|exhausted|insufficient|empty)"
    r"|plans? (?:&|and) billing|check your (?:plan|billing)|hard limit has been reached"
    r"|insufficient[ _](?:account )?(?:balance|funds|credits?)"
    r"|(?:balance|credits?) (?:is|are) (?:too low|insufficient)"
    r"|credits? (?:has |have )(?:been )?(?:exhausted|expired|run out|used up)"
    r"|(?:reached|exceeded) (?:your|its|the|a) (?:specified |configured )?(?:\w{1,20} ){0,2}"
    r"(?:api usage limits?|spend(?:ing)? limit)"
    r"|(?:spend(?:ing)?|usage) limits? (?:has been |have been |was )?(?:reached|exceeded)"
    r"|[a-z_]{0,60}_spend_limit_reached|key with a higher (?:\w{1,20} )?limit|key limit exceeded"
    r"|more credits are required|no (?:remaining )?credits (?:left|remaining)"
    r"|requires more credits|not enough credits|out of (?:credits|funds)|no prepaid credits"
    r"|(?:add|purchase|buy) (?:more )?credits|can only afford|extra usage is required"
    r"|billing (?:is |to be )?(?:disabled|enabled|not enabled|not active)|enable billing"
    r"|payment required|payment[ _](?:instrument|method)|in arrears|overdue (?:balance|payment)"
    r"|account is in good standing|please (?:recharge|top[ -]?up)"
    r"|marketplace subscription|aws-marketplace:",
    re.IGNORECASE,
)
CAPACITY_WORDS = re.compile(
    r"no_db_connection|no connected db|no deployments available|too many tokens per day",
    re.IGNORECASE,
)
MODEL_CODE = re.compile(
    r"model_?not_?found(?:_?error)?|unknown_model|model_not_supported|unsupported_model"
    r"|deployment_?not_?found|model_decommissioned|model_deprecated|invalid_model(?:_name|_id)?"
)
MODEL_WORDS = re.compile(
    r"^model: ?(?!(?:field|string|input|value|none|extra|must|should|cannot|required|missing"
    r"|expected|invalid)\b)\S"
    r"|invalid model name|no 'model_name' with this|is not a valid model"
    r"|model identifier is invalid|invalid model identifier|on-demand throughput isn.t supported"
    r"|resolve the foundation model|requested model is not supported|marked (?:\w+ ){0,3}as legacy"
    r"|publisher model \S{1,200} (?:was )?not found|unknown model|no such model|unsupported model"
    r"|model [`'\"]?[\w./:@-]{1,120}[`'\"]? (?:does not exist|(?:was )?not found"
    r"|is not (?:supported|available)|(?:has been|is) (?:deprecated|retired|decommissioned))"
    r"|not found the model|no endpoints found for \S|no allowed providers are available"
    r"|there is no model|llm provider not provided"
    r"|(?:^|model |model id )[`'\"]?[\w./:@-]{0,120}[`'\"]? ?is not (?:supported|available)"
    r" in (?:this|your|the) region",
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
    r"|too_?many_?requests|internal_?server|bad_gateway|unavailable_error|^unavailable$"
    r"|server_?error|model_?(?:stream_?)?error_?exception|model_?not_?ready"
    r"|service_?quota_?exceeded|deadline_exceeded"
)
BUSY_WORDS = re.compile(
    r"quota exceeded|exceeded (?:your|the) (?:current |service )?quota|too many requests"
    r"|throttling|rate limit (?:was |is )?(?:exceeded|reached)|temporarily (?:unavailable|rate)"
    r"|(?:currently|engine is|model is|server is) overloaded|model is currently loading",
    re.IGNORECASE,
)
BUSY_STATUSES = frozenset({408, 409, 425, 429, 499})
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
