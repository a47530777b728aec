"""Alertmanager: which alerts fire now."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from bot.backends.http import BoundedHttp
from bot.sources.times import read_time
from engine.model.alert import Alert
from engine.model.evidence import Gap, GapCause

Row = dict[str, object]
"""One alert as Alertmanager's API lists it."""
_ROWS = TypeAdapter(list[Row])
_OK = 200


class AlertmanagerAlerts:
    """The alerts Alertmanager holds as firing; silenced and inhibited ones fire all the same."""

    def __init__(
        self, http: BoundedHttp, parse: Callable[[Sequence[Row]], Sequence[Alert]]
    ) -> None:
        self._http = http
        self._parse = parse

    async def firing(self) -> Sequence[Alert] | Gap:
        """Every alert the source holds as firing."""
        reply = await self._http.get("/api/v2/alerts")
        if isinstance(reply, Gap):
            return reply
        if reply.status != _OK:
            return reply.refusal()
        try:
            rows = _ROWS.validate_json(reply.body)
        except ValidationError:
            return Gap(cause=GapCause.GARBLED, detail="not the JSON of an Alertmanager")
        return self._parse(rows)

    async def up_s(self, now: datetime) -> float | None:
        """How long it has run; None when it does not tell."""
        reply = await self._http.get("/api/v2/status")
        if isinstance(reply, Gap) or reply.status != _OK:
            return None
        try:
            started = read_time(json.loads(reply.body)["uptime"])
        except (ValueError, KeyError, TypeError):
            return None
        return None if started is None else (now - started.at).total_seconds()
