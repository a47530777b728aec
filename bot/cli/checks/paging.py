"""Paging: whether there is a route, and whether its pagers can be reached; nobody is paged."""

import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx

from bot.cli.checks.line import Line, absent, bad, ok
from bot.config_oncall import OncallSettings, PagerSettings
from bot.paging.pager import connect

PART = "paging"
_NOBODY = "nobody is called: cards wait in their rooms until somebody looks"


async def paging(oncall: OncallSettings, *, enabled: bool) -> list[Line]:
    """Judge the routes, and knock at every pager."""
    if not oncall.routes:
        return [absent(PART, "no route", "set oncall: {routes: [...]} in caveat.yaml", _NOBODY)]
    reached = await asyncio.gather(*(_pager(n, p) for n, p in oncall.pagers.items()))
    return [_routes(oncall, enabled=enabled), *reached]


def _routes(oncall: OncallSettings, *, enabled: bool) -> Line:
    said = f"{len(oncall.routes)} route(s): {', '.join(_names(oncall))}"
    if not enabled:
        return absent(PART, f"off; {said}", "set oncall_enabled: true in caveat.yaml", _NOBODY)
    return ok(PART, said)


def _names(oncall: OncallSettings) -> Sequence[str]:
    return [f"{one.name} from {one.severity.value} up" for one in oncall.routes]


async def _pager(name: str, settings: PagerSettings) -> Line:
    """Ask for the front door of its host: no page and no event is ever sent from here."""
    part, address = f"pager {name}", urlsplit(settings.address)
    host = f"{address.scheme}://{address.netloc}"
    async with connect(settings) as http:
        try:
            await http.head(host + "/")
        except httpx.HTTPError as error:
            cure = f"check oncall.pagers.{name}.url, its proxy and its certificates"
            return bad(part, f"{host} cannot be reached: {type(error).__name__}", cure, _NOBODY)
    return ok(part, f"{settings.kind.value} at {host} can be reached; its key is tried by a page")
