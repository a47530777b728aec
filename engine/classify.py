"""What kind of statement an alert is, by its rule's name and expression.

An author's word comes first (label `caveat_class`), then names that are conventions, then what
the expression measures. Getting it wrong is cheap one way only: a symptom is investigated.
"""

import re
from functools import lru_cache

from engine.expression import matchers_of, metrics_of, shape_of
from engine.model.alert import Alert, AlertClass

OVERRIDE = "caveat_class"

_LONGEST_NAME = 200
_LONGEST_READ = 8_000
_NOT_A_LETTER = re.compile(r"[^a-z0-9]+")
_DOWN = (
    r"(is|are|has|have|been|went|instance|server|service|cluster|node|host|member|primary|master"
    r"|replica|shard|s)*"
    r"(down(?!stream|load|sampl|time|grade)|notready|unreachable|offline|unresponsive"
    r"|(unavailable|dead|outage|lost|flapping)$)"
)
_MACHINE = r"(node|host|machine|hypervisor|droplet|ec2instance|vmware|virtualmachine|esxi?)"
_NETWORK = (
    r"(network|interface|(?<!free)switch|router|link|bgp(peer|session|neighbor)?|vpn|tunnel"
    r"|(vpn|nat|internet|transit)gateway|firewall)"
)
_DNS = r"(dns|coredns|kubedns|nameserver)"
_DATABASE = (
    r"(database|postgres(ql)?|mysql|mariadb|galera|mongo(db)?|redis|valkey|memcached|cassandra"
    r"|scylla|clickhouse|cockroach(db)?|elasticsearch|opensearch|oracle(db)?|mssql|sqlserver|etcd"
    r"|zookeeper|couchdb|couchbase|influxdb|neo4j|rds|aurora|db|cephosd|osd)"
)
_STORAGE = (
    r"(raid|diskcontroller|storagecontroller|raidcontroller|diskarray|zpool|zfspool).*"
    r"(down|degraded|fail(ed|ure|ing)?|offline|insufficientdrives|lost)"
)

_HEARTBEAT_NAME = re.compile(r".*(watchdog|deadman(s|ss)?(switch|snitch|alert)?)|alwaysfiring")
_HEARTBEAT_SHAPE = re.compile(r"\(*vector\(1(\.0+)?\)\)*(==(bool)?1|>0)?")
_GAP_LABEL = frozenset({"datasourceerror", "datasourcenodata", "nodata"})
_GAP_NAME = re.compile(
    r"nodata$|absent$|scrapefail|(targets?|exporter|collector|scrape(job)?)(is|are)?"
    r"(down(?!stream)|missing|absent|unreachable|(unavailable|failed|failing)$)"
    r"|(metrics?|job|series)(is|are)?(absent|missing)|^instance(is)?down$"
    r"|^kube(api(server)?|scheduler|controllermanager|proxy|let)(instance)?(down|unreachable)$"
    r"|^thanos\w+isdown$"
)
_GAP_SHAPE = re.compile(r"\(*absent(_over_time)?\(|offset.*unless|unless.*\bup\b")
_UP_IS_ZERO = re.compile(r"\bup\)*(by\([^)]*\))?\)*(==(bool)?0|<1|!=1)|\bup\)*==(bool)?0")
_CAUSE_NAME = re.compile(f"({_MACHINE}|{_NETWORK}|{_DNS}|{_DATABASE}){_DOWN}|{_STORAGE}")
_PREDICTIVE_NAME = re.compile(
    r"(cert(ificate)?s?|tls|ssl|license|licence|token|domain|key|credential)s?.*"
    r"(expir(y|es|ing|ation)|(will|may|about)(to)?expire|renewaldue|duesoon)"
    r"|(disk|file|inode|volume|storage|space).*(fillingup|(may|will)fill|fillsin)|predict"
)
_EXPIRED = re.compile(r"expired|renewalerror|notready")
_EXPIRY_METRIC = re.compile(r"expir|not_?after|ttl_seconds|days_until|valid_until")
_ALREADY_BAD = re.compile(r"lag|latency|error")
_CAUSE_METRIC = re.compile(
    r"(pg|postgres|mysql|mariadb|mongodb|redis|memcached|mssql|oracledb|couchdb(_httpd)?|zk|zookeeper"
    r"|etcd|cassandra|ceph_osd|node_network|coredns|junos|digitalocean_droplet|libvirt_domain"
    r"|vmware_host)_up"
)
_IS_DOWN = re.compile(r"(==(bool)?0|!=(bool)?1|<1)")
_LINK = re.compile(r"ifoperstatus\)*(==2|!=1)")
_NODE_READY = re.compile(r'kube_node_status_condition\{[^}]*condition=~?"Ready"')
_NODE_GONE = re.compile(
    r'kube_node_spec_taint\{[^}]*"node\.kubernetes\.io/(unreachable|not-ready)"'
)


def classify(alert: Alert, expression: str | None) -> AlertClass:
    """Say what kind of statement an alert is; `expression` is its rule's, where known."""
    said = alert.labels.get(OVERRIDE, "").strip().lower()
    if said in set(AlertClass):
        return AlertClass(said)
    if _plain(alert.labels.get("alertname", "")) in _GAP_LABEL:
        return AlertClass.MONITORING_GAP
    return _by_rule(_plain(alert.rule), (expression or "")[:_LONGEST_READ])


@lru_cache(4096)
def _by_rule(name: str, expression: str) -> AlertClass:
    shape = shape_of(expression)
    if _HEARTBEAT_NAME.fullmatch(name) or _HEARTBEAT_SHAPE.fullmatch(shape):
        return AlertClass.HEARTBEAT
    if _GAP_NAME.search(name):
        return AlertClass.MONITORING_GAP
    if _CAUSE_NAME.search(name):
        return AlertClass.CAUSE
    if _nobody_measured(expression, shape):
        return AlertClass.MONITORING_GAP
    if _is_ahead(name, expression, shape):
        return AlertClass.PREDICTIVE
    return AlertClass.CAUSE if _is_cause(expression, shape) else AlertClass.SYMPTOM


def _plain(name: str) -> str:
    return _NOT_A_LETTER.sub("", name[:_LONGEST_NAME].lower())


def _nobody_measured(expression: str, shape: str) -> bool:
    if _GAP_SHAPE.match(shape) or ("unless" in shape and _GAP_SHAPE.search(shape)):
        return True
    return metrics_of(expression) == {"up"} and bool(_UP_IS_ZERO.search(shape))


def _is_ahead(name: str, expression: str, shape: str) -> bool:
    """Whether nothing is broken yet; what has expired or lags already is."""
    if _EXPIRED.search(name):
        return False
    if "predict_linear(" in shape:
        return not _ALREADY_BAD.search(name)
    if _PREDICTIVE_NAME.search(name):
        return True
    measures_expiry = any(_EXPIRY_METRIC.search(metric) for metric in metrics_of(expression))
    return measures_expiry and "expir" in name and "session" not in name


def _is_cause(expression: str, shape: str) -> bool:
    written = matchers_of(expression)
    if _NODE_READY.search(written) or _NODE_GONE.search(written) or _LINK.search(shape):
        return True
    if "node_md_disks" in shape:
        return True
    down = _IS_DOWN.search(shape)
    return bool(down) and any(_CAUSE_METRIC.fullmatch(m) for m in metrics_of(expression))
