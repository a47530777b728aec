"""Asks Alertmanager what fires: alerts come in without a webhook, and missed resolves are found."""

import logging

from bot.backends.of_client import Backends
from bot.door import Door
from engine.errors import StoreUnavailableError
from engine.model.evidence import Gap
from engine.ports import Clock
from engine.reconcile import grace_s

log = logging.getLogger(__name__)


class Poller:
    """Polls one client's Alertmanager for ever."""

    def __init__(self, source_id: str, backends: Backends, door: Door, clock: Clock) -> None:
        """Poll under the source its webhook uses."""
        self._source_id = source_id
        self._backends = backends
        self._door = door
        self._clock = clock
        self._reachable_since_s: float | None = None

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            try:
                await self.once()
            except Exception:
                # One client's odd alert must not end the polls of all.
                log.exception("a poll of %s failed", self._source_id)
            await self._clock.sleep(self._backends.poll_s)

    async def once(self) -> None:
        """Ask once and file what fires."""
        assert self._backends.alerts is not None, "a poller needs an Alertmanager"
        firing = await self._backends.alerts.firing()
        if isinstance(firing, Gap):
            if self._reachable_since_s is not None:
                log.warning("Alertmanager does not answer: %s %s", firing.cause, firing.detail)
            self._reachable_since_s = None
            return
        up_s = await self._backends.alerts.up_s(self._clock.now())
        now_s = self._clock.monotonic()
        self._reachable_since_s = self._reachable_since_s or now_s
        try:
            await self._door.polled(
                self._source_id,
                firing,
                reachable_s=now_s - self._reachable_since_s,
                grace_s=grace_s(self._backends.poll_s, up_s),
            )
        except StoreUnavailableError:
            log.warning("a poll was not kept: the database is down")
