"""PagerDuty's Events API, version 2: one deduplication key from trigger to resolve."""

import json

from bot.config_oncall import PagerSettings
from bot.paging.pager import Letter, Told, connect, labels, post, summary
from engine.model.alert import Severity
from engine.model.page import PageAction
from storage.pages import PageTask

_SEVERITIES = {
    Severity.CRITICAL: "critical",
    Severity.HIGH: "error",
    Severity.WARNING: "warning",
}
_OTHER = "info"


class PagerDuty:
    """One integration of a PagerDuty service."""

    def __init__(self, settings: PagerSettings, key: str) -> None:
        """Speak to it with its routing key."""
        self._url = f"{settings.address}/v2/enqueue"
        self._key = key
        self._http = connect(settings)

    async def tell(self, task: PageTask) -> Told:
        """Send one event."""
        event: dict[str, object] = {
            "routing_key": self._key,
            "event_action": task.action.value,
            "dedup_key": task.dedup_key,
        }
        if task.action is PageAction.TRIGGER:
            event |= {"client": "Caveat", "payload": _described(task)}
        body = json.dumps(event).encode()
        headers = {"Content-Type": "application/json"}
        return await post(self._http, Letter(self._url, headers, body))

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()


def _described(task: PageTask) -> dict[str, object]:
    return {
        "summary": summary(task),
        "source": task.client_id,
        "severity": _SEVERITIES.get(task.body.severity, _OTHER),
        "class": task.body.rule[:200],
        "custom_details": labels(task),
    }
