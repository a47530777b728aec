"""Which class speaks to which kind of pager."""

from collections.abc import Mapping

from bot.config import Settings
from bot.config_oncall import OncallSettings, PagerKind
from bot.paging.pager import Pager
from bot.paging.pagerduty import PagerDuty
from bot.paging.webhook import Webhook
from engine.ports import Clock


def pagers(settings: Settings, clock: Clock) -> Mapping[tuple[str, str], Pager]:
    """Every configured pager, by client and name."""
    return {
        (client_id, name): _made(own.oncall, name, clock)
        for client_id, own in settings.by_client.items()
        for name in own.oncall.pagers
    }


def _made(oncall: OncallSettings, name: str, clock: Clock) -> Pager:
    own = oncall.pagers[name]
    match own.kind:
        case PagerKind.PAGERDUTY:
            return PagerDuty(own, oncall.secret(name))
        case PagerKind.WEBHOOK:
            return Webhook(own, oncall.secret(name), clock)
