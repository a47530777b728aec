"""A real Zabbix from Debian's packages on loopback: server, agent and web API, nothing in /etc.

`with zabbix(folder, postgres_dsn) as api:`; its database is the one given, empty.
"""

import gzip
import itertools
import json
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.real_prometheus import free_port

Json = dict[str, Any]
NEEDED = ("zabbix_server", "zabbix_agentd", "zabbix_sender", "php")
SCHEMA = Path("/usr/share/zabbix-server-pgsql")
FRONTEND = Path("/usr/share/zabbix")
OWN_CONFIG = "'/etc/zabbix/zabbix.conf.php'"
READY_S = 60
STOP_S = 15
FRONT = """<?php
$DB['TYPE']='POSTGRESQL'; $DB['SERVER']='{host}'; $DB['PORT']='{port}'; $DB['DATABASE']='{name}';
$DB['USER']='{user}'; $DB['PASSWORD']=''; $DB['SCHEMA']=''; $DB['ENCRYPTION']=false;
$DB['KEY_FILE']=''; $DB['CERT_FILE']=''; $DB['CA_FILE']=''; $DB['VERIFY_HOST']=false;
$DB['CIPHER_LIST']=''; $DB['VAULT_URL']=''; $DB['VAULT_DB_PATH']=''; $DB['VAULT_TOKEN']='';
$DB['DOUBLE_IEEE754']=true; $ZBX_SERVER='127.0.0.1'; $ZBX_SERVER_PORT='{trapper}';
$ZBX_SERVER_NAME='test'; $IMAGE_FORMAT_DEFAULT=IMAGE_FORMAT_PNG;
"""
SERVER = """ListenIP=127.0.0.1
ListenPort={trapper}
LogType=file
LogFile={folder}/server.log
PidFile={folder}/server.pid
SocketDir={folder}
DBHost={host}
DBPort={port}
DBName={name}
DBUser={user}
AllowRoot=1
AllowUnsupportedDBVersions=1
Timeout=1
UnreachablePeriod=1
UnreachableDelay=1
UnavailableDelay=1
CacheUpdateFrequency=1
StartPollers=1
StartPollersUnreachable=1
StartTrappers=1
StartPingers=0
StartDiscoverers=0
StartHTTPPollers=0
StartDBSyncers=1
StartAlerters=1
StartEscalators=1
StartPreprocessors=1
FpingLocation=/bin/true
Fping6Location=/bin/true
AlertScriptsPath={folder}
ExternalScripts={folder}
"""
AGENT = """ListenIP=127.0.0.1
ListenPort={agent}
Server=127.0.0.1
LogType=file
LogFile={folder}/agent.log
PidFile={folder}/agent.pid
AllowRoot=1
"""


@dataclass
class Api:
    """The running server's API, as its administrator."""

    url: str
    trapper: int
    agent: int
    session: str = ""

    def call(self, method: str, params: Any) -> Any:
        body: Json = {"jsonrpc": "2.0", "method": method, "params": params, "id": 1}
        if self.session:
            body["auth"] = self.session
        told = httpx.post(f"{self.url}/api_jsonrpc.php", json=body, timeout=20, trust_env=False)
        reply: Json = told.json()
        assert "error" not in reply, reply["error"]
        return reply["result"]

    def token(self) -> str:
        made = self.call("token.create", {"name": "reader", "userid": "1"})
        return str(self.call("token.generate", made["tokenids"])[0]["token"])

    def send(self, host: str, key: str, value: str) -> None:
        """Hand a value to the server; it knows a new item only after it has read its tables."""
        order = ["zabbix_sender", "-z", "127.0.0.1", "-p", str(self.trapper)]
        order += ["-s", host, "-k", key, "-o", value]
        until(lambda: b"processed: 1" in subprocess.run(order, check=False, stdout=-1).stdout)


def low_port(among: range) -> int:
    """Give a loopback port that nobody listens on; the server takes none over 32767."""
    for port in among:
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no port is free in {among}")


def until(seen: Callable[[], object], within_s: float = READY_S) -> Any:
    """Wait for something to be so; gives it."""
    for pause_s in itertools.repeat(0.2, int(within_s / 0.2)):
        found = seen()
        if found:
            return found
        time.sleep(pause_s)
    raise AssertionError(f"not so within {within_s} s")


@contextmanager
def zabbix(folder: Path, dsn: str) -> Iterator[Api]:
    """Fill the database, start everything, sign in; all of it ends with the block."""
    known = conninfo_to_dict(dsn)
    names = {
        "folder": folder,
        "host": known["host"],
        "port": known.get("port", 5432),
        "name": known["dbname"],
        "user": known.get("user", "postgres"),
        "trapper": low_port(range(21_000, 26_000)),
        "agent": low_port(range(26_000, 31_000)),
    }
    fill(dsn)
    web = front(folder, names)
    port = free_port()
    with ExitStack() as running:
        for name, text in {"server": SERVER, "agent": AGENT}.items():
            (folder / f"{name}.conf").write_text(text.format(**names))
        running.enter_context(
            started(["zabbix_server", "-f", "-c", f"{folder}/server.conf"], folder)
        )
        running.enter_context(
            started(["zabbix_agentd", "-f", "-c", f"{folder}/agent.conf"], folder)
        )
        php = ["php", "-d", "date.timezone=UTC", "-d", "post_max_size=16M"]
        php += ["-d", "max_execution_time=300", "-d", "memory_limit=256M"]
        running.enter_context(started([*php, "-S", f"127.0.0.1:{port}", "-t", str(web)], folder))
        api = Api(f"http://127.0.0.1:{port}", int(str(names["trapper"])), int(str(names["agent"])))
        until(lambda: answers(api))
        login = {"username": "Admin", "password": "zabbix"}
        api.session = api.call("user.login", login)
        yield api


def answers(api: Api) -> bool:
    try:
        return bool(api.call("apiinfo.version", []))
    except (httpx.TransportError, json.JSONDecodeError):
        return False


def fill(dsn: str) -> None:
    """Make the server's tables and what it cannot be without."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name in ("schema", "images", "data"):
            text = gzip.decompress((SCHEMA / f"{name}.sql.gz").read_bytes())
            connection.execute(text)


def front(folder: Path, names: Json) -> Path:
    """Copy the frontend, because it reads its settings from one place only."""
    web = folder / "web"
    shutil.copytree(FRONTEND, web, symlinks=False, ignore_dangling_symlinks=True)
    reader = web / "include/classes/core/CConfigFile.php"
    own = folder / "zabbix.conf.php"
    reader.write_text(reader.read_text().replace(OWN_CONFIG, f"'{own}'"))
    own.write_text(FRONT.format(**names))
    return web


@contextmanager
def started(command: Sequence[str], folder: Path) -> Iterator[None]:
    """Run a program in a group of its own, and end all of the group."""
    with (folder / f"{Path(command[0]).name}.out").open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
