"""A Zabbix of one's own over JSON-RPC: the reading half of the API of versions 6.0 to 7.2.

It refuses what the real one refuses: parameters of another version, and a token in the wrong place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.drill.doubles.faults import Fault, suffer

Json = dict[str, Any]
TOKEN = "z" * 64
INVALID = -32602
_NOT_LOGGED_IN = "Session terminated, re-login, please."
_IN_A_HEADER = (6, 4)
_ONLY_IN_A_HEADER = (7, 2)
_TWO_KINDS_OF_GROUP = (6, 2)


class _RefusedError(Exception):
    """What the API says no to, in its words."""


@dataclass
class Machine:
    """A host as it is planted; `available` is 0 unknown, 1 yes, 2 no."""

    id: str
    host: str
    groups: Sequence[str]
    available: int = 1
    error: str = ""
    maintained: bool = False
    watched: bool = True
    name: str = ""
    ip: str = "192.0.2.1"

    def row(self, groups: str, ids: dict[str, str]) -> Json:
        """The host as the API lists it: every number is text."""
        interface = {"type": "1", "available": str(self.available), "error": self.error}
        return {
            "hostid": self.id,
            "host": self.host,
            "name": self.name or self.host,
            "status": "0" if self.watched else "1",
            "maintenance_status": "1" if self.maintained else "0",
            "interfaces": [interface],
            groups: [{"groupid": ids[name], "name": name} for name in self.groups],
        }


@dataclass
class Trouble:
    """A problem as it is planted."""

    name: str
    hosts: Sequence[str]
    """Ids of the hosts its trigger looks at."""
    severity: int = 4
    clock: int = 1_764_555_300
    notes: Sequence[str] = ()


@dataclass
class ZabbixDouble:
    """Hosts and problems to ask for; keeps what it was asked."""

    version: tuple[int, int] = (6, 0)
    machines: list[Machine] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    broken: Fault | None = None
    asked: list[tuple[str, Json]] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        """The web application."""
        return Starlette(routes=[Route("/api_jsonrpc.php", self._serve, methods=["POST"])])

    async def _serve(self, request: Request) -> Response:
        body: Json = await request.json()
        self.asked.append((body["method"], body["params"] or {}))

        async def accept() -> Response:
            head = {"jsonrpc": "2.0", "id": body["id"]}
            try:
                return JSONResponse({**head, "result": self._answer(request, body)})
            except _RefusedError as refused:
                error = {"code": INVALID, "message": "Invalid params.", "data": str(refused)}
                return JSONResponse({**head, "error": error})

        return await suffer(self.broken, accept)

    def _answer(self, request: Request, body: Json) -> object:
        methods: dict[str, Callable[[Json], object]] = {
            "host.get": self._hosts,
            "hostinterface.get": self._interfaces,
            "hostgroup.get": self._groups,
            "problem.get": self._problems,
            "trigger.get": self._triggers,
        }
        if body["method"] == "apiinfo.version":
            return f"{self.version[0]}.{self.version[1]}.14"
        if body["method"] not in methods:
            raise _RefusedError(f'Incorrect API "{body["method"]}".')
        self._let_in(request, body)
        return methods[body["method"]](body["params"])

    def _let_in(self, request: Request, body: Json) -> None:
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if "auth" in body and self.version >= _ONLY_IN_A_HEADER:
            raise _RefusedError('Invalid parameter "/": unexpected parameter "auth".')
        told = body.get("auth") or (bearer if self.version >= _IN_A_HEADER else "")
        if told != TOKEN:
            raise _RefusedError(_NOT_LOGGED_IN)

    @property
    def _ids(self) -> dict[str, str]:
        names = sorted({name for machine in self.machines for name in machine.groups})
        return {name: str(n) for n, name in enumerate(names, start=1)}

    def _hosts(self, wanted: Json) -> object:
        newer = self.version >= _TWO_KINDS_OF_GROUP
        groups = "selectHostGroups" if newer else "selectGroups"
        stray = {"selectHostGroups", "selectGroups"} - {groups}
        if stray & set(wanted):
            raise _RefusedError(f'Invalid parameter "/": unexpected parameter "{stray.pop()}".')
        found = [one for one in self.machines if self._fits(one, wanted)]
        if wanted.get("countOutput"):
            return str(len(found))
        return [one.row("hostgroups" if newer else "groups", self._ids) for one in found]

    def _fits(self, machine: Machine, wanted: Json) -> bool:
        sought: Json = wanted.get("filter", {})
        named = {"host": machine.host, "name": machine.name or machine.host}
        group_ids = {self._ids[name] for name in machine.groups}
        return (
            all(named[key] in values for key, values in sought.items())
            and machine.id in wanted.get("hostids", [machine.id])
            and bool(group_ids & set(wanted.get("groupids", group_ids)))
            and (machine.watched or not wanted.get("monitored_hosts"))
        )

    def _interfaces(self, wanted: Json) -> object:
        addresses = wanted["filter"].get("ip", [])
        return [
            {"hostid": one.id, "ip": one.ip, "dns": ""}
            for one in self.machines
            if one.ip in addresses
        ]

    def _groups(self, wanted: Json) -> object:
        return [
            {"groupid": id_, "hosts": str(sum(name in one.groups for one in self.machines))}
            for name, id_ in self._ids.items()
            if id_ in wanted["groupids"]
        ]

    def _problems(self, wanted: Json) -> object:
        return [
            {
                "eventid": str(n),
                "objectid": f"t{n}",
                "name": one.name,
                "severity": str(one.severity),
                "clock": str(one.clock),
                "acknowledges": [{"message": note} for note in one.notes],
            }
            for n, one in enumerate(self.troubles)
            if set(one.hosts) & set(wanted["hostids"])
        ]

    def _triggers(self, wanted: Json) -> object:
        return [
            {"triggerid": f"t{n}", "hosts": [{"hostid": id_} for id_ in one.hosts]}
            for n, one in enumerate(self.troubles)
            if f"t{n}" in wanted["triggerids"]
        ]
