"""Closed lists the patterns lean on: units, nouns that are counted, names of kinds."""

import errno
import re
import signal
from collections.abc import Mapping


def _set(words: str) -> frozenset[str]:
    """Write a closed list as one text."""
    return frozenset(words.split())


SPELLED: Mapping[str, int] = {
    **{
        word: number
        for number, word in enumerate(
            [
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
                "eleven",
                "twelve",
                "thirteen",
                "fourteen",
                "fifteen",
                "sixteen",
                "seventeen",
                "eighteen",
                "nineteen",
                "twenty",
            ],
            start=3,
        )
    },
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
}
"""Counts in words. One and two are mostly no counts: `one of`, `the other two`."""

SHORT_TIME = _set("ns us µs μs ms s m h d w sec secs min mins hr hrs")
LONG_TIME = SHORT_TIME | _set(
    "millisecond milliseconds microseconds nanoseconds second seconds minute minutes hour "
    "hours day days week weeks"
)
_BYTES = (
    "B kB KB MB GB TB PB Ki Mi Gi Ti KiB MiB GiB TiB k K M G Kbps Mbps Gbps Mbit Gbit bytes byte"
)
_RATES = (
    "MB/s KB/s kB/s GB/s MiB/s KiB/s GiB/s B/s req/s ops/s rps qps RPS QPS rpm tps TPS IOPS AAS"
)
_PHYSICAL = "V W A Hz MHz GHz °C C °F cores core vCPU vCPUs millicores mCPU x"
UNITS = frozenset(f"{_BYTES} {_RATES} {_PHYSICAL}".split())

COUNTED = _set(
    "restarts restart connections connection sessions requests errors retries replicas pods "
    "nodes hosts instances containers rows tuples locks events alerts messages partitions "
    "threads processes queries transactions timeouts failures attempts tasks jobs users "
    "customers systems servers deployments packets calls series samples files descriptors "
    "inodes volumes shards brokers consumers clients endpoints targets workers crashes"
)
"""Nouns that go with a number: `0 restarts`."""

APPROXIMATE = _set("about around roughly approximately approx circa nearly almost ~ ≈")
CODE_WORDS = _set("code status http exit errno sqlstate signal statuscode")

STATES = _set("Pending Evicted Unschedulable Unhealthy Terminating Preempted NotReady Unreachable")
"""States of one word that are news; `Running` and `Ready` are not."""

ERROR_NAMES = frozenset(errno.errorcode.values()) | _set(
    "ENOTFOUND EAI_AGAIN EAI_NONAME EPROTO NXDOMAIN SERVFAIL UNAVAILABLE UNAUTHENTICATED"
)
SIGNALS = frozenset(s.name for s in signal.Signals)

PRODUCTS = _set(
    "ReplicaSet ReplicaSets StatefulSet StatefulSets DaemonSet DaemonSets ConfigMap "
    "ConfigMaps CronJob CronJobs ServiceAccount PersistentVolume PersistentVolumeClaim "
    "NetworkPolicy HorizontalPodAutoscaler PodDisruptionBudget ResourceQuota LimitRange "
    "ControlPlane DataPlane PostgreSQL MySQL MariaDB MongoDB DynamoDB InnoDB CockroachDB "
    "ClickHouse InfluxDB GitHub GitLab BitBucket RabbitMQ ActiveMQ ElastiCache OpenSearch "
    "ElasticSearch OpenShift OpenStack OpenTelemetry CoreDNS CloudWatch CloudFront CloudTrail "
    "CloudFormation PagerDuty OpsGenie DataDog NewRelic JavaScript TypeScript NodeJS HAProxy "
    "PgBouncer LogQL PromQL TraceQL GraphQL NoSQL DevOps WebSocket WebSockets LoadBalancer "
    "NodePort ClusterIP ServiceMonitor PodMonitor PrometheusRule AlertmanagerConfig EmptyDir "
    "StorageClass IngressClass PriorityClass NodeGroup NodePool BestEffort ClusterFirst "
    "RollingUpdate IfNotPresent LastHeartbeatTime LastTransitionTime RequestID TraceID SpanID"
)
"""Kinds, products, columns and defaults in one word of humps: they point at nothing."""

MEASURES = (
    "IOPS", "Latency", "Utilization", "Usage", "Connections", "Lag", "Generation", "Throughput",
    "Space", "Memory", "Bytes", "Count", "Depth", "Credits", "Balance", "CreditBalance",
    "Percent", "Percentage", "Load", "Rate", "Requests", "Errors", "Duration", "Age", "Ops",
    "Storage", "Traffic", "Packets", "Hits", "Misses", "Evictions", "Time", "Swap", "Size",
)  # fmt: skip
"""What the name of a measure in humps ends in: `ReplicaLag`."""

SERIES_ENDS = (
    "_total", "_seconds", "_bytes", "_count", "_sum", "_bucket", "_ratio", "_info", "_percent",
    "_celsius", "_milliseconds", "_created", "_timestamp", "_max", "_min", "_avg",
)  # fmt: skip
SERIES_STARTS = (
    "kube_", "node_", "container_", "http_", "grpc_", "process_", "go_", "jvm_", "pg_", "mysql_",
    "redis_", "kafka_", "etcd_", "apiserver_", "kubelet_", "coredns_", "nginx_", "istio_",
    "envoy_", "prometheus_", "alertmanager_", "probe_", "windows_", "rabbitmq_", "haproxy_",
)  # fmt: skip
ACTIONS = _set(
    "kubectl fetch get list find check run query describe argocd helm execute search read "
    "call create delete update set show"
)
"""What the name of a tool begins with: `fetch_pod_logs` is no series."""

FILE_ENDS = _set(
    "go py js ts java rb rs c cc cpp h kt scala php cs sh conf cfg ini yaml yml json toml xml "
    "log md txt sql service env properties lock gz pem crt key so jar tf"
)
DOMAINS = _set(
    "local internal cluster svc com net org io dev app cloud edu gov mil int biz xyz top site "
    "online ru cn de uk fr nl eu us ch at jp in br au ca it es pl se no fi dk kr tw ua ir cc "
    "su pw tk ml ga cf gq example test lan corp intra home onion arpa invalid localdomain co "
    "me tv ai"
)

PLAIN_NAMES = _set(
    "default test prod production dev staging stage main primary none null true false unknown "
    "critical warning info error high low ok up down api web app db all other"
)
"""Label values that are words of a sentence as well: they count only where a label says so."""

NAMESPACE_KEYS = _set("namespace kube_namespace exported_namespace ns n")
SERVICE_KEYS = _set(
    "service svc app deployment workload kube_deployment kube_service statefulset daemonset"
)
HOST_KEYS = _set("node host hostname node_name nodename")
POD_KEYS = frozenset(["pod", "pod_name", "kube_pod"])
ACCOUNT_KEYS = _set("user username login account principal")
SCHEMA_KEYS = _set(
    "schema_version apiversion api_version tool_name toolset_name invocation keyword keywords"
)
"""Their values describe the record, or what was searched for, not the world."""
LOG_STARTS = _set("ts time timestamp t level lvl")
"""What a line of a log in pairs begins with; most of its pairs are the form, not the news."""
TAINTS = _set("NoExecute NoSchedule PreferNoSchedule")
JUDGED = re.compile(r"(?:High|Low|Has|Too|Not|No|Insufficient|Missing|Exceeded)(?=[A-Z])")
"""What a name that judges a measure holds, as rules and conditions are called."""
NO_MEMBERS = _set(
    "step phase top tier sev level layer part stage type class version pool group "
    "option rule line utf sha iso p case page round attempt shard h"
)
"""Words a number follows without a machine being meant: `phase-2`."""
