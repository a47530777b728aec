"""How often the local check errs, corpus by corpus: `python -m tests.reports.promql [server]`.

With the address of a running Prometheus (`http://127.0.0.1:9090`) its own parser is asked too.
"""

import http.client
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from engine.promql.caps import MAX_CHARACTERS
from engine.promql.check import Verdict, check
from engine.promql.expression import Expression
from engine.promql.parser import parses
from engine.promql.respell import panics
from engine.promql.server import ServerInfo

CORPORA = Path(__file__).resolve().parents[3] / "shared/data/promql"
ASKED_AT_MOST = 2_000
Row = Mapping[str, object]

# What the server's own parser says, where the corpus does not ask it: these corpora were found
# free of disagreements, so that the bare parser tells the same.
OFFICIAL: Mapping[str, Callable[[Row], bool]] = {
    "parse_test": lambda row: bool(row["valid"]),
    "promqltest": lambda _: True,
    "compliance": lambda row: row["expr"] != '{__name__=~".*"}',
    "rules_mixins": lambda _: True,
    "rules_awesome": lambda _: True,
    "rules_debian_ceph": lambda _: True,
    "rules_prometheus_testdata": lambda _: True,
    "grafana_dashboards": lambda row: bare(str(row["expr"])),
    "mutants_labelled": lambda row: bool(row["official_3_14_default"]),
    "disagreements": lambda row: bool(row["official_all"]),
}
HEAD = ("corpus", "n", "valid", "f.accept", "f.reject", "caught", "unsure", "us valid", "p50 us")


def bare(expr: str) -> bool:
    """Whether the library by itself takes it; where it would panic it does not."""
    return not panics(Expression(expr)) and parses(expr)


def rows(name: str) -> Iterator[Row]:
    with (CORPORA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from (row for row in map(json.loads, lines) if row.get("utf8", True))


def measure(name: str) -> tuple[object, ...]:
    """Count one corpus; `caught` is the share of the bare parser's errors that became unsure."""
    count: Counter[str] = Counter()
    took_s = []
    for row in rows(name):
        expr, valid = str(row["expr"]), OFFICIAL[name](row)
        begun = time.perf_counter()
        verdict = check(expr).verdict
        took_s.append(time.perf_counter() - begun)
        unsure = verdict is Verdict.UNSURE
        wrong = bare(expr) is not valid
        count.update(n=1, valid=valid, wrong=wrong, caught=wrong and unsure, unsure=unsure)
        count["unsure_valid"] += unsure and valid
        count["accepted"] += verdict is Verdict.VALID and not valid
        count["rejected"] += verdict is Verdict.INVALID and valid
    caught = f"{count['caught']}/{count['wrong']}"
    shares = (_share(count["unsure"], count["n"]), _share(count["unsure_valid"], count["valid"]))
    p50_us = f"{sorted(took_s)[len(took_s) // 2] * 1e6:.0f}"
    tallies = (count["n"], count["valid"], count["accepted"], count["rejected"])
    return (name, *tallies, caught, *shares, p50_us)


def by_side() -> Iterator[str]:
    """Say how many of the parser's known errors, of each kind, the check turned into unsure."""
    count: Counter[tuple[bool, Verdict]] = Counter()
    for row in rows("disagreements"):
        count[bool(row["promql_parser"]), check(str(row["expr"])).verdict] += 1
    for taken, words in ((False, "false rejects"), (True, "false accepts")):
        total = sum(n for (side, _), n in count.items() if side is taken)
        caught = count[taken, Verdict.UNSURE]
        yield f"{words} known: {total}, caught as unsure: {caught} ({_share(caught, total)})"


def asked(address: str, name: str) -> str:
    """Compare with the verdicts of a running server, a bounded number of expressions."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=5)
    version = _answer(connection, "/api/v1/status/buildinfo", {})["data"]["version"]
    server = ServerInfo.of(version)
    count: Counter[str] = Counter()
    exprs = (str(row["expr"]) for row in rows(name))
    # Beyond our own cap the server's printer may take minutes.
    for expr in islice((e for e in exprs if len(e) <= MAX_CHARACTERS), ASKED_AT_MOST):
        official = _answer(connection, "/api/v1/format_query", {"query": expr})["status"]
        verdict = check(expr, server=server).verdict
        count[f"{verdict} locally, {'valid' if official == 'success' else 'invalid'} there"] += 1
    said = "; ".join(f"{n} {words}" for words, n in sorted(count.items()))
    return f"{name} against {version}: {said}"


def _answer(connection: http.client.HTTPConnection, path: str, form: dict[str, str]) -> dict:
    body = urlencode({k: v.encode("utf-8", "replace") for k, v in form.items()})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST" if form else "GET", path, body, headers)
    return json.loads(connection.getresponse().read())


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def main() -> None:
    """Print the table and, given an address, the comparison."""
    there = [name for name in OFFICIAL if (CORPORA / f"{name}.jsonl").is_file()]
    for cells in (HEAD, *map(measure, there)):
        print(f"{cells[0]:<26}" + "".join(f"{cell!s:>10}" for cell in cells[1:]))
    for line in by_side():
        print(line)
    for address in sys.argv[1:2]:
        for name in there:
            print(asked(address, name))


if __name__ == "__main__":
    main()
