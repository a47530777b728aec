from pathlib import Path

import pytest
import yaml

from bot.config import DEFAULT_CLIENT, ConfigError, load
from engine.model.org import Flags, Platform

MINIMAL = """
prometheus:   {url: "http://prometheus.monitoring:9090"}
alertmanager: {url: "http://alertmanager.monitoring:9093"}
rooms:
  - {slack: "#payments", match: {team: payments}, sound: critical, triage: off}
  - {telegram: -1001234567890, topic: 12}
ai_triage: true
budget: {usd_per_day: 5}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "caveat.yaml"
    path.write_text(text)
    return path


def test_the_minimal_file_is_read(tmp_path: Path) -> None:
    settings = load(written(tmp_path, MINIMAL), env={})
    own = settings.by_client[DEFAULT_CLIENT]
    assert own.flags == {"ai_triage": True}
    rooms = [line.room(DEFAULT_CLIENT) for line in own.rooms]
    assert [(r.platform, r.chat, r.topic, r.triage.value) for r in rooms] == [
        (Platform.SLACK, "#payments", None, "off"),
        (Platform.TELEGRAM, "-1001234567890", 12, "critical"),
    ]


@pytest.mark.proves("S3-7", "S3-8")
def test_investigation_is_off_unless_the_file_says_so(tmp_path: Path) -> None:
    assert load(written(tmp_path, "{}"), env={}).flags == {}
    assert Flags().ai_triage is False
    assert Flags().oncall_enabled is True


@pytest.mark.proves("S3-53", "S3-54", "S3-55", "S3-58", "S3-59", "S3-60", "S3-63")
def test_every_name_of_the_environment_is_the_stem_of_its_key(tmp_path: Path) -> None:
    env = {
        "CAVEAT_TRIAGE_DEADLINE": "200s",
        "CAVEAT_TRIAGE_TOKEN_BUDGET": "9000",
        "CAVEAT_TRIAGE_MAX_LOOPS": "3",
        "CAVEAT_TRIAGE_VERIFY_DEADLINE": "50",
        "CAVEAT_TRIAGE_VERIFY_TOKEN_BUDGET": "700",
        "CAVEAT_TRIAGE_VERIFY_MAX_RETRIES": "0",
        "CAVEAT_TRIAGE_TRUST_MIN_EVIDENCE": "4",
        "CAVEAT_TRIAGE_TRUST_CONFIDENCE": "0.8",
    }
    triage = load(written(tmp_path, "{}"), env=env).triage
    assert (triage.deadline, triage.token_budget, triage.max_loops) == (200, 9000, 3)
    assert (triage.verify_deadline, triage.verify_token_budget) == (50, 700)
    assert triage.verify_max_retries == 0
    assert (triage.trust.min_evidence, triage.trust.min_confidence) == (4, 0.8)


@pytest.mark.proves("S3-53", "S3-54", "S3-55", "S3-58", "S3-59", "S3-60", "S3-63")
def test_the_bounds_have_their_defaults(tmp_path: Path) -> None:
    triage = load(written(tmp_path, "{}"), env={}).triage
    assert (triage.deadline, triage.token_budget, triage.max_loops) == (300, 120_000, 20)
    assert (triage.verify_deadline, triage.verify_token_budget) == (60, 8_000)
    assert (triage.verify_max_retries, triage.trust.min_evidence) == (1, 2)


@pytest.mark.proves("S3-89", "S3-90", "S3-91", "S3-107", "S3-108")
def test_recurrence_and_lifecycle_have_their_defaults_and_names(tmp_path: Path) -> None:
    settings = load(written(tmp_path, "{}"), env={})
    assert settings.recurrence.chronic_window_s == 168 * 3600
    assert settings.recurrence.chronic_threshold == 3
    assert settings.recurrence.fix_regression_window_s == 48 * 3600
    assert (settings.incident.stale_ttl_s, settings.incident.reap_interval_s) == (21600, 900)
    env = {
        "CAVEAT_RECURRENCE_CHRONIC_WINDOW": "24h",
        "CAVEAT_RECURRENCE_CHRONIC_THRESHOLD": "5",
        "CAVEAT_RECURRENCE_FIX_REGRESSION_WINDOW": "1d",
        "CAVEAT_INCIDENT_STALE_TTL": "3h",
        "CAVEAT_INCIDENT_REAP_INTERVAL": "5m",
    }
    changed = load(written(tmp_path, "{}"), env=env)
    assert changed.recurrence.chronic_window_s == 86400
    assert changed.recurrence.chronic_threshold == 5
    assert changed.recurrence.fix_regression_window_s == 86400
    assert (changed.incident.stale_ttl_s, changed.incident.reap_interval_s) == (10800, 300)


@pytest.mark.proves("S0-87", "S0-88", "S0-89", "S0-90", "S0-91")
def test_verification_has_its_defaults_and_takes_one_round_only(tmp_path: Path) -> None:
    rule = load(written(tmp_path, "{}"), env={}).triage.verification
    assert (rule.enabled, rule.max_queries, rule.query_timeout_seconds, rule.max_rounds) == (
        True,
        4,
        10,
        1,
    )
    two = written(tmp_path, "triage: {verification: {max_rounds: 2}}")
    with pytest.raises(ConfigError, match=r"triage\.verification\.max_rounds"):
        load(two, env={})
    off = load(written(tmp_path, "triage: {verification: {enabled: off}}"), env={})
    assert off.triage.verification.enabled is False


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    text = "promtheus: {}\nrooms: [{slack: a, telegram: 1}]\ntriage: {deadline: soon}\n"
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, text), env={"CAVEAT_TYPO": "1"})
    said = str(caught.value)
    assert "4 fault(s)" in said
    for key in ("promtheus", "rooms.0", "triage.deadline", "CAVEAT_TYPO"):
        assert key in said


def test_a_secret_in_the_file_is_refused_with_the_variable_to_use(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="CAVEAT_MODEL_API_KEY"):
        load(written(tmp_path, "model: {api_key: sk-123}"), env={})


def test_secrets_come_from_variables_and_files(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("xoxb-1\n")
    env = {
        "CAVEAT_SLACK_BOT_TOKEN_FILE": str(tmp_path / "token"),
        "CAVEAT_MODEL_API_KEY": "sk-9",
    }
    settings = load(written(tmp_path, "{}"), env=env)
    assert set(settings.secrets) == {"xoxb-1", "sk-9"}
    assert "sk-9" not in repr(settings)


def test_a_clients_block_replaces_the_default_client(tmp_path: Path) -> None:
    several = {"clients": {"acme": {"ai_triage": True}, "bolt": {}}}
    settings = load(written(tmp_path, yaml.safe_dump(several)), env={})
    assert list(settings.by_client) == ["acme", "bolt"]
    both = {**several, "ai_triage": True}
    with pytest.raises(ConfigError, match="put ai_triage inside a client"):
        load(written(tmp_path, yaml.safe_dump(both)), env={})


@pytest.mark.proves("S3-19", "S3-20", "S3-22", "S3-27")
@pytest.mark.parametrize(
    ("legacy", "triage", "paging"), [(True, True, True), (False, False, False)]
)
def test_the_legacy_name_stands_for_both(legacy: bool, triage: bool, paging: bool) -> None:
    flags = Flags.from_legacy(legacy)
    assert (flags.ai_triage, flags.oncall_enabled) == (triage, paging)
