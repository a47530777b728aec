"""Paging as it is configured: every fault at once, secrets from a file or the environment."""

from pathlib import Path

import pytest

from bot.config import ConfigError, Settings, load
from bot.config_oncall import OncallSettings
from engine.model.alert import Severity
from engine.model.org import Platform


def written(folder: Path, text: str) -> Path:
    file = folder / "caveat.yaml"
    file.write_text(text)
    return file


def test_every_fault_of_paging_is_told_at_once(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        """
oncall:
  pagers:
    Big_One: {kind: pagerduty, secret_file: nowhere}
    hook: {kind: webhook}
  routes:
    - {name: nobody}
    - {pagers: [gone], slack: [alice], telegram: [-5]}
""",
    )
    with pytest.raises(ConfigError) as told:
        load(file, env={})
    for part in (
        "pagers.Big_One: a name",
        "pagers.Big_One: nowhere is no file",
        "pagers.hook: a webhook needs a url",
        "pagers.hook: set secret_file",
        "routes.0: name somebody",
        "routes.1: there is no pager gone",
        "routes.1: alice is no id",
        "routes.1: -5 is no id",
    ):
        assert part in str(told.value)


def test_secrets_come_from_a_file_or_the_environment_and_never_from_yaml(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("R-file\n")
    plain = f"""
oncall:
  pagers:
    filed: {{kind: pagerduty, secret_file: {tmp_path / "key"}}}
    told: {{kind: webhook, url: "http://127.0.0.1:9/hook"}}
  routes: [{{pagers: [filed, told], severity: critical, slack: [S0ONCALL], telegram: [42]}}]
"""
    settings = load(
        written(tmp_path, plain), env={"CAVEAT_ONCALL_SECRETS": "{told: R-environment}"}
    )
    assert [settings.oncall.secret(name) for name in ("filed", "told")] == [
        "R-file",
        "R-environment",
    ]
    assert {"R-file", "R-environment"} <= set(settings.secrets)
    assert "R-environment" not in repr(settings)
    with pytest.raises(ConfigError, match="secrets do not belong"):
        load(written(tmp_path, plain + "  secrets: {told: R-yaml}\n"), env={})


def test_a_route_is_what_its_line_says() -> None:
    line = {"match": {"team": "shop"}, "severity": "critical", "slack": ["S0ONCALL"],
            "telegram": [42]}  # fmt: skip
    (route,) = OncallSettings.model_validate({"routes": [line]}).escalation
    assert (route.name, route.least, route.match) == ("on-call", Severity.CRITICAL, line["match"])
    assert [(one.platform, one.account) for one in route.mentions] == [
        (Platform.SLACK, "S0ONCALL"),
        (Platform.TELEGRAM, "42"),
    ]


def test_clients_have_routes_of_their_own() -> None:
    routes = {"oncall": {"routes": [{"slack": ["U0ADA"]}]}}
    settings = Settings.model_validate({"clients": {"acme": routes, "other": {}}})
    counts = {name: len(own.oncall.escalation) for name, own in settings.by_client.items()}
    assert counts == {"acme": 1, "other": 0}
