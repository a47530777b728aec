"""What a text names is found by shape, by label or by the evidence's own names; prose is not."""

import base64
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.groundedness.extract import indicators
from engine.groundedness.kinds import IndicatorKind


def found(text: str, *known: str) -> list[tuple[str, str]]:
    return [(one.kind.value, one.text) for one in indicators(text, known)]


@pytest.mark.proves("S1-3", "S1-4")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seen from 10.0.0.7:5432.", [("ip", "10.0.0.7:5432")]),
        ("from 2001:db8::1, then", [("ip", "2001:db8::1")]),
        ("Host db-9 and ip-10-0-1-42.", [("host", "db-9"), ("host", "ip-10-0-1-42")]),
        ("talks to c2.example.xyz", [("host", "c2.example.xyz")]),
        ("on kind-double-node-worker", [("host", "kind-double-node-worker")]),
        ("instance i-0abcd1234ef567890", [("host", "i-0abcd1234ef567890")]),
        ("pod api-7d9f8b6c5d-x2v4q dies", [("pod", "api-7d9f8b6c5d-x2v4q")]),
        ("by commit 3f2a1bc", [("hex", "3f2a1bc")]),
        ("md5 d41d8cd98f00b204e9800998ecf8427e", [("hex", "d41d8cd98f00b204e9800998ecf8427e")]),
        (
            "uid=b527d2de-04c0-4b36-962b-90b9e45724cd",
            [("uuid", "b527d2de-04c0-4b36-962b-90b9e45724cd")],
        ),
        ("opened https://a.example/x?y=1.", [("url", "https://a.example/x?y=1")]),
        ("at worker.py:42 and /etc/hosts", [("path", "worker.py:42"), ("path", "/etc/hosts")]),
        ("ran C:\\Windows\\cmd.exe", [("path", "C:\\Windows\\cmd.exe")]),
        ("image shop/api:v2.4.1-rc1", [("image", "shop/api:v2.4.1-rc1")]),
        ("v1.31.2 after 2.4.1", [("version", "v1.31.2"), ("version", "2.4.1")]),
        ("by alice@example.com", [("account", "alice@example.com")]),
        ("as CORP\\svc-backup", [("account", "CORP\\svc-backup")]),
        ("account 123456789012", [("account", "123456789012")]),
        ("http_requests_total[5m] rose", [("metric", "http_requests_total")]),
        ("ReplicaLag and OOMKilled", [("metric", "ReplicaLag"), ("reason", "OOMKilled")]),
        ("waits on IO:WALWrite", [("reason", "IO:WALWrite")]),
        ("Warning event Killing came", [("reason", "Killing")]),
        ("exit code: 137, HTTP 503", [("code", "137"), ("code", "503")]),
        ("getaddrinfo ENOTFOUND, ORA-01555", [("code", "ENOTFOUND"), ("code", "ORA-01555")]),
        ("CVE-2024-3094 by T1059.001", [("cve", "CVE-2024-3094"), ("technique", "T1059.001")]),
        ("at 10:42Z", [("ts", "10:42Z")]),
        ("2025-06-14 17:15:01,032 INFO", [("ts", "2025-06-14 17:15:01,032")]),
        ("Oct 19 00:13:18 booted", [("ts", "Oct 19 00:13:18")]),
        ("from 15 seconds to 1,248 s", [("dur", "15 seconds"), ("dur", "1,248 s")]),
        ("took 42.049µs, then 1h30m", [("dur", "42.049µs"), ("dur", "1h30m")]),
        ("~200 MB/s and 512Mi", [("qty", "~200 MB/s"), ("qty", "512Mi")]),
        ("0 restarts, 3.9 AAS", [("qty", "0 restarts"), ("qty", "3.9 AAS")]),
        ("~2.1 GB/min at 15:08-15:12Z", [("qty", "~2.1 GB/min"), ("ts", "15:08-15:12Z")]),
        ("up 34/37 of it", [("qty", "34/37")]),
        ("5 percent of 123,456 rows", [("pct", "5 percent"), ("qty", "123,456 rows")]),
        ("250m CPU, not 250m later", [("qty", "250m"), ("dur", "250m")]),
        ("5 requests/s, 5 GB/x, 5 furlongs/s", [("qty", "5 requests/s")]),
        ("01.5, 012, 7 or 0.5", [("qty", "0.5")]),
        ("5-7 came, 17 left", [("qty", "5-7"), ("qty", "17")]),
        ("code 3s, code 0, code 5-7", [("code", "3")]),
        ("account 1234 and 1,234", [("account", "1234"), ("qty", "1,234")]),
        ("twelve additional affected systems", [("qty", "twelve")]),
        ("99.96% of 5,000", [("pct", "99.96%"), ("qty", "5,000")]),
        ("timeout=30s, retry=5m, n=1h30m", [("dur", "30s"), ("dur", "5m"), ("dur", "1h30m")]),
        ("at=10:42Z", [("ts", "10:42Z")]),
        ("Oct 19 booted on 2025-06-14.", [("qty", "19"), ("ts", "2025-06-14")]),
        ("on 2025-06-14", [("ts", "2025-06-14")]),
        ("ready=1, desired=3", [("kv", "ready=1"), ("kv", "desired=3")]),
        ("kubectl --namespace=kube-system", [("ns", "kube-system")]),
        ('{"pod_name":"a","namespace":"shop"}', [("pod", "a"), ("ns", "shop")]),
        ("All 12 pods, 3 pods", [("qty", "12 pods"), ("qty", "3 pods")]),
        ("it fails 0% of the time", [("pct", "0%")]),
        (
            "ts=2025-05-22T06:34:08Z method=Health took=42ms id=0af3b2c1\nready=1",
            [
                ("ts", "2025-05-22T06:34:08Z"),
                ("dur", "42ms"),
                ("hex", "0af3b2c1"),
                ("kv", "ready=1"),
            ],
        ),
        (
            "ShopHighLatency, KubeletHasSufficientMemory, ReadLatency",
            [
                ("reason", "ShopHighLatency"),
                ("reason", "KubeletHasSufficientMemory"),
                ("metric", "ReadLatency"),
            ],
        ),
        (
            "CORP\\svc-deploy ran shop.io/crw:latest\\\\",
            [("account", "CORP\\svc-deploy"), ("image", "shop.io/crw:latest")],
        ),
    ],
)
def test_a_name_is_found_by_its_shape_or_its_label(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert found(text) == expected


@pytest.mark.proves("S1-7")
@pytest.mark.parametrize(
    "text",
    [
        "The process behaved suspiciously.",
        "All pods are Running and Ready, so the workload itself is fine.",
        "The 99th percentile of it is too high; see the 3rd step, i.e. N/A.",
        "k8s.pod.name, service.name and deployment.kubernetes.io/revision are labels",
        "an old-ReplicaSet in us-east-1, and/or I/O-bound, on PostgreSQL and GitHub",
        '{"schema_version": "robusta:v1.0.0", "return_code": 0, "tool_name": "fetch_pod_logs"}',
        "CreationTimestamp:   ",
        "ROOT_CAUSE: it broke",
        "it broke\nROOT_CAUSE: it broke",
        "rate over [10m], by a two-step plan",
        "All 3 pods of it are Ready",
        "agent   0 (0%)   0 (0.0%)",
        '{"toolset_name":"kubernetes/core","match_params":{"keyword":"shop-worker-2"}}',
        "It ended.\\nDo not ask again",
        "Tolerations: node.kubernetes.io/not-ready:NoExecute",
        "ServiceMonitors, an EmptyDir and PersistentVolumeClaims",
        "gsub(/Ki$/) by .metadata.labels.env",
        "step three of number four in phase five; 12,34 and 1234,567 too",
        "",
    ],
)
def test_prose_holds_nothing_to_check(text: str) -> None:
    assert found(text) == []


def test_namespaces_and_services_are_matched_against_known_values_only() -> None:
    text = "payments-api in the payments namespace calls checkout:8080 by default"
    assert found(text) == []
    assert found(text, "payments-api", "payments", "checkout", "default") == [
        ("svc", "payments-api"),
        ("ns", "payments"),
        ("svc", "checkout"),
    ]


def test_each_indicator_is_given_once() -> None:
    assert found("10.0.0.7 and 10.0.0.7") == [("ip", "10.0.0.7")]


def test_estimates_ranges_and_shares_are_marked_as_derived() -> None:
    marks = {one.text: one.derived for one in indicators("~41 s, 87-93, 4,000+, 88%, 250 s")}
    assert marks == {"~41 s": True, "87-93": True, "4,000+": True, "88%": True, "250 s": False}


def test_hand_marked_sentences_are_read_as_a_person_reads_them(shared: Path) -> None:
    hit = missed = extra = 0
    lines = (shared / "data/indicators/sentences_gold.jsonl").read_text(encoding="utf-8")
    for row in map(json.loads, lines.splitlines()):
        gold = {(mark["type"], mark["value"]) for mark in row["gold"]}
        known = [value for kind, value in gold if kind in {"ns", "svc"}]
        seen = set(found(row["text"], *known))
        hit += len(gold & seen)
        missed += len(gold - seen)
        extra += len(seen - gold)
    assert hit / (hit + missed) >= 0.95
    assert hit / (hit + extra) >= 0.95


BLOBS = {
    "dashes": "a-" * 50_000,
    "slashes": "a/" * 50_000,
    "digits": "1" * 100_000,
    "hex": "ab12" * 25_000,
    "base64": base64.b64encode(bytes(range(256)) * 293).decode(),
    "dots": "a." * 50_000,
    "commas": "1," * 50_000,
    "letters": "a" * 100_000,
    "words of dashes": ("a-" * 1000 + " ") * 50,
    "words of digits": ("1." * 1000 + " ") * 50,
    "words of pairs": ("a=" * 1000 + " ") * 50,
    "words of underscores": ("a_" * 1000 + " ") * 50,
}


@pytest.mark.parametrize("blob", BLOBS.values(), ids=BLOBS)
def test_no_blob_takes_longer_than_its_length_deserves(blob: str) -> None:
    began = time.process_time()
    indicators(blob)
    assert time.process_time() - began < 0.3


def test_work_grows_with_the_length_of_a_text() -> None:
    line = "10:42Z pod api-7d9f8b6c5d-x2v4q restarted, exit code 137, and nothing else is wrong\n"
    began = time.process_time()
    indicators(line * 6_000)
    assert time.process_time() - began < 1.5


@given(st.text(max_size=200) | st.text("0123456789:.,-/=~%aAzZ_@[ ", max_size=60))
def test_every_text_can_be_read(text: str) -> None:
    for one in indicators(text, ["a", "z"]):
        assert one.text
        assert one.kind in set(IndicatorKind)
