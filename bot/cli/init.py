"""`caveat init`: a few questions, and the two files a start needs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bot.cli.init_files import Answers

Secret = dict[str, str]
WAIT_S = 180.0


def init(
    prometheus: Annotated[str | None, typer.Option(help="base address; '' for none")] = None,
    alertmanager: Annotated[str | None, typer.Option(help="base address; '' for none")] = None,
    slack: Annotated[str | None, typer.Option(help="channel, such as #alerts-prod")] = None,
    telegram: Annotated[int | None, typer.Option(help="chat id")] = None,
    topic: Annotated[int | None, typer.Option(help="forum topic of the Telegram chat")] = None,
    slack_bot_token: Annotated[str | None, typer.Option(envvar="CAVEAT_SLACK_BOT_TOKEN")] = None,
    slack_app_token: Annotated[str | None, typer.Option(envvar="CAVEAT_SLACK_APP_TOKEN")] = None,
    telegram_token: Annotated[str | None, typer.Option(envvar="CAVEAT_TELEGRAM_TOKEN")] = None,
    model_key: Annotated[str | None, typer.Option(envvar="CAVEAT_MODEL_API_KEY")] = None,
    usd_per_day: Annotated[float, typer.Option(min=0, help="what a day may cost")] = 5,
    folder: Annotated[Path, typer.Option(file_okay=False, exists=True)] = Path(),
    wait: Annotated[float, typer.Option(help="longest wait for /start, seconds")] = WAIT_S,
    no_input: Annotated[bool, typer.Option("--no-input", help="ask nothing")] = False,
    force: Annotated[bool, typer.Option("--force", help="replace what is there")] = False,
) -> None:
    """Ask a few questions and write caveat.yaml and .env (0600)."""
    from bot.cli.init_files import Answers, write

    _refuse_early(folder, force=force)
    given = Answers(
        prometheus=prometheus,
        alertmanager=alertmanager,
        slack=slack,
        telegram=telegram,
        topic=topic,
        usd_per_day=usd_per_day,
        secrets=_given(
            CAVEAT_SLACK_BOT_TOKEN=slack_bot_token,
            CAVEAT_SLACK_APP_TOKEN=slack_app_token,
            CAVEAT_TELEGRAM_TOKEN=telegram_token,
            CAVEAT_MODEL_API_KEY=model_key,
        ),
    )
    answers = _with_room(given if no_input else _asked(given, usd_per_day), wait)
    _check(answers)
    write(folder, answers, force=force)
    print(_done(answers, folder))


def _given(**secrets: str | None) -> Secret:
    return {name: value.strip() for name, value in secrets.items() if value and value.strip()}


def _refuse_early(folder: Path, *, force: bool) -> None:
    """Before the questions, not after them."""
    from bot.cli.errors import CommandError
    from bot.cli.init_files import CONFIG, ENVIRONMENT

    there = [name for name in (CONFIG, ENVIRONMENT) if (folder / name).exists()]
    if there and not force:
        raise CommandError(f"{' and '.join(there)}: already there; --force replaces")


def _asked(given: "Answers", usd_per_day: float) -> "Answers":
    found: dict[str, object] = {}
    found["prometheus"] = _ask(given.prometheus, "Prometheus", "http://localhost:9090")
    found["alertmanager"] = _ask(given.alertmanager, "Alertmanager", "http://localhost:9093")
    secrets = dict(given.secrets)
    if given.slack is None and given.telegram is None:
        _ask_for_room(found, secrets)
    if "CAVEAT_MODEL_API_KEY" not in secrets:
        secrets |= _hidden("CAVEAT_MODEL_API_KEY", "Model key (none: facts cards only)")
    if "CAVEAT_MODEL_API_KEY" in secrets:
        found["usd_per_day"] = typer.prompt("US dollars a day", default=usd_per_day, type=float)
    return given.model_copy(update={**found, "secrets": secrets})


def _ask(given: str | None, what: str, default: str) -> str:
    if given is not None:
        return given
    said: str = typer.prompt(f"{what} (- for none)", default=default)
    return "" if said.strip() == "-" else said.strip()


def _ask_for_room(found: dict[str, object], secrets: Secret) -> None:
    where = typer.prompt("Where do cards go: slack, telegram or none", default="slack").strip()
    if where == "slack":
        from bot.chats.slack.manifest import create_link

        print(f"Make the app, install it, and copy its two tokens:\n{create_link()}\n")
        found["slack"] = typer.prompt("Channel", default="#alerts-prod")
        secrets |= _hidden("CAVEAT_SLACK_BOT_TOKEN", "Bot token, xoxb-… (enter: later, in .env)")
        secrets |= _hidden("CAVEAT_SLACK_APP_TOKEN", "App token, xapp-… (enter: later, in .env)")
    elif where == "telegram":
        secrets |= _hidden("CAVEAT_TELEGRAM_TOKEN", "Bot token, from BotFather")


def _hidden(name: str, question: str) -> Secret:
    said: str = typer.prompt(question, default="", hide_input=True, show_default=False)
    return {name: said.strip()} if said.strip() else {}


def _with_room(answers: "Answers", wait_s: float) -> "Answers":
    """Take the Telegram room from a `/start` in it, where a token is known and no room."""
    token = answers.secrets.get("CAVEAT_TELEGRAM_TOKEN")
    if token is None or answers.telegram is not None or wait_s <= 0:
        return answers
    import asyncio

    from bot.cli.init_room import room_of_start
    from bot.config import load

    print(f"Add the bot to the room and write /start there (waiting {wait_s:g} s) …")
    found = asyncio.run(room_of_start(load().telegram, token, wait_s))
    if found is None:
        print("Nobody wrote /start; put the chat's id into caveat.yaml yourself.")
        return answers
    print(f"Found it: chat {found.chat}" + (f", topic {found.topic}" if found.topic else ""))
    return answers.model_copy(update={"telegram": found.chat, "topic": found.topic})


def _check(answers: "Answers") -> None:
    """Refuse answers that `load` would refuse, before anything is written."""
    import yaml
    from pydantic import ValidationError

    from bot.cli.errors import CommandError
    from bot.cli.init_files import caveat_yaml
    from bot.config import Settings

    try:
        Settings.model_validate(yaml.safe_load(caveat_yaml(answers)))
    except ValidationError as error:
        faults = [f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors()]
        raise CommandError("; ".join(faults)) from None


def _done(answers: "Answers", folder: Path) -> str:
    lines = [f"Wrote {folder / 'caveat.yaml'} and {folder / '.env'} (readable by you only)."]
    if answers.slack and "CAVEAT_SLACK_BOT_TOKEN" not in answers.secrets:
        from bot.chats.slack.manifest import create_link

        lines += [
            f"Slack: make the app with this link, install it, invite it to {answers.slack},",
            "and put CAVEAT_SLACK_BOT_TOKEN and CAVEAT_SLACK_APP_TOKEN into .env:",
            create_link(),
        ]
    if not answers.has_model:
        lines.append("No model key: facts cards only; CAVEAT_MODEL_API_KEY in .env changes that.")
    return "\n".join([*lines, "Next: caveat check"])
