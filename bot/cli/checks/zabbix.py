"""Zabbix: its version, and what the token may see."""

from bot.cli.checks.line import Line, absent, bad, ok
from bot.cli.unreachable import why
from bot.tools.zabbix import API, OLDEST, ZabbixHosts
from engine.model.evidence import Gap, GapCause

PART = "zabbix"
_NO_HOSTS = "no reachability and no neighbours of hosts among the checks"


def not_configured() -> Line:
    """No Zabbix at all."""
    return absent(
        PART, "not set up", "set zabbix: {url: …, bearer_file: …}, if you run it", _NO_HOSTS
    )


async def zabbix(hosts: ZabbixHosts, url: str) -> Line:
    """Ask for its version and how many hosts there are to see."""
    version = await hosts.version()
    if isinstance(version, Gap):
        happened, cure = why("Zabbix", url, version, API)
        return bad(PART, happened, cure, _NO_HOSTS)
    said = f"{version[0]}.{version[1]} at {url}"
    if version < OLDEST:
        return bad(PART, f"{said} is too old", "update it to 6.0 or later", _NO_HOSTS)
    return _visible(said, await hosts.seen())


def _visible(said: str, seen: int | Gap) -> Line:
    if isinstance(seen, Gap):
        told = f"{said}: {seen.detail or seen.cause}"
        refused = seen.cause in {GapCause.REFUSED, GapCause.NOT_LET_IN}
        cure = "put a valid API token into zabbix.bearer_file" if refused else "try again"
        return bad(PART, told, cure, _NO_HOSTS)
    if not seen:
        cure = "give the token's user read access to the host groups"
        return bad(PART, f"{said}, the token sees no host", cure, _NO_HOSTS)
    return ok(PART, f"{said}, {seen} hosts to see")
