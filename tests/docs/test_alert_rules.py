"""The alerts about Caveat itself: Prometheus takes them, and they name series that there are."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from bot.telemetry import Telemetry
from engine.model.pack import SectionName

RULES = Path(__file__).parents[2] / "docs" / "alert-rules.yaml"
UNIT = """
rule_files: [{rules}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: caveat_triage_pack_enrichment_degraded_total{{section="metrics"}}
        values: "0+1x60"
      - series: caveat_triage_pack_enrichment_degraded_total{{section="logs"}}
        values: "5x60"
    alert_rule_test:
      - eval_time: 10m
        alertname: CaveatPackDegraded
        exp_alerts: []
      - eval_time: 30m
        alertname: CaveatPackDegraded
        exp_alerts:
          - exp_labels: {{severity: high, section: metrics}}
            exp_annotations:
              summary: findings are made without their metrics section
              description: "{description}"
"""


def rules() -> dict[str, dict[str, str]]:
    [group] = yaml.safe_load(RULES.read_text("utf-8"))["groups"]
    return {rule["alert"]: rule for rule in group["rules"]}


@pytest.mark.real("promtool")
@pytest.mark.proves("S3-131")
def test_a_pack_with_holes_is_the_first_alert_and_fires_after_a_quarter_of_an_hour(
    tmp_path: Path,
) -> None:
    assert next(iter(rules())) == "CaveatPackDegraded"
    said = rules()["CaveatPackDegraded"]["annotations"]["description"]  # type: ignore[index]
    unit = tmp_path / "unit.yaml"
    unit.write_text(UNIT.format(rules=RULES, description=said), encoding="utf-8")
    done = subprocess.run(
        ["promtool", "test", "rules", unit], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.real("promtool")
def test_prometheus_takes_every_rule() -> None:
    done = subprocess.run(
        ["promtool", "check", "rules", RULES], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_rule_names_series_that_there_are() -> None:
    page = Telemetry().exposition().decode()
    for name, rule in rules().items():
        named = set(re.findall(r"caveat_\w+", rule["expr"]))
        assert named, name
        for series in named:
            assert f"\n{series}" in f"\n{page}", f"{name}: {series}"
    assert 'section="metrics"' in page
    assert SectionName.METRICS == "metrics"
