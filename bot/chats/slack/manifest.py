"""A Slack app made by one link: the manifest is in it."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, cast
from urllib.parse import quote

import yaml

Manifest = Literal["start", "full"]
FOLDER = Path(__file__).parent / "manifests"
CREATE = "https://api.slack.com/apps?new_app=1&manifest_yaml="


def text(name: Manifest) -> str:
    """A manifest as it ships."""
    return (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


@cache
def scopes(name: Manifest) -> frozenset[str]:
    """What an app made from a manifest may do."""
    parsed = cast(
        "Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]", yaml.safe_load(text(name))
    )
    return frozenset(parsed["oauth_config"]["scopes"]["bot"])


def create_link(name: Manifest = "start") -> str:
    """Where a person makes the app with two clicks."""
    return CREATE + quote(text(name), safe="")
