"""An app made from a shipped manifest may do what our code asks of Slack."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from bot.chats.slack.listen import SHORTCUT
from bot.chats.slack.manifest import create_link, scopes, text
from bot.drill.doubles.slack_methods import METHODS

BOT = Path(__file__).resolve().parents[2] / "bot"
WITHOUT = frozenset({"usergroups.users.list"})
"""Asked only where user groups stand for roles."""
CALLS = re.compile(
    r"\.((?:chat|conversations|users|reactions|files|auth|apps|views|usergroups|assistant)"
    r"_[A-Za-z_0-9]+)\b"
)
OF_A_CLIENT = {"files_upload_v2": ("files.getUploadURLExternal", "files.completeUploadExternal")}


def methods_used() -> set[str]:
    """Web API methods our own code calls, by the names of the client's methods."""
    names = {name.replace(".", "_"): name for name in METHODS}
    found: set[str] = set()
    for path in BOT.rglob("*.py"):
        if "drill" in path.parts:
            continue
        for called in CALLS.findall(path.read_text(encoding="utf-8")):
            if called in OF_A_CLIENT:
                found.update(OF_A_CLIENT[called])
            elif "slack_sdk" in path.read_text(encoding="utf-8"):
                found.add(names.get(called, called))
    return found


def needed(method: str) -> set[str]:
    known = METHODS[method]
    return {scope for scope in (known.scope, known.private_scope) if scope}


def test_every_method_is_one_whose_scope_is_known() -> None:
    used = methods_used()
    assert {"chat.postMessage", "chat.update", "auth.test", "conversations.members"} <= used
    assert {"users.info", "usergroups.users.list", "views.open", "views.update"} <= used
    assert used <= set(METHODS)


@pytest.mark.parametrize("name", ["start", "full"])
def test_every_method_has_its_scope(name: str) -> None:
    left_out = WITHOUT if name == "start" else frozenset()
    for method in methods_used() - left_out:
        assert needed(method) <= scopes(name), method  # type: ignore[arg-type]


def test_full_is_more_than_start_and_both_speak_of_caveat() -> None:
    assert scopes("start") < scopes("full")
    for name in ("start", "full"):
        commands = yaml.safe_load(text(name))["features"]["slash_commands"]  # type: ignore[arg-type]
        assert [command["command"] for command in commands] == ["/caveat", "/engage"]
        assert all(command["should_escape"] for command in commands)


def test_both_offer_what_is_listened_for() -> None:
    for name in ("start", "full"):
        app = yaml.safe_load(text(name))  # type: ignore[arg-type]
        assert [one["callback_id"] for one in app["features"]["shortcuts"]] == [SHORTCUT]
        assert "app_mention" in app["settings"]["event_subscriptions"]["bot_events"]
        assert app["settings"]["interactivity"]["is_enabled"]


def test_the_link_carries_the_whole_manifest() -> None:
    query = parse_qs(urlsplit(create_link("full")).query)
    assert query["manifest_yaml"] == [text("full")]
    assert query["new_app"] == ["1"]
