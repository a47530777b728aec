"""Zabbix, read-only over JSON-RPC: hosts, their groups, their problems. From version 6.0 on."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, SecretStr, TypeAdapter, ValidationError

from bot.backends.breaker import Fuse
from bot.backends.http import BoundedHttp, HttpReply
from bot.tools.zabbix_rows import (
    ADDRESSES,
    GROUPS,
    HOSTS,
    PROBLEMS,
    TRIGGERS,
    AddressRow,
    HostRow,
)
from engine.model.evidence import Gap, GapCause
from engine.model.hosts import Problem, WatchedHost

API = "/api_jsonrpc.php"
OLDEST = (6, 0)
_OK = 200
_HEADER_SINCE = (6, 4)
"""From here on the token may go in a header; from 7.2 on nowhere else."""
_HOST_GROUPS_SINCE = (6, 2)
"""From here on groups of hosts and of templates are two things."""
_MOST_HOSTS = 500
_MOST_PROBLEMS = 100
Version = tuple[int, int]
Json = dict[str, Any]
T = TypeVar("T")


class _Error(BaseModel):
    message: str = ""
    data: str = ""


class _Reply(BaseModel):
    result: Any = None
    error: _Error | None = None


class ZabbixHosts:
    """A Zabbix seen with one API token; every accident is a value."""

    def __init__(self, http: BoundedHttp, token: SecretStr | None, fuse: Fuse) -> None:
        self._http = http
        self._token = token
        self._fuse = fuse
        self._known: Version | None = None

    async def version(self) -> Version | Gap:
        """Major and minor; learnt once, and without the token."""
        if self._known is None:
            told = await self._fuse.through(lambda: self._send("apiinfo.version", [], {}, {}))
            if isinstance(told, Gap):
                return told
            parts = str(told).split(".")
            if len(parts) < len(OLDEST) or not all(part.isdecimal() for part in parts[:2]):
                return Gap(cause=GapCause.GARBLED, detail="it tells no version")
            self._known = (int(parts[0]), int(parts[1]))
        return self._known

    async def seen(self) -> int | Gap:
        """How many hosts the token may see."""
        told = await self._ask("host.get", {"countOutput": True})
        if isinstance(told, Gap):
            return told
        return int(told) if str(told).isdecimal() else Gap(cause=GapCause.GARBLED, detail="count")

    async def hosts(self, names: Sequence[str]) -> Sequence[WatchedHost] | Gap:
        """The hosts known by these names or addresses; a technical name wins."""
        found: dict[str, WatchedHost] = {}
        for look_up in (self._by_host, self._by_name, self._by_address):
            left = [name for name in names if name not in found]
            more = await look_up(left) if left else {}
            if isinstance(more, Gap):
                return more
            found |= {asked: row.named(asked) for asked, row in more.items()}
        return [found[name] for name in names if name in found]

    async def sizes(self, group_ids: Sequence[str]) -> Mapping[str, int] | Gap:
        """How many hosts each group holds."""
        wanted = {"groupids": [*group_ids], "output": ["groupid"], "selectHosts": "count"}
        rows = await self._rows("hostgroup.get", wanted, GROUPS)
        return rows if isinstance(rows, Gap) else {row.groupid: row.hosts for row in rows}

    async def members(self, group_ids: Sequence[str]) -> Sequence[WatchedHost] | Gap:
        """The hosts of any of these groups that are polled."""
        wanted = {"groupids": [*group_ids], "monitored_hosts": True, "limit": _MOST_HOSTS}
        rows = await self._host_rows(wanted)
        return rows if isinstance(rows, Gap) else [row.named(row.host) for row in rows]

    async def problems(self, host_ids: Sequence[str]) -> Sequence[Problem] | Gap:
        """What is wrong on any of these hosts now, newest first."""
        wanted = {
            "hostids": [*host_ids],
            "output": ["eventid", "objectid", "name", "severity", "clock"],
            "selectAcknowledges": ["message"],
            "recent": False,
            "sortfield": ["eventid"],
            "sortorder": "DESC",
            "limit": _MOST_PROBLEMS,
        }
        rows = await self._rows("problem.get", wanted, PROBLEMS)
        if isinstance(rows, Gap):
            return rows
        hosts = await self._hosts_of([row.objectid for row in rows]) if rows else {}
        return hosts if isinstance(hosts, Gap) else [row.on(hosts) for row in rows]

    async def _hosts_of(self, trigger_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]] | Gap:
        wanted = {
            "triggerids": [*dict.fromkeys(trigger_ids)],
            "output": ["triggerid"],
            "selectHosts": ["hostid"],
        }
        rows = await self._rows("trigger.get", wanted, TRIGGERS)
        if isinstance(rows, Gap):
            return rows
        return {row.triggerid: tuple(host.hostid for host in row.hosts) for row in rows}

    async def _by_host(self, names: Sequence[str]) -> Mapping[str, HostRow] | Gap:
        rows = await self._host_rows({"filter": {"host": [*names]}})
        return rows if isinstance(rows, Gap) else {row.host: row for row in rows}

    async def _by_name(self, names: Sequence[str]) -> Mapping[str, HostRow] | Gap:
        rows = await self._host_rows({"filter": {"name": [*names]}})
        return rows if isinstance(rows, Gap) else {row.name: row for row in rows}

    async def _by_address(self, names: Sequence[str]) -> Mapping[str, HostRow] | Gap:
        places = await self._places(names)
        if isinstance(places, Gap) or not places:
            return places if isinstance(places, Gap) else {}
        ids = {row.hostid for row in places}
        rows = await self._host_rows({"hostids": sorted(ids)})
        if isinstance(rows, Gap):
            return rows
        by_id = {row.hostid: row for row in rows}
        pairs = [(address, row.hostid) for row in places for address in (row.ip, row.dns)]
        return {a: by_id[id_] for a, id_ in pairs if a in names and id_ in by_id}

    async def _places(self, names: Sequence[str]) -> list[AddressRow] | Gap:
        found: list[AddressRow] = []
        for key in ("ip", "dns"):
            wanted = {"filter": {key: [*names]}, "output": ["hostid", "ip", "dns"]}
            rows = await self._rows("hostinterface.get", wanted, ADDRESSES)
            if isinstance(rows, Gap):
                return rows
            found += rows
        return found

    async def _host_rows(self, wanted: Json) -> list[HostRow] | Gap:
        version = await self.version()
        if isinstance(version, Gap):
            return version
        newer = version >= _HOST_GROUPS_SINCE
        groups = "selectHostGroups" if newer else "selectGroups"
        output = ["hostid", "host", "name", "status", "maintenance_status"]
        asked: Json = {
            **wanted,
            "output": [*output, *(["active_available"] if newer else [])],
            "selectInterfaces": ["type", "available", "error"],
            groups: ["groupid", "name"],
            "sortfield": "host",
        }
        return await self._rows("host.get", asked, HOSTS)

    async def _rows(self, method: str, params: Json, kind: TypeAdapter[T]) -> T | Gap:
        told = await self._ask(method, params)
        if isinstance(told, Gap):
            return told
        try:
            return kind.validate_python(told)
        except ValidationError:
            return Gap(cause=GapCause.GARBLED, detail=f"not what {method} lists")

    async def _ask(self, method: str, params: Json) -> Any | Gap:
        version = await self.version()
        if isinstance(version, Gap):
            return version
        if version < OLDEST:
            return Gap(cause=GapCause.REFUSED, detail="a version before 6.0")
        token = self._token.get_secret_value() if self._token else None
        header = token is not None and version >= _HEADER_SINCE
        headers = {"Authorization": f"Bearer {token}"} if header else {}
        extra = {"auth": token} if token is not None and not header else {}
        return await self._fuse.through(lambda: self._send(method, params, extra, headers))

    async def _send(self, method: str, params: object, extra: Json, headers: Json) -> Any | Gap:
        body = {"jsonrpc": "2.0", "method": method, "params": params, "id": 1, **extra}
        return _result(await self._http.post_json(API, body, headers))


def _result(reply: HttpReply | Gap) -> Any | Gap:
    """Read a reply; the API says what is wrong with 200 and an `error`."""
    if isinstance(reply, Gap):
        return reply
    if reply.status != _OK:
        return reply.refusal()
    try:
        read = _Reply.model_validate_json(reply.body)
    except ValidationError:
        return Gap(cause=GapCause.GARBLED, detail="not the JSON of Zabbix's API")
    if read.error is not None:
        return Gap(cause=GapCause.REFUSED, detail=(read.error.data or read.error.message)[:200])
    return read.result
