"""What `caveat init` writes: caveat.yaml, and .env beside it."""

import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from bot.cli.errors import CommandError
from engine.model.base import Frozen

CONFIG = "caveat.yaml"
ENVIRONMENT = ".env"
TOKEN = "CAVEAT_WEBHOOK_TOKEN"  # noqa: S105 - a variable's name
_PLAIN = re.compile(r"[\w.:/+=@,-]+")
_HEAD = (
    "The rest has defaults (`caveat config --defaults`). "
    "Secrets: .env, environment or *_file, never here."
)
_METRICS = "+ bearer_file | basic_file | tenant | ca_file | proxy"
_ALERTS = "polled every 15 s; add the webhook later for speed"
_BUDGET = "on reaching it: facts cards only, one notice"
_COLUMN = 61
"""Where the comments of rooms stand."""


class Answers(Frozen):
    """What a person told about the install."""

    prometheus: str | None = None
    alertmanager: str | None = None
    slack: str | None = None
    telegram: int | None = None
    topic: int | None = None
    usd_per_day: float = 5
    secrets: Mapping[str, str] = {}
    """By variable; `CAVEAT_MODEL_API_KEY` switches investigation on."""

    @property
    def has_model(self) -> bool:
        """Whether a model may be asked."""
        return bool(self.secrets.get("CAVEAT_MODEL_API_KEY"))


def caveat_yaml(answers: Answers) -> str:
    """The whole file, minimal and with its comments."""
    lines = [
        f"# {_HEAD}",
        *_backends(answers),
        *_rooms(answers),
        *_triage(answers),
        f"budget: {{usd_per_day: {answers.usd_per_day:g}}} # {_BUDGET}",
    ]
    return "\n".join(lines) + "\n"


def _backends(answers: Answers) -> list[str]:
    metrics, alerts = answers.prometheus, answers.alertmanager
    first = f"prometheus:   {{url: {json.dumps(metrics or 'http://localhost:9090')}}}"
    second = f"alertmanager: {{url: {json.dumps(alerts or 'http://localhost:9093')}}}"
    return [
        f"{'' if metrics else '# '}{first}     # {_METRICS}",
        f"{'' if alerts else '# '}{second}   # {_ALERTS}",
    ]


def _rooms(answers: Answers) -> list[str]:
    head = "rooms:" if answers.slack or answers.telegram is not None else "rooms: []"
    lines = [
        f"{head:<{_COLUMN}}# routing: first match wins; the room without `match` takes the rest",
        '  # - {slack: "#payments", match: {team: payments}, sound: critical, triage: critical}',
    ]
    if answers.slack:
        own = f"  - {{slack: {json.dumps(answers.slack, ensure_ascii=False)}}}"
        lines.append(f"{own:<{_COLUMN}}# or {{telegram: -1001234567890, topic: 12}}")
    if answers.telegram is not None:
        topic = "" if answers.topic is None else f", topic: {answers.topic}"
        own = f"  - {{telegram: {answers.telegram}{topic}}}"
        lines.append(f'{own:<{_COLUMN}}# or {{slack: "#alerts-prod"}}')
    return lines


def _triage(answers: Answers) -> list[str]:
    if answers.has_model:
        why = "# written by `caveat init` because you gave a key; a missing line means off"
        return [f"ai_triage: true          {why}"]
    return [
        "# ai_triage: true        # investigate with a model; needs CAVEAT_MODEL_API_KEY in .env"
    ]


def environment(answers: Answers, before: str = "") -> str:
    """The lines of .env: those that stood there, and the answers over them; the token is kept."""
    kept = {
        name: line
        for line in before.splitlines()
        if (name := line.partition("=")[0].removeprefix("export ").strip())
    }
    if TOKEN not in kept:
        kept[TOKEN] = f"{TOKEN}={secrets.token_urlsafe(32)}"
    for name, value in answers.secrets.items():
        kept[name] = f"{name}={quoted(value)}"
    return "\n".join(kept.values()) + "\n"


def quoted(value: str) -> str:
    """A value as dotenv reads it back.

    Raises:
        CommandError: it holds what no secret does.
    """
    if _PLAIN.fullmatch(value):
        return value
    if any(mark in value for mark in "\n\r'\\"):
        raise CommandError("a secret holds a line break, a quote or a backslash; paste it again")
    return f"'{value}'"


def write(folder: Path, answers: Answers, *, force: bool) -> None:
    """Write both files; what stands there is only replaced when asked for.

    Raises:
        CommandError: a file is there already.
    """
    config, env = folder / CONFIG, folder / ENVIRONMENT
    there = [path.name for path in (config, env) if path.exists()]
    if there and not force:
        raise CommandError(f"{' and '.join(there)} in {folder}: already there; --force replaces")
    before = env.read_text(encoding="utf-8") if env.exists() else ""
    _replace(env, environment(answers, before), 0o600)
    _replace(config, caveat_yaml(answers), 0o644)


def _replace(path: Path, content: str, mode: int) -> None:
    """Write beside and rename, so that a secret is never readable by others, not even shortly."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as file:
        file.write(content)
    fresh.chmod(mode)
    fresh.replace(path)
