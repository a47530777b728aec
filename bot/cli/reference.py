"""Every setting there is, said from its one declaration: as text, and as the reference page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bot.config import ClientSettings, RoomSettings, Settings, TeamSettings
from bot.config_keys import env_name, leaves, spelled
from bot.config_oncall import PagerSettings, RouteSettings
from engine.model.base import Frozen
from engine.model.policy import seconds

LISTS: dict[str, type[BaseModel]] = {
    "rooms[]": RoomSettings,
    "oncall.routes[]": RouteSettings,
    "oncall.pagers.NAME": PagerSettings,
    "teams.NAME": TeamSettings,
    "clients.NAME": ClientSettings,
}
"""What the parts of a list or of a named mapping may hold."""
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))
_FILE_ONLY = "-"


class Setting(Frozen):
    """One key."""

    key: str
    variable: str
    default: str
    about: str


def settings() -> Iterator[Setting]:
    """Every key of the file, in the order of its declaration."""
    for _, key, field in leaves(Settings):
        yield _setting(key, env_name(key), field)
    for at, model in LISTS.items():
        if model is not ClientSettings:
            for _, key, field in leaves(model):
                yield _setting(f"{at}.{key}", _FILE_ONLY, field)


def _setting(key: str, variable: str, field: FieldInfo) -> Setting:
    about = field.description or ""
    return Setting(key=key, variable=variable, default=default_of(field), about=about)


def default_of(field: FieldInfo) -> str:
    """How a default is written in YAML; durations in their largest whole unit."""
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if any(getattr(mark, "func", None) is seconds for mark in field.metadata):
        return duration(float(value))
    return _written(value)


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(str(part) for part in value)}]"
    if isinstance(value, Path):
        home = Path.home()
        return f"~/{value.relative_to(home)}" if value.is_relative_to(home) else str(value)
    if isinstance(value, float):
        return f"{value:g}"
    return {"None": "none", "True": "true", "False": "false"}.get(str(value), str(value))


def duration(value_s: float) -> str:
    """Seconds as a person writes them: `5m`, `7d`, `1.5s`."""
    for size, unit in _UNITS:
        if value_s and value_s % size == 0:
            return f"{value_s / size:g}{unit}"
    return f"{value_s:g}s"


def as_text() -> str:
    """Every key, for a terminal: the key and its default, and what it is below."""
    rows = [f"{s.key}: {s.default}\n    {s.about}" for s in settings()]
    return "\n".join([*rows, "clients.NAME: the keys that stand on top for one client"])


def as_page() -> str:
    """The reference page."""
    rows = [
        f"| `{s.key}` | {'' if s.variable == _FILE_ONLY else f'`{s.variable}`'} "
        f"| `{s.default}` | {_cell(s.about)} |"
        for s in settings()
    ]
    return "\n".join([_HEAD, *rows, _FOOT])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _client_keys() -> str:
    return ", ".join(f"`{spelled(name)}`" for name in ClientSettings.model_fields)


_HEAD = """\
# Configuration

Rendered from the code by `make docs`; `caveat config --defaults` prints the same, and
`caveat config show` what is in force, with secrets masked.

A command-line flag wins over the environment, the environment over `caveat.yaml`, and that over
the default. Unknown keys are errors, and every error is told at once. Durations are written `300s`,
`5m`, `168h`, `7d`, or as seconds. Secrets never stand in `caveat.yaml`: they come from `.env`, from
the environment, or from a file named by the variable with `_FILE` added. `ANTHROPIC_API_KEY` is
honoured where `CAVEAT_MODEL_API_KEY` is not set, and `CAVEAT_CONFIG` names another file.

| key | variable | default | what it is |
|---|---|---|---|"""
_FOOT = f"""
With several clients, `clients.NAME` takes the keys that otherwise stand on top:
{_client_keys()}.
What the file declares is locked in chat; what it leaves out may be set there or by
`caveat client set`, each time with an audit row.
"""
