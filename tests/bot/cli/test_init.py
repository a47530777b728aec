"""`caveat init` writes the two files a start needs, and nothing that is there is lost."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.chats.slack.manifest import create_link
from bot.cli.errors import CommandError
from bot.cli.init_files import Answers, caveat_yaml, quoted
from bot.cli.init_room import Found, room_of_start
from bot.cli.main import app
from bot.config import TelegramSettings, load
from bot.drill.doubles.serve import serve
from bot.drill.doubles.telegram import TelegramDouble
from engine.model.org import Platform

RUN = CliRunner()
MINIMAL = """\
# The rest has defaults (`caveat config --defaults`). Secrets: .env, environment or *_file, never here.
prometheus:   {url: "http://prometheus.monitoring:9090"}     # + bearer_file | basic_file | tenant | ca_file | proxy
alertmanager: {url: "http://alertmanager.monitoring:9093"}   # polled every 15 s; add the webhook later for speed
rooms:                                                       # routing: first match wins; the room without `match` takes the rest
  # - {slack: "#payments", match: {team: payments}, sound: critical, triage: critical}
  - {slack: "#alerts-prod"}                                  # or {telegram: -1001234567890, topic: 12}
ai_triage: true          # written by `caveat init` because you gave a key; a missing line means off
budget: {usd_per_day: 5} # on reaching it: facts cards only, one notice
"""  # noqa: E501 - the file as it is documented


def init(folder: Path, *given: str, answers: str = "") -> str:
    done = RUN.invoke(app, ["init", "--folder", str(folder), *given], input=answers)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_the_file_is_the_documented_one() -> None:
    answers = Answers(
        prometheus="http://prometheus.monitoring:9090",
        alertmanager="http://alertmanager.monitoring:9093",
        slack="#alerts-prod",
        secrets={"CAVEAT_MODEL_API_KEY": "k"},
    )
    assert caveat_yaml(answers) == MINIMAL


def test_without_questions_both_files_are_written_and_load(tmp_path: Path) -> None:
    said = init(
        tmp_path, "--no-input", "--prometheus", "http://p:9090", "--alertmanager", "http://a:9093",
        "--slack", "#ops", "--model-key", "sk-1", "--usd-per-day", "2.5",
    )  # fmt: skip
    settings = load(tmp_path / "caveat.yaml")
    assert settings.prometheus is not None
    assert settings.alertmanager is not None
    assert (settings.prometheus.url, settings.alertmanager.url) == (
        "http://p:9090",
        "http://a:9093",
    )
    assert [room.slack for room in settings.rooms] == ["#ops"]
    assert (settings.ai_triage, settings.budget.usd_per_day) == (True, 2.5)
    assert settings.webhook_token is not None
    assert len(settings.webhook_token.get_secret_value()) >= 43
    assert create_link() in said
    assert "sk-1" not in said
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600


def test_no_key_leaves_investigation_off_and_says_so(tmp_path: Path) -> None:
    said = init(tmp_path, "--no-input", "--prometheus", "http://p:9090")
    settings = load(tmp_path / "caveat.yaml")
    assert (settings.ai_triage, settings.alertmanager, settings.rooms) == (None, None, [])
    assert "facts cards only" in said


def test_what_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / "caveat.yaml").write_text("{}")
    with pytest.raises(CommandError, match="--force"):
        init(tmp_path, "--no-input")
    assert (tmp_path / "caveat.yaml").read_text() == "{}"
    assert not (tmp_path / ".env").exists()


def test_force_keeps_the_token_and_other_lines_of_env(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("CAVEAT_WEBHOOK_TOKEN=mine\nOTHER=1\n# note\n")
    init(tmp_path, "--no-input", "--force", "--model-key", "k")
    lines = (tmp_path / ".env").read_text().splitlines()
    assert lines == ["CAVEAT_WEBHOOK_TOKEN=mine", "OTHER=1", "# note", "CAVEAT_MODEL_API_KEY=k"]


def test_a_wrong_address_is_told_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"prometheus\.url"):
        init(tmp_path, "--no-input", "--prometheus", "prometheus:9090")
    assert list(tmp_path.iterdir()) == []


def test_the_questions_can_be_answered(tmp_path: Path) -> None:
    said = init(tmp_path, answers="http://p:1\n-\nslack\n#ops\nxoxb-1\nxapp-1\n\n")
    settings = load(tmp_path / "caveat.yaml")
    assert settings.prometheus is not None
    assert (settings.prometheus.url, settings.alertmanager) == ("http://p:1", None)
    assert settings.slack.bot_token is not None
    assert settings.slack.app_token is not None
    assert settings.slack.bot_token.get_secret_value() == "xoxb-1"
    assert "xoxb-1" not in said


@pytest.mark.parametrize(("value", "written"), [("a-b_c.d:e", "a-b_c.d:e"), ("a b#c", "'a b#c'")])
def test_a_secret_is_written_so_that_it_reads_back(value: str, written: str) -> None:
    assert quoted(value) == written


async def test_the_room_is_taken_from_start_and_not_told_again() -> None:
    double = TelegramDouble(lambda: datetime.now(UTC))
    double.chat(-100123)
    double.person(7, "Ada")
    async with serve(double.app) as url:
        settings = TelegramSettings(base_url=f"{url}/bot")
        waiting = asyncio.create_task(room_of_start(settings, double.token, 20))
        await double.says(-100123, 7, "hello")
        await double.says(-100123, 7, "/start@caveat_bot")
        found = await waiting
    assert found == Found(-100123, None)
    assert double.updates.waiting == []


async def test_the_wait_for_start_ends() -> None:
    double = TelegramDouble(lambda: datetime.now(UTC))
    async with serve(double.app) as url:
        settings = TelegramSettings(base_url=f"{url}/bot")
        assert await room_of_start(settings, double.token, 0.5) is None


async def test_a_token_telegram_does_not_know_is_told() -> None:
    double = TelegramDouble(lambda: datetime.now(UTC))
    async with serve(double.app) as url:
        settings = TelegramSettings(base_url=f"{url}/bot")
        with pytest.raises(CommandError, match="BotFather"):
            await room_of_start(settings, "1:wrong", 5)


def test_platforms_of_rooms_follow_the_answers(tmp_path: Path) -> None:
    init(tmp_path, "--no-input", "--telegram", "-100123", "--topic", "12")
    (room,) = [line.room("default") for line in load(tmp_path / "caveat.yaml").rooms]
    assert (room.platform, room.chat, room.topic) == (Platform.TELEGRAM, "-100123", 12)
