"""What a pager is: told one thing at a time, it took it, refuses it, or may take it later."""

import ssl
from typing import NamedTuple, Protocol

import httpx

from bot.config_oncall import PagerSettings
from engine.model.base import Frozen
from storage.pages import PageTask

TIMEOUT_S = 10.0
MOST_SUMMARY = 1024
"""Characters of a summary; what PagerDuty takes."""
MOST_LABEL = 200
MOST_LABELS = 40
LONGEST_WAIT_S = 300.0
"""A pager that asks for more patience than this is asked again all the same."""


class Took(Frozen):
    """The pager has it."""


class Refused(Frozen):
    """The pager will never take it."""

    reason: str


class Later(Frozen):
    """The pager did not take it now."""

    reason: str
    wait_s: float | None = None
    """What it asked for."""


Told = Took | Refused | Later


class Letter(NamedTuple):
    """One request to a pager."""

    url: str
    headers: dict[str, str]
    body: bytes


class Pager(Protocol):
    """One configured pager."""

    async def tell(self, task: PageTask) -> Told:
        """Tell it; the same task may be told twice."""

    async def close(self) -> None:
        """Close every connection."""


def connect(settings: PagerSettings) -> httpx.AsyncClient:
    """A client of a fixed address: no redirects, nothing read from the environment."""
    return httpx.AsyncClient(
        proxy=settings.proxy,
        verify=ssl.create_default_context(
            cafile=str(settings.ca_file) if settings.ca_file else None
        ),
        timeout=TIMEOUT_S,
        follow_redirects=False,
        trust_env=False,
    )


async def post(http: httpx.AsyncClient, letter: Letter) -> Told:
    """Post it, and read from the status what became of it."""
    try:
        reply = await http.post(letter.url, content=letter.body, headers=letter.headers)
    except httpx.HTTPError as error:
        return Later(reason=type(error).__name__)
    if reply.is_success:
        return Took()
    reason = f"{reply.status_code} {reply.text[:200]}".strip()
    if reply.status_code in {408, 425, 429} or reply.is_server_error:
        return Later(reason=reason, wait_s=_asked_s(reply))
    return Refused(reason=reason)


def _asked_s(reply: httpx.Response) -> float | None:
    said = reply.headers.get("retry-after", "").strip()
    return min(float(said), LONGEST_WAIT_S) if said.isdecimal() else None


def summary(task: PageTask) -> str:
    """What a page says in one line."""
    body = task.body
    said = f"{body.severity.value.upper()} {body.rule}: {body.summary or 'no summary'}"
    return f"{said} (incident {body.number})"[:MOST_SUMMARY]


def labels(task: PageTask) -> dict[str, str]:
    """The alert's labels, as many and as much of them as a page bears."""
    some = list(task.body.labels.items())[:MOST_LABELS]
    return {name[:MOST_LABEL]: value[:MOST_LABEL] for name, value in some}
