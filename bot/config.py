"""Settings, declared once: caveat.yaml and the environment are read here and nowhere else."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from dotenv import dotenv_values
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from bot.config_keys import ENV_PREFIX, ambient, declared, env_overrides, plain_keys
from bot.config_oncall import OncallSettings
from engine.model.org import Platform, Role, Room, RoomSound, RoomTriage
from engine.model.policy import (
    Budget,
    CorrelationRule,
    IncidentRule,
    PackRule,
    RecheckRule,
    RecurrenceRule,
    Seconds,
    TriageRule,
)

DEFAULT_CLIENT = "default"
_WEBHOOK_SECRET = re.compile(r"[A-Za-z0-9_-]{16,256}")


class ConfigError(Exception):
    """The configuration cannot be used; every fault is listed."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BackendSettings(_Strict):
    """How one backend is reached; proxies and certificates come from here only."""

    url: str = Field(pattern=r"^https?://", description="Base URL.")
    public_url: str | None = Field(None, description="What people open; its host may be linked.")
    bearer_file: Path | None = Field(None, description="File with a bearer token.")
    basic_file: Path | None = Field(None, description="File with `user:password`.")
    tenant: str | None = Field(None, description="X-Scope-OrgID of a multi-tenant backend.")
    ca_file: Path | None = Field(None, description="CA certificates, PEM.")
    proxy: str | None = Field(None, description="Proxy URL.")
    extra_matchers: dict[str, str] = Field({}, description="Added to every selector of a query.")
    poll: Seconds = Field(15, gt=0, description="How often Alertmanager is polled.")


class RoomSettings(_Strict):
    """One room of the routing list."""

    slack: str | None = Field(None, description="Slack channel, `#name` or id.")
    telegram: int | None = Field(None, description="Telegram chat id.")
    topic: int | None = Field(None, description="Telegram forum topic.")
    match: dict[str, str] = Field({}, description="Labels an alert must carry.")
    sound: RoomSound = Field(RoomSound.CRITICAL, description="Which new cards ring.")
    triage: RoomTriage = Field(RoomTriage.CRITICAL, description="What is investigated by itself.")

    @model_validator(mode="before")
    @classmethod
    def _off_is_a_word(cls, given: object) -> object:
        # YAML reads a bare off as false.
        if isinstance(given, dict):
            return {k: "off" if v is False and k != "topic" else v for k, v in given.items()}
        return given

    @model_validator(mode="after")
    def _one_chat(self) -> "RoomSettings":
        if (self.slack is None) == (self.telegram is None):
            raise ValueError("give a room either slack or telegram")
        return self

    def room(self, client_id: str) -> Room:
        """The room this line declares; its id follows from the chat, so edits keep its cards."""
        platform = Platform.SLACK if self.slack else Platform.TELEGRAM
        chat = self.slack or str(self.telegram)
        return Room(
            id=f"{client_id}:{platform.value}:{chat}:{self.topic or 0}",
            platform=platform,
            chat=chat,
            topic=self.topic,
            match=self.match,
            sound=self.sound,
            triage=self.triage,
        )


class ClientSettings(_Strict):
    """What one client declares; a flag left out stays open to chat and command line."""

    prometheus: BackendSettings | None = Field(None, description="Metrics.")
    alertmanager: BackendSettings | None = Field(None, description="Alerts, polled.")
    loki: BackendSettings | None = Field(None, description="Logs.")
    kubernetes: BackendSettings | None = Field(None, description="Kubernetes API, events only.")
    compliance_file: Path | None = Field(None, description="Facts of a compliance scan, YAML.")
    zabbix: BackendSettings | None = Field(
        None, description="Host monitoring; bearer_file holds an API token."
    )
    rooms: list[RoomSettings] = Field([], description="Where cards go; first match wins.")
    ai_triage: bool | None = Field(None, description="Investigate with a model.")
    ai_triage_manual: bool | None = Field(None, description="Only when somebody presses.")
    remediation: bool | None = Field(None, description="Propose fixes.")
    oncall_enabled: bool | None = Field(None, description="Page by the routes.")
    l1_agent: bool | None = Field(None, description="Old name that set ai_triage and paging.")
    oncall: OncallSettings = Field(OncallSettings(), description="Who is paged.")
    budget: Budget = Field(Budget(), description="What a day may cost.")
    webhook_token: SecretStr | None = Field(None, description="Bearer token of its senders.")

    @property
    def flags(self) -> dict[str, bool]:
        """The flags that are declared."""
        names = ("ai_triage", "ai_triage_manual", "remediation", "oncall_enabled", "l1_agent")
        return {n: v for n in names if (v := getattr(self, n)) is not None}


class TeamSettings(_Strict):
    """A group of clients."""

    clients: list[str] = Field(description="Their names.")


class SlackSettings(_Strict):
    """The Slack app."""

    bot_token: SecretStr | None = Field(None, description="xoxb-…")
    app_token: SecretStr | None = Field(None, description="xapp-…, for Socket Mode.")
    signing_secret: SecretStr | None = Field(None, description="For HTTP mode.")
    usergroups: dict[str, list[Role]] = Field(
        {}, description="Roles of linked people by Slack user group id, in a room's own clients."
    )
    base_url: str = Field("https://slack.com/api/", description="Web API.")
    proxy: str | None = Field(None, description="Proxy URL.")

    @property
    def takes(self) -> bool:
        """Whether presses and commands can arrive."""
        return self.bot_token is not None and bool(self.app_token or self.signing_secret)


class TelegramSettings(_Strict):
    """The Telegram bot."""

    token: SecretStr | None = Field(None, description="From BotFather.")
    webhook_secret: SecretStr | None = Field(
        None, description="Have updates posted to http.public_url, under it; none: they are polled."
    )
    base_url: str = Field("https://api.telegram.org/bot", description="Bot API.")
    proxy: str | None = Field(None, description="Proxy URL.")

    @field_validator("webhook_secret")
    @classmethod
    def _as_telegram_takes_it(cls, given: SecretStr | None) -> SecretStr | None:
        if given is not None and not _WEBHOOK_SECRET.fullmatch(given.get_secret_value()):
            raise ValueError("16 to 256 letters, digits, _ and - only")
        return given


class ModelSettings(_Strict):
    """The model provider."""

    api_key: SecretStr | None = Field(None, description="Key; none means facts cards only.")
    base_url: str | None = Field(None, description="Any compatible gateway; none: the default.")
    structured_output: bool = Field(True, description="The provider takes a reply schema.")
    prompt_cache: bool = Field(True, description="The provider caches prompts.")
    proxy: str | None = Field(None, description="Proxy URL.")
    ca_file: Path | None = Field(None, description="CA certificates, PEM.")
    price_per_mtok: tuple[float, float] | None = Field(
        None, description="USD per million tokens, input and output; none: the list price."
    )
    rehearsal: bool = Field(False, description="It is the rehearsal model; every surface says so.")


class HttpSettings(_Strict):
    """Our own web server."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(9190, ge=0, le=65535, description="Port to listen on.")
    public_url: str | None = Field(None, description="What senders and people reach us by.")


class LinkSettings(_Strict):
    """Which links a card may carry."""

    hosts: list[str] = Field(
        [],
        description="Hosts a card may link to; public URLs of backends are listed by themselves.",
    )


class Settings(ClientSettings):
    """Everything caveat.yaml and the environment may say; top-level keys are client `default`."""

    clients: dict[str, ClientSettings] = Field({}, description="Several clients.")
    teams: dict[str, TeamSettings] = Field({}, description="Groups of clients.")
    slack: SlackSettings = Field(SlackSettings(), description="Slack.")
    telegram: TelegramSettings = Field(TelegramSettings(), description="Telegram.")
    model: ModelSettings = Field(ModelSettings(), description="Model provider.")
    http: HttpSettings = Field(HttpSettings(), description="Web server.")
    links: LinkSettings = Field(LinkSettings(), description="Links in cards.")
    database_url: SecretStr | None = Field(None, description="PostgreSQL; none: embedded.")
    pg_bin: Path | None = Field(None, description="PostgreSQL binaries for the embedded server.")
    home: Path = Field(Path("~/.local/share/caveat").expanduser(), description="State folder.")
    retention: Seconds = Field(
        90 * 86400, ge=7 * 86400, description="How long calls, steps, events and packs are kept."
    )
    audit_retention: Seconds = Field(
        400 * 86400, ge=90 * 86400, description="How long the audit trail is kept."
    )
    triage: TriageRule = Field(TriageRule(), description="Investigation.")
    correlation: CorrelationRule = Field(CorrelationRule(), description="Which alerts belong.")
    recurrence: RecurrenceRule = Field(RecurrenceRule(), description="Re-fires.")
    recheck: RecheckRule = Field(RecheckRule(), description="Findings worth a second look.")
    incident: IncidentRule = Field(IncidentRule(), description="Life of an incident.")
    pack: PackRule = Field(PackRule(), description="Evidence before the model.")

    @model_validator(mode="after")
    def _clients_replace_the_default(self) -> "Settings":
        own = [n for n in ClientSettings.model_fields if n in self.model_fields_set]
        if self.clients and own:
            raise ValueError(f"with clients: put {', '.join(own)} inside a client")
        unknown = {c for t in self.teams.values() for c in t.clients} - set(self.by_client)
        if unknown:
            raise ValueError(f"teams name unknown clients: {', '.join(sorted(unknown))}")
        return self

    @model_validator(mode="after")
    def _a_webhook_has_an_address(self) -> "Settings":
        if self.telegram.webhook_secret is not None and not self.http.public_url:
            raise ValueError(
                "telegram.webhook_secret needs http.public_url: where updates are sent"
            )
        return self

    @property
    def by_client(self) -> Mapping[str, ClientSettings]:
        """Each client's own settings."""
        return self.clients or {DEFAULT_CLIENT: self}

    @property
    def secrets(self) -> Iterator[str]:
        """Every secret we hold, for masking."""
        yield from _secrets_of(self)


def _secrets_of(model: BaseModel) -> Iterator[str]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        parts = value.values() if isinstance(value, dict) else [value]
        for part in parts:
            if isinstance(part, SecretStr):
                yield part.get_secret_value()
            elif isinstance(part, BaseModel):
                yield from _secrets_of(part)
            elif name in {"bearer_file", "basic_file", "secret_file"} and isinstance(part, Path):
                yield from filter(None, [part.read_text().strip() if part.exists() else ""])


def environment(folder: Path) -> dict[str, str]:
    """The variables that count: `.env` beside the file, and the process's own over it."""
    found = {k: v for k, v in dotenv_values(folder / ".env").items() if v is not None}
    return ambient({**found, **os.environ})


def load(
    path: Path | None = None,
    *,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """Read the configuration: flags over environment over YAML over defaults.

    Args:
        path: caveat.yaml; None takes `$CAVEAT_CONFIG`, else the one in this folder if there is one.
        env: variables; None takes the process's own and `.env`.
        overrides: dotted keys from command-line flags.

    Raises:
        ConfigError: with every fault, each with its key and what to do.
    """
    folder = path.parent if path else Path()
    variables = environment(folder) if env is None else dict(env)
    chosen = path or Path(variables.get(ENV_PREFIX + "CONFIG", "caveat.yaml"))
    if path is not None and not path.exists():
        raise ConfigError(f"{path}: no such file; `caveat init` writes one")
    raw = _read(chosen) if chosen.exists() else {}
    faults = [*_secrets_in_yaml(raw, chosen)]
    merged = plain_keys(raw, Settings)
    for dotted, value in {
        **env_overrides(variables, Settings, faults),
        **(overrides or {}),
    }.items():
        declared(merged, dotted, value)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        faults += [_fault(dict(e)) for e in error.errors()]
        raise ConfigError(_listing(chosen, faults)) from None
    if faults:
        raise ConfigError(_listing(chosen, faults))
    return settings


def _read(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: must be a mapping of keys, see `caveat config --defaults`")
    return found


def _secrets_in_yaml(raw: object, path: Path, at: str = "") -> Iterator[str]:
    if not isinstance(raw, dict):
        return
    for key, value in raw.items():
        dotted = f"{at}{key}"
        if key in _SECRET_KEYS and value:
            name = ENV_PREFIX + dotted.upper().replace(".", "_")
            yield f"{dotted}: secrets do not belong in {path.name}; set {name} in .env"
        yield from _secrets_in_yaml(value, path, dotted + ".")


_SECRET_KEYS = {
    name
    for model in (
        ClientSettings,
        OncallSettings,
        SlackSettings,
        TelegramSettings,
        ModelSettings,
    )
    for name, field in model.model_fields.items()
    if "SecretStr" in str(field.annotation)
}


def _fault(error: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in error["loc"]) or "the file as a whole"
    if error["type"] == "extra_forbidden":
        return f"{where}: unknown key; `caveat config --defaults` lists the known ones"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}"


def _listing(path: Path, faults: list[str]) -> str:
    return f"{path} has {len(faults)} fault(s):\n" + "\n".join(f"  - {f}" for f in faults)
