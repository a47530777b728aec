"""What Slack delivers, read; and who an account is, from what Slack says of it."""

from typing import Any

import pytest

from bot.chats.slack.delivery import command, mention, unescaped
from bot.chats.slack.people import membership
from engine.model.desk import Membership

FULL, GUEST, BOT, OUTSIDE = Membership


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("p99 &gt; 2 s &amp;&amp; errors &lt; 1", "p99 > 2 s && errors < 1"),
        ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),
        ("ask <@U1|alice> in <#C1|prod>", "ask @alice in #prod"),
        ("ask <@U1> in <#C1>", "ask @U1 in #C1"),
        ("<!subteam^S1|@sre> <!here> <!channel|channel>", "@sre @here @channel"),
        ("see <https://x.example/a?b=1|x.example/a> now", "see https://x.example/a?b=1 now"),
        ("<mailto:a@x.example|a@x.example>", "mailto:a@x.example"),
    ],
)
def test_words_are_what_a_person_typed(said: str, meant: str) -> None:
    assert unescaped(said) == meant


def slash(name: str, text: str) -> tuple[str, str]:
    body = {"command": name, "text": text, "trigger_id": "1", "user_id": "U1", "channel_id": "C1"}
    read = command(body)
    return read.verb, read.rest


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("/engage", "why is <#C1|checkout> slow"), ("engage", "why is #checkout slow")),
        (("/engage", ""), ("engage", "")),
        (("/caveat", ""), ("help", "")),
        (("/caveat", "  Status "), ("status", "")),
        (("/caveat", "settings acme ai_triage on"), ("settings", "acme ai_triage on")),
    ],
)
def test_a_command_is_a_verb_and_the_rest(
    given: tuple[str, str], expected: tuple[str, str]
) -> None:
    assert slash(*given) == expected


def named(text: str, **event: Any) -> tuple[str, str] | None:
    said = {"user": "U1", "channel": "C1", "ts": "1.1", "text": text, **event}
    body = {"event_id": "Ev1", "event": said, "authorizations": [{"user_id": "UBOT"}]}
    read = mention(body)
    return read and (read.verb, read.rest)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<@UBOT>", ("help", "")),
        ("<@UBOT> status", ("status", "")),
        ("<@UBOT> link ABC-DEF", ("link", "ABC-DEF")),
        ("<@UBOT> status of checkout?", ("engage", "status of checkout?")),
        ("why is it slow, <@UBOT|caveat>?", ("engage", "why is it slow, ?")),
        ("<@UBOT> is <@U2|bob> &lt;here&gt;", ("engage", "is @bob <here>")),
    ],
)
def test_a_mention_is_a_question_unless_it_is_a_command(
    text: str, expected: tuple[str, str]
) -> None:
    assert named(text) == expected


def test_what_apps_write_and_edits_are_no_questions() -> None:
    assert named("<@UBOT> help", bot_id="B1") is None
    assert named("<@UBOT> help", edited={"user": "U1", "ts": "1.2"}) is None
    assert named("<@UBOT> help", user=None) is None


@pytest.mark.parametrize(
    ("user", "is_in", "expected"),
    [
        ({}, True, FULL),
        ({}, False, OUTSIDE),
        ({"deleted": True}, True, OUTSIDE),
        ({"is_restricted": True}, True, GUEST),
        ({"is_ultra_restricted": True}, True, GUEST),
        ({"is_stranger": True}, True, GUEST),
        ({"is_restricted": True}, False, OUTSIDE),
        ({"is_bot": True}, True, BOT),
        ({"is_workflow_bot": True}, True, BOT),
        ({"id": "USLACKBOT"}, True, BOT),
        ({"team_id": "T2"}, True, GUEST),
        ({"team_id": "E1", "enterprise_user": {"teams": ["T1", "T2"]}}, True, FULL),
        ({"team_id": None}, True, GUEST),
    ],
)
def test_what_an_account_is(user: dict[str, Any], is_in: bool, expected: Membership) -> None:
    said = {"id": "U1", "team_id": "T1", **user}
    assert membership(said, is_in=is_in, team="T1") is expected
