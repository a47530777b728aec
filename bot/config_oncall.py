"""Settings of paging: routes, and the pagers they name."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from engine.model.alert import Severity
from engine.model.org import Platform
from engine.model.page import EscalationRoute, Mentioned

PAGERDUTY = "https://events.pagerduty.com"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PagerKind(StrEnum):
    """What a pager speaks."""

    WEBHOOK = "webhook"
    """Our own signed POST."""
    PAGERDUTY = "pagerduty"
    """PagerDuty's Events API, version 2."""


class PagerSettings(_Strict):
    """One pager: where it is, and the file that holds its secret."""

    kind: PagerKind = Field(description="What it speaks: webhook or pagerduty.")
    url: str | None = Field(
        None, pattern=r"^https?://[^/?#@]+", description="Its address; PagerDuty's has a default."
    )
    secret_file: Path | None = Field(None, description="File with its routing or signing key.")
    proxy: str | None = Field(None, description="Proxy URL.")
    ca_file: Path | None = Field(None, description="CA certificates, PEM.")

    @property
    def address(self) -> str:
        """Where it is."""
        return (self.url or PAGERDUTY).rstrip("/")


class RouteSettings(_Strict):
    """One escalation route; the first that fits and is grave enough is taken."""

    name: str = Field("on-call", min_length=1, max_length=40, description="What cards call it.")
    match: dict[str, str] = Field({}, description="Labels an alert must carry.")
    severity: Severity = Field(Severity.HIGH, description="Least severity that pages.")
    slack: list[str] = Field([], description="Users (`U…`) and user groups (`S…`) to mention.")
    telegram: list[int] = Field([], description="Ids of users to mention.")
    pagers: list[str] = Field([], description="Names of pagers to call.")

    def route(self) -> EscalationRoute:
        """The route this line declares."""
        slack = [Mentioned(platform=Platform.SLACK, account=one) for one in self.slack]
        telegram = [Mentioned(platform=Platform.TELEGRAM, account=str(n)) for n in self.telegram]
        return EscalationRoute(
            name=self.name,
            match=self.match,
            least=self.severity,
            mentions=(*slack, *telegram),
            pagers=tuple(dict.fromkeys(self.pagers)),
        )


class OncallSettings(_Strict):
    """Who is paged, and by what."""

    routes: list[RouteSettings] = Field([], description="Who is paged for what; first match wins.")
    pagers: dict[str, PagerSettings] = Field({}, description="Pagers by name.")
    secrets: dict[str, SecretStr] = Field(
        {}, description="Keys of pagers by name, where no file holds them."
    )

    @model_validator(mode="after")
    def _everything_fits(self) -> "OncallSettings":
        faults = [*self._of_pagers(), *self._of_routes()]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _of_pagers(self) -> Iterator[str]:
        for name, pager in self.pagers.items():
            if not name.replace("-", "").isalnum() or name != name.lower():
                yield f"pagers.{name}: a name has small letters, digits and hyphens only"
            if pager.kind is PagerKind.WEBHOOK and pager.url is None:
                yield f"pagers.{name}: a webhook needs a url"
            if pager.secret_file is None and name not in self.secrets:
                yield f"pagers.{name}: set secret_file, or its key in CAVEAT_ONCALL_SECRETS"
            elif pager.secret_file is not None and not pager.secret_file.is_file():
                yield f"pagers.{name}: {pager.secret_file} is no file"
        for name in self.secrets.keys() - self.pagers.keys():
            yield f"secrets.{name}: there is no such pager"

    def _of_routes(self) -> Iterator[str]:
        for n, route in enumerate(self.routes):
            where = f"routes.{n}"
            if not (route.slack or route.telegram or route.pagers):
                yield f"{where}: name somebody: slack, telegram or pagers"
            for pager in sorted(set(route.pagers) - self.pagers.keys()):
                yield f"{where}: there is no pager {pager}"
            for account in route.slack:
                if not (account[:1] in {"U", "W", "S"} and account.isalnum()):
                    yield f"{where}: {account} is no id of a Slack user or user group"
            for user in route.telegram:
                if user <= 0:
                    yield f"{where}: {user} is no id of a Telegram user"

    def secret(self, pager: str) -> str:
        """A pager's key."""
        file = self.pagers[pager].secret_file
        if file is not None:
            return file.read_text("utf-8").strip()
        return self.secrets[pager].get_secret_value()

    @property
    def escalation(self) -> tuple[EscalationRoute, ...]:
        """The routes, in their order."""
        return tuple(line.route() for line in self.routes)
