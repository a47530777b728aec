"""How a setting is spelled in YAML and in the environment; both follow from its field."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel

ENV_PREFIX = "CAVEAT_"
_ALIASES = {"triage.trust.confidence": "triage.trust.min_confidence"}
"""Names kept from before, by the key they stand for."""
_OUTSIDE = {"ANTHROPIC_API_KEY": "model.api_key"}
"""Names of others that are honoured when our own is not set."""
_NOT_SETTINGS = {"CONFIG", "NOT_RUN_FAILS"}


def spelled(name: str) -> str:
    """The key of a field: seconds are implied, so `_s` may be left out."""
    return name.removesuffix("_s")


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The settings group a field holds, if it holds one."""
    if get_origin(annotation) in {Union, UnionType}:
        return next((m for a in get_args(annotation) if (m := model_in(a))), None)
    return (
        annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    )


def leaves(model: type[BaseModel], at: str = "") -> Iterator[tuple[str, str, Any]]:
    """Every single setting: (dotted path of fields, dotted key, field)."""
    for name, field in model.model_fields.items():
        inner = model_in(field.annotation)
        if inner is None:
            yield at + name, ".".join(spelled(p) for p in (at + name).split(".")), field
        else:
            yield from leaves(inner, f"{at}{name}.")


def env_name(key: str) -> str:
    """The variable of a dotted key."""
    return ENV_PREFIX + key.upper().replace(".", "_")


def ambient(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables that may mean us."""
    return {k: v for k, v in variables.items() if k.startswith(ENV_PREFIX) or k in _OUTSIDE}


def env_overrides(
    variables: Mapping[str, str], model: type[BaseModel], faults: list[str]
) -> dict[str, Any]:
    """Read settings from variables; `…_FILE` names a file that holds the value.

    Args:
        variables: what `ambient` let through.
        model: the settings.
        faults: gets a line for every variable that means nothing.
    """
    paths = {env_name(key): path for path, key, _ in leaves(model)}
    paths |= {env_name(path): path for path, _, _ in leaves(model)}
    paths |= {env_name(alias): path for alias, path in _ALIASES.items()}
    found = {path: variables[name] for name, path in _OUTSIDE.items() if name in variables}
    for name, value in variables.items():
        if name in paths:
            found[paths[name]] = _parsed(value)
        elif name.endswith("_FILE") and name.removesuffix("_FILE") in paths:
            found[paths[name.removesuffix("_FILE")]] = Path(value).read_text("utf-8").strip()
        elif name.startswith(ENV_PREFIX) and name.removeprefix(ENV_PREFIX) not in _NOT_SETTINGS:
            faults.append(f"{name}: no such setting; `caveat config --defaults` lists them")
    return found


def _parsed(value: str) -> Any:
    # Lists and mappings are written as YAML; everything else is left to the field's type.
    return yaml.safe_load(value) if value.lstrip().startswith(("[", "{")) else value


def plain_keys(raw: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Give keys their fields' names, group by group."""
    names = {spelled(name): name for name in model.model_fields}
    result: dict[str, Any] = {}
    for key, value in raw.items():
        name = key if key in model.model_fields else names.get(key, key)
        field = model.model_fields.get(name)
        inner = model_in(field.annotation) if field else None
        result[name] = plain_keys(value, inner) if inner and isinstance(value, dict) else value
    return result


def declared(tree: dict[str, Any], dotted: str, value: Any) -> None:
    """Put a value at a dotted path."""
    *groups, last = dotted.split(".")
    for group in groups:
        nested = tree.get(group)
        tree[group] = dict(nested) if isinstance(nested, dict) else {}
        tree = tree[group]
    tree[last] = value
