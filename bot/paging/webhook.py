"""Our own webhook: a signed POST to one fixed address.

The signature is the HMAC-SHA256 of `TIMESTAMP.BODY`, hexadecimal, in `Caveat-Signature`; the
timestamp (Unix seconds) stands in `Caveat-Timestamp`. `Idempotency-Key` is the same when a page
is sent again, which happens whenever its answer was lost.
"""

import hashlib
import hmac
import json

from bot.config_oncall import PagerSettings
from bot.paging.pager import Letter, Told, connect, labels, post, summary
from engine.ports import Clock
from storage.pages import PageTask


class Webhook:
    """One receiver of pages."""

    def __init__(self, settings: PagerSettings, key: str, clock: Clock) -> None:
        """Sign with `key`."""
        self._url = settings.address
        self._key = key.encode()
        self._clock = clock
        self._http = connect(settings)

    async def tell(self, task: PageTask) -> Told:
        """Send one page."""
        said = {
            "event": task.action.value,
            "dedup_key": task.dedup_key,
            "client": task.client_id,
            "incident": task.body.number,
            "severity": task.body.severity.value,
            "rule": task.body.rule,
            "summary": summary(task),
            "labels": labels(task),
        }
        body = json.dumps(said, sort_keys=True).encode()
        sent_at = str(int(self._clock.now().timestamp()))
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": f"caveat-page-{task.id}",
            "Caveat-Timestamp": sent_at,
            "Caveat-Signature": signature(self._key, sent_at, body),
        }
        return await post(self._http, Letter(self._url, headers, body))

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()


def signature(key: bytes, sent_at: str, body: bytes) -> str:
    """What a receiver computes to know that a page is ours and fresh."""
    return hmac.new(key, sent_at.encode() + b"." + body, hashlib.sha256).hexdigest()
