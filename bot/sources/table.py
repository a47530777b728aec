"""Every format an alert or a change can come in."""

from collections.abc import Mapping

from bot.sources import alertmanager, changes
from bot.sources.source import AlertSource, ChangeSource

SOURCES: Mapping[str, AlertSource] = {source.name: source for source in (alertmanager.SOURCE,)}
"""Alert formats by the name an operator writes in the configuration."""

CHANGE_SOURCES: Mapping[str, ChangeSource] = {source.name: source for source in (changes.SOURCE,)}
"""Change formats, likewise."""
